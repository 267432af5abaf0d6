"""What lies in a module's ordinary attributes: tensors, parameters and modules that nobody registered.

Lists, dicts, sets, closures, partials and helper objects are opened without running their code.
"""

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from types import BuiltinFunctionType, FunctionType, MemberDescriptorType, MethodType, ModuleType
from typing import Any

import torch
from torch import nn

from .look import OWN, Place, attributes, is_module, is_parameter, is_tensor, tensors, walk
from .writes import class_attributes, reads_mode

MOST_OBJECTS = 50_000  # opened for one attribute; numbers and words don't count
DEEPEST, OBJECT = 8, 3  # levels of containers; a helper object counts as three of them
PLAIN = (int, float, str, bool, bytes, type(None))
# Never opened: they hold the whole world, or nothing.
WORLDS = {"logging", "threading", "asyncio", "weakref", "IPython", "ipykernel"}
CLOSED = (
    type,
    ModuleType,
    BuiltinFunctionType,
    str,
    bytes,
    bytearray,
    int,
    float,
    complex,
    range,
    torch.dtype,
)


@dataclass(frozen=True, slots=True)
class Hidden:
    """One unregistered thing. what: "tensor", "parameter", "module"; through: how it is held."""

    place: int  # index of the module that holds it
    attribute: str
    path: str  # "layers[0]", "act → w"
    what: str
    through: str  # "attribute" | "list" | "dict" | "tuple" | "set" | "closure" | "object" | "class"
    thing: Any


class Search:
    """Goes through the attributes of all modules of a model, each object once."""

    def __init__(self, places: tuple[Place, ...]) -> None:
        self.places = places
        self.registered = {id(place.module) for place in places}
        self.registered |= {
            id(held) for place in places if place.again is None for _, _, held in tensors(place.module)
        }
        self.met: set[int] = set()
        self.classes: set[type] = set()

    def all(self) -> Iterator[Hidden]:
        for at, place in enumerate(self.places):
            if place.again is None:
                for name, value in _ordinary(place.module):
                    yield from self._in(at, name, "attribute", value)
                kind = type(place.module)
                if kind not in self.classes:  # what a class holds is told where it is met first
                    self.classes.add(kind)
                    for name, value in _of_class(kind):
                        yield from self._in(at, name, "class", value)

    def _in(self, at: int, name: str, through: str, value: Any) -> Iterator[Hidden]:
        """Breadth first from one attribute."""
        waiting: deque[tuple[str, str, Any, int]] = deque([(name, through, value, 0)])
        left = MOST_OBJECTS
        while waiting and left > 0:
            path, through, thing, depth = waiting.popleft()
            left -= 1
            if not self._new(thing):
                continue
            what = self._what(thing)
            if what and not (through == "object" and what == "tensor" and not thing.requires_grad):
                yield Hidden(at, name, path, what, through, thing)
            elif not what and depth < DEEPEST:
                inner = (one for one in _inside(path, thing, through) if type(one[2]) not in PLAIN)
                waiting.extend((*one, depth + (OBJECT if one[1] == "object" else 1)) for one in inner)

    def _new(self, thing: Any) -> bool:
        if id(thing) in self.registered or id(thing) in self.met:
            return False
        self.met.add(id(thing))
        return True

    def _what(self, thing: Any) -> str | None:
        if is_tensor(thing):
            return "parameter" if is_parameter(thing) else "tensor"
        return "module" if is_module(thing) and self._matters(thing) else None

    def _matters(self, module: nn.Module) -> bool:
        """No fault: a wrapper or parent that holds this very model; a ReLU, to which no walk has anything to do."""
        inside = walk(module)
        self.met |= {id(place.module) for place in inside}
        if any(place.module is self.places[0].module for place in inside):
            return False
        return any(tensors(place.module) or reads_mode(place.module) for place in inside)


def _ordinary(module: nn.Module) -> Iterator[tuple[str, Any]]:
    """The attributes that `__setattr__` left alone, slots included; a ScriptModule's lie in C++."""
    if isinstance(module, torch.jit.ScriptModule):
        return
    for name, value in list(attributes(module).items()):
        if name not in OWN:
            yield name, value
    for base in type(module).__mro__:
        for name in _slots(base):
            slot = vars(base).get(name)
            try:
                if isinstance(slot, MemberDescriptorType):
                    yield name, slot.__get__(module)
            except AttributeError:  # an empty slot
                continue


def _of_class(kind: type) -> Iterator[tuple[str, Any]]:
    """What the class itself holds, and what its methods keep from the function around it."""
    for name, value in class_attributes(kind):
        if type(value) is FunctionType and value.__closure__:
            yield from ((f"{name} → {path}", held) for path, _, held in _closure("", value))
        elif is_tensor(value) or is_module(value) or isinstance(value, list | tuple | dict):
            yield name, value


def _slots(base: type) -> Iterable[str]:
    slots = vars(base).get("__slots__", ())
    return [slots] if isinstance(slots, str) else [name for name in slots if not name.startswith("__")]


Inner = Iterable[tuple[str, str, Any]]


def _inside(path: str, thing: Any, through: str) -> Inner:
    """(path, how it is held, thing) of what an object holds."""
    kind = type(thing)
    if issubclass(kind, CLOSED) or is_module(thing) or kind.__module__.partition(".")[0] in WORLDS:
        return ()
    held = "object" if through in ("object", "class") else ""  # there, only what learns is told
    if issubclass(kind, dict):
        return [(f"{path}[{key!r}]" if type(key) in (str, int) else f"{path}[…]", held or "dict", value)
                for key, value in list(dict.items(thing)) if type(value) not in PLAIN]  # fmt: skip
    for base, word in ((list, "list"), (tuple, "tuple"), (deque, "list")):
        if issubclass(kind, base):
            return [(f"{path}[{i}]", held or word, value)
                    for i, value in enumerate(base.__iter__(thing)) if type(value) not in PLAIN]  # fmt: skip
    if issubclass(kind, set | frozenset):
        return [(f"{path}[…]", held or "set", value) for value in list(thing)]
    if kind is FunctionType:
        return _closure(path, thing)
    if kind is MethodType:
        return [(path, "closure", thing.__self__), (path, "closure", thing.__func__)]
    if issubclass(kind, partial):
        parts = [(path, "closure", thing.func)]
        parts += [(f"{path} → argument {i}", "closure", value) for i, value in enumerate(thing.args)]
        return parts + [(f"{path} → {name}", "closure", value) for name, value in thing.keywords.items()]
    return [(f"{path}.{name}", "object", value) for name, value in list(attributes(thing).items())]


def _arrow(path: str, name: str) -> str:
    return f"{path} → {name}" if path else name


def _closure(path: str, function: FunctionType) -> Inner:
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    for name, cell in cells:
        try:
            yield _arrow(path, name), "closure", cell.cell_contents
        except ValueError:  # a cell that is still empty
            continue
    for i, value in enumerate(function.__defaults__ or ()):
        yield _arrow(path, f"default {i}"), "closure", value
    for name, value in (function.__kwdefaults__ or {}).items():
        yield _arrow(path, name), "closure", value
    wrapped = vars(function).get("__wrapped__")
    if wrapped is not None:
        yield path, "closure", wrapped
