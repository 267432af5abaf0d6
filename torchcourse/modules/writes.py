"""Which attributes a class fills in `__init__` and which in `forward`: read from its bytecode, nothing is run.

A tensor that only `forward` (or a hook) writes is a cache: the next call makes it anew where its input lies.
"""

import dis
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from types import CodeType, FunctionType
from typing import Any

from torch import nn

from .look import attributes

GROWS = {"append", "extend", "insert", "add", "update", "setdefault", "appendleft"}
NEAR = 8  # instructions between `self.cache` and the store into it
Codes = list[CodeType]


@dataclass(frozen=True)
class Writes:
    """Names of attributes. made_parameters, made_buffers: as what `__init__` made them."""

    in_init: frozenset[str]
    in_forward: frozenset[str]
    grown: frozenset[str]  # containers that forward puts something into
    made_parameters: frozenset[str]
    made_buffers: frozenset[str]

    def cached(self, name: str, leaf: bool) -> bool:
        """Whether a tensor in this attribute is a result of a call, not something that `__init__` made."""
        if name in self.in_init:
            return False
        return name in self.in_forward or not leaf


def writes(module: nn.Module) -> Writes:
    """What the code of this module's class, of its hooks and of a forward of its own writes."""
    init = _reached(type(module), ["__init__"])
    hooks = [code_of(hook) for table in _hook_tables(module) for hook in table.values()]
    own = [code_of(attributes(module).get("forward"))]
    forward = [*_reached(type(module), ["forward", "__call__"]), *nested([*hooks, *own])]
    cached = {name for name, value in class_attributes(type(module)) if type(value) is cached_property}
    return Writes(
        frozenset(name for code in init for name in _stored(code)),
        frozenset(cached.union(*(_stored(code) for code in forward))),
        frozenset(name for code in forward for name in _grown(code)),
        frozenset(name for code in init for name in _made(code, "Parameter")),
        frozenset(name for code in init for name in _made(code, "Buffer")),
    )


def _hook_tables(module: nn.Module) -> Iterator[dict[Any, Any]]:
    for name in ("_forward_hooks", "_forward_pre_hooks"):
        yield attributes(module).get(name) or {}


def class_attributes(kind: type) -> Iterator[tuple[str, Any]]:
    for base in kind.__mro__:
        if base is nn.Module:
            return
        yield from vars(base).items()


def reads_mode(module: nn.Module) -> bool:
    """Whether forward looks at `training`, as Dropout's does: then train() and eval() must reach it."""
    return any("training" in code.co_names for code in _reached(type(module), ["forward", "__call__"]))


def _reached(kind: type, starts: Iterable[str]) -> Codes:
    """The code of these methods and of all that they name, up to nn.Module's own."""
    defined: dict[str, list[Any]] = {}
    for name, value in class_attributes(kind):
        defined.setdefault(name, []).append(value)
    found: Codes = []
    waiting, done = list(starts), set()
    while waiting:
        name = waiting.pop()
        if name in done:
            continue
        done.add(name)
        codes = nested(code_of(value) for value in defined.get(name, ()))
        found += codes
        waiting += [inner for code in codes for inner in code.co_names]
    return found


def code_of(value: Any) -> CodeType | None:
    """The code of a function, method or property, below its decorators."""
    for _ in range(20):
        kind = type(value)
        if kind is property:
            value = value.fget
        elif kind is cached_property:
            value = value.func
        elif kind in (staticmethod, classmethod) or hasattr(kind, "__func__"):
            value = value.__func__
        elif kind is FunctionType and "__wrapped__" in vars(value):
            value = vars(value)["__wrapped__"]
        else:
            return value.__code__ if kind is FunctionType else None
    return None


def nested(codes: Iterable[CodeType | None]) -> Codes:
    """These codes and the functions defined in them."""
    found: Codes = []
    waiting = [code for code in codes if code is not None]
    while waiting:
        code = waiting.pop()
        found.append(code)
        waiting += [inner for inner in code.co_consts if isinstance(inner, CodeType)]
    return found


def _stored(code: CodeType) -> set[str]:
    """Attributes that get more than a placeholder: None, a number, an empty container."""
    steps = list(dis.get_instructions(code))
    return {
        step.argval
        for i, step in enumerate(steps)
        if step.opname == "STORE_ATTR" and not _placeholder(steps, i - 2)
    }


def _placeholder(steps: list[dis.Instruction], at: int) -> bool:
    """Whether this step puts a constant, or an empty list or dict, on the stack."""
    if at < 0:
        return False
    name = steps[at].opname
    return name in ("LOAD_CONST", "LOAD_SMALL_INT") or (
        name in ("BUILD_LIST", "BUILD_MAP") and steps[at].arg == 0
    )


def _grown(code: CodeType) -> set[str]:
    """Attributes that something is appended to, or stored into by an index."""
    steps = list(dis.get_instructions(code))
    found = {
        step.argval for step, then in pairwise(steps)
        if step.opname == "LOAD_ATTR" and then.argval in GROWS
    }  # fmt: skip
    for i, step in enumerate(steps):
        if step.opname == "STORE_SUBSCR":
            found |= {near.argval for near in steps[max(0, i - NEAR) : i] if near.opname == "LOAD_ATTR"}
    return found


def _made(code: CodeType, word: str) -> set[str]:
    """Attributes that were given a `…Parameter(…)` or `…Buffer(…)`, or registered under a name that is written out."""
    found: set[str] = set()
    since: list[Any] = []
    for step in dis.get_instructions(code):
        since.append(step.argval)
        names = [name for name in since if isinstance(name, str)]
        if step.opname == "STORE_ATTR":
            if any(name.endswith(word) for name in names):
                found.add(step.argval)
            since = []
        elif step.opname == "POP_TOP":
            if f"register_{word.lower()}" in names:
                found |= {step for step in names if step.isidentifier()} - {
                    f"register_{word.lower()}",
                    "self",
                }
            since = []
    return found
