"""What the checks of chapter 07 share: a small network, its data, and how a number is compared and told."""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

Batches = list[tuple[Tensor, Tensor]]


def network() -> nn.Module:
    """4 inputs, 3 classes, float64, the same weights in each call; the global generator stays as it is."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3)).double()


def data(*sizes: int) -> Batches:
    """One batch of samples and classes for each size, the same in each call."""
    generator = torch.Generator().manual_seed(1)
    return [
        (
            torch.randn(size, 4, generator=generator, dtype=torch.float64),
            torch.randint(0, 3, (size,), generator=generator),
        )
        for size in sizes
    ]


def weights(model: nn.Module) -> Tensor:
    """All parameters in one row, apart from the graph; a copy."""
    return torch.cat([p.detach().flatten() for p in model.parameters()])


def gradient(model: nn.Module, batches: Batches) -> Tensor:
    """Of the mean cross-entropy over all samples, in one row; `.grad` stays untouched."""
    x, y = (torch.cat(part) for part in zip(*batches, strict=True))
    return flat_gradient(model, F.cross_entropy(model(x), y))


def flat_gradient(model: nn.Module, loss: Tensor) -> Tensor:
    """The gradient of `loss` for all parameters, in one row; `.grad` stays untouched."""
    return torch.cat([g.flatten() for g in torch.autograd.grad(loss, list(model.parameters()))])


def leave_gradients(model: nn.Module) -> None:
    """Ones in every `.grad`: left over from somewhere else, as an answer may find them."""
    for p in model.parameters():
        p.grad = torch.ones_like(p)


def near(given: Any, expected: float) -> bool:
    """True where the answer is this number, to six digits."""
    value = as_number(given)
    return value is not None and abs(value - expected) <= 1e-6 * max(1.0, abs(expected))


def told(given: Any) -> str:
    """The answer for a sentence: a number with four places, anything else as Python writes it."""
    value = as_number(given)
    return f"{given!r:.60}" if value is None else f"{value:.4f}"


def as_number(given: Any) -> float | None:
    """The answer as a number, or None where it is none."""
    try:
        return float(given.detach() if isinstance(given, Tensor) else given)
    except (TypeError, ValueError, RuntimeError):
        return None
