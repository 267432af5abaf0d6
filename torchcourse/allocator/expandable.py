"""Expandable segments: address space reserved once for each pool and stream, memory mapped page by page.

Mirrors `find_expandable_block`, `map_block`, `try_allocate_expandable_block` and `unmap_block` of
`c10/cuda/CUDACachingAllocator.cpp`. A page is 2 MiB in the small pool, a large segment in the large one.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from dataclasses import dataclass

from torchcourse.allocator import events
from torchcourse.allocator.blocks import FREE, UNMAPPED, Block
from torchcourse.allocator.pools import FreeBlocks
from torchcourse.allocator.state import State


@dataclass(frozen=True)
class Reservation:
    """A range of addresses: more than the card has, so that holes can be filled elsewhere. Bytes."""

    address: int
    size: int
    page: int


def grow(state: State, home: FreeBlocks, size: int) -> Block | None:
    """Map pages until one free block holds `size`; the block, or None where the driver has no more.

    What was mapped before the driver refused stays mapped, as in PyTorch.
    """
    block = _lowest_place(state, home, size)
    if block.state == UNMAPPED:
        mapped = _map(state, block, min(block.size, size))
        if mapped is None:
            return None
        block = mapped
    while block.size < size:
        behind = block.next
        assert behind is not None  # _lowest_place saw enough room
        mapped = _map(state, behind, min(behind.size, size - block.size))
        if mapped is None:
            return None
        block = mapped
    return block


def _lowest_place(state: State, home: FreeBlocks, size: int) -> Block:
    """The lowest free or unmapped block from which `size` bytes of room follow; a new reservation if none."""
    for address in home.unmapped:
        block = state.blocks[address]
        if block.prev is not None and block.prev.state == FREE:
            block = block.prev
        if _has_room(block, size):
            return block
    return _reserve(state, home)


def _has_room(block: Block | None, size: int) -> bool:
    room = 0
    while room < size and block is not None and block.state in (FREE, UNMAPPED):
        room += block.size
        block = block.next
    return room >= size


def _reserve(state: State, home: FreeBlocks) -> Block:
    page = home.pool.page
    total = state.driver.total
    address, size = state.driver.reserve(-(-(total + total // 8) // page) * page, page)
    block = state.new_block(address, size, home, state.new_segment_number())
    block.reservation = Reservation(address, size, page)
    set_unmapped(block)
    return block


def set_unmapped(block: Block) -> None:
    """Turn a block into address space without memory, and file it as such."""
    block.state = UNMAPPED
    insort(block.home.unmapped, block.address)


def _forget_unmapped(block: Block) -> None:
    unmapped = block.home.unmapped
    del unmapped[bisect_left(unmapped, block.address)]


def _map(state: State, block: Block, size: int) -> Block | None:
    """Map the front pages of an unmapped block; the free block that it is then part of, or None."""
    assert block.reservation is not None
    page, home = block.reservation.page, block.home
    size = -(-size // page) * page
    if not state.driver.map(size):
        return None
    _forget_unmapped(block)
    block.state = FREE
    if size < block.size:
        set_unmapped(carve(state, block, size))
    state.reserved += size
    state.write(events.SEGMENT_MAP, block.address, size, home)
    return _join(state, block)


def _join(state: State, block: Block) -> Block:
    """Merge a block that changed between mapped and unmapped with its like neighbours, and file it."""
    unmapped = block.state == UNMAPPED
    take = _forget_unmapped if unmapped else block.home.take
    behind, front = block.next, block.prev
    if behind is not None and behind.state == block.state:
        take(behind)
        del state.blocks[block.swallow_next()]
    if front is not None and front.state == block.state:
        take(front)
        front.requested, front.number = block.requested, block.number
        del state.blocks[front.swallow_next()]
        block = front
    if unmapped:
        insort(block.home.unmapped, block.address)
    else:
        block.home.add(block)
    return block


def carve(state: State, block: Block, size: int) -> Block:
    """Cut `block` after `size` bytes; the new block behind it, free and not yet filed."""
    rest = state.new_block(block.address + size, block.size - size, block.home, block.number)
    rest.reservation = block.reservation
    rest.prev, rest.next = block, block.next
    if block.next is not None:
        block.next.prev = rest
    block.next = rest
    block.size = size
    return rest


def unmap_whole_pages(state: State, block: Block) -> None:
    """Unmap the pages that lie wholly inside a free block, and drop a reservation that holds nothing."""
    assert block.reservation is not None
    start, page = block.reservation.address, block.reservation.page
    first = start - (start - block.address) // page * page  # round up to a page
    last = start + (block.address + block.size - start) // page * page
    if first >= last:
        return
    block.home.take(block)
    if last < block.address + block.size:
        block.home.add(carve(state, block, last - block.address))
    if first > block.address:
        front, block = block, carve(state, block, first - block.address)
        front.requested, block.requested = 0, front.requested  # in PyTorch the front is a new object
        front.home.add(front)
    block.state = UNMAPPED
    state.reserved -= last - first
    state.driver.unmap(last - first)
    state.write(events.SEGMENT_UNMAP, first, last - first, block.home)
    _drop_empty(state, _join(state, block))


def _drop_empty(state: State, block: Block) -> None:
    if block.prev is None and block.next is None:
        _forget_unmapped(block)
        state.driver.unreserve(block.address)
        del state.blocks[block.address]
