"""Where the reader's code stands: the line of the watched file, and the module path."""

import inspect
import os
import sys
import threading
from collections.abc import Callable
from functools import partial
from types import CodeType, FrameType
from typing import Any

import torch
from torch import nn
from torch.nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook

PYTORCH = os.path.join(os.path.dirname(torch.__file__), "")
# A compiled function is called through this file of PyTorch's.
COMPILED = os.path.join(PYTORCH, "_dynamo", "eval_frame.py")


class Lines:
    """Finds the innermost line of the watched files on the stack of the running thread.

    home: the frame that holds the block; between it and the operator a compiled function may stand.
    """

    def __init__(self, files: set[str], home: FrameType | None) -> None:
        self._known = dict.fromkeys(files, True) | {COMPILED: False}
        self._home = home
        self.compiled = False
        self._thread = threading.get_ident()

    def now(self) -> int | None:
        frame: FrameType | None = sys._getframe(1)
        line = self._search(frame)
        if line is None and threading.get_ident() != self._thread:
            # A thread of the autograd engine: the reader's thread stands at backward().
            line = self._search(sys._current_frames().get(self._thread))
        return line

    def close(self) -> None:
        self._home = None

    def _search(self, frame: FrameType | None) -> int | None:
        line = None
        while frame is not None:
            known = self._known.get(frame.f_code.co_filename)
            if known and line is None:
                line = frame.f_lineno
            elif known is False and frame.f_code.co_qualname.startswith("_TorchDynamoContext"):
                self.compiled = True
            if line is not None and (frame is self._home or self._home is None):
                break
            frame = frame.f_back
        return line


def file_of(function: Callable[..., Any]) -> str | None:
    """The file that defines a reader's function (through partial, methods, wrappers).

    None for what is not written in Python, and for PyTorch's own functions and modules.
    """
    while isinstance(function, partial):
        function = function.func
    function = inspect.unwrap(getattr(function, "__func__", function))
    code = getattr(function, "__code__", None)
    if not isinstance(code, CodeType) or code.co_filename.startswith(PYTORCH):
        return None
    return code.co_filename


def threads() -> set[int]:
    """Threads that Python knows of, also those that have ended but are still referred to."""
    return {id(thread) for thread in list(getattr(threading, "_dangling", threading.enumerate()))}


class Modules:
    """The path of the module that runs, from the outermost one called.

    Two global hooks stand while the block runs. enter and leave are told of modules with a
    fast path, which a function mode would switch off.
    """

    FAST = (nn.TransformerEncoder, nn.TransformerEncoderLayer, nn.MultiheadAttention)

    def __init__(self, enter: Callable[[], None], leave: Callable[[], None]) -> None:
        self.path: str | None = None
        self._stack: list[tuple[int, str | None]] = []
        self._paths: dict[int, str] = {}
        self._enter, self._leave = enter, leave
        self._thread = threading.get_ident()
        self._hooks: list[Any] = []
        self._others: set[int] = set()
        self.other_threads = False

    def start(self) -> None:
        self._others = threads()
        self._hooks = [
            register_module_forward_pre_hook(self._before),
            register_module_forward_hook(self._after, always_call=True),
        ]

    def stop(self) -> None:
        self.other_threads |= not threads() <= self._others
        for hook in self._hooks:
            hook.remove()
        self._hooks = []
        self._stack.clear()
        self._paths.clear()

    def _before(self, module: nn.Module, _args: Any) -> None:
        if threading.get_ident() != self._thread:
            self.other_threads = True
            return
        if not self._stack:
            self._paths = {id(inner): name for name, inner in module.named_modules()}
        self._stack.append((id(module), self.path))
        self.path = self._paths.get(id(module), self.path)
        if isinstance(module, self.FAST) and not module.training:
            self._enter()

    def _after(self, module: nn.Module, _args: Any, _result: Any) -> None:
        if threading.get_ident() != self._thread:
            return
        if isinstance(module, self.FAST) and not module.training:
            self._leave()
        while self._stack:
            key, self.path = self._stack.pop()
            if key == id(module):
                break
