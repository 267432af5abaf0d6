"""Reading modules without running their code: properties are never asked, only dictionaries opened.

See `torch/nn/modules/module.py`: `__init__` makes the dictionaries, `__setattr__` sorts into them.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch.nn.parameter import UninitializedBuffer, UninitializedParameter

LAZY = (UninitializedParameter, UninitializedBuffer)  # their class changes when the shape is known
TABLES = ("_parameters", "_buffers", "_modules")
# What Module.__init__ puts into every module: never a reader's attribute.
OWN = frozenset(vars(nn.Module())) | {"_is_full_backward_hook", "_compiled_call_impl", "_version"}


def attributes(module: object) -> dict[str, Any]:
    """The instance's dictionary; a `__getattr__` or `__getattribute__` of the class is not asked."""
    try:
        own: dict[str, Any] = object.__getattribute__(module, "__dict__")
    except AttributeError:
        return {}
    traced = own.get("_actual_script_module")  # what torch.jit.trace returns is a shell around this one
    return own if traced is None else attributes(traced)


def is_module(value: object) -> bool:
    return issubclass(type(value), nn.Module)  # isinstance would ask a __class__ that may be a property


def is_tensor(value: object) -> bool:
    return issubclass(type(value), torch.Tensor)


def is_parameter(value: object) -> bool:
    return isinstance(value, nn.Parameter)


def is_lazy(tensor: object) -> bool:
    return issubclass(type(tensor), LAZY)


def initialised(module: nn.Module) -> bool:
    """Whether `Module.__init__` ran."""
    return all(table in attributes(module) for table in TABLES)


def table(module: nn.Module, which: str) -> list[tuple[str, Any]]:
    """The entries of `_parameters`, `_buffers` or `_modules`; a ScriptModule's are wrappers."""
    held = attributes(module).get(which)
    return list(held.items()) if held else []


def children(module: nn.Module) -> list[tuple[str, nn.Module]]:
    return [(name, child) for name, child in table(module, "_modules") if is_module(child)]


def tensors(module: nn.Module) -> list[tuple[str, str, Any]]:
    """(name, kind, tensor or None) of its parameters, then its buffers."""
    found = [(name, "parameter", held) for name, held in table(module, "_parameters")]
    return found + [(name, "buffer", held) for name, held in table(module, "_buffers")]


def training(module: nn.Module) -> bool | None:
    if isinstance(module, torch.jit.ScriptModule):
        return bool(module.training)  # it lies in C++, not in the dictionary
    flag = attributes(module).get("training")
    if flag is None and (wrapped := dict(children(module)).get("_orig_mod")) is not None:
        return training(wrapped)  # torch.compile's wrapper has no flag of its own
    return flag if isinstance(flag, bool) else None


@dataclass(frozen=True, slots=True)
class Place:
    """A module where the walk comes to it. again: the index of its first place; cycle: it is its own ancestor."""

    path: str
    name: str
    module: nn.Module
    depth: int
    parent: int | None
    again: int | None = None
    cycle: bool = False


def walk(model: nn.Module) -> tuple[Place, ...]:
    """The registered modules in the order of `named_modules()`; one met again is listed, not entered again."""
    places: list[Place] = []
    first: dict[int, int] = {}
    waiting: list[tuple[str, str, nn.Module, int, int | None]] = [("", "", model, 0, None)]
    while waiting:
        path, name, module, depth, parent = waiting.pop()
        again = first.setdefault(id(module), len(places))
        if again < len(places):
            places.append(Place(path, name, module, depth, parent, again, again in _above(places, parent)))
            continue
        here = len(places)
        places.append(Place(path, name, module, depth, parent))
        inner = children(module)
        waiting += [(join(path, child), child, held, depth + 1, here) for child, held in reversed(inner)]
    return tuple(places)


def _above(places: list[Place], at: int | None) -> Iterable[int]:
    while at is not None:
        yield at
        at = places[at].parent


def join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def refuse_others(model: object, what: str) -> None:
    """TypeError with one sentence, unless it is a module."""
    if isinstance(model, type) and issubclass(model, nn.Module):
        raise TypeError(
            f"{what} takes a module, and got the class {model.__name__}: make one, {model.__name__}(…)."
        )
    if not is_module(model):
        raise TypeError(f"{what} takes an nn.Module, not a {type(model).__name__}.")
