"""Which value was computed from which, while a function runs: noted call by call, for `cuts`.

A value is a number. Values come from sources: tensors with a gradient that the run met and did not
make (parameters, leaves, a part of a graph that was there before). At them the way back ends.
"""

import contextlib
import sys
import weakref
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from types import FrameType
from typing import Any, NamedTuple

import torch
from torch import Tensor

from torchcourse.autograd.names import Names

from . import _torch
from .look import tensors_in
from .passing import (
    BACKWARD,
    EXITS,
    NO_VALUE,
    address,
    flat,
    given_to_backward,
    in_a_function,
    mode,
    numbers_in,
    overwrites,
    reads,
    writes,
)
from .reach import node_of, reached_from
from .record import QUIET, Calls, Watch
from .storages import storage_of

NAMED = 200  # look-ups of names in one run: each reads the variables of a frame


class Source(NamedTuple):
    """A tensor with a gradient that was there before; node: None for a leaf, else its grad_fn."""

    tensor: Tensor
    node: Any
    name: str


@dataclass(slots=True)
class RawCut:
    """A call that was given a gradient's way and returned a value without one."""

    call: int
    func: Any
    value: int
    mode: str | None  # "no_grad", "inference_mode", or None where recording was on
    dtype: torch.dtype | None  # of what came out; None for a Python value
    given: tuple[str, ...]


class _Given(NamedTuple):
    """What one call was given, read before it ran."""

    func: Any
    name: str
    call: int
    tensors: tuple[tuple[Tensor, bool], ...]
    inputs: frozenset[int]
    mode: str | None


