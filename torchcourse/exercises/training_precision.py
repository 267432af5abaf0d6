"""Check of chapter 07d: what GradScaler does around one step, by hand."""

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn

from torchcourse.exercises import Verdict, almost, check, right, wrong
from torchcourse.exercises._training import leave_gradients, near, told

__all__ = ["scaled_step"]

SMALL, LARGE = 2.0**-30, 1.0  # what backward sends into float16: without a scale 0; with too large a one inf


class _Run:
    """Three parameters: one in float32, one that passes float16, one that takes no part."""

    def __init__(self, factor: float, x: tuple[float, ...]) -> None:
        self.whole, self.halved, self.idle = (nn.Parameter(torch.zeros(2)) for _ in range(3))
        self.parameters = [self.whole, self.halved, self.idle]
        self.gradient = torch.cat([torch.full((2,), factor), torch.tensor(x) * factor])
        self.optimizer = torch.optim.SGD(self.parameters, lr=1.0, momentum=0.9)
        product = (self.halved.half() * torch.tensor(x).half()).float()
        self.loss = (product.sum() + self.whole.sum()) * factor
        leave_gradients(nn.ParameterList(self.parameters[:2]))

    @property
    def moved(self) -> Tensor:
        return -torch.cat([self.whole, self.halved]).detach()

    @property
    def untouched(self) -> bool:
        return not self.moved.any() and not self.optimizer.state


@check
def scaled_step(answer: Any) -> Iterator[Verdict]:
    """scaled_step(optimizer, loss, scale) -> the scale for the next step: the same, or one half after an overflow."""
    clean, scale = _Run(SMALL, (1.0, 2.0)), 2.0**15
    given = answer(clean.optimizer, clean.loss, scale)
    yield from _judge_clean(clean, scale)
    if not near(given, scale):
        yield wrong(f"after a clean step the scale stays {scale:.0f}; your function returns {told(given)}.")
    for x, what in (((1.0, 2.0), "inf"), ((0.0, 0.0), "nan")):
        run, scale = _Run(LARGE, x), 2.0**17
        given = answer(run.optimizer, run.loss, scale)
        yield from _judge_skip(run, what)
        if not near(given, scale / 2):
            yield almost(f"the step is skipped; the next scale should be one half, not {told(given)}.")
    yield right("small gradients survive; a step with inf or nan is skipped, and the scale is halved.")


def _judge_clean(run: _Run, scale: float) -> Iterator[Verdict]:
    moved, wanted = run.moved, run.gradient
    if torch.equal(moved, wanted):
        return
    if not moved.any():
        yield wrong("no weight moved in a clean step: was step() called, with the gradients still there?")
    elif not moved[2:].any():
        yield wrong("a small gradient became 0 on its way through float16: scale the loss before backward().")
    elif torch.allclose(moved, wanted * scale):
        yield wrong("the weights moved by the scaled gradients: divide them by the scale before step().")
    elif bool((moved > 1e-6).all()):
        yield wrong("old gradients were there when your function was called, and backward() added to them.")
    else:
        yield wrong("the weights moved, but not by the gradient of the loss.")


def _judge_skip(run: _Run, what: str) -> Iterator[Verdict]:
    if run.untouched:
        return
    if not run.moved.isfinite().all():
        where = "The loss itself is finite: look at every gradient, also for nan."
        yield wrong(f"a gradient held {what}, and now a weight does. {where}")
    else:
        yield wrong(f"a gradient held {what}, and the optimizer made a step all the same: skip all of it.")
