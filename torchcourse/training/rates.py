"""The learning-rate range test: raise the rate with every batch, and watch the loss."""

import math
import statistics
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn
from torch.optim import Optimizer

from ._input import callable_loss, endless, first_is_finite, positive_count, scalar, steps_alone, trainable
from ._keep import everything_kept

SMOOTHING = 0.8  # of the running mean; a batch's loss alone is too noisy to have a slope
DIVERGED = 4.0  # times the best smoothed loss: the scan ends there
SETTLE = 5  # first losses that say more about the batches than about the rate


class Suggestion(float):
    """A learning rate, with the range around it that looks safe: `.low`, `.high`; `low, high = suggestion`."""

    low: float
    high: float

    # The defaults are for copy and pickle, which make the number first and then set the two.
    def __new__(cls, rate: float, low: float = math.nan, high: float = math.nan) -> "Suggestion":
        made = super().__new__(cls, rate)
        made.low, made.high = low, high
        return made

    def __iter__(self) -> Iterator[float]:
        return iter((self.low, self.high))

    def __str__(self) -> str:
        return f"{float(self):.2g} (range {self.low:.2g} to {self.high:.2g})"

    __repr__ = __str__


@dataclass(frozen=True)
class LearningRates:
    """What the scan saw: one rate and one loss per step (the loss before that step was taken).

    smoothed: the running mean of `losses`. suggested: None where the loss did not fall. diverged_at: the rate at
    which the loss left all bounds (or became NaN), or None where the scan reached its end.
    """

    rates: tuple[float, ...]
    losses: tuple[float, ...]
    smoothed: tuple[float, ...]
    suggested: Suggestion | None
    diverged_at: float | None

    def __str__(self) -> str:
        best = _lowest(self.smoothed)
        lines = [
            f"{len(self.rates)} steps, learning rates {self.rates[0]:.2g} to {self.rates[-1]:.2g}",
            f"smoothed loss: {self.smoothed[0]:.4g} at first, lowest {self.smoothed[best]:.4g} "
            f"at {self.rates[best]:.2g}",
        ]
        if self.diverged_at is not None:
            lines.append(f"the loss left all bounds at {self.diverged_at:.2g}")
        elif best == len(self.rates) - 1:
            lines.append("the loss was still falling at the end: scan further, with a larger stop")
        told = "none: the loss did not fall" if self.suggested is None else str(self.suggested)
        return "\n".join([*lines, f"suggested: {told}"])


def learning_rate_range(
    model: nn.Module,
    batches: Iterable[Any],
    loss_fn: Callable[[Any, Any], Tensor],
    optimizer: Optimizer,
    *,
    start: float = 1e-6,
    stop: float = 10.0,
    steps: int = 200,
) -> LearningRates:
    """Train with rates that rise geometrically from `start` to `stop`, and put everything back.

    A step is `loss_fn(model(input), target)` with the model in the mode that it has. batches: a DataLoader or a
    list of (input, target), repeated as often as needed; an iterator is read, at most `steps` batches of it.
    All groups of the optimizer get the same rate. The suggestion is where the smoothed loss falls fastest,
    held between a tenth and a half of the rate at its lowest point.

    Afterwards parameters, buffers, gradients, optimizer and random generators are as before, also when a batch
    raises. Raises TypeError or ValueError with one sentence for what can't be trained (no parameters, no batch,
    a loss that is no scalar, NaN in the first batch). Method: Smith, arXiv:1506.01186, section 3.3.
    """
    trainable(model, optimizer)
    callable_loss(loss_fn)
    steps_alone(optimizer)
    rates = _rates(start, stop, positive_count("steps", steps, least=2))
    losses: list[float] = []
    with everything_kept(model, optimizer, batches, loss_fn):
        for rate, loss in _scan(model, batches, loss_fn, optimizer, rates):
            losses.append(loss)
            if _left_all_bounds(losses):
                return _result(rates, losses, rate)
    return _result(rates, losses, None)


def _rates(start: float, stop: float, steps: int) -> tuple[float, ...]:
    numbers = isinstance(start, int | float) and isinstance(stop, int | float)
    if not numbers or not (0 < start < stop < math.inf):
        raise ValueError(f"The rates rise from start to stop, both above 0; got {start!r} and {stop!r}.")
    return tuple(start * (stop / start) ** (k / (steps - 1)) for k in range(steps))


def _scan(
    model: nn.Module,
    batches: Iterable[Any],
    loss_fn: Callable[[Any, Any], Tensor],
    optimizer: Optimizer,
    rates: tuple[float, ...],
) -> Iterator[tuple[float, float]]:
    """One step per rate; the rate and the loss before the step."""
    source = endless(batches, len(rates))
    for index, rate in enumerate(rates):
        batch = next(source)
        loss = scalar(loss_fn(model(batch[0]), batch[1]))
        if index == 0:
            first_is_finite(loss, batch, model)
        yield rate, loss.item()
        optimizer.zero_grad()
        loss.backward()
        for group in optimizer.param_groups:
            group["lr"] = rate
        optimizer.step()


def _left_all_bounds(losses: list[float]) -> bool:
    if not math.isfinite(losses[-1]):
        return True
    smoothed = _smooth(losses)
    lowest = min(smoothed)
    # Losses below zero (a log-likelihood) have no multiple that means anything: there, only NaN ends the scan.
    return len(losses) > SETTLE and lowest > 0 and smoothed[-1] > DIVERGED * lowest


def _smooth(losses: list[float]) -> list[float]:
    """The exponential running mean, corrected for its start at zero."""
    mean, found = 0.0, []
    for count, loss in enumerate(losses, 1):
        mean = SMOOTHING * mean + (1 - SMOOTHING) * loss
        found.append(mean / (1 - SMOOTHING**count))
    return found


def _result(rates: tuple[float, ...], losses: list[float], diverged_at: float | None) -> LearningRates:
    if diverged_at is not None and not math.isfinite(losses[-1]):
        losses = losses[:-1]
    smoothed = _smooth(losses)
    kept = rates[: len(losses)]
    return LearningRates(kept, tuple(losses), tuple(smoothed), _suggest(kept, smoothed, losses), diverged_at)


def _suggest(rates: tuple[float, ...], smoothed: list[float], losses: list[float]) -> Suggestion | None:
    best = _lowest(smoothed)
    early = losses[
        : max(SETTLE, len(losses) // 5)
    ]  # at such rates nothing is learned: this is the batches' noise
    level = statistics.fmean(early)
    if best < 2 or level - smoothed[best] < max(0.05 * abs(level), statistics.pstdev(early)):
        return None
    falls = [(smoothed[k + 1] - smoothed[k], k) for k in range(min(SETTLE, best - 1), best)]
    low, high = rates[best] / 10, rates[best] / 2
    return Suggestion(min(max(rates[min(falls)[1]], low), high), low, high)


def _lowest(smoothed: Sequence[float]) -> int:
    """Where the running mean is lowest, once it is a mean of more than a few losses."""
    return min(range(min(SETTLE, len(smoothed) - 1), len(smoothed)), key=smoothed.__getitem__)
