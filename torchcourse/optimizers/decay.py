"""Five ways to use the same λ, on losses of two weights: what the decay playground shows.

Each loss is ½ (w − best)ᵀ A (w − best): without decay, every optimizer goes to `best`; decay pulls to (0, 0).
"""

from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from .record import record

Pair = tuple[float, float]


@dataclass(frozen=True)
class Problem:
    """A quadratic loss of two weights. curvature: the rows of A. window: (left, right, bottom, top)."""

    name: str
    words: str
    curvature: tuple[Pair, Pair]
    best: Pair
    start: Pair
    window: tuple[float, float, float, float] = (-0.7, 3.7, -0.6, 3.2)

    def loss(self, weights: Tensor) -> Tensor:
        """The loss at `weights`, a tensor of two elements."""
        away = weights - torch.tensor(self.best, dtype=weights.dtype)
        return 0.5 * away @ torch.tensor(self.curvature, dtype=weights.dtype) @ away


PROBLEMS = (
    Problem(
        "100 times apart",
        "The loss is 100 times steeper along w[1] than along w[0].",
        ((0.05, 0.0), (0.0, 5.0)),
        (2.5, 2.0),
        (3.3, 2.8),
    ),
    Problem(
        "a tilted valley",
        "The two weights depend on each other.",
        ((1.0, -0.9), (-0.9, 1.0)),
        (2.4, 1.6),
        (0.4, 2.8),
    ),
    Problem(
        "no gradient along w[1]",
        "The loss does not depend on w[1]: only decay can move it.",
        ((1.0, 0.0), (0.0, 0.0)),
        (2.0, 0.0),
        (3.3, 2.8),
    ),
)


@dataclass(frozen=True)
class Settings:
    """What the sliders hold. `decay` is λ; `momentum` is SGD's, `betas` are Adam's."""

    lr: float = 0.1
    decay: float = 0.1
    momentum: float = 0.9
    betas: Pair = (0.9, 0.999)
    steps: int = 60


@dataclass(frozen=True)
class Way:
    """One way to use λ. in_loss: as λ/2·‖w‖² in the loss; else as the optimizer's `weight_decay`."""

    name: str
    optimizer: type[torch.optim.Optimizer]
    in_loss: bool = False


WAYS = (
    Way("SGD, λ in the loss", torch.optim.SGD, in_loss=True),
    Way("SGD(weight_decay=λ)", torch.optim.SGD),
    Way("Adam, λ in the loss", torch.optim.Adam, in_loss=True),
    Way("Adam(weight_decay=λ)", torch.optim.Adam),
    Way("AdamW(weight_decay=λ)", torch.optim.AdamW),
)


@dataclass(frozen=True)
class Path:
    """Where one way led: the weights before the first step and after each."""

    way: str
    points: tuple[Pair, ...] = field(repr=False)


def path(problem: Problem, way: Way, settings: Settings = Settings()) -> Path:
    """The real optimizer's path, in float64. It ends early where the loss is not finite."""
    chosen: dict[str, Any] = {"lr": settings.lr, "weight_decay": 0.0 if way.in_loss else settings.decay}
    if way.optimizer is torch.optim.SGD:
        chosen["momentum"] = settings.momentum
    else:
        chosen["betas"] = settings.betas
    penalty = settings.decay if way.in_loss else 0.0

    def loss(weights: Tensor) -> Tensor:
        return problem.loss(weights) + penalty / 2 * (weights**2).sum()

    start = torch.tensor(problem.start, dtype=torch.float64)
    done = record(way.optimizer, start, loss, settings.steps, **chosen)
    points = [start, *(update.value for update in done.steps)]
    return Path(way.name, tuple((point[0].item(), point[1].item()) for point in points))
