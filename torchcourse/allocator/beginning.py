"""What an allocator held when its trace began, worked out from the trace and the layout at its end.

A trace is a ring buffer: it usually starts in the middle. What an address held before is told by the first
entry about it: a free says that a block was live, a segment_free that a segment was there. What no entry is
about stood there all the time, as the final layout shows it.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

from torchcourse.allocator.record import Record, RecordedEntry
from torchcourse.allocator.sizes import MIN_BLOCK_SIZE, SMALL_SEGMENT, SMALL_SIZE, round_size

_Owner = tuple[int, bool]  # stream, and whether it is the small pool's


@dataclass(frozen=True)
class LiveBlock:
    """A block in use at the start. `size` 0: not known from the layout. Bytes."""

    address: int
    requested: int
    size: int = 0
    pending: bool = False


@dataclass(frozen=True)
class StartSegment:
    """A segment (expandable: a mapped range) at the start, with its live blocks by address."""

    address: int
    size: int
    stream: int
    is_small: bool
    blocks: tuple[LiveBlock, ...] = ()


def beginning(record: Record) -> list[StartSegment]:
    """The segments at the first entry; what contradicts itself is left out.

    The oldest first, as far as one can tell: by address, falling where the trace's cudaMallocs mostly fall.
    """
    segments = _disjoint(_mapped(record) if record.conf.expandable_segments else _segments(record))
    blocks = _sorted_blocks(record)
    carved = _carved_behind(record, [block.address for block in blocks if not block.size])
    filled, here = [], 0
    for segment in segments:
        while here < len(blocks) and blocks[here].address < segment.address:
            here += 1
        first = here
        while here < len(blocks) and blocks[here].address < segment.address + segment.size:
            here += 1
        filled.append(replace(segment, blocks=_fitting(record, segment, blocks[first:here], carved)))
    return filled[::-1] if _addresses_fall(record) else filled


def _addresses_fall(record: Record) -> bool:
    new = [entry.addr for entry in record.entries if entry.action == "segment_alloc"]
    return sum(later < sooner for sooner, later in pairwise(new)) > len(new) // 2


# --- segments -------------------------------------------------------------------------------------


def _segments(record: Record) -> Iterable[StartSegment]:
    first: dict[int, RecordedEntry] = {}
    for entry in record.entries:
        if entry.action in ("segment_alloc", "segment_free"):
            first.setdefault(entry.addr, entry)
    for segment in record.segments:
        if segment.address not in first:
            yield StartSegment(segment.address, segment.size, segment.stream, segment.is_small)
    for entry in first.values():
        if entry.action == "segment_free":
            yield StartSegment(entry.addr, entry.size, entry.stream, entry.size <= SMALL_SEGMENT)


def _mapped(record: Record) -> list[StartSegment]:
    """Expandable segments: take back every mapping of the trace, last one first."""
    ranges, is_small = _Ranges(), _pool_of(record)
    for segment in record.segments:
        ranges.add(segment.address, segment.address + segment.size, (segment.stream, segment.is_small))
    for entry in reversed(record.entries):
        if entry.action == "segment_map":
            ranges.remove(entry.addr, entry.addr + entry.size)
        elif entry.action == "segment_unmap":
            ranges.add(entry.addr, entry.addr + entry.size, (entry.stream, is_small(entry.addr)))
    return [StartSegment(start, end - start, *owner) for start, end, owner in ranges]


def reservation_starts(record: Record, segments: list[StartSegment]) -> list[int]:
    """Where the record reserves addresses for expandable segments: a map where the pool held nothing, sorted."""
    held: dict[_Owner, int] = {}
    starts, is_small = {segment.address for segment in segments}, _pool_of(record)
    for segment in segments:
        owner = (segment.stream, segment.is_small)
        held[owner] = held.get(owner, 0) + segment.size
    for entry in record.entries:
        if entry.action == "segment_map":
            owner = (entry.stream, entry.size <= SMALL_SEGMENT)
            if not held.get(owner):
                starts.add(entry.addr)
            held[owner] = held.get(owner, 0) + entry.size
        elif entry.action == "segment_unmap":
            owner = (entry.stream, is_small(entry.addr))
            held[owner] = max(held.get(owner, 0) - entry.size, 0)
    return sorted(starts)


def _pool_of(record: Record) -> Callable[[int], bool]:
    """Whether an address is the small pool's: as the nearest address of which the record tells the pool."""
    known = {segment.address: segment.is_small for segment in record.segments}
    for entry in record.entries:
        if entry.action == "segment_map":
            known[entry.addr] = entry.size <= SMALL_SEGMENT  # the small pool maps page by page
        elif entry.action in ("alloc", "free_requested"):
            known[entry.addr] = entry.size <= SMALL_SIZE
    addresses = sorted(known)

    def is_small(address: int) -> bool:
        place = bisect_left(addresses, address)
        near = addresses[max(place - 1, 0) : place + 1]
        return bool(near) and known[min(near, key=lambda other: abs(other - address))]

    return is_small


