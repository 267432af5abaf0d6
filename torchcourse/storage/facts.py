"""The plain facts of one tensor: its metadata, its storage, and which of its elements it touches.

It mirrors `c10::TensorImpl` (sizes, strides, storage offset) over `c10::StorageImpl` (bytes):
https://docs.pytorch.org/docs/stable/tensor_view.html
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from ._lattice import reached, spread
from ._strided import brief, check_strided, integer, looking, no_data
from ._twin import twin

# `Facts.touched` lists at most this many elements.
TOUCHED_LIMIT = 256

_FORMATS = ("contiguous_format", "channels_last", "channels_last_3d")


@dataclass(frozen=True, repr=False)
class Facts:
    """What a tensor is made of. Strides, offsets and counts are elements; `nbytes` are bytes."""

    class_name: str  # "Tensor", "Parameter", …
    size: tuple[int, ...]
    stride: tuple[int, ...]
    storage_offset: int
    dtype: str  # "float32"
    itemsize: int
    device: str  # as PyTorch prints it: "cpu", "cuda:0"
    layout: str  # "strided": other layouts have no such facts
    numel: int
    nbytes: int  # numel · itemsize: what a contiguous copy takes
    storage_nbytes: int  # what stays alive as long as this tensor does
    storage_elements: int  # the same, in whole elements of this dtype
    data: str  # "present"; "meta", "fake": the storage has a size but no data
    touched_elements: int | None  # distinct elements; None where counting them would take too long
    touched_nbytes: int | None
    touched: tuple[int, ...] | None  # the elements themselves, ascending; None above TOUCHED_LIMIT
    times: int | None  # how often the most read one is read: 1, or more when expanded or overlapping
    contiguous: bool
    memory_formats: tuple[str, ...]  # "contiguous_format", "channels_last", "channels_last_3d"
    is_view: bool  # autograd knows it as a view of `_base`; detach() and set_() share without that
    base_size: tuple[int, ...] | None  # the size of `_base`
    version: int | None  # in-place writes counted so far; None in an inference tensor
    requires_grad: bool
    is_conj: bool  # the stored values are still to be conjugated
    is_neg: bool  # the stored values are still to be negated

    @property
    def in_bounds(self) -> bool:
        """Whether the storage holds every element touched (not after `storage.resize_(0)`)."""
        return not self.numel or self.last_touched < self.storage_elements

    @property
    def last_touched(self) -> int:
        """The highest element of the storage that an index leads to; -1 where there is no element."""
        return self.storage_offset + _reach(self.size, self.stride) if self.numel else -1

    def __str__(self) -> str:
        return twin(self)

    __repr__ = __str__  # so that facts(x) as a cell's last line reads well


@looking
def facts(tensor: torch.Tensor) -> Facts:
    """The facts of one tensor, in time proportional to its dimensions; no element is read.

    Raises TypeError for anything but a tensor, and ValueError, with a sentence, for a tensor that has
    no strides into a storage of its own (sparse, nested, mkldnn, wrapper subclasses, inside vmap).
    """
    check_strided(tensor, "facts")
    size, stride, offset = tuple(tensor.size()), tuple(tensor.stride()), int(tensor.storage_offset())
    itemsize, storage_nbytes = tensor.element_size(), tensor.untyped_storage().nbytes()
    distinct, times = spread(size, stride) or (None, None)
    listed = distinct is not None and distinct <= TOUCHED_LIMIT
    base = tensor._base
    return Facts(
        class_name=type(tensor).__name__,
        size=size,
        stride=stride,
        storage_offset=offset,
        dtype=_short(tensor.dtype),
        itemsize=itemsize,
        device=str(tensor.device),
        layout=_short(tensor.layout),
        numel=tensor.numel(),
        nbytes=tensor.numel() * itemsize,
        storage_nbytes=storage_nbytes,
        storage_elements=storage_nbytes // itemsize,
        data=no_data(tensor) or "present",
        touched_elements=distinct,
        touched_nbytes=None if distinct is None else distinct * itemsize,
        touched=reached(size, stride, offset) if listed else None,
        times=times,
        contiguous=tensor.is_contiguous(),
        memory_formats=tuple(f for f in _FORMATS if tensor.is_contiguous(memory_format=getattr(torch, f))),
        is_view=tensor._is_view(),
        base_size=None if base is None else tuple(base.size()),
        version=None if tensor.is_inference() else tensor._version,
        requires_grad=tensor.requires_grad,
        is_conj=tensor.is_conj(),
        is_neg=tensor.is_neg(),
    )


@looking
def address(tensor: torch.Tensor, *index: int) -> int:
    """The element of the storage that this index reads: storage_offset + Σ index·stride.

    `index` is one integer per dimension, or a tuple of them; negative ones count from the end.
    Raises TypeError for anything but integers, ValueError for too few, too many, or one out of range.
    """
    check_strided(tensor, "address")
    chosen = _integers(index[0] if len(index) == 1 and isinstance(index[0], Sequence) else index)
    if len(chosen) != tensor.dim():
        plural = "" if tensor.dim() == 1 else "s"
        raise ValueError(
            f"address: a tensor of size {tuple(tensor.size())} takes {tensor.dim()} number{plural} "
            f"as index; it got {len(chosen)}: {brief(chosen)}."
        )
    for d, (i, n) in enumerate(zip(chosen, tensor.size(), strict=True)):
        if not -n <= i < n:
            raise ValueError(_out_of_range(d, i, n))
    steps = zip(chosen, tensor.size(), tensor.stride(), strict=True)
    return int(tensor.storage_offset()) + sum((i + n if i < 0 else i) * s for i, n, s in steps)


def _out_of_range(d: int, i: int, n: int) -> str:
    if n == 0:
        return (
            f"address: index {brief(i)} in dimension {d} is out of range: its size is 0, so it has no index."
        )
    return (
        f"address: index {brief(i)} in dimension {d} is out of range: its size is {n}, so use 0 to {n - 1}."
    )


def _integers(index: Sequence[object]) -> tuple[int, ...]:
    return tuple(map(_integer, index))


def _integer(entry: object) -> int:
    number = integer(entry)
    if number is None:
        kind = type(entry).__name__
        raise TypeError(f"address takes one integer per dimension; it got {brief(entry)}, a {kind}.")
    return number


def _reach(size: Sequence[int], stride: Sequence[int]) -> int:
    return sum((n - 1) * s for n, s in zip(size, stride, strict=True))


def _short(name: torch.dtype | torch.layout) -> str:
    """float32 for torch.float32."""
    return str(name).removeprefix("torch.")
