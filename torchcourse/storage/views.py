"""May `view(shape)` be had without a copy, and if not, which dimensions forbid it?

The rule is `computeStride_impl` in aten/src/ATen/TensorUtils.cpp, the meaning of -1 `infer_size_impl`
in aten/src/ATen/InferSize.h.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from math import prod
from operator import mul

import torch

from ._strided import brief, check_strided, integer, looking

Pair = tuple[int, int]

MOST_ELEMENTS = 2**63 - 1  # PyTorch counts in int64, from the first size to the last


@dataclass(frozen=True, repr=False)
class NoView:
    """Why `tensor.view(shape)` raises. `str()` is the reason as a sentence."""

    shape: tuple[int, ...]  # as it was asked for
    size: tuple[int, ...]  # of the tensor
    stride: tuple[int, ...]  # in elements
    dimensions: tuple[Pair, ...] = ()  # the tensor's neighbours that the view would have to walk as one
    count: str = ""  # the reason where the number of elements doesn't fit, whatever the strides

    def __str__(self) -> str:
        return self.count or _sentence(self)

    __repr__ = __str__  # so that why_no_view(x, shape) as a cell's last line reads well


@looking
def why_no_view(tensor: torch.Tensor, *shape: int | Sequence[int]) -> NoView | None:
    """None where `tensor.view(shape)` works, else the reason. No view is made.

    One dimension of a view may walk several of the tensor's where each one's stride is the next one's
    size times its stride: then they are one walk with a single step. Raises TypeError for a shape that
    isn't made of integers (`view(dtype)` follows other rules and isn't answered here), and TypeError
    or ValueError, as `facts` does, for a tensor without strides.
    """
    check_strided(tensor, "why_no_view")
    wanted, numel = _integers(shape), tensor.numel()
    size, stride = tuple(tensor.size()), tuple(tensor.stride())
    if count := _no_arrangement(wanted, numel):
        return NoView(wanted, size, stride, count=count)
    if numel == 0:
        return None  # where nothing is stepped on, any stride will do
    inferred = tuple(numel // _product(wanted) if n == -1 else n for n in wanted)
    pairs = _forbidden(size, stride, inferred)
    return NoView(wanted, size, stride, pairs) if pairs else None


def _integers(shape: tuple[int | Sequence[int], ...]) -> tuple[int, ...]:
    if not shape:
        raise TypeError("why_no_view takes a tensor and a shape: why_no_view(x, (2, 6)).")
    entries = shape[0] if len(shape) == 1 and isinstance(shape[0], Sequence) else shape
    return tuple(map(_integer, entries))


def _integer(entry: object) -> int:
    if isinstance(entry, torch.dtype):
        raise TypeError(
            f"why_no_view takes a shape; view({entry}) keeps the bytes and reads them as another dtype, "
            "by rules that are not answered here."
        )
    number = integer(entry)
    if number is None:
        kind = type(entry).__name__
        raise TypeError(
            f"why_no_view takes a shape of integers, such as (2, 6); it got {brief(entry)}, a {kind}."
        )
    return number


def _no_arrangement(shape: tuple[int, ...], numel: int) -> str:
    """Why not even a copy could have this shape, or "". Mirrors `infer_size_impl`."""
    given = _product(shape)
    if not all(-MOST_ELEMENTS <= n <= MOST_ELEMENTS for n in shape):
        return (
            f"view({brief(shape)}) asks for more elements than an int64 can count; the tensor has {numel:,}."
        )
    if bad := [n for n in shape if n < -1]:
        return f"view({shape}): a size can't be {bad[0]}. Only -1 is allowed, once: it stands for the rest."
    if shape.count(-1) > 1:
        return f"view({shape}): only one size can be -1; two of them could share the rest in many ways."
    if max(accumulate((n for n in shape if n != -1), mul), default=0) > MOST_ELEMENTS:
        return f"view({shape}) asks for more elements than an int64 can count; the tensor has {numel:,}."
    if -1 not in shape and given != numel:
        return f"view({shape}) asks for {_elements(given)}; the tensor has {numel:,}."
    if -1 in shape and given == 0:
        return f"view({shape}): with any size in place of -1 there are 0 elements, so none can be inferred."
    if -1 in shape and numel % given:
        return f"view({shape}): {_elements(numel)} can't be shared out evenly among {given:,}."
    return ""


def _product(shape: tuple[int, ...]) -> int:
    return prod(n for n in shape if n != -1)


def _forbidden(size: tuple[int, ...], stride: tuple[int, ...], shape: tuple[int, ...]) -> tuple[Pair, ...]:
    """The neighbours that can't be merged and that the new shape doesn't keep apart."""
    # After how many elements, counted from the last, a dimension of the new shape is complete.
    complete = set(accumulate(reversed(shape), mul, initial=1))
    stepped = [d for d, n in enumerate(size) if n != 1]  # nobody steps along a size of 1
    return tuple(
        (p, q)
        for p, q in pairwise(stepped)
        if stride[p] != size[q] * stride[q] and prod(size[q:]) not in complete
    )


def _sentence(why: NoView) -> str:
    (p, q), *others = why.dimensions
    size, stride = why.size, why.stride
    text = (
        f"view({why.shape}) must walk dimensions {p} and {q} (size {size[p]:,}, {size[q]:,}; stride "
        f"{stride[p]:,}, {stride[q]:,}) with one step, but stride[{p}] = {stride[p]:,} is not "
        f"size[{q}]·stride[{q}] = {size[q] * stride[q]:,}"
    )
    return text + "".join(f"; dimensions {r} and {s} can't be walked as one either" for r, s in others) + "."


def _elements(n: int) -> str:
    return f"{n:,} element{'' if n == 1 else 's'}"