class _Ranges:
    """Disjoint ranges of addresses with an owner; touching ranges of one owner are one range."""

    def __init__(self) -> None:
        self._starts: list[int] = []  # sorted
        self._held: dict[int, tuple[int, _Owner]] = {}  # start -> end and owner

    def __iter__(self) -> Iterator[tuple[int, int, _Owner]]:
        for start in self._starts:
            end, owner = self._held[start]
            yield start, end, owner

    def add(self, start: int, end: int, owner: _Owner) -> None:
        place = bisect_right(self._starts, start)
        if self._overlaps(place, start, end):
            return  # the record contradicts itself here
        if place < len(self._starts) and self._starts[place] == end and self._held[end][1] == owner:
            end, owner = self._drop(place)
        if place and self._held[self._starts[place - 1]] == (start, owner):
            start = self._starts[place - 1]
            self._drop(place - 1)
        self._put(start, end, owner)

    def remove(self, start: int, end: int) -> None:
        place = bisect_right(self._starts, start) - 1
        if place < 0 or self._held[self._starts[place]][0] < end:
            return  # the record contradicts itself here
        low = self._starts[place]
        high, owner = self._drop(place)
        self._put(low, start, owner)
        self._put(end, high, owner)

    def _overlaps(self, place: int, start: int, end: int) -> bool:
        """Whether a range would overlap the one before or behind its place."""
        before = self._held[self._starts[place - 1]][0] if place else start
        behind = self._starts[place] if place < len(self._starts) else end
        return before > start or behind < end

    def _drop(self, place: int) -> tuple[int, _Owner]:
        return self._held.pop(self._starts.pop(place))

    def _put(self, start: int, end: int, owner: _Owner) -> None:
        if start < end:
            insort(self._starts, start)
            self._held[start] = end, owner


def _disjoint(segments: Iterable[StartSegment]) -> list[StartSegment]:
    kept: list[StartSegment] = []
    for segment in sorted(segments, key=lambda segment: segment.address):
        whole = segment.size > 0 and segment.size % MIN_BLOCK_SIZE == 0
        if whole and (not kept or kept[-1].address + kept[-1].size <= segment.address):
            kept.append(segment)
    return kept


# --- blocks ---------------------------------------------------------------------------------------


def _sorted_blocks(record: Record) -> list[LiveBlock]:
    first: dict[int, RecordedEntry] = {}
    for entry in record.entries:
        if entry.action in ("alloc", "free_requested", "free_completed"):
            first.setdefault(entry.addr, entry)
    untouched = [
        LiveBlock(block.address, block.requested, block.size, block.state.startswith("active_p"))
        for segment in record.segments
        for block in segment.blocks
        if block.state.startswith("active") and block.address not in first
    ]
    freed = [
        LiveBlock(address, entry.size, pending=entry.action == "free_completed")
        for address, entry in first.items()
        if entry.action != "alloc"
    ]
    return sorted(untouched + freed, key=lambda block: block.address)


def _fitting(
    record: Record, segment: StartSegment, blocks: list[LiveBlock], carved: dict[int, int]
) -> tuple[LiveBlock, ...]:
    """The blocks with their sizes; one that overlaps the block before it or leaves the segment is dropped."""
    kept: list[LiveBlock] = []
    here = segment.address
    for number, block in enumerate(blocks):
        last = number + 1 == len(blocks)
        room = (segment.address + segment.size if last else blocks[number + 1].address) - block.address
        size = block.size or _size(record, segment, block, room, carved.get(block.address, 0))
        whole = 0 < size <= room and size % MIN_BLOCK_SIZE == 0 == (block.address - here) % MIN_BLOCK_SIZE
        if block.address >= here and whole:
            kept.append(replace(block, size=size))
            here = block.address + size
    return tuple(kept)


def _size(record: Record, segment: StartSegment, block: LiveBlock, room: int, carved: int) -> int:
    """The rounded request, and in the large pool all of a rest that is too small to be a block of its own.

    `carved`: where the first block behind this one began, 0 if none was handed out in its lifetime.
    """
    conf = record.conf
    size = round_size(max(block.requested, 1), conf.roundup_power2_divisions)
    if segment.is_small or conf.expandable_segments:
        return size
    if size >= conf.max_split_size or 0 <= room - size <= SMALL_SIZE:
        return room
    behind = carved - block.address
    return behind if size < behind <= size + SMALL_SIZE else size


def _carved_behind(record: Record, unknown: list[int]) -> dict[int, int]:
    """For blocks of unknown size: where the first block behind each began while it was live."""
    waiting, carved = set(unknown), {}
    for entry in record.entries:
        if entry.action in ("free_requested", "free_completed"):
            waiting.discard(entry.addr)
        elif entry.action == "alloc":
            place = bisect_left(unknown, entry.addr) - 1
            if place >= 0 and unknown[place] in waiting:
                waiting.discard(unknown[place])
                carved[unknown[place]] = entry.addr
    return carved
