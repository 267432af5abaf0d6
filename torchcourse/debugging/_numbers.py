"""Is a tensor finite, and what is in it. Asking costs one pass; a mode or a graph of the reader's sees nothing."""

import math
from typing import Any

import torch
from torch import Tensor

from torchcourse.autograd._torch import quiet

from .data import Operand

UNKNOWN = (RuntimeError, NotImplementedError, TypeError)  # a layout, device or subclass that can't be asked


def finite(tensor: Tensor) -> bool:
    """Whether every element is. True for what has no numbers to look at (integers, meta, no element)."""
    if not (tensor.is_floating_point() or tensor.is_complex()) or tensor.is_meta:
        return True
    try:
        # One addition per element is the cheapest look: a NaN or Inf stays in the sum.
        total = dense(tensor).sum().item()
        if math.isfinite(total.real) and math.isfinite(total.imag):
            return True
        return bool(torch.isfinite(dense(tensor)).all().item())  # a sum of finite numbers may overflow
    except UNKNOWN:
        return True


def dense(tensor: Tensor) -> Tensor:
    """The numbers of a tensor, for sparse and nested ones those that are stored."""
    if tensor.layout == torch.strided and not tensor.is_nested:
        return tensor
    if tensor.layout == torch.sparse_coo:
        return tensor._values()
    return tensor.values()


def operand(name: str, value: Any) -> Operand:
    """The statistics of one input, or the text of a number."""
    if not isinstance(value, Tensor):
        return Operand(name, value=repr(value))
    with quiet():
        try:
            return _measured(name, value.detach())
        except UNKNOWN:
            return Operand(name, _shape(value), _dtype(value))


def _shape(tensor: Tensor) -> tuple[int, ...]:
    return () if tensor.is_nested else tuple(tensor.shape)


def _dtype(tensor: Tensor) -> str:
    return str(tensor.dtype).removeprefix("torch.")


def _measured(name: str, tensor: Tensor) -> Operand:
    shape, dtype, data = _shape(tensor), _dtype(tensor), dense(tensor)
    if not data.numel() or data.is_meta or not tensor.dtype.is_signed:
        return Operand(name, shape, dtype, count=data.numel())
    data = data.abs() if data.is_complex() else data
    nan = int(data.isnan().sum())
    known = data[~data.isnan()] if nan else data
    low, high = (None, None) if not known.numel() else (float(known.min()), float(known.max()))
    inf, zeros, negatives = (int(m.sum()) for m in (data.isinf(), data == 0, data < 0))
    return Operand(name, shape, dtype, low, high, nan, inf, zeros, negatives, data.numel())


def kind_of(tensors: list[Tensor]) -> str:
    """ "NaN" where one has a NaN, else "Inf"."""
    with quiet():
        return "NaN" if any(bool(dense(t).isnan().any()) for t in tensors) else "Inf"
