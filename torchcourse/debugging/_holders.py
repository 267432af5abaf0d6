"""Who holds an object: the way from it up to a name that stands in the code.

`gc.get_referrers` gives the objects one level up; frames that still run are asked for their variables.
Nothing is left behind: before Python 3.13, `frame.f_locals` makes a dict that would keep what it shows.
"""

from __future__ import annotations

import contextlib
import gc
import os
import sys
import types
from collections import deque
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any, NamedTuple

import numpy
from torch import Tensor

_OURS = os.path.join(os.path.dirname(__file__), "")
_DEPTH, _WIDTH = 10, 3000  # levels, and objects met
_FRAMES = 50  # of a traceback, and exceptions that one led to
_JUPYTER = ("_", "__", "___", "_oh", "Out")
_CONTAINERS = {list, dict, tuple, set, deque, types.CellType}
EXCEPTIONS = ("last_exc", "last_value", "last_traceback")


class Holder(NamedTuple):
    where: str  # "`losses[…]` in module `__main__`"
    kind: str  # a slug
    bounded: bool = False  # a deque with maxlen, an lru_cache: it stops growing
    by: str = ""  # who holds the exception whose traceback keeps it


class _Step(NamedTuple):
    """One level up: the object, the one below it, and how it is written after the object's name."""

    holder: Any
    below: _Step | None
    written: str


class _Way:
    """The search for one object's holder: the level that it has come to, and all that it met."""

    def __init__(self, target: Any, ignored: set[int]) -> None:
        self.level = [_Step(target, None, "")]
        self.met = {id(target)} | ignored
        self.best: Holder | None = None


Referrers = Callable[[Any], list[Any]]


