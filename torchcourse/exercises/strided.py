"""Holds the strided tensor that a reader rebuilds in chapter 01 to torch's own, on random chains of views."""

from itertools import product
from math import prod
from random import Random
from typing import Any

import torch
from torch import Tensor

from torchcourse.exercises import Verdict, rebuild, right, wrong

__all__ = ["compare_strided"]


@rebuild
def compare_strided(
    strided: Any, swap: Any, cut: Any, expand: Any, view: Any, rng: Random, programs: int = 200
) -> Verdict:
    """Run random chains of views on the rebuilt tensor and on torch's: the first difference, or agreement.

    The functions are those of chapter 01's "Rebuild it". Sizes must agree, every element, and where `view`
    refuses. Strides are compared where a dimension has more than one element: elsewhere they say nothing.
    """
    refused = 0
    for _ in range(programs):
        size = tuple(rng.randint(1, 4) for _ in range(rng.randint(1, 4)))
        theirs = torch.arange(prod(size)).reshape(size)
        ours, told = strided(range(prod(size)), size), f"size {size}"
        for _ in range(rng.randint(1, 4)):
            try:
                step, ours, theirs, both_refused = _random_view(rng, swap, cut, expand, view, ours, theirs)
            except _Differs as why:
                return wrong(f"{told}: {why}")
            told, refused = f"{told} → {step}", refused + both_refused
            if difference := _difference(ours, theirs):
                return wrong(f"{told}: {difference}")
    return right(
        f"{programs} random chains of views agree with PyTorch; {refused} times both refused a view."
    )


def _random_view(
    rng: Random, swap: Any, cut: Any, expand: Any, view: Any, ours: Any, theirs: Tensor
) -> tuple[str, Any, Tensor, bool]:
    """One random view on both: what it was, the two results, and whether both refused it."""
    dim = rng.randrange(theirs.dim())
    n = theirs.size(dim)
    kind = rng.choice(["swap", "cut", "view", "view"] + ["expand"] * (n == 1))
    if kind == "swap":
        other = rng.randrange(theirs.dim())
        return f"swap({dim}, {other})", swap(ours, dim, other), theirs.transpose(dim, other), False
    if kind == "cut":
        start, step = rng.randrange(n), rng.randint(1, 2)
        cut_theirs = theirs[(slice(None),) * dim + (slice(start, n, step),)]
        return f"cut({dim}, {start}, {n}, {step})", cut(ours, dim, start, n, step), cut_theirs, False
    if kind == "expand":
        wide = [3 if d == dim else -1 for d in range(theirs.dim())]
        return f"expand({dim}, 3)", expand(ours, dim, 3), theirs.expand(wide), False
    shape = _random_shape(rng, theirs.numel())
    return f"view{shape}", *_view_both(view, ours, theirs, shape)


def _view_both(view: Any, ours: Any, theirs: Tensor, shape: tuple[int, ...]) -> tuple[Any, Tensor, bool]:
    """The view on both, or both as they were where both refuse; _Differs where one does alone."""
    try:
        new_ours = view(ours, shape)
    except ValueError:
        new_ours = None
    try:
        new_theirs = theirs.view(shape)
    except RuntimeError:
        if new_ours is not None:
            raise _Differs(
                f"yours makes the view {shape} of stride {theirs.stride()}, PyTorch refuses"
            ) from None
        return ours, theirs, True
    if new_ours is None:
        raise _Differs(f"yours refuses the view {shape}, PyTorch makes it with stride {new_theirs.stride()}")
    return new_ours, new_theirs, False


class _Differs(Exception):
    """One of the two refuses a view that the other makes."""


def _random_shape(rng: Random, n: int) -> tuple[int, ...]:
    """A random shape of n elements, sizes of 1 among them."""
    shape = []
    while n > 1:
        divisor = rng.choice([d for d in range(2, n + 1) if n % d == 0])
        shape.append(divisor)
        n //= divisor
    shape += [1] * rng.randint(not shape, 1)
    rng.shuffle(shape)
    return tuple(shape)


def _difference(ours: Any, theirs: Tensor) -> str | None:
    """A sentence on how the two differ, or None."""
    if tuple(ours.size) != tuple(theirs.shape):
        return f"your size is {tuple(ours.size)}, PyTorch's is {tuple(theirs.shape)}"
    moving = [k for k in range(theirs.dim()) if theirs.size(k) > 1]
    if [ours.stride[k] for k in moving] != [theirs.stride(k) for k in moving]:
        return f"your stride is {tuple(ours.stride)}, PyTorch's is {theirs.stride()}"
    for index in product(*map(range, theirs.shape)):
        if ours[index] != theirs[index]:
            return f"your element {index} is {ours[index]}, PyTorch's is {theirs[index].item()}"
    return None
