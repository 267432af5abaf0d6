"""What an object holds: lists, dicts, sets, records, closures, partials and helper objects, opened and not run."""

import gc
from collections import ChainMap, UserDict, UserList, deque
from collections.abc import Iterable, Iterator
from dataclasses import is_dataclass
from functools import partial
from types import (
    BuiltinFunctionType,
    FunctionType,
    MappingProxyType,
    MemberDescriptorType,
    MethodType,
    ModuleType,
    SimpleNamespace,
)
from typing import Any

import torch

from .look import attributes, is_module

Kinds = tuple[tuple[type[Any], str], ...]
Inner = Iterable[tuple[str, str, Any]]  # (path, how it is held, thing)

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
SEQUENCES: Kinds = ((list, "list"), (tuple, "tuple"), (deque, "list"))
WRAPPED: Kinds = (
    (UserDict, "dict"),
    (ChainMap, "dict"),
    (UserList, "list"),
)  # around a dict or a list of their own


def inside(path: str, thing: Any, through: str) -> Inner:
    """What an object holds."""
    kind = type(thing)
    if issubclass(kind, CLOSED) or is_module(thing) or _world(kind) in WORLDS:
        return ()
    held = "object" if through in ("object", "class") else ""  # there, only what learns is told
    if issubclass(kind, dict):
        return _of_dict(path, thing, held or "dict")
    for base, word in SEQUENCES:
        if issubclass(kind, base):
            return [(f"{path}[{i}]", held or word, value)
                    for i, value in enumerate(base.__iter__(thing)) if type(value) not in PLAIN]  # fmt: skip
    if issubclass(kind, set | frozenset):
        return [(f"{path}[…]", held or "set", value) for value in list(thing)]
    if kind is MappingProxyType:
        return [(path, held or "dict", mapping) for mapping in gc.get_referents(thing)]
    for base, word in WRAPPED:
        if issubclass(kind, base):
            return [(path, held or word, value) for value in attributes(thing).values()]
    return _of_callable(path, thing) or _of_object(path, thing, held or _record(kind))


def _world(kind: type) -> str:
    return kind.__module__.partition(".")[0]


def _record(kind: type) -> str:
    """A dataclass or a namespace is a container with names; any other object has a life of its own."""
    record = kind is SimpleNamespace or (is_dataclass(kind) and _world(kind) != "torch")
    return "record" if record else "object"


def _of_dict(path: str, thing: dict[Any, Any], word: str) -> Inner:
    for key, value in list(dict.items(thing)):
        if type(value) not in PLAIN:
            yield f"{path}[{key!r}]" if type(key) in (str, int) else f"{path}[…]", word, value
        if type(key) not in PLAIN:
            yield f"{path}[…]", word, key


def _of_callable(path: str, thing: Any) -> Inner:
    kind = type(thing)
    if kind is FunctionType:
        return list(closure(path, thing))
    if kind is MethodType:
        return [(path, "closure", thing.__self__), (path, "closure", thing.__func__)]
    if issubclass(kind, partial):
        parts = [(path, "closure", thing.func)]
        parts += [(f"{path} → argument {i}", "closure", value) for i, value in enumerate(thing.args)]
        return parts + [(f"{path} → {name}", "closure", value) for name, value in thing.keywords.items()]
    return ()


def _of_object(path: str, thing: Any, word: str) -> Inner:
    yield from ((f"{path}.{name}", word, value) for name, value in list(attributes(thing).items()))
    if type(thing) is not FunctionType:
        yield from ((f"{path}.{name}", word, value) for name, value in in_slots(thing))


def in_slots(thing: Any) -> Iterator[tuple[str, Any]]:
    """The filled slots of an object, by name."""
    for base in type(thing).__mro__:
        slots = vars(base).get("__slots__", ())
        for name in [slots] if isinstance(slots, str) else list(slots):
            slot = vars(base).get(name)
            try:
                if isinstance(slot, MemberDescriptorType) and not name.startswith("__"):
                    yield name, slot.__get__(thing)
            except AttributeError:  # an empty slot
                continue


def closure(path: str, function: FunctionType) -> Inner:
    """What a function keeps: free names, defaults, and what stands below its decorators."""
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


def _arrow(path: str, name: str) -> str:
    return f"{path} → {name}" if path else name