class Search:
    """Answers `holders(objects)`; made after the steps, and closed by `with`.

    One `gc.get_referrers` walks over every object that Python knows of, so it is asked about many at a time.
    """

    def __init__(self, ignore: list[Any]) -> None:
        self._ignored = {id(one) for one in ignore} | {id(self), id(self.__dict__)}
        self._modules: dict[int, str] = {}
        self._frames: dict[int, tuple[str, str]] = {}  # id of a value -> variable, function
        self._above: dict[int, list[Any]] = {}  # id of an object -> what refers to it

    def __enter__(self) -> Search:
        for name, module in sys.modules.copy().items():  # `__main__` has several names: the first one counts
            if isinstance(module, types.ModuleType):
                self._modules.setdefault(id(module.__dict__), name)
        frame: types.FrameType | None = sys._getframe(1)
        while frame is not None:
            if not frame.f_code.co_filename.startswith(_OURS) and frame.f_locals is not frame.f_globals:
                with _locals(frame) as variables:
                    for name, value in variables.items():
                        self._frames.setdefault(id(value), (name, frame.f_code.co_name))
            frame = frame.f_back
        return self

    def __exit__(self, *why: object) -> None:
        self._modules.clear()
        self._frames.clear()
        self._above.clear()
        vars(self).pop("_arrays", None)

    def holder(self, target: Any) -> Holder | None:
        return self.holders([target])[0]

    def holders(self, targets: list[Any]) -> list[Holder | None]:
        """The nearest name from which each is reached; None where no Python object holds it."""
        self._ignored.add(id(targets))
        found = [_Way(target, self._ignored) for target in targets]
        for depth in range(_DEPTH + 1):
            going = [way for way in found if way.level]
            for way in going:
                self._look(way, depth)
            going = [way for way in going if way.level]
            if not going:
                break
            self._ask([step.holder for way in going for step in way.level])
            for way in going:
                way.level = [one for step in way.level for one in self._up(step, way.met)]
        return [way.best or self._of_array(one) for way, one in zip(found, targets, strict=True)]

    def _of_array(self, tensor: Any) -> Holder | None:
        """Of a tensor that only a NumPy array holds: who holds the array."""
        array = self._arrays.get(id(tensor)) if isinstance(tensor, Tensor) else None
        return None if array is None else self.holder(array)

    def _look(self, way: _Way, depth: int) -> None:
        """At one level: a name ends the way."""
        for step in way.level:
            if (named := self._named(step)) is not None:
                way.best, way.level = named, []
                return
            if depth and (way.best is None or way.best.where.startswith("`a ")):
                way.best = self._described(step) or way.best
        if len(way.met) >= _WIDTH:
            way.level = []

    def _ask(self, objects: list[Any]) -> None:
        """Find out in one walk what refers to each of these."""
        missing = {id(one) for one in objects} - self._above.keys()
        objects = [one for one in objects if id(one) in missing]
        self._ignored.add(id(objects))
        self._above |= {id(one): [] for one in objects}
        self._ignored |= {id(self._above[key]) for key in missing}
        for one in gc.get_referrers(*objects) if objects else ():
            if id(one) not in self._ignored and not _is_machinery(one):
                for key in {id(child) for child in gc.get_referents(one)} & missing:
                    self._above[key].append(one)

    @cached_property
    def _arrays(self) -> dict[int, Any]:
        """id of a tensor -> a NumPy array that shows its memory. The collector knows of no array: containers do."""
        found: dict[int, Any] = {}
        for one in gc.get_objects():
            for array in gc.get_referents(one) if type(one) in _CONTAINERS else ():
                if type(array) is numpy.ndarray:
                    base = array.base
                    while type(base) is numpy.ndarray:
                        base = base.base
                    if isinstance(base, Tensor):
                        found.setdefault(id(base), array)
        return found

    def referrers(self, thing: Any) -> list[Any]:
        self._ask([thing])
        return self._above[id(thing)]

    def _up(self, step: _Step, met: set[int]) -> list[_Step]:
        found = []
        for one in self._above[id(step.holder)]:
            if id(one) not in met:
                met.add(id(one))
                below = _as_attribute(step) if _attributes(one) is step.holder else step
                found.append(_Step(one, below, _written(one, step.holder)))
        return found

    def _named(self, step: _Step) -> Holder | None:
        holder, below = step.holder, step.below
        if id(holder) in self._frames and below is not None:
            name, function = self._frames[id(holder)]
            return _holder(step, name, f"variable of the running function `{function}`")
        if below is None:
            if id(holder) in self._frames:
                name, function = self._frames[id(holder)]
                return _holder(step, name, f"variable of the running function `{function}`")
            return None
        if isinstance(holder, dict) and id(holder) in self._modules:
            return _global(self._modules[id(holder)], holder, step)
        if isinstance(holder, types.CellType):
            named, function = _closure(step, self.referrers)
            return self._of_function(named, function)
        if isinstance(holder, types.FrameType):
            return self._of_exception(_frame(step, self.referrers), holder)
        if isinstance(holder, types.TracebackType | BaseException):
            return _traceback(step)
        if isinstance(holder, types.GeneratorType):
            return _generator(step)
        return _function_or_class(step)

    def _of_function(self, named: Holder, function: Any) -> Holder:
        """A single variable of many functions piles up where the functions do: in a list of callbacks, of hooks."""
        owner = None if function is None or named.kind != "tensors-held" else self.holder(function)
        if owner is None or "[" not in owner.where.partition(",")[0] or owner.bounded:
            return named if owner is None else named._replace(bounded=owner.bounded)
        return named._replace(where=f"{named.where}, which stands in {owner.where}")

    def _of_exception(self, named: Holder, frame: types.FrameType) -> Holder:
        if named.kind != "tensors-in-traceback":
            return named
        error = self._exception(frame)
        owner = None if error is None else self.holder(error)
        if owner is None:
            return named
        where = f"{named.where}; the exception is {owner.where}"
        return named._replace(where=where, bounded=owner.bounded, by=owner.where)

    def _exception(self, frame: types.FrameType) -> BaseException | None:
        """The outermost exception whose traceback comes to this frame."""
        level: list[Any] = [frame]
        error: BaseException | None = None
        for _ in range(_FRAMES):
            above = [one for below in level for one in self.referrers(below)]
            level = [one for one in above if isinstance(one, types.TracebackType)]
            errors = [one for one in above if isinstance(one, BaseException)]
            error = errors[0] if errors else error
            if errors:
                level = errors[:1]
            if not level:
                break
        return error

    def _described(self, step: _Step) -> Holder | None:
        """An object without a name: by its class."""
        tail = _tail(step)
        if tail.startswith("."):
            name = tail[1:].partition("[")[0]
            return _holder(
                step, type(step.holder).__name__, f"attribute `{name}` of an object without a name"
            )
        if isinstance(step.holder, (list, tuple, set, deque)):
            return _holder(step, f"a {type(step.holder).__name__}", "that nothing with a name holds")
        return None


