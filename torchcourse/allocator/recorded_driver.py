"""The driver of a recorded trace: it answers what the next entries say that it answered."""

from __future__ import annotations

import sys
from bisect import bisect_left, bisect_right, insort
from typing import Protocol

from torchcourse.allocator.record import GETS, GIVES_BACK, Record, RecordedEntry
from torchcourse.allocator.sizes import ROUND_LARGE

_LOOK_AHEAD = 1000  # entries


class Walking(Protocol):
    """Who walks through the record: `at` is the next entry that nothing has answered yet."""

    entries: tuple[RecordedEntry, ...]
    at: int

    def match(self) -> None:
        """Answer the entries that the model's log answers already."""


class RecordedDriver:
    """The driver of a record: it answers what the next entries say it answered.

    Addresses that the model still uses (once it and the record went apart) are not handed out twice: then
    the answer is an address beyond all recorded ones.
    """

    free = 0  # not recorded

    def __init__(self, walk: Walking, record: Record, total: int) -> None:
        self.total = total
        self.starts: list[int] = []  # of the reservations that the record makes, sorted
        self._walk = walk
        self._starts: list[int] = []  # of the ranges in use, sorted
        self._ends: dict[int, int] = {}
        ends = [entry.addr + entry.size for entry in record.entries if entry.action != "oom"]
        ends += [segment.address + segment.size for segment in record.segments]
        self._unused = -(-max(ends, default=0) // ROUND_LARGE) * ROUND_LARGE

    def hold(self, start: int, end: int) -> None:
        """Note a range as in use."""
        insort(self._starts, start)
        self._ends[start] = end

    def malloc(self, size: int) -> int | None:
        entry = self._following()
        if entry is None:
            return None
        asked = entry.action == "segment_alloc" and entry.size == size
        place = entry.addr if asked and self._room_at(entry.addr) >= size else self._beyond(size)
        self.hold(place, place + size)
        return place

    def release(self, address: int, size: int) -> None:
        del self._starts[bisect_left(self._starts, address)]
        del self._ends[address]

    def reserve(self, size: int, page: int) -> tuple[int, int]:
        """The record does not show reservations, only the first mapping in each: often the next one."""
        self._walk.match()
        for entry in self._walk.entries[self._walk.at : self._walk.at + _LOOK_AHEAD]:
            room = self._room_up_to_next(entry.addr) if entry.action == "segment_map" else 0
            if 0 < entry.size <= room and page <= room:
                place, size = entry.addr, min(size, room // page * page)
                break
        else:
            place = self._beyond(size)
        self.hold(place, place + size)
        return place, size

    def unreserve(self, address: int) -> None:
        self.release(address, 0)

    def map(self, size: int) -> bool:
        return self._following() is not None

    def unmap(self, size: int) -> None:
        """The memory went back; the record knows what that made possible."""

    def _room_at(self, address: int) -> int:
        """How many bytes from `address` on are not in use."""
        place = bisect_right(self._starts, address)
        if place and self._ends[self._starts[place - 1]] > address:
            return 0
        return (self._starts[place] if place < len(self._starts) else sys.maxsize) - address

    def _room_up_to_next(self, address: int) -> int:
        """How much room lies before the next reservation of the record."""
        later = bisect_right(self.starts, address)
        end = self.starts[later] if later < len(self.starts) else sys.maxsize
        return min(self._room_at(address), end - address)

    def _beyond(self, size: int) -> int:
        self._unused = max(self._unused, self._ends[self._starts[-1]] if self._starts else 0)
        address = -(-self._unused // ROUND_LARGE) * ROUND_LARGE
        self._unused = address + size
        return address

    def _following(self) -> RecordedEntry | None:
        """The entry that the driver has to answer; None: it refused, since what follows is a way out."""
        self._walk.match()
        entry = self._walk.entries[self._walk.at]
        refused = entry.action in (*GIVES_BACK, "free_completed", "oom")
        return None if refused else entry


def card_size(record: Record, reserved: int) -> int:
    """The card's size, as far as an oom entry tells: what was free then, and what was reserved. Else 1 TiB."""
    for entry in record.entries:
        if entry.action in GETS:
            reserved += entry.size
        elif entry.action in GIVES_BACK:
            reserved -= entry.size
        elif entry.action == "oom":
            return max(entry.addr + reserved, 1)
    return 1 << 40
