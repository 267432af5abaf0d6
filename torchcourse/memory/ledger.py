"""Storages as they come and go while a step runs, each held by a weak reference only."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import torch


@dataclass(slots=True)
class Raw:
    """What is known of a storage while the step runs. `size`: its bytes here; `nbytes`: on a GPU."""

    nbytes: int
    size: int
    module: str | None
    operator: str | None
    phase: str
    inputs: tuple[int, ...] = ()  # of an addition in backward: what it might have been added onto
    owner: str | None = None
    on_host: bool = False
    gone: bool = False


class Ledger:
    """Numbers storages in order of first sight, and notes when each one came and went.

    PyTorch keeps the Python object of a storage alive as long as the storage itself, so the weak
    reference's callback tells when the bytes go. phase() is asked at each event.
    """

    def __init__(self, phase: Callable[[], str]) -> None:
        self.raws: list[Raw] = []
        self.events: list[tuple[int, bool, str]] = []
        self._before: list[int] = []
        self._number: dict[int, int] = {}
        self._refs: dict[int, weakref.ref[torch.UntypedStorage]] = {}
        self._phase = phase

    def known(self, storage: torch.UntypedStorage) -> int | None:
        return self._number.get(storage._cdata)

    def was_there(self, storage: torch.UntypedStorage) -> int:
        """The number of a storage that the step did not make."""
        number = self.known(storage)
        if number is None:
            number = self._add(storage, Raw(storage.nbytes(), storage.nbytes(), None, None, "before"))
            self._before.append(number)
        return number

    def came(self, storage: torch.UntypedStorage, module: str | None, operator: str) -> Raw:
        """A storage that the step made now; one that was resized counts as freed and made again."""
        number, nbytes = self.known(storage), storage.nbytes()
        if number is not None and self.raws[number].size == nbytes:
            return self.raws[number]
        if number is not None:
            self._gone(storage._cdata, None)
        raw = Raw(nbytes, nbytes, module, operator, self._phase())
        self.events.append((self._add(storage, raw), False, raw.phase))
        return raw

    def own(self, storage: torch.UntypedStorage | None, owner: str) -> None:
        """Say whose this storage is; who is named first stays the owner."""
        number = None if storage is None else self.known(storage)
        if number is not None and self.raws[number].owner is None:
            self.raws[number].owner = owner

    def alive(self) -> list[Raw]:
        return [raw for raw in self.raws if not raw.gone]

    def whole(self) -> list[tuple[int, bool, str]]:
        """All events, what was there before the step first."""
        return [(number, False, "before") for number in self._before] + self.events

    def close(self) -> None:
        """Drop the weak references: nothing of ours is called later."""
        self._refs.clear()
        self._number.clear()

    def _add(self, storage: torch.UntypedStorage, raw: Raw) -> int:
        key, number = storage._cdata, len(self.raws)
        self.raws.append(raw)
        self._number[key] = number
        self._refs[key] = weakref.ref(storage, partial(self._gone, key))
        return number

    def _gone(self, key: int, _: object) -> None:
        self._refs.pop(key, None)
        number = self._number.pop(key, None)
        if number is not None:
            self.raws[number].gone = True
            self.events.append((number, True, self._phase()))
