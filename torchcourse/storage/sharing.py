"""Do two tensors share memory? Decided by the bytes that they really touch.

`data_ptr()` says where a tensor begins, `untyped_storage().data_ptr()` where its storage begins;
neither says which bytes its strides lead to, and NumPy's memory can lie under several storages.
"""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch

from ._lattice import merged
from ._strided import check_strided, looking

Relation = Literal["separate", "same storage", "overlap"]

# Where a storage without data (meta, fake, resized to 0 bytes) is taken to lie: any address but 0.
NOWHERE = 4096

# Steps that the exact search may take before `relation` gives the careful answer, "overlap".
MOST_WORK = 1_000_000


@looking
def relation(a: torch.Tensor, b: torch.Tensor) -> Relation:
    """ "overlap" where at least one byte is touched by both; "same storage" where they lie in one
    storage (or in storages over one memory) and share no byte; else "separate". A tensor without
    elements touches nothing.

    Exact, without walking elements: numpy.shares_memory solves for a common address. That can take
    exponential time; after MOST_WORK steps without a decision the answer is "overlap", the one that is
    safe to believe. Meta and fake tensors have no addresses: their storage's identity and the offsets
    decide. Raises TypeError and ValueError as `facts` does.
    """
    check_strided(a, "relation")
    check_strided(b, "relation")
    if not _one_memory(a, b):
        return "separate"
    return "overlap" if _touch_the_same(a, b) else "same storage"


def _one_memory(a: torch.Tensor, b: torch.Tensor) -> bool:
    one, other = a.untyped_storage(), b.untyped_storage()
    if one is other:  # PyTorch keeps one Python object per storage
        return True
    if one.device != other.device or NOWHERE in (_start(a), _start(b)):
        return False
    # Two storages over one memory: from_numpy twice, .numpy() and back, DLPack.
    first, last = max(_start(a), _start(b)), min(_start(a) + one.nbytes(), _start(b) + other.nbytes())
    return first < last


def _start(tensor: torch.Tensor) -> int:
    storage = tensor.untyped_storage()
    return NOWHERE if storage.device.type == "meta" else storage.data_ptr() or NOWHERE


def _touch_the_same(a: torch.Tensor, b: torch.Tensor) -> bool:
    if 0 in (a.numel(), b.numel()):
        return False
    try:
        return np.shares_memory(_as_array(a), _as_array(b), MOST_WORK)  # type: ignore[arg-type]
    except (np.exceptions.TooHardError, ValueError):  # ValueError: more dimensions than NumPy takes
        return True


@dataclass(frozen=True)
class _Addresses:
    """What NumPy makes an array of without reading it. The first byte, sizes, and steps in bytes."""

    __array_interface__: dict[str, Any]


def _as_array(tensor: torch.Tensor) -> np.ndarray[Any, Any]:
    """An array over the bytes that the tensor touches, to be reasoned about and never read."""
    width = tensor.element_size()
    steps = merged(tensor.size(), tensor.stride())
    interface = {
        "version": 3,
        "typestr": f"|V{width}",
        "data": (_start(tensor) + int(tensor.storage_offset()) * width, True),
        "shape": tuple(n for _, n in steps),
        "strides": tuple(step * width for step, _ in steps),
    }
    return np.asarray(_Addresses(interface))
