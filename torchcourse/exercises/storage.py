"""Checks of chapter 01. Each takes the learner's function and compares it with PyTorch itself."""

from collections.abc import Iterator
from math import isclose
from typing import Any

import numpy as np
import torch
from torch import Tensor

from torchcourse.exercises import Raised, Verdict, almost, check, not_yet, right, wrong
from torchcourse.storage import relation

__all__ = ["merge_heads", "mse", "normalise", "shares_memory", "strides", "windows"]


@check
def strides(answer: Any) -> Iterator[Verdict]:
    """strides(size): the strides of a fresh contiguous tensor, in elements."""
    for size in [(3, 4), (2, 3, 4), (5,), (), (2, 1, 3)]:
        given, true = answer(size), torch.empty(size).stride()
        if not isinstance(given, (tuple, list)):
            yield not_yet(f"return a tuple with one number per dimension; got {type(given).__name__}.")
            return
        if tuple(given) != true:
            yield _wrong_strides(size, tuple(given), true)
            return
    yield right("the last dimension steps by 1, and each other one by the size of everything to its right.")


def _wrong_strides(size: tuple[int, ...], given: tuple[Any, ...], true: tuple[int, ...]) -> Verdict:
    told = f"for size {size} you say {given}, PyTorch says {true}."
    columns = torch.empty(size[::-1]).permute(*range(len(size))[::-1]).stride() if size else ()
    if given == tuple(4 * s for s in true) and size:
        return wrong(f"{told} Yours count bytes, as NumPy does; PyTorch counts elements.")
    if given == columns:
        return wrong(f"{told} In yours the first dimension is the fast one; in PyTorch it is the last.")
    if given == (*size[1:], 1):
        return almost(f"{told} A step must jump over *all* dimensions to its right, not only the next one.")
    if given == size:
        return wrong(f"{told} Yours is the size: how many there are, not how far apart they lie.")
    return (almost if size in [(), (5,), (2, 1, 3)] else wrong)(told)


@check
def shares_memory(answer: Any) -> Iterator[Verdict]:
    """shares_memory(a, b): True when a write through one tensor can be seen through the other."""
    x = torch.arange(12).reshape(3, 4)
    array = np.zeros(4, dtype=np.float32)
    cases = [
        (x, x.clone(), "a tensor and its clone"),
        (x, x.t(), "a tensor and its transpose"),
        (x, x[1], "a tensor and its row 1 (another `data_ptr()`, the same storage)"),
        (x, x.detach(), "a tensor and its `.detach()` (no `_base`, the same storage)"),
        (torch.from_numpy(array), torch.from_numpy(array), "two tensors made from one NumPy array"),
        (torch.empty(0), torch.empty(0), "two empty tensors (both have `data_ptr()` 0)"),
        (x[:, :2], x[:, 2:], "the left and the right half of one tensor (one storage, no common element)"),
    ]
    for a, b, what in cases:
        given, true = answer(a, b), relation(a, b) == "overlap"
        if not isinstance(given, bool):
            yield not_yet(f"return True or False; got {type(given).__name__}.")
            return
        if given != true:
            told = f"for {what} you say {given}; a write {'can' if true else 'can not'} be seen through the other."
            yield (almost if what.startswith(("two empty", "the left")) else wrong)(told)
            return
    yield right("you compare the addresses that are touched, not the names, the bases or the first elements.")


@check
def merge_heads(answer: Any) -> Iterator[Verdict]:
    """merge_heads(x): (batch, heads, time, dim) -> (batch, time, heads * dim), as attention needs it."""
    x = torch.arange(48.0).reshape(2, 2, 3, 4)
    true = x.permute(0, 2, 1, 3).reshape(2, 3, 8)
    given = answer(x.clone())
    if not isinstance(given, Tensor):
        yield not_yet(f"return a tensor; got {type(given).__name__}.")
    elif given.shape != true.shape:
        yield wrong(
            f"the result has shape {tuple(given.shape)}; (batch, time, heads·dim) is {tuple(true.shape)}."
        )
    elif torch.equal(given, x.reshape(2, 3, 8)):
        yield wrong(
            "the shape is right and the numbers are mixed: you merged heads with time. "
            "reshape keeps the row-major order, so reorder the dimensions first."
        )
    elif not torch.equal(given, true):
        yield wrong(
            "the shape is right, but the numbers are in another order: heads and dim must be neighbours."
        )
    else:
        yield right(
            "permute made heads and dim neighbours; merging them then needed one copy, made by you or by reshape."
        )


