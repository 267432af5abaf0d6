"""Which storages are made in which step, and which of them are still there. Nothing is kept alive by looking."""

from __future__ import annotations

import gc
import weakref
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn.parameter import UninitializedBuffer, UninitializedParameter
from torch.utils._python_dispatch import TorchDispatchMode

from torchcourse.layers.look import tensors_in
from torchcourse.layers.storages import storage_of

from ._operators import kind_of, kinds


class Born(NamedTuple):
    """A storage, by its address. nbytes: all of it."""

    step: int
    nbytes: int
    shape: tuple[int, ...]
    operator: str
    ref: weakref.ref[torch.UntypedStorage]


class Births(TorchDispatchMode):
    """Notes each storage that an operator makes; PyTorch keeps a storage's Python object as long as the storage."""

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False

    def __init__(self) -> None:
        super().__init__()
        self.alive: dict[int, Born] = {}
        self.step = -1  # -1: before the first

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        try:
            result = func(*args, **(kwargs or {}))
        except BaseException as error:
            # Its frames are this mode's, which hold the arguments, and not the reader's.
            error.__traceback__ = None
            del args, kwargs
            raise
        kind = kinds.get(func) or kind_of(func)
        if kind.fresh or kind.short == "lift_fresh":
            for tensor in tensors_in(result if isinstance(result, (tuple, list)) else (result,)):
                self.note(tensor, kind.name)
        return result

    def note(self, tensor: Tensor, operator: str) -> None:
        storage = storage_of(tensor)
        if storage is None or storage._cdata in self.alive or tensor.is_meta:
            return
        key = storage._cdata
        shape = () if tensor.is_nested else tuple(tensor.shape)
        self.alive[key] = Born(
            self.step, storage.nbytes(), shape, operator, weakref.ref(storage, partial(self._gone, key))
        )

    def _gone(self, key: int, _: object) -> None:
        self.alive.pop(key, None)

    def census(self) -> list[Tensor]:
        """Also note what no operator made: tensors of NumPy arrays, of shared memory, of other threads."""
        found = live_tensors()
        for tensor in found:
            self.note(tensor, "")
        return found


def live_tensors() -> list[Tensor]:
    """Every tensor that has a Python object. Those that only a graph's nodes hold have none."""
    with torch._C.DisableTorchFunction():
        return [one for one in gc.get_objects() if _is_tensor[type(one)] and _answers(one)]


def _answers(tensor: Tensor) -> bool:
    """In 2.9 the collector may leave a Python object whose tensor is gone: no question to it has an answer.

    `grad_fn` and `is_leaf` would also raise for a sound tensor, a view of several whose base was written.
    """
    try:
        tensor.output_nr
        return True
    except RuntimeError:
        return False


_LAZY = (UninitializedParameter, UninitializedBuffer)


class _Kinds(dict[type, bool]):
    """Type -> whether it is a tensor's; asked once of each."""

    def __missing__(self, kind: type) -> bool:
        # A lazy parameter holds nothing yet, and answers no question.
        self[kind] = issubclass(kind, Tensor) and not issubclass(kind, _LAZY)
        return self[kind]


_is_tensor = _Kinds()
