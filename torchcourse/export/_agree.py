"""Whether two outputs agree, and by how much they differ."""

import math
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from . import _leaves

# dtype → (rtol, atol). Wider than torch.testing's in float32 and below: another library sums in another order.
TOLERANCES = {
    torch.float64: (1e-7, 1e-7),
    torch.float32: (1e-4, 1e-5),
    torch.float16: (1e-2, 1e-3),
    torch.bfloat16: (2e-2, 1e-2),
    torch.complex128: (1e-7, 1e-7),
    torch.complex64: (1e-4, 1e-5),
}


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether all agrees; the largest absolute error; what differs first, and in words except for values."""

    agree: bool
    max_error: float
    what: str = ""
    sentence: str = ""


def held(way: Any, eager: Any) -> Verdict:
    """The way's output against the eager model's, leaf by leaf: dtype, shape, then values; NaN equals NaN."""
    mine, theirs = _leaves.of_output(way), _leaves.of_output(eager)
    if len(mine) != len(theirs):
        sentence = f"it returns {len(mine)} outputs, and the eager model {len(theirs)}"
        return Verdict(False, math.inf, "number of outputs", sentence)
    verdicts = [_leaf(a, b) for a, b in zip(mine, theirs, strict=True)]
    wrong = [verdict for verdict in verdicts if not verdict.agree]
    error = max((verdict.max_error for verdict in verdicts), default=0.0)
    return Verdict(False, error, wrong[0].what, wrong[0].sentence) if wrong else Verdict(True, error)


def _leaf(way: Any, eager: Any) -> Verdict:
    if _leaves.number(eager) and (_leaves.number(way) or _is_scalar(way)):
        # A size or a number has no dtype in Python; in a graph it is a tensor of one element.
        return _values(torch.as_tensor(way).double(), torch.tensor(float(eager)).double(), torch.float32)
    if not isinstance(way, Tensor) or not isinstance(eager, Tensor):
        sentence = f"it returns {type(way).__name__}, and the eager model {type(eager).__name__}"
        return Verdict(True, 0.0) if equal(way, eager) else Verdict(False, math.inf, "type", sentence)
    a, b = _plain(way), _plain(eager)
    if a.shape != b.shape:
        sentence = f"its output has shape {list(a.shape)}, and the eager model's {list(b.shape)}"
        return Verdict(False, math.inf, "shape", sentence)
    verdict = _values(a, b, b.dtype)
    if a.dtype != b.dtype:
        sentence = f"its output is {_name(a.dtype)}, and the eager model's {_name(b.dtype)}"
        return Verdict(False, verdict.max_error, "dtype", sentence)
    return verdict


def _values(a: Tensor, b: Tensor, dtype: torch.dtype) -> Verdict:
    wide = torch.complex128 if a.is_complex() or b.is_complex() else torch.float64
    x, y = a.to(wide), b.to(wide)
    exact = (a == b) if not dtype.is_floating_point else (x == y)  # 64-bit integers as they are
    equal = exact | (x.isnan() & y.isnan())
    if dtype.is_floating_point or dtype.is_complex:
        rtol, atol = TOLERANCES.get(dtype, (0.1, 0.1))  # the 8-bit floats
    else:
        rtol = atol = 0.0
    error = torch.where(equal, 0.0, (x - y).abs())
    close = equal | (error <= atol + rtol * y.abs())
    # A number against NaN, or an infinity against anything else, can't be subtracted.
    largest = float(error.nan_to_num(nan=math.inf).max()) if error.numel() else 0.0
    if bool(close.all()):
        return Verdict(True, largest)
    return Verdict(False, largest, "values")


def _plain(tensor: Tensor) -> Tensor:
    dense = tensor if tensor.layout == torch.strided else tensor.to_dense()
    if dense.is_quantized:
        dense = dense.dequantize()
    return dense.detach().cpu()


def equal(way: Any, eager: Any) -> bool:
    """Two values that are no tensors: a string, an object."""
    try:
        return type(way) is type(eager) and bool(way == eager)
    except Exception:  # whatever an __eq__ of the reader's does
        return False


def _is_scalar(value: Any) -> bool:
    return isinstance(value, Tensor) and value.dim() == 0


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")
