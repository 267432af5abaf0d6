"""Holds the tape engine that a reader rebuilds in chapter 02 to autograd, on random expressions."""

from random import Random
from typing import Any

import torch
from torch import Tensor

from torchcourse.exercises import Verdict, rebuild, right, wrong

__all__ = ["compare_tape"]

SHAPES = [(), (3,), (2, 1), (2, 3), (1, 3)]


@rebuild
def compare_tape(tape: Any, run_backward: Any, rng: Random, programs: int = 100) -> Verdict:
    """Run random expressions of +, *, exp and sums on the rebuilt engine and on torch.

    Gradients of all leaves must agree (float64, rtol 1e-9), with values used several times, shapes that
    broadcast, and two backwards that accumulate. The first difference, or how many agreed.
    """
    leaves_seen = 0
    for _ in range(programs):
        data = [
            torch.tensor(rng.random(), dtype=torch.float64).expand(rng.choice(SHAPES)).clone()
            for _ in range(3)
        ]
        ours, theirs = [tape(d) for d in data], [d.clone().requires_grad_() for d in data]
        told = ""
        for _ in range(2):  # the second backward accumulates
            told = _run(rng, ours, theirs, run_backward)
        for k, (our, their) in enumerate(zip(ours, theirs, strict=True)):
            if difference := _difference(our.grad, their.grad):
                return wrong(f"{told}: leaf {k} of shape {tuple(data[k].shape)}: {difference}")
            leaves_seen += their.grad is not None
    return right(
        f"{programs} random expressions agree with autograd, in the gradients of {leaves_seen} leaves."
    )


def _run(rng: Random, ours: list[Any], theirs: list[Tensor], run_backward: Any) -> str:
    """One random expression on both, and its backward. What the expression was."""
    our_values, their_values, told = list(ours), list(theirs), []
    for _ in range(rng.randint(1, 6)):
        i, j = rng.randrange(len(our_values)), rng.randrange(len(our_values))
        kind = rng.choice(["+", "*", "exp"])
        if kind == "exp":  # of a sum that stays small, so that no float overflows
            small = torch.tensor(0.01, dtype=torch.float64)
            our_values.append((our_values[i] * type(ours[0])(small)).exp())
            their_values.append((their_values[i] * small).exp())
        elif kind == "+":
            our_values.append(our_values[i] + our_values[j])
            their_values.append(their_values[i] + their_values[j])
        else:
            our_values.append(our_values[i] * our_values[j])
            their_values.append(their_values[i] * their_values[j])
        told.append(f"{kind}({i}, {j})")
    run_backward(our_values[-1].sum())
    their_values[-1].sum().backward()
    return " ".join(told)


def _difference(ours: Tensor | None, theirs: Tensor | None) -> str | None:
    if ours is None or theirs is None:
        return None if ours is theirs else f"your gradient is {ours}, PyTorch's is {theirs}"
    if ours.shape != theirs.shape:
        return f"your gradient has shape {tuple(ours.shape)}, PyTorch's has {tuple(theirs.shape)}"
    if not torch.allclose(ours, theirs, rtol=1e-9, atol=1e-12):
        return f"your gradient is {ours.tolist()}, PyTorch's is {theirs.tolist()}"
    return None
