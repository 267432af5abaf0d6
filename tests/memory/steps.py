"""Steps whose memory is worked out by hand: an MLP, a CNN, a transformer. float32, bytes."""

from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

FLOAT, LONG = 4, 8
ROW = FLOAT  # nll_loss saves the sum of its weights


@dataclass
class Case:
    """A model with its batch, and what a step with it must take."""

    model: nn.Module
    batch: tuple[torch.Tensor, torch.Tensor]
    parameters: int
    activations: int
    inputs: int
    buffers: int = 0

    def step(self, optimizer: torch.optim.Optimizer) -> Any:
        """One training step, as everybody writes it."""
        x, y = self.batch

        def step() -> None:
            F.cross_entropy(self.model(x), y).backward()
            optimizer.step()
            optimizer.zero_grad()

        return step


def mlp(batch: int = 7, device: str = "cpu") -> Case:
    with torch.device(device):
        model = nn.Sequential(nn.Linear(20, 30), nn.ReLU(), nn.Linear(30, 5))
        x, y = torch.randn(batch, 20), torch.zeros(batch, dtype=torch.long)
    return Case(
        model,
        (x, y),
        parameters=FLOAT * (20 * 30 + 30 + 30 * 5 + 5),
        # ReLU keeps its output, log_softmax too; the Linear layers keep their inputs, which are there already.
        activations=FLOAT * batch * (30 + 5) + ROW,
        inputs=batch * (20 * FLOAT + LONG),
    )


def cnn(batch: int = 4, device: str = "cpu") -> Case:
    with torch.device(device):
        model = nn.Sequential(
            nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(8, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(),
            nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 10),
        )  # fmt: skip
        x, y = torch.randn(batch, 3, 16, 16), torch.zeros(batch, dtype=torch.long)
    pixels, pooled = 16 * 16, 8 * 8
    kept = {
        "convolution 1 (for its norm)": FLOAT * 8 * pixels,
        "relu 1 (itself, and the pool)": FLOAT * 8 * pixels,
        "where each maximum was": LONG * 8 * pooled,
        "pool (for convolution 2)": FLOAT * 8 * pooled,
        "convolution 2 (for its norm)": FLOAT * 16 * pooled,
        "relu 2 (itself)": FLOAT * 16 * pooled,
        "average (for the linear layer)": FLOAT * 16,
        "log_softmax": FLOAT * 10,
    }
    return Case(
        model,
        (x, y),
        parameters=FLOAT * (3 * 8 * 9 + 8 + 8 * 16 * 9 + 16 + 2 * 8 + 2 * 16 + 16 * 10 + 10),
        activations=batch * sum(kept.values())
        + FLOAT * 2 * (8 + 16)
        + ROW,  # mean and deviation of the norms
        inputs=batch * (FLOAT * 3 * pixels + LONG),
        buffers=FLOAT * 2 * (8 + 16) + 2 * LONG,
    )


class Block(nn.Module):
    """A transformer block with the attention written out."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def attend(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, width = x.shape
        split = self.qkv(x).view(batch, length, 3, self.heads, width // self.heads)
        query, key, value = split.permute(2, 0, 3, 1, 4)
        weights = (query @ key.transpose(-2, -1) / 4).softmax(-1)
        return self.out((weights @ value).transpose(1, 2).reshape(batch, length, width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.attend(self.norm1(x))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


def transformer(batch: int = 3, length: int = 6, device: str = "cpu") -> Case:
    width, heads, words, blocks = 32, 2, 11, 2
    with torch.device(device):
        model = nn.Sequential(
            nn.Embedding(words, width),
            *(Block(width, heads) for _ in range(blocks)),
            nn.Flatten(0, 1),
            nn.Linear(width, words),
        )
        x = torch.zeros(batch, length, dtype=torch.long)
        y = torch.zeros(batch * length, dtype=torch.long)
    token = {
        "what enters the first norm, and its output": 2 * width,
        "query, key and value as bmm needs them": 3 * width,
        "the heads side by side (for out)": width,
        "what enters the second norm, and its output": 2 * width,
        "up (for gelu)": 4 * width,
        "gelu (for down)": 4 * width,
        "mean and deviation of both norms": 4,
        "attention weights": heads * length,
    }
    per_token = blocks * sum(token.values()) + width + words  # the head's input, log_softmax
    block = 2 * 2 * width + (width + 1) * 3 * width + (width + 1) * width + (width + 1) * 4 * width
    block += (4 * width + 1) * width
    return Case(
        model,
        (x, y),
        parameters=FLOAT * (words * width + blocks * block + (width + 1) * words),
        activations=FLOAT * batch * length * per_token + ROW,
        inputs=2 * LONG * batch * length,
    )


CASES = {"MLP": mlp, "CNN": cnn, "transformer": transformer}
