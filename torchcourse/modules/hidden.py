"""What lies in a module's ordinary attributes: tensors, parameters and modules that nobody registered.

Lists, dicts, sets, closures, partials and helper objects are opened without running their code.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from types import FunctionType
from typing import Any

import torch
from torch import nn

from .look import OWN, Place, attributes, is_module, is_parameter, is_tensor, table, tensors, walk
from .opened import PLAIN, closure, in_slots, inside
from .writes import HOOKS, class_attributes, reads_mode

MOST_OBJECTS = 50_000  # opened for one attribute; numbers and words don't count
DEEPEST, OBJECT = 8, 3  # levels of containers; a helper object counts as three of them


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
                yield from self._in_hooks(at)
                kind = type(place.module)
                if kind not in self.classes:  # what a class holds is told where it is met first
                    self.classes.add(kind)
                    for name, value in _of_class(kind):
                        yield from self._in(at, name, "class", value)

    def _in_hooks(self, at: int) -> Iterator[Hidden]:
        """What learns in a hook's own closure; what lies behind that belongs to an observer."""
        for name in HOOKS:
            for _, hook in table(self.places[at].module, name):
                for one in self._in(at, name, "closure", hook, DEEPEST - 1):
                    if one.what != "tensor" or (one.thing.requires_grad and one.thing.is_leaf):
                        yield one

    def _in(self, at: int, name: str, through: str, value: Any, depth: int = 0) -> Iterator[Hidden]:
        """Breadth first from one attribute."""
        waiting: deque[tuple[str, str, Any, int]] = deque([(name, through, value, depth)])
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
                inner = (one for one in inside(path, thing, through) if type(one[2]) not in PLAIN)
                waiting.extend(
                    (*one, depth + (OBJECT if one[1] in ("object", "record") else 1)) for one in inner
                )

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
        """No fault: a wrapper or parent of this very model; what holds nothing of its own that a walk would reach."""
        within = walk(module)
        self.met |= {id(place.module) for place in within}
        if any(place.module is self.places[0].module for place in within):
            return False
        return any(self._is_missed(place.module) for place in within)

    def _is_missed(self, module: nn.Module) -> bool:
        """Whether it has a tensor, or a mode that forward reads, that the model's own walks don't come to."""
        if any(held is not None and id(held) not in self.registered for _, _, held in tensors(module)):
            return True
        return id(module) not in self.registered and reads_mode(module)


def _ordinary(module: nn.Module) -> Iterator[tuple[str, Any]]:
    """The attributes that `__setattr__` left alone, slots included; a ScriptModule's lie in C++."""
    if isinstance(module, torch.jit.ScriptModule):
        return
    for name, value in list(attributes(module).items()):
        if name not in OWN and not (name == "_flat_weights" and isinstance(module, nn.RNNBase)):
            yield name, value  # (an RNN's list follows its parameters, computed ones included)
    yield from in_slots(module)


def _of_class(kind: type) -> Iterator[tuple[str, Any]]:
    """What the class itself holds, and what its methods keep from the function around it."""
    for name, value in class_attributes(kind):
        if type(value) is FunctionType and value.__closure__:
            yield from ((f"{name} → {path}", held) for path, _, held in closure("", value))
        elif is_tensor(value) or is_module(value) or isinstance(value, list | tuple | dict):
            yield name, value
