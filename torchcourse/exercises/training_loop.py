"""Check of chapter 07: one step on data as it comes from NumPy, with the right dtypes, shapes and calls."""

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from torchcourse.exercises import Verdict, almost, check, right, wrong
from torchcourse.exercises._training import flat_gradient, leave_gradients, near, told, weights

__all__ = ["regression_step"]

RATE = 0.5


@check
def regression_step(answer: Any) -> Iterator[Verdict]:
    """regression_step(model, optimizer, x, y) -> the mean squared error, as a number.

    x is a float64 NumPy array (8, 4), y a list of 8 Python numbers; the model is float32 and gives (8, 1).
    """
    model, x, y = _model(), torch.randn(8, 4, generator=torch.Generator().manual_seed(1)), _targets()
    optimizer = torch.optim.SGD(model.parameters(), lr=RATE)
    start, loss = weights(model), F.mse_loss(model(x), y)
    wanted, crossed = flat_gradient(model, loss), flat_gradient(model, (model(x) - y.T).pow(2).mean())
    leave_gradients(model)
    given = answer(model, optimizer, x.double().numpy(), y.flatten().tolist())
    if any(p.dtype != torch.float32 for p in model.parameters()):
        yield wrong("the model's weights have another dtype now: convert the data, not the model.")
    yield from _judge_move((start - weights(model)) / RATE, wanted, crossed)
    if not near(given, loss.item()):
        yield wrong(f"the loss of this batch is {loss:.4f}; your function returns {told(given)}.")
    if isinstance(given, Tensor):
        yield almost("right value, but as a tensor: .item() makes a number, which keeps no graph alive.")
    yield right("float32 once, one shape for output and target, and the calls in order.")


def _model() -> nn.Module:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))


def _targets() -> Tensor:
    return torch.randn(8, 1, generator=torch.Generator().manual_seed(2))


def _judge_move(moved: Tensor, wanted: Tensor, crossed: Tensor) -> Iterator[Verdict]:
    """crossed: the gradient when each prediction meets every target."""
    if _same(moved, wanted):
        return
    if not moved.any():
        yield wrong("no weight moved: are the gradients still there when step() runs?")
    elif _same(moved, crossed) or _same(moved, crossed + 1):
        yield wrong("each prediction met every target: the output has shape (8, 1). Which has your target?")
    elif _same(moved, wanted + 1):
        yield wrong("old gradients were there when your function was called, and backward() added to them.")
    else:
        yield wrong("the weights moved, but not by the gradient of this batch's mean squared error.")


def _same(moved: Tensor, gradient: Tensor) -> bool:
    return torch.allclose(moved, gradient, rtol=1e-3, atol=1e-5)
