"""Run the reader's model, and leave everything as it was; only what is written to is copied."""

import random
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from operator import is_
from typing import Any

import torch
from torch import Tensor, nn

from torchcourse.autograd._torch import quiet
from torchcourse.faults.objects import numpys_own
from torchcourse.layers.storages import storage_of

_set_versions = getattr(torch._C._autograd, "_unsafe_set_version_counter", None)
_CONTAINERS = (list, dict, set, deque)


class Kept:
    """Copies of what was there before the run, each taken when the run first writes to it."""

    def __init__(self) -> None:
        self.made: set[int] = set()  # storages that the run made itself
        self._stored: dict[int, tuple[torch.UntypedStorage, torch.UntypedStorage]] = {}
        self._versions: list[tuple[Tensor, int]] = []
        self._generators: dict[int, tuple[torch.Generator, Tensor]] = {}

    def before_write(self, tensor: Tensor) -> None:
        """An operator is about to write to this tensor."""
        storage = storage_of(tensor)
        if storage is None or storage._cdata in self.made or tensor.is_meta:
            return
        with suppress(RuntimeError):  # tensors of inference_mode count no versions
            self._versions.append((tensor, tensor._version))
        if storage._cdata not in self._stored:
            self._stored[storage._cdata] = (storage, storage.clone())

    def before_draw(self, generator: torch.Generator) -> None:
        self._generators.setdefault(id(generator), (generator, generator.get_state()))

    def put_back(self) -> None:
        for storage, copy in self._stored.values():
            with suppress(RuntimeError):  # it has been resized, and is somebody else's matter
                storage.copy_(copy)
        if _set_versions is not None and self._versions:
            tensors, versions = zip(*reversed(self._versions), strict=True)  # the first one counts
            _set_versions(tensors, versions)
        for generator, state in self._generators.values():
            generator.set_state(state)


@contextmanager
def as_before(model: Any) -> Iterator[Kept]:
    """In the block the model may run; after it values, attributes, modes and random states are what they were."""
    kept = Kept()
    modules = list(model.modules()) if isinstance(model, nn.Module) else []
    attributes = [(m, m.__dict__.copy(), _contents(m)) for m in modules]
    devices = list(range(torch.cuda.device_count())) if torch.cuda.is_initialized() else []
    with torch.random.fork_rng(devices), _other_generators():
        try:
            yield kept
        finally:
            for module, before, contents in attributes:
                _restore(module, before, contents)
            with quiet():
                kept.put_back()
            if torch.is_autocast_enabled("cpu") or torch.is_autocast_enabled("cuda"):
                torch.clear_autocast_cache()  # it holds casts of the weights, with our graph


@contextmanager
def _other_generators() -> Iterator[None]:
    python, undo = random.getstate(), numpys_own()
    try:
        yield
    finally:
        random.setstate(python)
        undo()


def _contents(module: nn.Module) -> list[tuple[Any, Any]]:
    """Every container among a module's attributes, the registries too, with a copy; None for an empty one."""
    held = [v for v in module.__dict__.values() if isinstance(v, _CONTAINERS)]
    return [(v, v.copy() if v else None) for v in held]


def _restore(module: nn.Module, before: dict[str, Any], contents: list[tuple[Any, Any]]) -> None:
    for container, content in contents:
        if container or content:
            _refill(container, content)
    if not _same(module.__dict__, before):
        module.__dict__.clear()
        module.__dict__.update(before)


def _refill(container: Any, content: Any) -> None:
    """The same object with the content it had."""
    if content is None:
        container.clear()
    elif not _same(container, content):
        container.clear()
        (container.update if isinstance(container, (dict, set)) else container.extend)(content)


def _same(one: Any, other: Any) -> bool:
    """The same objects in the same order; `==` would compare tensors by value."""
    if len(one) != len(other) or not all(map(is_, one, other)):
        return False
    return not isinstance(one, dict) or all(map(is_, one.values(), other.values()))


@contextmanager
def gradients_aside(leaves: list[Tensor]) -> Iterator[None]:
    """In the block `.grad` is None and no post-accumulate hook runs (an optimizer may step in one)."""
    before = [(leaf, leaf.grad, _hooks(leaf)) for leaf in leaves]
    for leaf, _, hooks in before:
        leaf.grad = None
        hooks[0].clear()
    try:
        yield
    finally:
        for leaf, grad, (held, content) in before:
            leaf.grad = grad
            held.update(content)


def _hooks(leaf: Tensor) -> tuple[dict[Any, Any], dict[Any, Any]]:
    held = getattr(leaf, "_post_accumulate_grad_hooks", None)
    held = {} if held is None else held
    return held, dict(held)
