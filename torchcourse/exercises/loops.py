"""Checks of chapter 02 on training loops: a loop to mend, and small batches that act as a large one."""

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from torchcourse.exercises import Verdict, almost, check, not_yet, right, rounded, wrong

__all__ = ["accumulate", "fit"]

STEPS, RATE = 5, 0.1
ROWS = (4, 4, 2)  # of the batches: the last one is smaller, as at the end of a data set


@check
def fit(answer: Any) -> Iterator[Verdict]:
    """A loop that trains: it must move the parameters as plain SGD does, and return the losses."""
    model, inputs, targets = _problem()
    before, arrived = _copies(model), _count_arrivals(model)
    losses = answer(model, inputs, targets)
    unmoved = [name for name, p in model.named_parameters() if torch.equal(p, before[name])]
    if len(unmoved) == len(before):
        yield _nothing_moved(bool(arrived))
    elif unmoved:
        yield wrong(f"{unmoved[0]} has not moved: no gradient came to it. cuts tells where its way ends.")
    elif not isinstance(losses, list) or len(losses) != STEPS:
        yield wrong(f"return the list of the {STEPS} losses; got {type(losses).__name__}.")
    else:
        yield from _judge_losses(losses)


def _nothing_moved(arrived: bool) -> Verdict:
    if arrived:
        return wrong("gradients arrive, and are gone before step() uses them: where is zero_grad()?")
    return not_yet(
        "no parameter has moved, and no gradient came to one: its way is cut. "
        "Ask cuts(fit, model, inputs, targets) where."
    )


def _judge_losses(losses: list[Any]) -> Iterator[Verdict]:
    given = torch.tensor([float(torch.as_tensor(loss).detach()) for loss in losses], dtype=torch.float64)
    if torch.allclose(given, _losses(clear=False)):
        yield wrong("each step adds the gradients of the steps before: zero_grad() is missing in the loop.")
    elif not torch.allclose(given, _losses(clear=True)):
        yield wrong(f"the losses are {rounded(given)}; plain SGD gives {rounded(_losses(clear=True))}.")
    elif any(isinstance(loss, Tensor) and loss.requires_grad for loss in losses):
        yield almost("it trains; but each loss in the list keeps its graph alive. Append loss.item().")
    else:
        yield right("the gradient has a way, it is cleared once a step, and the list holds plain numbers.")


def _losses(clear: bool) -> Tensor:
    """What the losses of plain SGD are, with and without zero_grad()."""
    model, inputs, targets = _problem()
    optimizer = torch.optim.SGD(model.parameters(), lr=RATE)
    losses = []
    for _ in range(STEPS):
        if clear:
            optimizer.zero_grad()
        loss = F.mse_loss(model(inputs), targets)
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return torch.stack(losses)


def _problem() -> tuple[nn.Linear, Tensor, Tensor]:
    """A model without chance, ten rows, and targets that it can learn."""
    model = nn.Linear(2, 1, dtype=torch.float64)
    with torch.no_grad():
        model.weight.fill_(0.1)
        model.bias.fill_(0.2)
    inputs = torch.linspace(-1, 2, 20, dtype=torch.float64).reshape(10, 2)
    return model, inputs, inputs.square().sum(1, keepdim=True)


def _copies(model: nn.Module) -> dict[str, Tensor]:
    return {name: p.detach().clone() for name, p in model.named_parameters()}


def _count_arrivals(model: nn.Module) -> list[str]:
    """A list that grows by a name each time a gradient is added to .grad."""
    arrived: list[str] = []
    for name, parameter in model.named_parameters():
        parameter.register_post_accumulate_grad_hook(_noting(arrived, name))
    return arrived


def _noting(arrived: list[str], name: str) -> Callable[[Tensor], None]:
    return lambda _: arrived.append(name)


@check
def accumulate(answer: Any) -> Iterator[Verdict]:
    """Small batches of several sizes that leave the gradient of one large batch in .grad."""
    model, inputs, targets = _problem()
    batches = list(zip(inputs.split(ROWS), targets.split(ROWS), strict=True))
    arrived = _count_arrivals(model)
    answer(model, batches)
    times, first = arrived.count("weight"), model.weight.grad
    if first is None:
        yield (wrong if times else not_yet)(".grad is None afterwards: leave the gradient in it.")
        return
    yield from _judge_sum(first.clone(), batches)
    if times < len(ROWS):
        yield almost(
            f"right numbers, from {times} backward: then the graphs of all batches are alive together. "
            "One backward a batch frees each before the next."
        )
    answer(model, batches)
    again = model.weight.grad
    if again is None or not torch.allclose(again, _gradient(inputs, targets)):
        yield almost("right the first time; called again, it adds to what is there. Clear .grad first.")
    yield right("the gradient of the whole, with one small graph alive at a time.")


def _judge_sum(given: Tensor, batches: list[tuple[Tensor, Tensor]]) -> Iterator[Verdict]:
    each = [_gradient(*batch) for batch in batches]
    total = sum(each, torch.zeros_like(given))
    expected = _gradient(*(torch.cat(part) for part in zip(*batches, strict=True)))
    shares = [rows / sum(ROWS) for rows in ROWS]
    if torch.allclose(given, total):
        yield wrong(
            "this is the sum of the batches' gradients. A loss that is a mean needs a weight for each."
        )
    elif torch.allclose(given, total / len(batches)):
        yield almost(f"each batch counts the same, but they have {ROWS} rows: weigh each by its rows.")
    elif any(torch.allclose(given, each[-1] * f) for f in (1, 1 / len(ROWS), shares[-1])):
        yield wrong("only the last batch is in .grad: zero_grad() runs once a batch.")
    elif not torch.allclose(given, expected):
        yield wrong(f"the weight's gradient is {rounded(given)}; one large batch gives {rounded(expected)}.")


def _gradient(inputs: Tensor, targets: Tensor) -> Tensor:
    model, *_ = _problem()
    return torch.autograd.grad(F.mse_loss(model(inputs), targets), model.weight)[0]
