"""Which calls of PyTorch's front pass a value on, write one, or hand it to Python: the tables of `flow`."""

import sys
from collections.abc import Iterable, Iterator
from types import CodeType, FrameType
from typing import Any

import torch
from torch import Tensor

from ._torch import MAKES_GRADIENTS
from .record import QUIET

# Python gets the value, and no graph follows it there.
EXITS: dict[Any, str] = {
    Tensor.item: ".item()",
    Tensor.tolist: ".tolist()",
    Tensor.__float__: "float(tensor)",
    Tensor.__int__: "int(tensor)",
    Tensor.__index__: "int(tensor)",
    Tensor.numpy: ".numpy()",
    Tensor.__array__: ".numpy()",
}
BACKWARD = (Tensor.backward, torch.autograd.backward)
# These hand over no value that was computed from their argument.
NO_VALUE = QUIET | {
    *BACKWARD,
    getattr(Tensor, "grad").__get__,  # noqa: B009 - as a descriptor, which the stubs don't tell
    Tensor.requires_grad_,
    Tensor.retain_grad,
    Tensor.register_hook,
}
_SHAPE_ONLY = ("_like", "new_empty", "new_empty_strided", "new_full", "new_ones", "new_zeros")
_OVERWRITES = ("copy_", "fill_", "zero_", "normal_", "uniform_", "bernoulli_", "random_", "exponential_")
_ENGINE = ("torch/autograd/function.py", "torch/autograd/graph.py")
MOST = 4096  # numbers of one `.tolist()` that are recognised when they come back

_WRITING = frozenset(
    {"__setitem__"}
    | {f"__i{name}__" for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow")}
    | {f"__i{name}__" for name in ("and", "or", "xor", "lshift", "rshift")}
)
_FLAT = frozenset({"round", "floor", "ceil", "trunc", "fix", "sign", "sgn", "heaviside", "floor_divide"})


def reads(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
    """Of these arguments, those whose values the result is computed from; of others it takes the shape."""
    if name.endswith(_SHAPE_ONLY):
        return tuple(number for number in (*args, *kwargs.values()) if not isinstance(number, Tensor))
    if name.endswith("_as"):
        return args[:1]
    return (*args[1:], *kwargs.values()) if overwrites(name) else (*args, *kwargs.values())


def overwrites(name: str) -> bool:
    """What the first argument held is not read."""
    return name in _OVERWRITES or name == "new_tensor"


def flat(func: Any) -> bool:
    """Recorded, with a slope of 0 everywhere: no gradient comes through."""
    return getattr(func, "__name__", "").strip("_") in _FLAT


def mode() -> str | None:
    if torch.is_inference_mode_enabled():
        return "inference_mode"
    return None if torch.is_grad_enabled() else "no_grad"


def writes(name: str) -> bool:
    """`add_`, `__iadd__`, `__setitem__`: the call writes its first argument."""
    return name in _WRITING or (name.endswith("_") and not name.endswith("__"))


def in_a_function() -> bool:
    """Inside the forward or backward of an `autograd.Function`: what it records stands for all of it."""
    codes = [frame.f_code for frame in _frames()]
    if any(code.co_filename.replace("\\", "/").endswith(_ENGINE) for code in codes):
        return True
    return not _forwards().isdisjoint(codes)  # since 2.14 `apply` is C++, which has no frame of its own


def _frames() -> Iterator[FrameType]:
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        yield frame
        frame = frame.f_back


def _forwards() -> set[CodeType]:
    """The code of every `forward` of an `autograd.Function` that there is."""
    kinds: list[Any] = [torch.autograd.Function]
    for kind in kinds:  # the list grows while it is read
        kinds += kind.__subclasses__()
    return {code for kind in kinds if (code := getattr(kind.forward, "__code__", None)) is not None}


def given_to_backward() -> list[Tensor]:
    """The outputs of the `torch.autograd.backward` that runs this call, where it is no call of its own."""
    if MAKES_GRADIENTS is None:
        return []
    running = (frame for _, frame in zip(range(6), _frames(), strict=False))
    asks = next((frame for frame in running if frame.f_code is MAKES_GRADIENTS), None)
    return [] if asks is None else [out for out in asks.f_locals["outputs"] if isinstance(out, Tensor)]


def numbers_in(values: Iterable[Any], depth: int = 2) -> list[Any]:
    """Floats, large ints and arrays among arguments: those that can be told apart by identity."""
    found: list[Any] = []
    for value in values:
        if type(value) is float or (type(value) is int and not -5 <= value <= 256):
            found.append(value)
        elif depth and isinstance(value, (list, tuple)) and len(value) <= MOST:
            found += numbers_in(value, depth - 1)
        elif address(value) is not None:
            found.append(value)
    return found[:MOST]


def address(value: Any) -> int | None:
    """Where a NumPy array begins in memory; None for anything else. NumPy is not imported for it."""
    if type(value).__module__ != "numpy" or not hasattr(value, "__array_interface__"):
        return None
    return int(value.__array_interface__["data"][0]) if getattr(value, "ndim", 0) else None
