"""Which attributes a class fills in `__init__` and which when it runs: read from its bytecode, nothing is run.

A tensor that only a run of the model writes is a cache: the next one makes it anew where its input lies. A run
is `forward`, a hook, or a method that calls a registered part (`encode`, Lightning's `training_step`).
"""

from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from types import CodeType
from typing import Any

from torch import nn

from .bytecode import Codes, calls, code_of, grown, hooked, made, nested, stored
from .look import Place, attributes, children, table

HOOKS = ("_forward_hooks", "_forward_pre_hooks")
BACKWARD_HOOKS = ("_backward_hooks", "_backward_pre_hooks")
FORWARD = ["forward", "__call__"]


@dataclass(frozen=True)
class Runs:
    """Names of attributes that a run of the model fills, and of those that it puts something into."""

    stored: frozenset[str] = frozenset()
    grown: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Writes:
    """Names of attributes. made_parameters, made_buffers: as what `__init__` made them."""

    in_init: frozenset[str]
    in_run: frozenset[str]
    grown: frozenset[str]  # containers that a run puts something into
    made_parameters: frozenset[str]
    made_buffers: frozenset[str]

    def cached(self, name: str, leaf: bool) -> bool:
        """Whether a tensor in this attribute is a result of a call, not something that `__init__` made."""
        if name in self.in_init:
            return False
        return name in self.in_run or not leaf


def runs_of(places: Iterable[Place]) -> Runs:
    """What the code writes that a run may come to: a parent may write into a child, a hook into anything."""
    found: dict[CodeType, None] = {}
    done: set[tuple[type, tuple[str, ...]]] = set()
    for place in places:
        module, parts = place.module, tuple(name for name, _ in children(place.module))
        hooks = [hook for name in (*HOOKS, *BACKWARD_HOOKS) for _, hook in table(module, name)]
        found |= dict.fromkeys(nested(map(code_of, [*hooks, attributes(module).get("forward")])))
        if (type(module), parts) not in done:
            done.add((type(module), parts))
            found |= dict.fromkeys(_run_codes(type(module), parts))
    return Runs(
        frozenset(name for code in found for name in stored(code)),
        frozenset(name for code in found for name in grown(code)),
    )


def writes(kind: type, runs: Runs) -> Writes:
    """What a class's `__init__` writes, beside what the runs of the model do."""
    init = _reached(kind, ["__init__"], without={*FORWARD, *_hooked(kind)})
    cached = {name for name, value in class_attributes(kind) if type(value) is cached_property}
    return Writes(
        frozenset(name for code in init for name in stored(code)),
        runs.stored | cached,
        runs.grown,
        frozenset(name for code in init for name in made(code, "Parameter")),
        frozenset(name for code in init for name in made(code, "Buffer")),
    )


def _run_codes(kind: type, parts: Container[str]) -> Codes:
    hooks = _hooked(kind)
    own = [(name, code_of(value)) for name, value in class_attributes(kind) if name != "__init__"]
    starts = [name for name, code in own if code and (name.endswith("_step") or calls(code, parts))]
    inner = [code for code in _codes(kind) if code in hooks or code.co_name in hooks]
    return _reached(kind, [*FORWARD, *starts, *(name for name in hooks if isinstance(name, str))]) + inner


def _hooked(kind: type) -> set[object]:
    return hooked(_codes(kind))


def _codes(kind: type) -> Codes:
    return nested(code_of(value) for _, value in class_attributes(kind))


def class_attributes(kind: type) -> Iterator[tuple[str, Any]]:
    for base in kind.__mro__:
        if base is nn.Module:
            return
        yield from vars(base).items()


def reads_mode(module: nn.Module) -> bool:
    """Whether forward looks at `training`, as Dropout's does: then train() and eval() must reach it."""
    return any("training" in code.co_names for code in _reached(type(module), FORWARD))


def _reached(kind: type, starts: Iterable[str], without: Container[object] = ()) -> Codes:
    """The code of these methods and of all that they name, up to nn.Module's own."""
    defined: dict[str, list[Any]] = {}
    for name, value in class_attributes(kind):
        defined.setdefault(name, []).append(value)
    found: Codes = []
    waiting, done = list(starts), set()
    while waiting:
        name = waiting.pop()
        if name in done or name in without:
            continue
        done.add(name)
        codes = nested((code_of(value) for value in defined.get(name, ())), without)
        found += codes
        waiting += [inner for code in codes for inner in code.co_names]
    return found