def _tail(step: _Step | None) -> str:
    """What is written after the name: ".history[…]"."""
    text = ""
    while step is not None:
        text += step.written
        step = step.below
    return text


def _bounded(step: _Step | None) -> bool:
    while step is not None:
        if isinstance(step.holder, deque) and step.holder.maxlen is not None:
            return True
        if "_lru_cache_wrapper" in type(step.holder).__name__:
            parameters = getattr(step.holder, "cache_parameters", None)
            return parameters is not None and parameters()["maxsize"] is not None
        step = step.below
    return False


def _holder(step: _Step, name: str, place: str, kind: str = "", tail: str | None = None) -> Holder:
    text = name + (_tail(step) if tail is None else tail)
    piles = "[" in text
    kind = kind or ("tensors-in-history" if piles else "tensors-held")
    return Holder(f"`{text}`, {place}" if text else place, kind, _bounded(step))


def _written(holder: Any, child: Any) -> str:
    """How the child is written after its holder's name."""
    if isinstance(holder, dict):
        keys = [key for key, value in holder.items() if value is child]
        return f"[{keys[0]!r}]" if keys and isinstance(keys[0], str) else "[…]"
    if isinstance(holder, (list, tuple, set, frozenset, deque)):
        return "[…]"
    if isinstance(holder, Tensor) and isinstance(child, dict):
        return "._backward_hooks"
    attributes = _attributes(holder)
    if child is attributes:
        return ""
    for name, value in list(attributes.items()) if isinstance(attributes, dict) else ():
        if value is child:
            return f".{name}"
    for name in getattr(type(holder), "__slots__", ()) or ():
        with contextlib.suppress(Exception):
            if object.__getattribute__(holder, name) is child:
                return f".{name}"
    return ""


def _as_attribute(step: _Step) -> _Step:
    """What hangs on an object's `__dict__` is written as its attribute."""
    below = step.below
    name = step.written.strip("[']")
    return step if below is None or not name.isidentifier() else step._replace(written=f".{name}")


def _attributes(holder: Any) -> Any:
    if isinstance(holder, (types.FunctionType, types.FrameType, types.CellType, type)):
        return None
    with contextlib.suppress(Exception):
        return object.__getattribute__(holder, "__dict__")
    return None


def _is_machinery(one: Any) -> bool:
    """Objects of this search, and frames of this package."""
    if isinstance(one, types.FrameType):
        return one.f_code.co_filename.startswith(_OURS)
    return isinstance(one, (_Step, types.ModuleType)) or type(one).__name__ == "list_iterator"


# --- roots ----------------------------------------------------------------------------------------------


def _global(module: str, holder: dict[str, Any], step: _Step) -> Holder | None:
    assert step.below is not None
    below = step.below
    names = [name for name, value in list(holder.items()) if value is below.holder]
    name = min(names, key=lambda n: (n in _JUPYTER or n.startswith("_"), len(n)), default="")
    if not name:
        return None
    if module == "sys" and name in EXCEPTIONS:
        where = f"`sys.{name}`, the last exception: its traceback holds the variables of the functions that it left"
        return Holder(where, "tensors-in-traceback")
    out = name in _JUPYTER or (name[:1] == "_" and name[1:].isdigit())
    kind = "tensors-in-output" if out else ""
    place = "what Jupyter remembers of shown results" if out else f"in module `{module}`"
    return _holder(below, name, place, kind)


