"""A pickle read as a tree of data: what it would import and call is written down, and nothing is called.

Works on the opcodes as `pickletools.genops` lists them. A class or function becomes a Name, a call becomes a Call,
a tensor's storage becomes a Stored; dictionaries, lists, tuples, strings and numbers become themselves.
"""

from __future__ import annotations

import pickletools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

MOST = 300_000  # things that one file may unfold into, numbers and texts not counted


@dataclass(frozen=True)
class Name:
    """What the pickle would import."""

    module: str
    name: str

    def __str__(self) -> str:
        return f"{self.module}.{self.name}"


@dataclass(eq=False, repr=False)
class Call:
    """What the pickle would call, with what, and the state that it would give to the result."""

    function: Any
    arguments: Any
    state: Any = None
    items: list[tuple[Any, Any]] = field(
        default_factory=list
    )  # entries set on the result, as on an OrderedDict


@dataclass(eq=False, repr=False)
class Stored:
    """A reference to a storage outside of the pickle: `persistent_id` in torch/serialization.py."""

    key: Any


class _Mark:
    pass


def read_tree(data: bytes) -> tuple[Any, tuple[Name, ...]]:
    """The tree of a pickle, and the names that it would import, in order of appearance.

    Raises ValueError with a sentence where the data is no whole pickle.
    """
    machine = _Machine()
    try:
        for opcode, argument, _ in pickletools.genops(data):
            if opcode.name == "STOP":
                return machine.stack.pop(), tuple(dict.fromkeys(machine.names))
            machine.do(opcode.name, argument)
    except (ValueError, IndexError, KeyError, TypeError, AttributeError, OverflowError, MemoryError) as error:
        raise ValueError(f"The pickle is damaged or of an unknown kind ({error}).") from None
    raise ValueError("The pickle has no end.")


class _Machine:
    """The pickle machine: a stack and a memo."""

    def __init__(self) -> None:
        self.stack: list[Any] = []
        self.memo: dict[int, Any] = {}
        self.names: list[Name] = []

    def do(self, name: str, argument: Any) -> None:
        step = _STEPS.get(name)
        if step is not None:
            step(self, argument)
        elif name in _VALUES:
            self.stack.append(argument)
        elif name not in _NOTHING:
            raise ValueError(f"opcode {name}")

    def since_mark(self) -> list[Any]:
        place = len(self.stack) - 1
        while not isinstance(self.stack[place], _Mark):
            place -= 1
            if place < 0:
                raise ValueError("no mark")
        items = self.stack[place + 1 :]
        del self.stack[place:]
        return items

    def wrap(self, count: int) -> None:
        if count > len(self.stack):
            raise IndexError("the stack is too short")
        self.stack[len(self.stack) - count :] = [tuple(self.stack[len(self.stack) - count :])]

    def import_(self, module: Any, name: Any) -> None:
        if not isinstance(module, str) or not isinstance(name, str):
            raise ValueError("a name that is no string")
        self.names.append(Name(module, name))
        self.stack.append(self.names[-1])

    def import_from_stack(self) -> None:
        name, module = self.stack.pop(), self.stack.pop()
        self.import_(module, name)

    def call(self, with_keywords: bool = False) -> None:
        keywords = self.stack.pop() if with_keywords else None
        arguments, function = self.stack.pop(), self.stack.pop()
        self.stack.append(_made(function, (arguments, keywords) if with_keywords else arguments))

    def new_dict(self, items: list[Any]) -> None:
        self.stack.append({})
        self.fill(items)

    def new_instance(self, name: str, arguments: list[Any]) -> None:
        self.import_(*name.split(" ", 1))
        self.stack.append(Call(self.stack.pop(), tuple(arguments)))

    def new_object(self, items: list[Any]) -> None:
        self.stack.append(Call(items[0], tuple(items[1:])))

    def build(self) -> None:
        state, target = self.stack.pop(), self.stack[-1]
        if isinstance(target, Call):
            target.state = state

    def extend(self, items: list[Any]) -> None:
        target = self.stack[-1]
        if isinstance(target, list):
            target.extend(items)
        elif isinstance(target, Call):
            target.items += enumerate(items)

    def fill(self, items: list[Any]) -> None:
        target = self.stack[-1]
        for key, value in zip(items[::2], items[1::2], strict=True):
            if isinstance(target, Call):
                target.items.append((key, value))
            else:
                target[_hashable(key)] = value

    def fill_one(self) -> None:
        value, key = self.stack.pop(), self.stack.pop()
        self.fill([key, value])


def _made(function: Any, arguments: Any) -> Any:
    """An empty OrderedDict is a dict for the reader; every other call stays a call."""
    plain = isinstance(function, Name) and str(function) == "collections.OrderedDict" and arguments == ()
    return {} if plain else Call(function, arguments)


def _hashable(key: Any) -> Any:
    """The key itself where it is plain; otherwise its name, or what it is: its own text might have no end."""
    if isinstance(key, _PLAIN):
        return key
    if isinstance(key, Name) or (isinstance(key, tuple) and all(isinstance(item, _PLAIN) for item in key)):
        return str(key)
    return f"({type(key).__name__})"