@check
def windows(answer: Any) -> Iterator[Verdict]:
    """windows(x, width, step): every window over a 1-D tensor, as one view without a copy."""
    signal = torch.arange(20.0)
    for x, what in [
        (signal[:10], "x = signal[:10]"),
        (signal[5:17], "x = signal[5:17]"),
        (signal[::2], "x = signal[::2]"),
    ]:
        given, true = answer(x, 4, 2), x.unfold(0, 4, 2)
        if not isinstance(given, Tensor):
            yield not_yet(f"return a tensor; got {type(given).__name__}.")
            return
        if given.shape != true.shape:
            yield wrong(
                f"for {what}, width 4, step 2 the result has shape {tuple(given.shape)}; expected {tuple(true.shape)}."
            )
            return
        if not torch.equal(given, true):
            yield _wrong_windows(what, given, true)
            return
        if relation(given, x) != "overlap":
            yield almost("the numbers are right, but they were copied: no window shares memory with x.")
            return
    yield right("one storage, and each element stands in several windows: no number was copied.")


def _wrong_windows(what: str, given: Tensor, true: Tensor) -> Verdict:
    told = f"for {what} the first window is {given[0].tolist()}, expected {true[0].tolist()}."
    if "5:17" in what:
        return almost(f"{told} x does not begin at the start of its storage: start at x.storage_offset().")
    if "::2" in what:
        return almost(f"{told} x itself steps over its storage: multiply by x.stride(0).")
    return wrong(f"{told} All windows: {given.tolist()}")


@check
def normalise(answer: Any) -> Iterator[Verdict]:
    """normalise(array): a float32 tensor with mean 0 and deviation 1; the caller's array stays as it is."""
    for dtype in (np.float32, np.float64):
        array = np.array([1.0, 2.0, 3.0, 6.0], dtype=dtype)
        before = array.copy()
        given = answer(array)
        if not isinstance(given, Tensor):
            yield not_yet(f"return a tensor; got {type(given).__name__}.")
            return
        if not np.array_equal(array, before):
            yield wrong(
                f"the caller's {array.dtype} array is now {array.round(2).tolist()}: your tensor shared its memory, "
                "and you wrote in place."
            )
            return
        if given.dtype != torch.float32:
            yield almost(f"the result is {given.dtype}; a model's weights are float32.")
            return
        if given.shape != array.shape:
            yield wrong(f"the result has shape {tuple(given.shape)}; the array has {array.shape}.")
            return
        true = torch.tensor((before - before.mean()) / before.std(), dtype=torch.float32)
        unbiased = torch.tensor((before - before.mean()) / before.std(ddof=1), dtype=torch.float32)
        if not any(torch.allclose(given, t, atol=1e-5) for t in (true, unbiased)):
            yield wrong(
                f"for {before.tolist()} the result is {given.tolist()}; expected about {true.tolist()}."
            )
            return
    yield right(
        "the tensor has its own memory (or nothing was written in place), and the array is untouched."
    )


@check
def mse(answer: Any) -> Iterator[Verdict]:
    """mse(prediction, target): the mean squared error of (N, 1) and (N,), without a silent broadcast."""
    for n in (4, 1):
        target = torch.arange(float(n)) + 1
        given = answer(target[:, None] + 1, target)
        if not isinstance(given, Tensor) or given.dim():
            yield not_yet(f"return a tensor without dimensions; got {_what(given)}.")
            return
        told = f"every prediction is off by 1, so the error is 1; you say {given.item():g}."
        broadcast = (target[:, None] + 1 - target).pow(2).mean()
        if n > 1 and isclose(given.item(), broadcast.item(), rel_tol=1e-5):
            yield wrong(f"{told} ({n}, 1) − ({n},) is ({n}, {n}): all pairs.")
            return
        if not isclose(given.item(), 1.0, rel_tol=1e-5):
            yield wrong(told)
            return
    yield from _mse_of_wrong_shapes(answer)


def _mse_of_wrong_shapes(answer: Any) -> Iterator[Verdict]:
    """A right mse refuses shapes that don't belong together."""
    try:
        answer(torch.zeros(3, 1), torch.zeros(4))
    except Raised:
        yield right("both shapes agree before the subtraction, and shapes that don't belong together raise.")
        return
    yield almost(
        "3 predictions and 4 targets give a number; they should raise. Look at `reshape` or `squeeze(1)`."
    )


def _what(value: Any) -> str:
    return f"a tensor of shape {tuple(value.shape)}" if isinstance(value, Tensor) else type(value).__name__