@dataclass
class Flow:
    """All values of one run. Tensors are held weakly, sources and exported numbers until it ends."""

    watch: "FlowWatch"
    names: list[Names]
    made: list[tuple[int, ...]] = field(default_factory=list)  # value -> the values it was computed from
    sources: dict[int, Source] = field(default_factory=dict)  # value -> source
    exits: dict[int, str] = field(default_factory=dict)  # value -> how it left to Python
    cuts: list[RawCut] = field(default_factory=list)
    partly: bool = False  # some of what ran was not seen
    outputs: int = 0  # tensors that were asked for
    asked: set[int] = field(default_factory=set)  # the values in them
    reached: set[int] = field(default_factory=set)  # sources that a gradient comes to from there
    _of: dict[int, tuple[weakref.ref[Tensor], int]] = field(default_factory=dict)
    _written: dict[int, set[int]] = field(default_factory=dict)  # number of a storage -> values
    _numbers: dict[int, tuple[Any, int]] = field(default_factory=dict)  # id -> exported object, value
    _memory: dict[int, tuple[Any, int]] = field(default_factory=dict)  # address -> exported array, value
    _looked: int = 0

    def value(self, inputs: Iterable[int] = ()) -> int:
        self.made.append(tuple(inputs))
        return len(self.made) - 1

    def behind(self, tensor: Tensor) -> set[int]:
        """The values that this tensor holds: its own, and what was written into its memory."""
        tensor = self._inside(tensor)
        known = self._known(tensor)
        if known is None and tensor.requires_grad:
            known = self._source(tensor)
        found = set() if known is None else {known}
        if self._written or self._memory:
            found |= self._by_memory(tensor)
        return found

    def _inside(self, tensor: Tensor) -> Tensor:
        inside = _torch.unwrapped(tensor)
        self.partly |= inside is not tensor  # the way out of the wrappers is not seen
        return inside

    def _known(self, tensor: Tensor) -> int | None:
        ref, value = self._of.get(id(tensor), (None, None))
        return value if ref is not None and ref() is tensor else None

    def _source(self, tensor: Tensor) -> int:
        value = self.value()
        node = None if tensor.is_leaf else node_of(tensor)
        self.sources[value] = Source(tensor, node, self.name(tensor))
        self._of[id(tensor)] = weakref.ref(tensor), value
        return value

    def _by_memory(self, tensor: Tensor) -> set[int]:
        storage = storage_of(tensor)
        if storage is None:
            return set()
        found = set(self._written.get(self.watch.storages.number(storage), ()))
        with contextlib.suppress(RuntimeError):  # a fake tensor's storage has no address
            if not tensor.requires_grad and (array := self._memory.get(storage.data_ptr())):
                found.add(array[1])
        return found

    def ask(self, tensors: Iterable[Tensor]) -> None:
        """Note these as outputs: what they were computed from matters, and so does where gradients come to."""
        for tensor in tensors:
            self.outputs += 1
            self.asked |= self.behind(tensor)
            variables, nodes = reached_from(node_of(tensor))
            if tensor.is_leaf and tensor.requires_grad:
                variables.add(id(tensor))
            self.reached |= {
                value
                for value, source in self.sources.items()
                if (id(source.tensor) in variables if source.node is None else source.node in nodes)
            }

    def cone(self, values: Iterable[int], stop: Collection[int] = ()) -> set[int]:
        """These values and all that they were computed from, back to the sources, or to those in `stop`."""
        found: set[int] = set()
        todo = list(values)
        while todo:
            value = todo.pop()
            if value not in found:
                found.add(value)
                todo += [before for before in self.made[value] if before not in stop]
        return found

    def left(self) -> set[int]:
        """Values that a number or an array of Python's was made of."""
        return self.cone(self.exits)

    def name(self, tensor: Tensor) -> str:
        """What the reader calls it: as given to the function, or a variable where it is used."""
        named = next((found for names in self.names if (found := names.get(tensor))), None)
        if named is None and self._looked < NAMED and (frame := self._frame()) is not None:
            self._looked += 1
            named = Names(None, frame).get(tensor)
        return named.name if named else ""

    def _frame(self) -> FrameType | None:
        frame: FrameType | None = sys._getframe(1)
        while frame is not None and frame.f_code.co_filename not in self.watch.files:
            frame = frame.f_back
        return frame

    def before(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> _Given | None:
        """Note what a call is given; None where no value flows through it."""
        if func in BACKWARD or (func is torch.autograd.grad and not kwargs.get("create_graph")):
            self.ask(tensors_in((*args[:1], kwargs.get("outputs"), kwargs.get("tensors"))))
        self.ask(given_to_backward())
        name = getattr(func, "__name__", "")
        if func in NO_VALUE:
            return None
        read = reads(name, args, kwargs)
        tensors = tensors_in(read)
        inputs = {value for tensor in tensors for value in self.behind(tensor)}
        inputs |= {value for number in numbers_in(read) for value in self._came_back(number)}
        if not inputs:
            self._forget(args[0] if overwrites(name) and writes(name) else None)
            return None
        asked = tuple((tensor, tensor.requires_grad) for tensor in tensors)
        return _Given(func, name, len(self.watch.record.calls), asked, frozenset(inputs), mode())

    def _forget(self, overwritten: Any) -> None:
        if self._of.get(id(overwritten), (None, -1))[1] not in self.sources:
            self._of.pop(id(overwritten), None)

    def after(self, given: _Given, args: tuple[Any, ...], result: Any) -> None:
        """Note what came out of it, and whether a gradient's way ends here."""
        if (how := EXITS.get(given.func)) is not None:
            self._left(given, how, result)
            return
        returned = tensors_in((result,))
        written = writes(given.name)
        if written and args and isinstance(args[0], Tensor) and all(args[0] is not t for t in returned):
            returned = [*returned, args[0]]
        before = {id(tensor) for tensor, _ in given.tensors}
        for tensor in returned:
            restarts = tensor.requires_grad and tensor.is_leaf  # an optimizer's step, a new parameter
            if not restarts and (written or id(tensor) not in before):
                self._came_out(given, tensor, written)

    def _came_out(self, given: _Given, tensor: Tensor, written: bool) -> None:
        value = self.value(sorted(given.inputs))
        tensor = self._inside(tensor)
        self._of[id(tensor)] = weakref.ref(tensor), value
        if written and (storage := storage_of(tensor)) is not None:
            self._written.setdefault(self.watch.storages.number(storage), set()).add(value)
        if flat(given.func) or not tensor.requires_grad:
            self._cut(given, value, tensor.dtype)

    def _left(self, given: _Given, how: str, result: Any) -> None:
        value = self.value(sorted(given.inputs))
        self.exits[value] = how
        for number in numbers_in((result,)):
            self._numbers[id(number)] = number, value
        if (place := address(result)) is not None:
            self._memory[place] = result, value
            self._numbers[id(result)] = result, value
        self._cut(given, value, None)

    def _cut(self, given: _Given, value: int, dtype: torch.dtype | None) -> None:
        asked = [tensor for tensor, wanted in given.tensors if wanted]
        if asked and not in_a_function():
            names = tuple(dict.fromkeys(name for t in asked if (name := self.name(t))))
            self.cuts.append(RawCut(given.call, given.func, value, given.mode, dtype, names))

    def _came_back(self, number: Any) -> Iterator[int]:
        known = self._numbers.get(id(number))
        if known is not None and known[0] is number:
            yield known[1]
        elif (array := self._memory.get(address(number) or 0)) is not None:
            yield array[1]


class FlowCalls(Calls):
    """xray's mode for calls, which notes the flow of values too."""

    def __init__(self, watch: "FlowWatch") -> None:
        super().__init__(watch)
        self.watching = watch

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        flow, kwargs = self.watching.flow, kwargs or {}
        if func in QUIET or self.watch.elsewhere():
            return super().__torch_function__(func, types, args, kwargs)
        with _torch.unwatched():
            given = flow.before(func, args, kwargs)
        result = super().__torch_function__(func, types, args, kwargs)
        if given is not None:
            with _torch.unwatched():
                flow.after(given, args, result)
        return result


class FlowWatch(Watch):
    """A watch as xray's, without the profiler: calls, operators, lines, modules, and the flow."""

    def __init__(self, files: set[str], home: FrameType | None, names: list[Names]) -> None:
        super().__init__(files, home)
        self.files = files
        self.flow = Flow(self, names)
        self.calls = FlowCalls(self)

    def elsewhere(self) -> bool:
        unseen = super().elsewhere()
        self.flow.partly |= unseen
        return unseen

    def _hide_calls(self) -> None:
        if torch.is_grad_enabled():  # then these modules have no fast path to be kept
            self._hidden.append(False)
        else:
            self.flow.partly = True
            super()._hide_calls()
