"""Statistics of a gradient, taken without keeping it."""

import math
from dataclasses import dataclass
from typing import Any

import torch

from . import _torch
from .data import maker
from .saved import dtype_name

SMALL = 16  # elements whose values are kept


@dataclass(frozen=True, slots=True)
class Stats:
    """A gradient in numbers. norm, min, max: None where there are none (no element, no data, nested)."""

    shape: tuple[int, ...]
    dtype: str
    norm: float | None = None  # the 2-norm over all elements
    min: float | None = None  # of a complex one: of its absolute values
    max: float | None = None
    nan: int = 0  # elements
    inf: int = 0
    values: tuple[float | complex, ...] | None = None  # in row-major order, up to SMALL of them

    @property
    def finite(self) -> bool:
        return not self.nan and not self.inf

    @property
    def mean(self) -> float | complex | None:
        """Where the values are kept."""
        return sum(self.values) / len(self.values) if self.values else None

    def __str__(self) -> str:
        size = str(list(self.shape)) if self.shape else ""
        if self.values is not None and len(self.values) <= 4:
            body = ", ".join(_number(v) for v in self.values)
            body = body if not self.shape else f"[{body}]"
        else:
            body = "no numbers" if self.norm is None else f"norm {_number(self.norm)}"
        bad = [f"{n} {what}" for n, what in ((self.nan, "NaN"), (self.inf, "Inf")) if n]
        return " ".join(part for part in (body, size, *bad) if part)


make_stats = maker(Stats)


def _number(value: Any) -> str:
    return str(value) if isinstance(value, complex) else f"{value:.4g}"


def stats(tensor: torch.Tensor | None) -> Stats | None:
    """The numbers of one gradient; a sparse one counts its stored values. None for None."""
    if tensor is None:
        return None
    if _torch.unseen(tensor):
        return _measured(tensor)
    with _torch.quiet():
        return _measured(tensor)


def _measured(tensor: torch.Tensor) -> Stats:
    try:
        return _stats(tensor)
    except (RuntimeError, NotImplementedError, TypeError):  # a layout, device or subclass without them
        return Stats(() if tensor.is_nested else tuple(tensor.shape), dtype_name(tensor.dtype))


def _stats(tensor: torch.Tensor) -> Stats:
    shape, dtype = tuple(tensor.shape), dtype_name(tensor.dtype)
    data = tensor.coalesce().values() if tensor.layout == torch.sparse_coo else tensor
    n = data.numel()
    if not n or data.is_meta:
        return Stats(shape, dtype)
    if n <= SMALL:
        return _of_values(shape, dtype, tuple(data.reshape(-1).tolist()))
    return _of_many(shape, dtype, data.abs() if data.is_complex() else data)


def reshaped(known: Stats | None, tensor: torch.Tensor) -> Stats | None:
    """What is known of a gradient, for a tensor of the same elements in another shape or order."""
    if known is None or known.values is not None:  # the order counts
        return stats(tensor)
    shape = tuple(tensor.shape)
    return make_stats(shape, known.dtype, known.norm, known.min, known.max, known.nan, known.inf)


def _of_values(shape: tuple[int, ...], dtype: str, values: tuple[Any, ...]) -> Stats:
    sizes = [abs(v) for v in values]
    reals = sizes if isinstance(values[0], complex) else values
    nan = sum(v != v for v in values)
    low, high = (math.nan, math.nan) if nan else (min(reals), max(reals))
    norm = math.nan if nan else math.hypot(*sizes)
    return Stats(shape, dtype, norm, low, high, nan, sum(s == math.inf for s in sizes), values)


def _of_many(shape: tuple[int, ...], dtype: str, data: torch.Tensor) -> Stats:
    narrow = data.dtype in (torch.float16, torch.bfloat16)
    norm = torch.linalg.vector_norm(data, dtype=torch.float32 if narrow else None).item()
    # aminmax would copy what does not lie in order, and so raise the peak of memory.
    least, most = torch.aminmax(data) if data.is_contiguous() else (data.amin(), data.amax())
    low, high = float(least.item()), float(most.item())
    if math.isfinite(low) and math.isfinite(high):
        return make_stats(shape, dtype, norm, low, high)
    nan, inf = int(data.isnan().sum().item()), int(data.isinf().sum().item())
    return make_stats(shape, dtype, norm, low, high, nan, inf)