def _closure(step: _Step, referrers: Referrers) -> tuple[Holder, Any]:
    """A cell: its name stands in the function that closes over it."""
    for cells in referrers(step.holder):
        if not isinstance(cells, tuple):
            continue
        for function in referrers(cells):
            if isinstance(function, types.FunctionType) and function.__closure__ is cells:
                at = next(k for k, cell in enumerate(cells) if cell is step.holder)
                name = function.__code__.co_freevars[at]
                place = f"closure variable of `{function.__name__}`"
                return _holder(step._replace(written=""), name, place), function
    return _holder(step._replace(written=""), "a variable", "that a function closes over"), None


def _frame(step: _Step, referrers: Referrers) -> Holder:
    """The frame of a function that has ended, or stopped in between: a traceback or a generator holds it."""
    assert step.below is not None
    frame = step.holder
    with _locals(frame) as variables:
        names = [n for n, value in variables.items() if value is step.below.holder]
    name, function = (names or ["a variable"])[0], frame.f_code.co_name
    kept = any(isinstance(one, types.TracebackType) for one in referrers(frame))
    if not kept:
        return _holder(step.below, name, f"variable of `{function}`")
    return _holder(
        step.below,
        name,
        f"variable of `{function}`, which an exception's traceback keeps",
        "tensors-in-traceback",
    )


def _traceback(step: _Step) -> Holder:
    name = type(step.holder).__name__
    return Holder(
        f"a {name}, which keeps the variables of the functions that it left", "tensors-in-traceback"
    )


def _generator(step: _Step) -> Holder | None:
    assert step.below is not None
    frame = step.holder.gi_frame
    if frame is None:
        return None
    with _locals(frame) as variables:
        names = [n for n, value in variables.items() if value is step.below.holder]
    return _holder(
        step.below, (names or ["a variable"])[0], f"variable of the generator `{step.holder.__name__}`"
    )


def _function_or_class(step: _Step) -> Holder | None:
    holder, below = step.holder, step.below
    if isinstance(holder, types.FunctionType) and below is not None:
        return _default(holder, below)
    if isinstance(holder, type) and below is not None:
        names = [
            name
            for name, value in vars(holder).items()
            if below.below is not None and value is below.below.holder
        ]
        tail = _tail(below.below) if names else ""
        return _holder(
            below,
            f"{holder.__name__}.{names[0]}" if names else holder.__name__,
            "attribute of the class",
            tail=tail,
        )
    if "_lru_cache_wrapper" in type(holder).__name__:
        return _holder(
            step,
            "",
            f"the cache of `{getattr(holder, '__name__', 'a function')}`",
            "tensors-in-history",
            tail="",
        )
    return None


def _default(function: types.FunctionType, below: _Step) -> Holder:
    """A mutable default argument, or an attribute that somebody put on the function."""
    name, code, inside = "", function.__code__, below.below
    defaults = function.__defaults__ or ()
    if below.holder is defaults and inside is not None:
        arguments = code.co_varnames[: code.co_argcount][-len(defaults) :]
        name = next((n for n, v in zip(arguments, defaults, strict=True) if v is inside.holder), "")
    if name:
        return _holder(
            below, name, f"default argument of the function `{function.__name__}`", tail=_tail(inside)
        )
    return _holder(below, function.__name__, "attribute of the function")


@contextlib.contextmanager
def _locals(frame: types.FrameType) -> Iterator[Any]:
    variables = frame.f_locals
    try:
        yield variables
    finally:
        # A dict that Python made for us keeps the variables of a function; a module's is the real one.
        if type(variables) is dict and frame.f_code.co_flags & 1 and variables is not frame.f_globals:
            variables.clear()
