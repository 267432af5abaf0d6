"""What a node of the graph saved, on every release of torch, without running an unpack hook.

Since some release after 2.9 Python sees `SavedTensor.data` and `.unpack_hook` (torch/csrc/autograd/init.cpp). Before,
the only way in is `node._saved_x`, which unpacks. A hook would run, so it is stopped at its first step: a profile
function sees its frame before a line of it runs, and raises. That frame holds the hook and what it packed.
Unpacking may also detach the tensor, and for a subclass or under a mode `detach` is Python code too: while the hook
is looked for, no dispatch reaches Python.
"""

import gc
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import CellType, FrameType, FunctionType
from typing import Any

import torch
from torch.utils import _python_dispatch as dispatch

_SavedTensor = getattr(torch._C._autograd, "SavedTensor", None)
SEEN = hasattr(_SavedTensor, "unpack_hook") and hasattr(_SavedTensor, "data")


class _Stopped(BaseException):
    """A hook was about to run."""


class OldSaved:
    """A `SavedTensor` of an older release, with what newer ones show of it."""

    def __init__(self, node: Any, name: str, place: int | None) -> None:
        self._node, self._name, self._place = node, name, place
        self._told: tuple[Any, Any] | RuntimeError | None = None  # asked once, so that all answers agree

    @property
    def unpack_hook(self) -> Any:
        with suppress(RuntimeError):
            return self._read()[1]
        return None

    @property
    def data(self) -> Any:
        """What was packed, or the tensor; None where a write in place has made it unreadable."""
        with suppress(RuntimeError):
            value, hook = self._read()
            return value if hook or self._place is None else value[self._place]
        return None

    def unpack(self) -> Any:
        """The tensor; RuntimeError as PyTorch words it where its version is not the saved one."""
        value, _ = self._read()
        return value if self._place is None else value[self._place]

    def _read(self) -> tuple[Any, Any]:
        if self._told is None:
            try:
                self._told = _stopping(lambda: getattr(self._node, self._name))
            except RuntimeError as error:
                self._told = error
        if isinstance(self._told, RuntimeError):
            raise self._told
        return self._told


def _old(node: Any, raw_name: str, *default: Any) -> Any:
    raw = getattr(node, raw_name, *default)  # raises where backward has freed it
    if default and raw is default[0]:
        return raw
    # A custom Function has no other name for all that it saved.
    custom = isinstance(node, torch._C._FunctionBase)
    name = "saved_tensors" if custom else raw_name.removeprefix("_raw")
    if isinstance(raw, (tuple, list)):
        return tuple(OldSaved(node, name, place) for place in range(len(raw)))
    return OldSaved(node, name, None)


# `raw_saved(node, "_raw_saved_self")`: an object with `.data`, `.unpack_hook` and `.unpack()`, or a tuple of such.
raw_saved: Callable[..., Any] = getattr if SEEN else _old


def _stopping(read: Callable[[], Any]) -> tuple[Any, Any]:
    """(what `read` gives, None), or (what was packed, its hook) where a hook would have run."""
    hook = _first_call(read)
    if hook is not None:
        return _first_argument(hook), _hook(hook)
    with _without_modes():
        return read(), None


def _first_call(read: Callable[[], Any]) -> FrameType | None:
    """The frame of the hook that `read` comes to, stopped before its first line; None where there is no hook."""
    caught: list[FrameType] = []
    reader = read.__code__

    def stop(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code is not reader:
            caught.append(frame)
            raise _Stopped

    before, collects = sys.getprofile(), gc.isenabled()
    gc.disable()  # a finalizer or a callback of the collector would look like the hook
    with torch._C._DisableTorchDispatch():
        sys.setprofile(stop)
        try:
            read()
        except BaseException:
            if not caught:
                raise
        finally:
            sys.setprofile(before)
            if collects:
                gc.enable()
    return caught[0] if caught else None


@contextmanager
def _without_modes() -> Iterator[None]:
    """Inside, no mode of the reader's sees an operator; a subclass still runs its own code."""
    above = [dispatch._pop_mode() for _ in dispatch._get_current_dispatch_mode_stack()]
    try:
        yield
    finally:
        for mode in reversed(above):
            dispatch._push_mode(mode)


def _first_argument(frame: FrameType) -> Any:
    names = frame.f_code.co_varnames[: frame.f_code.co_argcount]
    values = [frame.f_locals[name] for name in names if name != "self"]
    return values[0] if values else None


def _hook(frame: FrameType) -> Any:
    """A function like the one that was about to run, with what it closes over."""
    code = frame.f_code
    cells = (CellType(frame.f_locals[n]) if n in frame.f_locals else CellType() for n in code.co_freevars)
    return FunctionType(code, frame.f_globals, code.co_name, None, tuple(cells))
