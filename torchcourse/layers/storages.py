"""Which storages a trace meets: a number for each, bytes of the new ones, and the peak.

Every storage is held by a weak reference only. PyTorch keeps the Python object of a storage
alive as long as the storage itself, so the reference's callback tells when the bytes go.
"""

import weakref
from functools import partial

import torch


class Storages:
    """Numbers storages in order of first use and adds up the bytes of those made meanwhile."""

    def __init__(self) -> None:
        self._number: dict[int, int] = {}
        self._refs: dict[int, weakref.ref[torch.UntypedStorage]] = {}
        self._bytes: dict[int, int] = {}
        self._next = 0
        self._alive = 0
        self.new_bytes = self.peak_bytes = self.freed_bytes = 0

    def number(self, storage: torch.UntypedStorage) -> int:
        key = storage._cdata
        known = self._number.get(key)
        if known is not None:
            return known
        self._refs[key] = weakref.ref(storage, partial(self._gone, key))
        self._number[key] = self._next
        self._next += 1
        return self._next - 1

    def known(self, storage: torch.UntypedStorage) -> int | None:
        """Its number, or None where this trace has not met it."""
        return self._number.get(storage._cdata)

    def born(self, storage: torch.UntypedStorage) -> int:
        """Count this storage as new, once; its size in bytes."""
        key, nbytes = storage._cdata, storage.nbytes()
        if key not in self._number:
            self.number(storage)
            self._bytes[key] = nbytes
            self.new_bytes += nbytes
            self._alive += nbytes
            self.peak_bytes = max(self.peak_bytes, self._alive)
        return nbytes

    def _gone(self, key: int, _: object) -> None:
        self._refs.pop(key, None)
        self._number.pop(key, None)
        nbytes = self._bytes.pop(key, 0)
        self._alive -= nbytes
        self.freed_bytes += nbytes

    def close(self) -> None:
        """Drop the weak references: nothing of ours is called after the block."""
        self._refs.clear()
        self._number.clear()
        self._bytes.clear()


def storage_of(tensor: torch.Tensor) -> torch.UntypedStorage | None:
    """The storage, or None for tensors that have none (sparse, mkldnn, lazy parameters, some subclasses)."""
    try:
        return tensor.untyped_storage()
    except (NotImplementedError, RuntimeError, ValueError):
        return None
