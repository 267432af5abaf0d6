"""Networks to measure on, of the shapes that everybody knows, written here so that no model zoo is needed."""

from collections.abc import Callable

import torch
from torch import nn

Net = tuple[nn.Module, torch.Tensor]


class Block(nn.Module):
    """A residual block, as in ResNet: convolutions with batch norm, and the input added to what they give."""

    def __init__(self, inside: list[nn.Module], shortcut: nn.Module) -> None:
        super().__init__()
        self.inside, self.shortcut, self.relu = nn.Sequential(*inside), shortcut, nn.ReLU(inplace=True)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.relu(self.inside(x) + self.shortcut(x))


def normed(inputs: int, outputs: int, kernel: int, stride: int = 1) -> list[nn.Module]:
    conv = nn.Conv2d(inputs, outputs, kernel, stride, padding=kernel // 2, bias=False)
    return [conv, nn.BatchNorm2d(outputs)]


def basic(inputs: int, width: int, stride: int) -> Block:
    """Two 3×3 convolutions, as in ResNet-18."""
    inside = [*normed(inputs, width, 3, stride), nn.ReLU(inplace=True), *normed(width, width, 3)]
    return Block(inside, shortcut(inputs, width, stride))


def bottleneck(inputs: int, width: int, stride: int) -> Block:
    """1×1, 3×3 and 1×1 convolutions, the last four times as wide, as in ResNet-50."""
    inside = [*normed(inputs, width, 1), nn.ReLU(inplace=True), *normed(width, width, 3, stride)]
    inside += [nn.ReLU(inplace=True), *normed(width, 4 * width, 1)]
    return Block(inside, shortcut(inputs, 4 * width, stride))


def shortcut(inputs: int, outputs: int, stride: int) -> nn.Module:
    same = stride == 1 and inputs == outputs
    return nn.Identity() if same else nn.Sequential(*normed(inputs, outputs, 1, stride))


def resnet(block: Callable[[int, int, int], Block], wider: int, depths: tuple[int, ...]) -> Net:
    """He et al., Deep Residual Learning for Image Recognition, table 1; on a small image."""
    layers: list[nn.Module] = [*normed(3, 64, 7, 2), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1)]
    inputs = 64
    for k, depth in enumerate(depths):
        width = 64 * 2**k
        stage = []
        for n in range(depth):
            stage.append(block(inputs, width, 2 if k and not n else 1))
            inputs = width * wider
        layers.append(nn.Sequential(*stage))
    head = [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inputs, 1000)]
    return nn.Sequential(*layers, *head), torch.randn(2, 3, 64, 64)


class Layer(nn.Module):
    """One transformer layer, spelled out: attention by matrix products, then a two-layer MLP."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.q, self.k, self.v, self.out = (nn.Linear(width, width) for _ in range(4))
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.norm1(x)
        q, k, v = (self.split(part(y)) for part in (self.q, self.k, self.v))
        weights = (q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5).softmax(-1)
        x = x + self.out((weights @ v).transpose(1, 2).flatten(2))
        return x + self.mlp(self.norm2(x))

    def split(self, x: torch.Tensor) -> torch.Tensor:
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)


def mlp() -> Net:
    layers = [nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 1)]
    return nn.Sequential(*layers), torch.randn(4, 8)


def transformer(layers: int) -> Net:
    return nn.Sequential(*(Layer(64, 4) for _ in range(layers))), torch.randn(2, 16, 64)


def encoder() -> Net:
    layer = nn.TransformerEncoderLayer(64, 4, 128, batch_first=True)
    return nn.TransformerEncoder(layer, 6, enable_nested_tensor=False), torch.randn(2, 16, 64)


NETS: dict[str, Callable[[], Net]] = {
    "small MLP": mlp,
    "ResNet-18": lambda: resnet(basic, 1, (2, 2, 2, 2)),
    "ResNet-50": lambda: resnet(bottleneck, 4, (3, 4, 6, 3)),
    "transformer, 6 layers": lambda: transformer(6),
    "transformer, 12 layers": lambda: transformer(12),
    "nn.TransformerEncoder": encoder,
}


def chain(length: int) -> torch.Tensor:
    """A number that went through so many operators, one after the other."""
    y = torch.ones(3, requires_grad=True)
    for _ in range(length):
        y = y * 1.0
    return y.sum()
