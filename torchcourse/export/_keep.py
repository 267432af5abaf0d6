"""Look at a model, and leave no trace: copies of model and inputs, silence, and the random state put back."""

import copy
import logging
import os
import random
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from io import StringIO
from typing import Any

import torch
from torch import Tensor, nn


@contextmanager
def silence() -> Iterator[list[warnings.WarningMessage]]:
    """Nothing in the block prints: not by Python, by a logger, or by C++ on file descriptors 1 and 2.

    Yields the list of the warnings that came. Filters, loggers and descriptors are as before afterwards.
    """
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()  # what is buffered belongs before the block
    with ExitStack() as later:
        later.callback(logging.disable, logging.root.manager.disable)
        logging.disable(logging.CRITICAL)
        later.enter_context(redirect_stdout(StringIO()))
        later.enter_context(redirect_stderr(StringIO()))
        _descriptors(later)
        caught = later.enter_context(warnings.catch_warnings(record=True))
        warnings.simplefilter("always")
        assert caught is not None  # it is a list, because of record=True
        yield caught


def _descriptors(later: ExitStack) -> None:
    hole = later.enter_context(tempfile.TemporaryFile())  # noqa: SIM115  # the stack closes it
    for number in (1, 2):
        try:
            kept = os.dup(number)
        except OSError:  # a process without this descriptor (a service, pythonw) prints nowhere
            continue
        later.callback(os.close, kept)
        later.callback(os.dup2, kept, number)
        os.dup2(hole.fileno(), number)


@contextmanager
def random_kept() -> Iterator[Callable[[], None]]:
    """Yields a function that sets every random generator back to its state at the start; so does the end."""
    import numpy

    python, arrays, cpu = random.getstate(), numpy.random.get_state(), torch.get_rng_state()
    cuda = torch.cuda.get_rng_state_all() if torch.cuda.is_initialized() else None
    mps = torch.mps.get_rng_state() if torch.backends.mps.is_available() else None

    def rewind() -> None:
        random.setstate(python)
        numpy.random.set_state(arrays)
        torch.set_rng_state(cpu)
        if cuda is not None:
            torch.cuda.set_rng_state_all(cuda)
        if mps is not None:
            torch.mps.set_rng_state(mps)

    try:
        yield rewind
    finally:
        rewind()


def twin(model: nn.Module) -> nn.Module:
    """A copy of the model that shares no tensor with it; hooks and modes come along."""
    memo = _results(t for m in model.modules() for t in (*vars(m).values(), *m._buffers.values()))
    try:
        return copy.deepcopy(model, memo)
    except (
        Exception
    ):  # a lock, an open file, a generator: what deepcopy refuses is shared, the rest is copied
        return _rebuilt(model, {})


def fresh(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """A copy with the same sizes, strides, sharing and `requires_grad`; what can't be copied is passed on."""
    try:
        return copy.deepcopy(inputs, _results(tensors(inputs)))
    except Exception:
        return inputs


def tensors(value: Any) -> Iterator[Tensor]:
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, (tuple, list, dict)):
        for part in value.values() if isinstance(value, dict) else value:
            yield from tensors(part)


def _results(values: Any) -> dict[int, Any]:
    """For deepcopy, which refuses tensors with a history: their copies, without it."""
    found = [t for t in values if isinstance(t, Tensor) and not t.is_leaf]
    return {id(t): copy.deepcopy(t.detach()) for t in found}


def _rebuilt(value: Any, memo: dict[int, Any]) -> Any:
    """Modules and their dictionaries anew, tensors copied once, all else shared where it can't be copied."""
    if id(value) in memo:
        return memo[id(value)]
    if isinstance(value, nn.Module):
        made = memo[id(value)] = type(value).__new__(type(value))
        made.__dict__.update({name: _rebuilt(part, memo) for name, part in vars(value).items()})
        return made
    if isinstance(value, dict):
        entries = memo[id(value)] = copy.copy(value)
        entries.update({name: _rebuilt(part, memo) for name, part in value.items()})
        return entries
    try:
        detached = value.detach() if isinstance(value, Tensor) and not value.is_leaf else value
        return memo.setdefault(id(value), copy.deepcopy(detached, memo))
    except Exception:
        return value


class Rewound:
    """A module whose buffers start each call as they were when the exporter had made it."""

    def __init__(self, module: nn.Module) -> None:
        self.module = module
        self.before = [(buffer, buffer.detach().clone()) for buffer in module.buffers()]

    def __call__(self, *inputs: Any) -> Any:
        with torch.no_grad():
            for buffer, value in self.before:
                if not _same(buffer, value):
                    buffer.copy_(value)
        return self.module(*inputs)


def _same(a: Tensor, b: Tensor) -> bool:
    return a.layout == torch.strided and bool(torch.equal(a, b))


class State:
    """What a call may change besides its output: buffers, and plain attributes of modules."""

    def __init__(self, model: nn.Module) -> None:
        self.model = model
        self.buffers = {name: buffer.detach().clone() for name, buffer in model.named_buffers()}
        self.attributes = dict(self._read())

    def _read(self) -> Iterator[tuple[str, Any]]:
        for path, module in self.model.named_modules():
            for name, value in vars(module).items():
                if not name.startswith("_") and not callable(value):
                    yield f"{path}.{name}" if path else name, value

    def buffers_moved(self) -> tuple[str, ...]:
        now = dict(self.model.named_buffers())
        return tuple(n for n, value in self.buffers.items() if n in now and not _same(now[n], value))

    def attributes_moved(self) -> tuple[str, ...]:
        """Names that hold another object now; what lies inside a list or dict is not looked at."""
        return tuple(name for name, value in self._read() if self.attributes.get(name, self) is not value)
