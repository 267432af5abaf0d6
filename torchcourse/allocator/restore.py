"""Puts a model into the state that a recorded trace starts from."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from math import gcd

from torchcourse.allocator.beginning import LiveBlock, StartSegment
from torchcourse.allocator.blocks import ALLOCATED, FREE, PENDING, Block
from torchcourse.allocator.expandable import Reservation, set_unmapped
from torchcourse.allocator.model import Allocator
from torchcourse.allocator.pools import FreeBlocks
from torchcourse.allocator.record import Record
from torchcourse.allocator.sizes import SMALL_SEGMENT
from torchcourse.allocator.state import State

_Owner = tuple[int, bool]  # stream, and whether it is the small pool's


@dataclass(frozen=True)
class Restored:
    """The live and the pending blocks by address, and the ranges (start, end) that are in use."""

    live: dict[int, int]  # recorded address -> the model's, the same at the start
    pending: dict[int, int]
    ranges: tuple[tuple[int, int], ...]


def restore(model: Allocator, segments: list[StartSegment], record: Record) -> Restored:
    """Fill an empty model with the segments that the trace starts from."""
    state = model.state
    if model.conf.expandable_segments:
        ranges = _reserve(state, segments, record)
    else:
        ranges = [(segment.address, segment.address + segment.size) for segment in segments]
        for segment in segments:
            _chain(state, list(_pieces(state, segment)))
    model.count_restored()
    live, pending = (
        {block.address: block.address for block in state.blocks.values() if block.state == wanted}
        for wanted in (ALLOCATED, PENDING)
    )
    return Restored(live, pending, tuple(ranges))


def _home(state: State, segment: StartSegment) -> FreeBlocks:
    return (state.small if segment.is_small else state.large).of(segment.stream)


def _pieces(state: State, segment: StartSegment) -> Iterator[Block]:
    """The blocks of a segment from its start to its end: live ones, and free ones between them."""
    home, number = _home(state, segment), state.new_segment_number()
    here, end = segment.address, segment.address + segment.size
    for live in (*segment.blocks, LiveBlock(end, 0)):
        if live.address > here:
            yield state.new_block(here, live.address - here, home, number)
        if live.address < end:
            yield _live(state, live, home, number)
        here = live.address + live.size


def _live(state: State, live: LiveBlock, home: FreeBlocks, number: int) -> Block:
    block = state.new_block(live.address, live.size, home, number)
    block.requested = live.requested
    block.state = PENDING if live.pending else ALLOCATED
    if live.pending:
        state.waits[live.address] = 1
        state.unfinished[-1 - live.address] = deque([block])
    return block


def _chain(state: State, blocks: list[Block]) -> None:
    """Link neighbours, and file the free ones."""
    for left, right in pairwise(blocks):
        left.next, right.prev = right, left
    for block in blocks:
        if block.state == FREE:
            state.settle(block)


def _reserve(state: State, segments: list[StartSegment], record: Record) -> list[tuple[int, int]]:
    """Expandable segments: all mapped ranges of one pool and stream lie in one reservation."""
    mapped: dict[_Owner, list[StartSegment]] = {}
    for segment in sorted(segments, key=lambda segment: segment.address):
        mapped.setdefault((segment.stream, segment.is_small), []).append(segment)
    starts = {owner: own[0].address for owner, own in mapped.items()}
    for entry in record.entries:
        owner = (entry.stream, entry.size <= SMALL_SEGMENT)
        if entry.action == "segment_map" and owner in starts:
            starts[owner] = min(starts[owner], entry.addr)
    ranges, end = [], sys.maxsize
    for owner, start in sorted(starts.items(), key=lambda item: item[1], reverse=True):
        inside = [segment for segment in mapped[owner] if segment.address + segment.size <= end]
        if inside:  # else the record contradicts itself
            ranges.append((start, _reservation(state, start, end, inside)))
            end = start
    return ranges


def _reservation(state: State, start: int, limit: int, mapped: list[StartSegment]) -> int:
    """One reservation with its mapped ranges and the holes between them; the end of it."""
    home, number = _home(state, mapped[0]), state.new_segment_number()
    room = min(state.driver.total * 9 // 8, limit - start)
    bounds = [
        bound - start for segment in mapped for bound in (segment.address, segment.address + segment.size)
    ]
    page = gcd(
        home.pool.page, *bounds
    )  # smaller than the pool's page only where the record contradicts itself
    reservation = Reservation(start, max(room // page * page, *bounds), page)
    blocks, here, end = [], start, start + reservation.size
    for segment in (*mapped, StartSegment(end, 0, home.stream, home.pool.is_small)):
        if segment.address > here:
            unmapped = state.new_block(here, segment.address - here, home, number)
            set_unmapped(unmapped)
            blocks.append(unmapped)
        if segment.size:
            blocks += _pieces(state, segment)
        here = segment.address + segment.size
    for block in blocks:
        block.number, block.reservation = number, reservation
    _chain(state, blocks)
    return end
