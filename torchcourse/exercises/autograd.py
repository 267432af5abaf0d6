"""Checks of chapter 02. Each takes what the learner wrote and compares it with autograd itself."""

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor

from torchcourse.exercises import Raised, Verdict, almost, check, not_yet, right, rounded, wrong

from .loops import accumulate, fit
from .writes import breaks

__all__ = ["accumulate", "breaks", "fit", "sigmoid"]


@check
def sigmoid(answer: Any) -> Iterator[Verdict]:
    """A custom autograd.Function for the sigmoid that saves its output."""
    function = answer.given
    if not (isinstance(function, type) and issubclass(function, torch.autograd.Function)):
        yield not_yet("hand over the class itself, a subclass of torch.autograd.Function.")
        return
    if _raising(function.forward, _Context(), torch.zeros(1)) is ...:
        yield not_yet("forward still returns `...`. Write your lines there, then run the cell again.")
        return
    saved: list[Tensor] = []
    x = torch.tensor([-2.0, 0.0, 1.0], dtype=torch.float64, requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(_recorder(saved), lambda t: t):
        y = _raising(function.apply, x)
    if not isinstance(y, Tensor) or not torch.allclose(y, torch.sigmoid(x)):
        yield wrong(f"forward of [-2, 0, 1] gives {rounded(y)}; the sigmoid is {rounded(torch.sigmoid(x))}.")
        return
    yield from _judge_backward(x, y, saved)


def _judge_backward(x: Tensor, y: Tensor, saved: list[Tensor]) -> Iterator[Verdict]:
    incoming = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64)
    (given,) = _raising(torch.autograd.grad, y, x, incoming, allow_unused=True)
    slope = (torch.sigmoid(x) * (1 - torch.sigmoid(x))).detach()
    if given is None:
        yield wrong("backward returns no gradient; return one for each input of forward.")
    elif torch.allclose(given, slope):
        yield almost(
            "the slope is right, but the incoming gradient was not multiplied in: the chain rule needs both."
        )
    elif not torch.allclose(given, slope * incoming):
        yield wrong(
            f"for the incoming gradient [1, 2, 3] backward gives {rounded(given)}; "
            f"expected {rounded(slope * incoming)}."
        )
    elif not saved:
        yield almost(
            "right numbers; but keep tensors with ctx.save_for_backward, so that versions are checked."
        )
    elif not any(torch.equal(t.detach(), y.detach()) for t in saved):
        yield almost(
            "right numbers, and you saved the input. Save the output: then nothing is computed twice."
        )
    else:
        yield right(
            "the output is saved, the slope is y · (1 − y), and the incoming gradient is multiplied in."
        )


def _raising(function: Callable[..., Any], *args: Any, **settings: Any) -> Any:
    """Call the learner's code; what it raises is told in a sentence."""
    try:
        return function(*args, **settings)
    except Exception as error:
        raise Raised(error, f"in {getattr(function, '__name__', 'it')}") from None


def _recorder(saved: list[Tensor]) -> Callable[[Tensor], Tensor]:
    def record(tensor: Tensor) -> Tensor:
        saved.append(tensor)
        return tensor

    return record


class _Context:
    """Stands in for ctx when only the stub is asked for."""

    def save_for_backward(self, *tensors: Tensor) -> None:
        pass
