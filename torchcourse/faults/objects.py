"""Python objects that a step may write to: found from the model and the loss, noted, and put back."""

import random
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from functools import partial
from operator import is_
from types import BuiltinFunctionType, CellType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy
import torch
from torch import Tensor, nn

Undo = Callable[[], object]
PLAIN = (int, float, complex, str, bytes, bool, type(None), torch.dtype, torch.device, torch.Size, range)
_PLAIN, _CONTAINERS = frozenset(PLAIN), frozenset((dict, OrderedDict, list, set))
CLOSED = (type, ModuleType, BuiltinFunctionType)
FOREIGN = {
    "logging",
    "threading",
    "asyncio",
    "weakref",
    "IPython",
    "ipykernel",
    "builtins",
    "numpy",
    "typing",
}
OF_CLASSES = (FunctionType, list, dict, set, deque, torch.Tensor)  # what methods may write to
MOST, DEEPEST, LONG = 20_000, 10, 10_000  # objects; levels; elements of a list that are opened
MOST_BYTES = 1 << 20  # of a NumPy array that is copied


class Objects:
    """All that can be reached from `roots`: how to undo changes to it, and the tensors met on the way."""

    def __init__(self, roots: tuple[Any, ...]) -> None:
        self.undo: list[Undo] = []
        self._contents: list[tuple[Any, Any]] = []  # a container, and what was in it
        self.tensors: dict[int, Tensor] = {}
        self._met: dict[int, Any] = {}  # the objects themselves too: an id must not be given to another
        waiting = deque((root, 0) for root in roots)
        while waiting and len(self._met) < MOST:
            thing, depth = waiting.popleft()
            if isinstance(thing, PLAIN) or id(thing) in self._met:
                continue
            self._met[id(thing)] = thing
            if isinstance(thing, Tensor):
                self.tensors[id(thing)] = thing
            else:
                waiting.extend([(one, depth + 1) for one in self._open(thing) if self._worth(one, depth)])
        self._met.clear()

    def _worth(self, one: Any, depth: int) -> bool:
        """Whether it is to be opened. A module has ten empty dicts of hooks: noted here, that is far cheaper."""
        kind = type(one)
        if kind in _CONTAINERS and not one:
            self._contents.append((one, ()))
            return False
        return kind not in _PLAIN and depth < DEEPEST

    def put_back(self) -> None:
        for container, before in self._contents:
            if (container or before) and not _same(container, before):
                _refill(container, before)
        for undo in reversed(self.undo):
            undo()

    def _open(self, thing: Any) -> Iterator[Any]:
        """Note how to put this one back, and hand over what it holds."""
        if isinstance(thing, (dict, list, set, deque)):
            yield from self._container(thing)
        elif isinstance(thing, (tuple, frozenset)):
            yield from thing
        elif isinstance(thing, FunctionType):
            yield from self._function(thing)
        elif isinstance(thing, MethodType):
            yield from (thing.__self__, thing.__func__)
        elif isinstance(thing, partial):
            yield from (thing.func, *thing.args, *thing.keywords.values())
        elif (state := _generator(thing)) is not None:
            self.undo.append(state)
        elif isinstance(thing, numpy.ndarray):
            if thing.nbytes <= MOST_BYTES and thing.flags.writeable:
                self.undo.append(partial(numpy.copyto, thing, thing.copy()))
        elif isinstance(thing, nn.Module) or not _foreign(thing):
            yield from self._attributes(thing)

    def _container(self, thing: Any) -> Iterator[Any]:
        before = dict(dict.items(thing)) if isinstance(thing, dict) else list(thing)
        self._contents.append((thing, before))
        inner = before.values() if isinstance(before, dict) else before
        if len(inner) <= LONG:
            yield from inner

    def _attributes(self, thing: Any) -> Iterator[Any]:
        own = getattr(thing, "__dict__", None)
        if isinstance(own, dict):
            before = dict(own)
            self._contents.append((own, before))
            yield from before.values()
        for kind in type(thing).__mro__:
            if kind.__module__.partition(".")[0] not in ("torch", *FOREIGN):
                yield from (one for one in vars(kind).values() if isinstance(one, OF_CLASSES))

    def _function(self, thing: FunctionType) -> Iterator[Any]:
        """Its cells, its defaults, and the globals that its code names."""
        if thing.__module__ and thing.__module__.partition(".")[0] in ("torch", *FOREIGN):
            return
        for cell in thing.__closure__ or ():
            if (held := _held(cell)) is not None:
                self.undo.append(partial(setattr, cell, "cell_contents", held))
                yield held
        yield from thing.__defaults__ or ()
        yield from (thing.__kwdefaults__ or {}).values()
        named = {n: thing.__globals__[n] for n in thing.__code__.co_names if n in thing.__globals__}
        self.undo.append(partial(thing.__globals__.update, named))
        yield from (value for value in named.values() if not isinstance(value, CLOSED))


def _held(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # still empty
        return None


def _foreign(thing: Any) -> bool:
    """Objects that are never opened: classes, and those of libraries that lead to the whole world."""
    if isinstance(thing, CLOSED):
        return True
    package = type(thing).__module__.partition(".")[0]
    return package in FOREIGN or (package == "torch" and not isinstance(thing, torch.optim.Optimizer))


def _generator(thing: Any) -> Undo | None:
    """How to set a random generator back; None: it is none."""
    if isinstance(thing, torch.Generator):
        return partial(thing.set_state, thing.get_state())
    if isinstance(thing, numpy.random.Generator):
        bits: Any = thing.bit_generator
        return partial(setattr, bits, "state", bits.state)
    if isinstance(thing, numpy.random.RandomState):
        return partial(thing.set_state, thing.get_state())
    if isinstance(thing, random.Random):
        return partial(thing.setstate, thing.getstate())
    return None


def _refill(container: Any, before: Any) -> None:
    container.clear()
    if isinstance(container, (list, deque)):
        container.extend(before)
    else:
        container.update(before)


def _same(container: Any, before: Any) -> bool:
    if len(container) != len(before):
        return False
    if isinstance(container, dict) and not all(map(is_, dict.values(container), before.values())):
        return False
    return all(map(is_, container, before))


def numpys_own() -> Undo:
    """NumPy's state takes longer to write than to read, and seldom moved."""
    before: Any = numpy.random.get_state(legacy=False)

    def undo() -> None:
        if not _equal(numpy.random.get_state(legacy=False), before):
            numpy.random.set_state(before)

    return undo


def _equal(one: Any, other: Any) -> bool:
    """Of nested dicts with numbers and arrays."""
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(_equal(one[key], other[key]) for key in one)
    return bool(numpy.array_equal(one, other)) if isinstance(one, numpy.ndarray) else bool(one == other)


def global_generators() -> Iterator[Undo]:
    """Python's, NumPy's and torch's own."""
    yield partial(random.setstate, random.getstate())
    yield numpys_own()
    yield partial(torch.set_rng_state, torch.get_rng_state())
    if torch.cuda.is_available() and torch.cuda.is_initialized():
        yield partial(torch.cuda.set_rng_state_all, torch.cuda.get_rng_state_all())
    if torch.backends.mps.is_available():
        yield partial(torch.mps.set_rng_state, torch.mps.get_rng_state())
