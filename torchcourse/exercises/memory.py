"""Checks of chapter 04b: the bytes of a step, worked out before it runs; a training loop that leaks nothing."""

from collections.abc import Iterator
from itertools import pairwise
from math import isclose
from typing import Any

import torch
from torch import Tensor, nn

from torchcourse.exercises import Verdict, almost, check, right, wrong
from torchcourse.memory import record_step

__all__ = ["history", "step_bytes"]

PARTS = ("parameters", "gradients", "optimizer state", "activations")
SIZES = ((4, 3), (6, 5, 2), (8, 16, 16, 1))


@check
def step_bytes(answer: Any) -> Iterator[Verdict]:
    """step_bytes(widths, batch): bytes of parameters, gradients, Adam's state and saved activations of an MLP."""
    for widths, batch in ((w, b) for w in SIZES for b in (3, 10)):
        given = answer(list(widths), batch)
        if not isinstance(given, tuple | list) or len(given) != len(PARTS):
            yield wrong(f"return four numbers: {', '.join(PARTS)}; yours returns {_brief(given)}.")
            return
        for part, yours, truth in zip(PARTS, given, _recorded(widths, batch), strict=True):
            if yours != truth:
                yield _why(part, yours, truth, widths, batch)
                return
    yield right("every byte agrees with the recorded steps, for three networks and two batch sizes each.")


def _recorded(widths: tuple[int, ...], batch: int) -> tuple[int, ...]:
    """The truth: a step of that network, recorded."""
    layers = [layer for pair in pairwise(widths) for layer in (nn.Linear(*pair), nn.ReLU())][:-1]
    model = nn.Sequential(*layers)
    optimizer = torch.optim.Adam(model.parameters())
    x = torch.ones(batch, widths[0])

    def step() -> None:
        model(x).square().mean().backward()
        optimizer.step()

    held = record_step(step, model, optimizer).by_owner
    return tuple(held[name] for name in ("parameter", "gradient", "optimizer state", "activation"))


def _why(part: str, yours: Any, truth: int, widths: tuple[int, ...], batch: int) -> Verdict:
    told = f"{part} of widths {list(widths)} with a batch of {batch}: yours is {_brief(yours)}, the step has {truth}."
    weights = sum(a * b for a, b in pairwise(widths))
    inner = sum(widths[1:-1])
    hints = {
        truth / 4: "You counted numbers; each float32 takes 4 bytes.",
        4 * weights: "The biases are missing.",
        8 * weights: "The biases are missing.",
        truth / 2: "Adam keeps two numbers for each parameter.",
        4 * batch * inner: "`square` saves the last layer's output, too.",
        4 * batch * sum(widths): "The input of the network was there before the step.",
        4
        * batch
        * (2 * inner + widths[-1]): "A Linear's output is gone after its ReLU: ReLU saves its own output.",
    }
    hint = next((said for size, said in hints.items() if size == yours), None)
    return almost(f"{told} {hint}") if hint else wrong(told)


@check
def history(answer: Any) -> Iterator[Verdict]:
    """history(model, optimizer, batches): train, and return the losses without keeping a graph or a tensor."""
    given, optimizer_ran, truth = _train(answer)
    if isinstance(given, Tensor) or not isinstance(given, list | tuple) or len(given) != len(truth):
        yield wrong(f"return one loss for each of the {len(truth)} batches, in a list; got {_brief(given)}.")
    elif not optimizer_ran:
        yield wrong("the losses are those of an untrained model. The loop must still train.")
    elif any(isinstance(loss, Tensor) and loss.grad_fn is not None for loss in given):
        yield wrong(
            "each loss in your list holds its grad_fn. With it lives whatever the graph still refers to. "
            "Keep the number, not the tensor."
        )
    elif not all(isclose(float(a), b, rel_tol=1e-5) for a, b in zip(given, truth, strict=True)):
        yield wrong(f"the losses are {[round(v, 4) for v in truth]}, in this order; yours differ.")
    elif any(isinstance(loss, Tensor) for loss in given):
        yield almost(
            "no graph is kept, but each loss is still a tensor: on a GPU 512 bytes each, in a block of its own. "
            "A Python number needs no GPU memory."
        )
    else:
        yield right("the losses are Python numbers; nothing of the steps stays.")


def _train(answer: Any) -> tuple[Any, bool, list[float]]:
    """The learner's loop and ours on the same model: what it returned, whether it trained, the true losses."""
    batches = [torch.full((4, 3), float(k)) for k in range(1, 4)]
    model, expected = _model(), _model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    given = answer(model, optimizer, batches)
    trained = not torch.equal(next(model.parameters()), next(expected.parameters()))
    ours = torch.optim.SGD(expected.parameters(), lr=0.01)
    truth = []
    for batch in batches:
        loss = expected(batch).square().mean()
        loss.backward()
        ours.step()
        ours.zero_grad()
        truth.append(loss.item())
    return given, trained, truth


def _model() -> nn.Module:
    model = nn.Linear(3, 2)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.fill_(0.5)
    return model


def _brief(value: Any) -> str:
    return repr(value)[:60] if isinstance(value, int | float | str | None) else f"a {type(value).__name__}"
