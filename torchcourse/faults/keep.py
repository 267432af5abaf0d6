"""The guard: whatever happens inside, model, batch, optimizer, generators, modes and flags are put back.

Tensors are copied only when something is about to write to them. A copy of all parameters would cost as much
memory as their gradients; a step that never reaches the optimizer seldom writes to any.
"""

import contextlib
import io
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.parameter import is_lazy

from torchcourse.layers._torch import unwatched
from torchcourse.layers.look import tensors_in
from torchcourse.layers.passing import writes
from torchcourse.training._torch import same_versions

from .given import Given, tensors
from .objects import Objects, global_generators

EXCHANGE = getattr(Tensor, "data").__set__  # noqa: B009 - as a descriptor, which the stubs don't tell
NO_WRITE = {"requires_grad_", "detach_", "share_memory_", "retain_grad_"}
# These write statistics, or rows longer than `max_norm`, into what they are given.
RISKY = {"batch_norm", "instance_norm", "native_batch_norm", "embedding", "embedding_bag"}


@dataclass(eq=False)
class _Guarded:
    """One tensor as it was; copy: made just before the first write; alias: before its memory is exchanged."""

    tensor: Tensor
    grad: Tensor | None
    requires_grad: bool
    copy: Tensor | None = None
    alias: Tensor | None = None

    def put_back(self) -> None:
        tensor = self.tensor
        if self.copy is not None:
            with torch.no_grad():
                if self.alias is not None:
                    tensor.data = self.alias
                if not tensor.equal(self.copy):
                    tensor.copy_(self.copy)
        if tensor.is_leaf:
            if tensor.requires_grad != self.requires_grad:
                tensor.requires_grad_(self.requires_grad)
            if tensor.grad is not self.grad:
                tensor.grad = self.grad


class Keep:
    """What is guarded, and what was written to: `Watch` asks `before` at each call."""

    def __init__(self, given: Given) -> None:
        self.objects = Objects((given.model, given.loss_fn, given.optimizers, given.input, given.target))
        self.generators = tuple(global_generators())
        batch = {id(t): t for t in tensors((given.input, given.target))}
        self.guarded: dict[int, _Guarded] = {}
        self._by_storage: dict[int, list[_Guarded]] = {}
        for tensor in {**self.objects.tensors, **batch}.values():
            self.add(tensor)
        self.batch = set(batch)
        self.changed_batch: list[str] = []  # calls that write to the batch
        if any(_unseen(module) for module in given.model.modules()):
            for one in self.guarded.values():
                one.copy = _copy(one.tensor)

    def add(self, tensor: Tensor) -> None:
        """Guard one more; its `.grad` is set aside, so that nothing is added to the reader's."""
        if id(tensor) in self.guarded or _strange(tensor):
            return
        leaf = tensor.is_leaf
        one = _Guarded(tensor, tensor.grad if leaf else None, tensor.requires_grad)
        self.guarded[id(tensor)] = one
        self._by_storage.setdefault(_address(tensor), []).append(one)
        if one.grad is not None:
            tensor.grad = None

    def before(self, func: Any, name: str, args: Any, kwargs: Any) -> None:
        """A call is about to run: copy what it may write to."""
        if func == EXCHANGE or (writes(name) and name not in NO_WRITE):
            self._written(name, args[:1], exchanged=func == EXCHANGE or name == "set_")
        elif name in RISKY:
            self._written("", (*args, *kwargs.values()))
        elif "out" in kwargs or kwargs.get("inplace"):
            self._written(name, (kwargs["out"],) if "out" in kwargs else args[:1])
        elif len(args) > 1 and args[-1] is True:  # `inplace` may be the last positional argument
            self._written("", args[:1])

    def _written(self, name: str, targets: tuple[Any, ...], exchanged: bool = False) -> None:
        """name: empty where the call only may write."""
        with unwatched():
            for target in tensors_in(targets):
                for one in self._by_storage.get(_address(target), ()):
                    if one.copy is None:
                        one.copy = _copy(one.tensor)
                    if exchanged and one.alias is None:
                        one.alias = one.tensor.detach()
                    if name and id(one.tensor) in self.batch:
                        self.changed_batch.append(name)

    @contextlib.contextmanager
    def everything(self) -> Iterator[None]:
        """Around all steps."""
        counted = [one.tensor for one in self.guarded.values()]
        with contextlib.ExitStack() as later:
            later.enter_context(same_versions(counted))
            later.callback(self.rewind)
            later.enter_context(_flags())
            later.enter_context(_hushed())
            yield

    def rewind(self) -> None:
        """Tensors, objects and generators as they were."""
        with unwatched():
            for one in self.guarded.values():
                one.put_back()
            self.objects.put_back()
            for undo in self.generators:
                undo()


def _copy(tensor: Tensor) -> Tensor:
    return tensor.detach().clone()


def _strange(tensor: Tensor) -> bool:
    """Without memory that could be compared, or without a version: lazy, meta, sparse, made in inference mode."""
    return (
        is_lazy(tensor)
        or tensor.is_meta
        or tensor.is_inference()
        or tensor.layout is not torch.strided
        or tensor.is_nested
    )


def _address(tensor: Tensor) -> int:
    try:
        return tensor.untyped_storage().data_ptr() or id(tensor)
    except (RuntimeError, NotImplementedError):  # a subclass without a storage of its own
        return id(tensor)


def _unseen(module: nn.Module) -> bool:
    """What runs in C++ or compiled is not seen call by call."""
    return isinstance(module, torch.jit.ScriptModule) or hasattr(module, "_orig_mod")


@contextlib.contextmanager
def _flags() -> Iterator[None]:
    """Global switches that a forward could turn; gradients are on inside, as in a training step."""
    dtype = torch.get_default_dtype()
    deterministic = torch.are_deterministic_algorithms_enabled()
    warn_only = torch.is_deterministic_algorithms_warn_only_enabled()
    try:
        with torch.inference_mode(False), torch.enable_grad():
            yield
    finally:
        torch.set_default_dtype(dtype)
        torch.use_deterministic_algorithms(deterministic, warn_only=warn_only)


@contextlib.contextmanager
def _hushed() -> Iterator[None]:
    """A step that is only looked at prints nothing, and warns nobody a second time."""
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
