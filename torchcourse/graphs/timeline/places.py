"""Where each segment is drawn: rows of one width, and a place that a segment keeps while it lives.

The rows are filled first fit. A segment that fits into a row is never broken; a longer one takes whole rows.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import NamedTuple


@dataclass(frozen=True)
class Span:
    """What is to be placed: `size` bytes from step `born` up to step `died`, not included."""

    size: int
    born: int
    died: int


@dataclass(frozen=True)
class Shelf:
    """The rows of one pool. `scale`: bytes per px. `places`: px from the start of the first row, per span."""

    rows: int
    width: int
    height: int
    scale: float
    places: tuple[float, ...]


class Rows(NamedTuple):
    """How a crowd of segments is drawn: rows, their height and the gap between segments in px."""

    rows: int
    height: int
    gap: int


# up to how many segments at once -> how they are drawn
CROWDS = (
    (6, Rows(1, 34, 5)),
    (24, Rows(2, 28, 4)),
    (150, Rows(4, 20, 2)),
    (1 << 62, Rows(8, 14, 1)),
)
FINER = 1.05  # the step by which the scale grows until all find a place


def shelves(sides: Sequence[Sequence[Span]], width: int) -> tuple[Shelf, ...]:
    """One shelf for each side, all of one scale: about the finest at which every span finds a place."""
    changes = [_changes(spans) for spans in sides]
    peaks = [_peaks(spans, events) for spans, events in zip(sides, changes, strict=True)]
    crowd = max(spans for spans, _ in peaks) * (1 if width > 500 else 2)
    rows, height, gap = next(rows for limit, rows in CROWDS if crowd <= limit)
    scale = max(nbytes for _, nbytes in peaks) / (rows * width)
    places: list[tuple[float, ...]] = []
    while len(places) < len(sides):
        number = len(places)
        found = _placed(sides[number], changes[number], Room(rows, width), scale, gap)
        if found is None:
            places, scale = [], scale * FINER
        else:
            places.append(found)
    return tuple(Shelf(rows, width, height, scale, found) for found in places)


Change = tuple[int, bool, int]  # step, whether it is a birth, number of the span


def _changes(spans: Sequence[Span]) -> list[Change]:
    """Births and deaths in order; of one step the deaths first, they make room."""
    both = []
    for number, span in enumerate(spans):
        both += [(span.born, True, number), (span.died, False, number)]
    return sorted(both)


def _peaks(spans: Sequence[Span], changes: Sequence[Change]) -> tuple[int, int]:
    """The most spans, and the most bytes, at one time."""
    crowd = nbytes = most_spans = most_bytes = 0
    for _, is_birth, number in changes:
        sign = 1 if is_birth else -1
        crowd, nbytes = crowd + sign, nbytes + sign * spans[number].size
        most_spans, most_bytes = max(most_spans, crowd), max(most_bytes, nbytes)
    return most_spans, max(most_bytes, 1)


def _placed(
    spans: Sequence[Span], changes: Sequence[Change], room: Room, scale: float, gap: int
) -> tuple[float, ...] | None:
    """Every span's place, or None where one finds none."""
    places, taken = [0.0] * len(spans), [0.0] * len(spans)
    for _, is_birth, number in changes:
        if not is_birth:
            room.give_back(places[number], taken[number])
            continue
        found = room.take(spans[number].size / scale, gap)
        if found is None:
            return None
        places[number], taken[number] = found
    return tuple(round(place, 2) for place in places)


class Room:
    """The free px of the rows: starts and lengths of the pieces, by place; none goes over the end of a row."""

    def __init__(self, rows: int, width: int) -> None:
        self.width = width
        self.starts = [float(row * width) for row in range(rows)]
        self.lengths = [float(width)] * rows

    def take(self, length: float, gap: int) -> tuple[float, float] | None:
        """Place and length of what was taken, gap included; None where nothing is large enough."""
        if length > self.width:
            return self._rows(ceil(length / self.width))
        for k, free in enumerate(self.lengths):
            if free >= length:
                return self._cut(k, min(length + gap, free))
        return None

    def _cut(self, k: int, length: float) -> tuple[float, float]:
        start = self.starts[k]
        self.starts[k], self.lengths[k] = start + length, self.lengths[k] - length
        if self.lengths[k] < 1e-6:
            del self.starts[k], self.lengths[k]
        return start, length

    def _rows(self, count: int) -> tuple[float, float] | None:
        whole = [k for k, length in enumerate(self.lengths) if length >= self.width - 1e-6]
        for k in whole:
            wanted = range(k, k + count)
            if all(n in whole and self._follow(k, n) for n in wanted):
                start = self.starts[k]
                del self.starts[k : k + count], self.lengths[k : k + count]
                return start, float(count * self.width)
        return None

    def _follow(self, k: int, n: int) -> bool:
        return abs(self.starts[n] - self.starts[k] - (n - k) * self.width) < 1e-6

    def give_back(self, start: float, length: float) -> None:
        while length > self.width:
            self._one(start, float(self.width))
            start, length = start + self.width, length - self.width
        self._one(start, length)

    def _one(self, start: float, length: float) -> None:
        """Put a piece back, joined with its neighbours in the same row."""
        k = bisect_left(self.starts, start)
        self.starts.insert(k, start)
        self.lengths.insert(k, length)
        for left in (k, k - 1):
            if 0 <= left < len(self.starts) - 1 and self._touch(left):
                self.lengths[left] += self.lengths.pop(left + 1)
                del self.starts[left + 1]

    def _touch(self, left: int) -> bool:
        end = self.starts[left] + self.lengths[left]
        at_edge = abs(end / self.width - round(end / self.width)) < 1e-6
        return not at_edge and abs(end - self.starts[left + 1]) < 1e-6
