"""Checks of chapter 11b: a root that has a gradient at 0, and what the gradients of a model tell."""

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn

from torchcourse.exercises import Verdict, almost, check, right, rounded, wrong

__all__ = ["gradient_states", "row_lengths"]

ROWS = [[3.0, 4.0], [0.0, 0.0], [1e-3, 0.0], [-6.0, 8.0]]
WORDS = ("none", "not finite", "zero", "fine")


@check
def row_lengths(answer: Any) -> Iterator[Verdict]:
    """row_lengths(x) -> the Euclidean length of each row; at a row of zeros 0, with the gradient 0."""
    x = torch.tensor(ROWS, dtype=torch.float64, requires_grad=True)
    given = answer(x)
    wanted = torch.linalg.vector_norm(x, dim=-1)
    if not isinstance(given, Tensor) or given.shape != wanted.shape:
        shape = tuple(given.shape) if isinstance(given, Tensor) else type(given).__name__
        yield wrong(f"a tensor with one number a row is wanted, of shape {tuple(wanted.shape)}; got {shape}.")
    if not torch.allclose(given, wanted, rtol=1e-2, atol=1e-2):
        yield wrong(f"the lengths should be {rounded(wanted)}; yours are {rounded(given)}.")
    yield from _judge_slopes(x, given, wanted)
    if not torch.allclose(given, wanted, rtol=1e-9, atol=0.0):
        yield almost(
            "no NaN any more, but the values moved a little: leave the other rows exactly as they are."
        )
    yield right("exact lengths, and a gradient at every row, also at the one of zeros.")


def _judge_slopes(x: Tensor, given: Tensor, wanted: Tensor) -> Iterator[Verdict]:
    if not given.requires_grad:
        yield wrong("no graph leads from your result back to x: what cut it?")
    (slopes,) = torch.autograd.grad(given.sum(), x)
    (expected,) = torch.autograd.grad(wanted.sum(), x)
    if not slopes.isfinite().all():
        yield wrong(
            f"the lengths are right; the gradient at the row of zeros is {rounded(slopes[1])}: "
            "sqrt still sees a 0 there, and its slope is infinite."
        )
    if slopes[1].any():
        yield almost(f"the gradient at the row of zeros should be 0; yours is {rounded(slopes[1])}.")
    if not torch.allclose(slopes, expected, rtol=1e-2):
        yield wrong(
            f"the gradient of the other rows should be {rounded(expected)}; yours is {rounded(slopes)}."
        )


@check
def gradient_states(answer: Any) -> Iterator[Verdict]:
    """gradient_states(model) -> {name: "none" | "not finite" | "zero" | "fine"}, for every parameter."""
    model, expected = _model()
    kept = [None if p.grad is None else p.grad.clone() for p in model.parameters()]
    given = answer(model)
    if not isinstance(given, dict):
        yield wrong(f"a dict from names to words is wanted; got {type(given).__name__}.")
    if missing := [name for name in expected if name not in given]:
        yield wrong(f"{missing[0]} is missing: {len(expected)} parameters, {len(given)} entries.")
    if not _same(model, kept):
        yield wrong("a gradient is another one now: look, and change nothing.")
    for name, state in expected.items():
        if given[name] != state:
            yield _told(name, state, given[name])
    if more := [name for name in given if name not in expected]:
        yield wrong(f"{more[0]!r} is no parameter of the model.")
    yield right("None, not finite, zero and fine are told apart.")


CASES: dict[str, tuple[list[float] | None, str, str]] = {
    "fine": ([0.5, 0.0], "fine", "not every element is 0"),
    "unused": (None, "none", "its .grad is None: backward did not reach it"),
    "nan": ([float("nan"), 1.0], "not finite", "it holds a NaN"),
    "inf": ([float("inf"), 1.0], "not finite", "it holds an Inf, which isnan doesn't see"),
    "two_infs": ([float("inf"), -float("inf")], "not finite", "it holds Inf and −Inf"),
    "dead": ([0.0, 0.0], "zero", "every element is 0"),
    "cancels": ([1.0, -1.0], "fine", "its sum is 0, its elements aren't"),
    "tiny": ([1e-30, 0.0], "fine", "1e-30 is small, and not 0"),
}


def _model() -> tuple[nn.Module, dict[str, str]]:
    model = nn.Module()
    for name, (gradient, _, _) in CASES.items():
        parameter = nn.Parameter(torch.ones(2))
        parameter.grad = None if gradient is None else torch.tensor(gradient)
        model.register_parameter(name, parameter)
    return model, {name: state for name, (_, state, _) in CASES.items()}


def _same(model: nn.Module, kept: list[Tensor | None]) -> bool:
    for parameter, before in zip(model.parameters(), kept, strict=True):
        now = parameter.grad
        if (now is None) != (before is None):
            return False
        if (
            now is not None
            and before is not None
            and not torch.equal(now.nan_to_num(7.0), before.nan_to_num(7.0))
        ):
            return False
    return True


def _told(name: str, state: str, given: Any) -> Verdict:
    why = f"{name} has the state {state!r} ({CASES[name][2]}); your dict says {given!r:.40}."
    return almost(why) if given in WORDS else wrong(why)
