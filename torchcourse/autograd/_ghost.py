"""What an in-place write on a view hides: the node inside `CopySlices`.

`CopySlices` (torch/csrc/autograd/functions/tensor.cpp) wraps the node of `view.mul_(w)`, and Python can
see neither that node nor whether it is still there. Its first act, though, is to unpack what it saved.
So `CopySlices` is handed a gradient without data (on the meta device), and a mode stops it at the first
operator after that. No kernel runs, and a trace function stops it at the first line of anybody's Python
(an unpack hook, a custom Function's backward).
"""

import os
import sys
from types import FrameType
from typing import Any

import torch
from torch.utils import _python_dispatch
from torch.utils._python_dispatch import TorchDispatchMode

from . import _torch

# What CopySlices itself does with a gradient before it hands it on.
_OWN = frozenset({"new_empty_strided", "copy_", "as_strided", "clone"})
# Python that PyTorch itself needs to hand an operator to a mode.
_ALLOWED = frozenset({__file__, _python_dispatch.__file__, torch._ops.__file__})
_LIBRARY = os.path.join(os.path.dirname(torch.__file__), "_library", "")


class _Stop(Exception):
    """The node has got past its saved tensors, or would run Python: function is then a custom Function."""

    function: Any = None


class _Ghost(TorchDispatchMode):
    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # else torch._dynamo is imported, a second's work, and its wrapper is stopped

    def __init__(self) -> None:
        super().__init__()
        self.cloned = False

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = func.overloadpacket.__name__
        if name not in _OWN or self.cloned:
            raise _Stop
        self.cloned = name == "clone"
        sys.settrace(None)  # PyTorch computes shapes on the meta device in Python of its own
        try:
            with torch._C._DisableTorchDispatch():
                return func(*args, **(kwargs or {}))
        finally:
            sys.settrace(_guard)


def _guard(frame: FrameType, event: str, arg: Any) -> None:
    file = frame.f_code.co_filename
    if file in _ALLOWED or file.startswith(_LIBRARY):
        return
    stop = _Stop()
    first = frame.f_locals.get("self")  # `BackwardCFunction.apply(self, …)`
    stop.function = first if _torch.is_python_function(first) else None
    raise stop


def complaint(node: Any) -> tuple[str, Any]:
    """What `CopySlices` says when its turn comes: PyTorch's message, or an empty string.

    And the custom Function inside it, which was stopped before it said anything; else None.
    """
    made = _torch.made(node)
    if not made:
        return "", None
    try:
        with torch._C.DisableTorchFunction(), torch.no_grad(), _Ghost():
            _call(node, _meta(made[0]))
    except _Stop as stop:
        return "", stop.function
    except RuntimeError as error:
        return str(error), None
    return "", None


def _call(node: Any, gradient: torch.Tensor) -> None:
    before = sys.gettrace()
    sys.settrace(_guard)
    try:
        node(gradient)
    finally:  # before any context manager around us ends: the guard would stop that too
        sys.settrace(before)


def _meta(made: Any) -> torch.Tensor:
    with torch._C._DisableTorchDispatch():
        return torch.empty(tuple(made.shape), dtype=made.dtype, device="meta")
