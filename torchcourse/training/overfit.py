"""The first check of a loop: can it learn a handful of samples by heart?"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn
from torch.optim import Optimizer

from ._input import callable_loss, first_is_finite, pair, positive_count, scalar, steps_alone, trainable
from ._keep import everything_kept


@dataclass(frozen=True)
class Overfit:
    """The losses on one batch, step by step. passed: the last one is at most `share` of the first."""

    losses: tuple[float, ...]
    share: float
    unmoved: tuple[str, ...]  # parameters that the optimizer holds and that no step changed

    @property
    def passed(self) -> bool:
        return math.isfinite(self.losses[-1]) and self.losses[-1] <= self.share * self.losses[0]

    def __str__(self) -> str:
        verdict = "learned by heart" if self.passed else "not learned: look for a fault before you train"
        lines = [
            f"{len(self.losses)} steps on one batch: loss {self.losses[0]:.4g} → {self.losses[-1]:.4g}, {verdict}"
        ]
        if self.unmoved:
            lines.append(f"never moved: {', '.join(self.unmoved)}")
        elif not self.passed:
            lines.append(self._likely())
        return "\n".join(lines)

    def _likely(self) -> str:
        if not math.isfinite(self.losses[-1]):
            return "the loss is no number any more: the learning rate is too high, or an operation overflows"
        if len(self.losses) > 20 and abs(self.losses[-1] - self.losses[-10]) < 0.01 * abs(self.losses[-1]):
            return "the loss stands still above zero: softmax twice, targets of the wrong shape, or too low a rate"
        return "the loss still moves: take more steps, or another learning rate"


def overfit_one_batch(
    model: nn.Module,
    batch: tuple[Any, Any],
    loss_fn: Callable[[Any, Any], Tensor],
    optimizer: Optimizer,
    *,
    steps: int = 200,
    share: float = 0.1,
) -> Overfit:
    """Train on this one batch (input, target), and put everything back: see `learning_rate_range`.

    passed: the loss fell to `share` of the first one. Take 10 to 50 samples, and leave out what fights against
    learning by heart: dropout, augmentation, weight decay. Raises TypeError or ValueError with one sentence.
    """
    ours = trainable(model, optimizer)
    callable_loss(loss_fn)
    steps_alone(optimizer)
    inputs, targets = pair(batch)
    losses: list[float] = []
    with everything_kept(model, optimizer, loss_fn):
        before = [p.detach().clone() for _, p in ours]
        for index in range(positive_count("steps", steps, least=2)):
            loss = scalar(loss_fn(model(inputs), targets))
            if index == 0:
                first_is_finite(loss, (inputs, targets), model)
            losses.append(loss.item())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        unmoved = tuple(name for (name, p), old in zip(ours, before, strict=True) if p.equal(old))
    return Overfit(tuple(losses), share, unmoved)
