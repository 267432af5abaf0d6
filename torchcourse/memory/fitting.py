"""A recorded step, played through the model of PyTorch's caching allocator."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from torchcourse.allocator import Allocator, OutOfMemoryError

from . import text
from .cannot_know import Unknown
from .data import OWNERS, Event, Recording, Stored

_ENDLESS = 1 << 50  # bytes of a card on which every step fits


@dataclass(frozen=True, slots=True)
class Point:
    """The card after one event: bytes of blocks of each owner (in the order of OWNERS), and bytes reserved."""

    phase: str
    by_owner: tuple[int, ...]
    reserved: int

    @property
    def allocated(self) -> int:
        return sum(self.by_owner)


@dataclass(frozen=True)
class Fit:
    """A step on a card of `total_bytes` bytes.

    curve: a Point after each event of `recording.events`, up to the failure where it does not fit. allocator: the
    model afterwards. owners: for each "alloc" entry of its trace, by position, the owner's label. failed: the
    event that found no room, or None. message: PyTorch's words for it.
    """

    recording: Recording
    total_bytes: int
    curve: tuple[Point, ...]
    allocator: Allocator = field(repr=False, compare=False)
    owners: dict[int, str] = field(repr=False, compare=False)
    failed: Event | None = None
    message: str | None = None

    @property
    def fits(self) -> bool:
        """Whether all that was recorded finds room. See `not_recorded` for the rest."""
        return self.failed is None

    @property
    def peak_allocated(self) -> int:
        """What `torch.cuda.max_memory_allocated()` would say of the recorded part: bytes, rounded to blocks."""
        return max((point.allocated for point in self.curve), default=0)

    @property
    def peak_reserved(self) -> int:
        """What `torch.cuda.max_memory_reserved()` would say of it: bytes held from the driver, cache included."""
        return max((point.reserved for point in self.curve), default=0)

    @property
    def not_recorded(self) -> Unknown:
        return self.recording.not_recorded

    @property
    def by_owner(self) -> dict[str, int]:
        """The most bytes that each owner asked for at one time, as `Recording.by_owner`."""
        return self.recording.by_owner

    @property
    def by_call(self) -> tuple[str, ...]:
        """The owner of each malloc, in order: what `tc.timeline(fit.allocator, owners=fit.by_call)` takes."""
        storages = self.recording.storages
        events = self.recording.events[: len(self.curve)]
        return tuple(storages[event.storage].owner for event in events if not event.frees)

    @property
    def peak(self) -> int:
        """The position in `curve` at which most is allocated."""
        return max(range(len(self.curve)), key=lambda at: self.curve[at].allocated)

    @property
    def at_peak(self) -> dict[str, int]:
        """Bytes of each owner's blocks at the peak; their sum is `peak_allocated`."""
        return dict(zip(OWNERS, self.curve[self.peak].by_owner, strict=True)) if self.curve else {}

    @property
    def needed(self) -> int:
        """Bytes that the recorded part would reserve on a card where everything fits."""
        if self.fits:
            return self.peak_reserved
        return fit(self.recording, _ENDLESS, self.allocator.conf.text).peak_reserved

    def snapshot(self) -> dict[str, Any]:
        """The allocator's snapshot with the owners as stack frames, so that PyTorch's viewers show them."""
        snapshot = self.allocator.snapshot()
        live: dict[int, list[dict[str, Any]]] = {}
        for at, entry in enumerate(snapshot["device_traces"][0]):
            if at in self.owners:
                entry["frames"] = live[entry["addr"]] = [{"name": self.owners[at], "filename": "", "line": 0}]
        for segment in snapshot["segments"]:
            for block in segment["blocks"]:
                if block["state"] == "active_allocated":
                    block["frames"] = live.get(block["address"], [])
        return snapshot

    def __str__(self) -> str:
        return text.fit(self)


def fit(recording: Recording, total_bytes: int, conf: str = "") -> Fit:
    """Feed every allocation and free of a recording to an allocator for `total_bytes` bytes."""
    player = _Player(recording, Allocator(total_bytes, conf))
    curve, failed, message = [], None, None
    for event in recording.events:
        try:
            curve.append(player.play(event))
        except OutOfMemoryError as error:
            failed, message = event, str(error)
            break
    return Fit(recording, total_bytes, tuple(curve), player.allocator, dict(player.owners()), failed, message)


class _Player:
    def __init__(self, recording: Recording, allocator: Allocator) -> None:
        self.recording, self.allocator = recording, allocator
        self._addresses: dict[int, int] = {}
        self._sizes: dict[int, int] = {}
        self._labels: list[str] = []
        self._now = dict.fromkeys(OWNERS, 0)

    def play(self, event: Event) -> Point:
        stored = self.recording.storages[event.storage]
        if event.frees:
            self._free(event.storage, stored)
        else:
            self._malloc(event.storage, stored)
        return Point(event.phase, tuple(self._now.values()), self.allocator.memory_reserved())

    def _malloc(self, number: int, stored: Stored) -> None:
        before = self.allocator.memory_allocated()
        self._addresses[number] = self.allocator.malloc(stored.nbytes)
        self._sizes[number] = self.allocator.memory_allocated() - before
        self._now[stored.owner] += self._sizes[number]
        self._labels.append(stored.label)

    def _free(self, number: int, stored: Stored) -> None:
        self.allocator.free(self._addresses.pop(number))
        self._now[stored.owner] -= self._sizes.pop(number)

    def owners(self) -> Iterator[tuple[int, str]]:
        """(position in the allocator's trace, label) of each allocation."""
        labels = iter(self._labels)
        for at, entry in enumerate(self.allocator.trace()):
            if entry.action == "alloc":
                yield at, next(labels)