_PLAIN = (str, int, float, bytes, type(None))
_VALUES = {"INT", "LONG", "LONG1", "LONG4", "BININT", "BININT1", "BININT2", "FLOAT", "BINFLOAT"}
_VALUES |= {
    "UNICODE",
    "BINUNICODE",
    "SHORT_BINUNICODE",
    "BINUNICODE8",
    "STRING",
    "BINSTRING",
    "SHORT_BINSTRING",
}
_VALUES |= {"BINBYTES", "SHORT_BINBYTES", "BINBYTES8", "BYTEARRAY8"}
_NOTHING = {"PROTO", "FRAME", "READONLY_BUFFER"}
_STEPS: dict[str, Callable[[_Machine, Any], object]] = {
    "NONE": lambda m, _: m.stack.append(None),
    "NEWTRUE": lambda m, _: m.stack.append(True),
    "NEWFALSE": lambda m, _: m.stack.append(False),
    "MARK": lambda m, _: m.stack.append(_Mark()),
    "POP": lambda m, _: m.stack.pop(),
    "POP_MARK": lambda m, _: m.since_mark(),
    "DUP": lambda m, _: m.stack.append(m.stack[-1]),
    "EMPTY_DICT": lambda m, _: m.stack.append({}),
    "EMPTY_LIST": lambda m, _: m.stack.append([]),
    "EMPTY_TUPLE": lambda m, _: m.stack.append(()),
    "EMPTY_SET": lambda m, _: m.stack.append([]),
    "DICT": lambda m, _: m.new_dict(m.since_mark()),
    "LIST": lambda m, _: m.stack.append(m.since_mark()),
    "TUPLE": lambda m, _: m.stack.append(tuple(m.since_mark())),
    "FROZENSET": lambda m, _: m.stack.append(m.since_mark()),
    "TUPLE1": lambda m, _: m.wrap(1),
    "TUPLE2": lambda m, _: m.wrap(2),
    "TUPLE3": lambda m, _: m.wrap(3),
    "APPEND": lambda m, _: m.extend([m.stack.pop()]),
    "APPENDS": lambda m, _: m.extend(m.since_mark()),
    "ADDITEMS": lambda m, _: m.extend(m.since_mark()),
    "SETITEM": lambda m, _: m.fill_one(),
    "SETITEMS": lambda m, _: m.fill(m.since_mark()),
    "GLOBAL": lambda m, argument: m.import_(*argument.split(" ", 1)),
    "STACK_GLOBAL": lambda m, _: m.import_from_stack(),
    "INST": lambda m, argument: m.new_instance(argument, m.since_mark()),
    "OBJ": lambda m, _: m.new_object(m.since_mark()),
    "REDUCE": lambda m, _: m.call(),
    "NEWOBJ": lambda m, _: m.call(),
    "NEWOBJ_EX": lambda m, _: m.call(with_keywords=True),
    "BUILD": lambda m, _: m.build(),
    "BINPERSID": lambda m, _: m.stack.append(Stored(m.stack.pop())),
    "PERSID": lambda m, argument: m.stack.append(Stored(argument)),
    "PUT": lambda m, place: m.memo.__setitem__(place, m.stack[-1]),
    "BINPUT": lambda m, place: m.memo.__setitem__(place, m.stack[-1]),
    "LONG_BINPUT": lambda m, place: m.memo.__setitem__(place, m.stack[-1]),
    "MEMOIZE": lambda m, _: m.memo.__setitem__(len(m.memo), m.stack[-1]),
    "GET": lambda m, place: m.stack.append(m.memo[place]),
    "BINGET": lambda m, place: m.stack.append(m.memo[place]),
    "LONG_BINGET": lambda m, place: m.stack.append(m.memo[place]),
}


def walk(tree: Any) -> Iterator[tuple[str, Any]]:
    """Every container and Call of a tree with the path that leads to it: once per path, cycles once.

    Raises ValueError where a small file would unfold into more than MOST things.
    """
    visited = 0
    stack: list[tuple[str, Any, frozenset[int]]] = [("", tree, frozenset())]
    while stack:
        path, here, above = stack.pop()
        visited += 1
        if visited > MOST:
            raise ValueError(f"it unfolds into more than {MOST} things")
        yield path, here
        if id(here) in above or len(above) > 100:
            continue
        inner = above | {id(here)}
        stack += [(f"{path}.{key}".lstrip("."), value, inner) for key, value in reversed(_children(here))]


def _children(here: Any) -> list[tuple[Any, Any]]:
    if isinstance(here, dict):
        pairs = list(here.items())
    elif isinstance(here, list | tuple):
        pairs = list(enumerate(here))
    elif isinstance(here, Call):
        state = list(here.state.items()) if isinstance(here.state, dict) else []
        pairs = state + here.items
    else:
        return []
    return [(key, value) for key, value in pairs if isinstance(value, dict | list | tuple | Call)]
