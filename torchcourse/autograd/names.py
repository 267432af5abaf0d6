"""Names of tensors: from a module, a dict, or the caller's variables."""

import dataclasses
import inspect
import sys
from collections.abc import Iterable, Iterator, Mapping
from types import FrameType
from typing import Any, NamedTuple

import torch
from torch import nn

from . import _torch

LONGEST = 1000  # members of a list or dict of the caller's that are looked at


class Named(NamedTuple):
    """A tensor and what it is called; owner: path of the module that has it, None for no module."""

    tensor: torch.Tensor
    name: str
    owner: str | None


class Names:
    """The first name of each tensor. Tensors are held until the walk is over, so ids stay theirs."""

    def __init__(self, names: Any, frame: FrameType | None) -> None:
        self._by_id: dict[int, Named] = {}
        self.classes: dict[str, str] = {}  # module path -> class name
        found = self._of_caller(frame) if names is None else self._given(names)
        for named in found:
            self._by_id.setdefault(id(named.tensor), named)

    def get(self, tensor: torch.Tensor) -> Named | None:
        return self._by_id.get(id(tensor))

    def made(self) -> Iterator[tuple[torch.Tensor, str]]:
        """Those that an operator made, and their names."""
        return ((one.tensor, one.name) for one in self._by_id.values() if not one.tensor.is_leaf)

    def _given(self, names: Any) -> Iterable[Named]:
        if isinstance(names, nn.Module):
            return self._of_module(names, "")
        if isinstance(names, Mapping):
            return self._of_mapping(names)
        raise TypeError(
            f"names is a module or a dict of name -> tensor, and got {type(names).__name__}. "
            "Pass model, or {'w': w}; leave it out to use the names of your variables."
        )

    def _of_mapping(self, names: Mapping[Any, Any]) -> Iterator[Named]:
        for name, value in names.items():
            if isinstance(value, nn.Module):
                yield from self._of_module(value, f"{name}.")
            elif isinstance(value, torch.Tensor):
                yield Named(value, str(name), None)
            else:
                raise TypeError(
                    f"names[{name!r}] is a {type(value).__name__}; a name belongs to a tensor or a module."
                )

    def _of_module(self, module: nn.Module, prefix: str) -> list[Named]:
        found = []
        for inner, path in _torch.modules(module).items():
            self.classes.setdefault(path, type(inner).__name__)
            if inner._parameters:
                start = f"{prefix}{path}." if path else prefix
                own = inner._parameters.items()
                found += [Named(one, start + name, path) for name, one in own if one is not None]
        return found

    def _of_caller(self, frame: FrameType | None) -> Iterator[Named]:
        """Tensors first, then what lists and dicts hold, then parameters of modules."""
        found = dict(_variables(frame))
        yield from (Named(v, name, None) for name, v in found.items() if isinstance(v, torch.Tensor))
        for name, value in found.items():
            yield from _members(name, value)
        for name, value in found.items():
            if isinstance(value, nn.Module):
                yield from self._of_module(value, f"{name}.")


def _variables(frame: FrameType | None) -> Iterator[tuple[str, Any]]:
    if frame is None:
        return
    seen: set[str] = set()
    for space in (_locals(frame), frame.f_globals):
        for name, value in list(space.items()):
            # IPython keeps every cell's result under _, _1, …
            if not name.startswith("_") and name not in seen and name not in ("In", "Out"):
                seen.add(name)
                yield name, value


def _locals(frame: FrameType) -> dict[str, Any]:
    """The local variables. Up to Python 3.12 asking leaves a copy on the frame, which would keep each tensor
    alive until the function ends; so it is emptied, unless somebody else (`locals()`) holds it too."""
    copy = frame.f_locals
    found = dict(copy)
    function = frame.f_code.co_flags & inspect.CO_OPTIMIZED
    if function and type(copy) is dict and sys.getrefcount(copy) <= 3:
        copy.clear()
    return found


def _members(name: str, value: Any) -> Iterator[Named]:
    if type(value) is dict and len(value) <= LONGEST:
        pairs = [(repr(key), one) for key, one in value.items() if isinstance(key, (str, int))]
    elif type(value) in (list, tuple) and len(value) <= LONGEST:
        pairs = [(str(i), one) for i, one in enumerate(value)]
    else:
        return
    yield from (Named(one, f"{name}[{key}]", None) for key, one in pairs if isinstance(one, torch.Tensor))


class Asked(NamedTuple):
    """One output to start from: a tensor, or a place in the graph."""

    label: str
    tensor: torch.Tensor | None
    edge: tuple[Any, int] | None = None


def outputs(given: tuple[Any, ...]) -> list[Asked]:
    """The tensors in these outputs, in order; None and plain values among them are passed over.

    Raises TypeError, with a sentence, when there is no tensor at all, or something that can't hold one.
    """
    found: list[Asked] = []
    for i, one in enumerate(given):
        found.extend(_tensors(one, "" if len(given) == 1 else f"output {i}", set()))
    if not found:
        raise TypeError(
            f"There is no tensor in {_what(given)}, so there is no graph. Pass what the forward returned: "
            "tensors, or tuples, lists, dicts and dataclasses of tensors."
        )
    return found


def _what(given: tuple[Any, ...]) -> str:
    return (
        "no output at all" if not given else f"the output ({', '.join(type(one).__name__ for one in given)})"
    )


def _tensors(value: Any, label: str, inside: set[int]) -> Iterator[Asked]:
    if isinstance(value, torch.Tensor):
        yield Asked(label, value)
    elif isinstance(value, torch.autograd.graph.GradientEdge):
        yield Asked(label, None, (value.node, value.output_nr))
    elif isinstance(value, torch.autograd.graph.Node):
        yield Asked(label, None, (value, 0))
    elif value is None or isinstance(value, (str, bytes, bool, int, float, complex)):
        return
    elif id(value) in inside:
        raise ValueError("This output contains itself; pass its tensors alone.")
    else:
        for name, part in _parts(value):
            yield from _tensors(part, f"{label}{name}", inside | {id(value)})


def _parts(value: Any) -> list[tuple[str, Any]]:
    if isinstance(value, Mapping):
        return [(f"[{key!r}]", part) for key, part in value.items()]
    if isinstance(value, (tuple, list)):
        fields = getattr(value, "_fields", None)  # a namedtuple
        return [(f".{fields[i]}" if fields else f"[{i}]", part) for i, part in enumerate(value)]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return [(f".{f.name}", getattr(value, f.name)) for f in dataclasses.fields(value)]
    raise TypeError(
        f"An output is a tensor, or a tuple, list, dict or dataclass of tensors, and this is a "
        f"{type(value).__name__}. Pass its tensors."
    )


def place(tensor: torch.Tensor) -> tuple[Any, int] | None:
    """(node, output number) of a tensor, None for one without gradient."""
    if not tensor.requires_grad:
        return None
    if tensor.grad_fn is not None:
        return tensor.grad_fn, tensor.output_nr
    with torch.inference_mode(False), torch.enable_grad():
        return _torch.unregistered_edge(tensor)
