"""Which module made which node: `with watch(model): out = model(x)`.

Every node carries its number in its thread's order of creation (`Node::sequence_nr`). Hooks around each
module's forward note at which number the module began and ended; afterwards a node's number says
whose it is, without a walk and without a mark on the node.
"""

import threading
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn
from torch.utils.weak import WeakIdKeyDictionary

from . import _torch

LIMIT = 200_000  # notes kept per thread; the older half is dropped beyond that


class _Notes:
    """At which number which module began to make nodes. Numbers only grow, so the list is in order."""

    def __init__(self) -> None:
        self.numbers: list[int] = [-1]  # before all notes: no module
        self.paths: list[str | None] = [None]

    def now(self, path: str | None) -> None:
        if len(self.numbers) >= LIMIT:
            del self.numbers[1 : LIMIT // 2], self.paths[1 : LIMIT // 2]
        self.numbers.append(_torch.next_number())
        self.paths.append(path)


_notes: dict[int, _Notes] = {}
_owners: Any = WeakIdKeyDictionary()  # parameter -> path of its module
_classes: dict[str, str] = {}


@contextmanager
def watch(model: nn.Module) -> Iterator[None]:
    """Within the block, each node made in a forward of `model` is noted with its module's path.

    Afterwards `graph(output)` has an exact `.module`: "layers.0.linear1", "" for what the outermost
    forward made itself, None outside. The hooks are removed at the end; values are not touched.
    Raises TypeError for anything but a module.
    """
    if not isinstance(model, nn.Module):
        raise TypeError(
            f"watch takes the module whose forward is to be watched, not a {type(model).__name__}."
        )
    stack: list[str] = []
    handles = []
    try:
        for path, module in model.named_modules():
            _classes[path] = type(module).__name__
            _own(module, path)
            handles += _hooks(module, path, stack)
        yield
    finally:
        for handle in handles:
            handle.remove()
        if stack:  # a forward that broke off
            _mine().now(None)


def _own(module: nn.Module, path: str) -> None:
    for parameter in module.parameters(recurse=False):
        if parameter not in _owners:
            _owners[parameter] = path


def _hooks(module: nn.Module, path: str, stack: list[str]) -> list[Any]:
    if isinstance(module, torch.jit.ScriptModule):
        return []  # its forward is not Python's; what it makes counts as its caller's

    def enter(*_: Any) -> None:
        stack.append(path)
        _mine().now(path)

    def leave(*_: Any) -> None:
        while stack and stack.pop() != path:
            pass
        _mine().now(stack[-1] if stack else None)

    return [
        module.register_forward_pre_hook(enter, prepend=True),
        module.register_forward_hook(leave, always_call=True),
    ]


def _mine() -> _Notes:
    return _notes.setdefault(threading.get_ident(), _Notes())


def makers(nodes: list[Any]) -> list[str | None]:
    """Which module made each of these nodes, as far as one was watched; None for a leaf's."""
    notes = _notes.get(threading.get_ident())
    if notes is None and len(_notes) == 1:
        # The forward ran in another thread. Threads count for themselves, so only one that watched is asked.
        (notes,) = _notes.values()
    if notes is None or len(notes.numbers) == 1:
        return [None] * len(nodes)
    numbers, paths = notes.numbers, notes.paths
    return [paths[bisect_right(numbers, number) - 1] for number in map(_torch.created, nodes)]


def owner_of(parameter: torch.Tensor) -> str | None:
    """The path of the watched module that has this parameter."""
    return _owners.get(parameter) if _owners else None


def classes() -> dict[str, str]:
    """Module path -> class name, of all models watched."""
    return _classes
