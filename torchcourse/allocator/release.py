"""Giving memory back to the driver: `empty_cache`, the retry after a failed cudaMalloc, and its garbage collection.

Mirrors `release_cached_blocks`, `release_available_cached_blocks` and `garbage_collect_cached_blocks` of
`c10/cuda/CUDACachingAllocator.cpp`.
"""

from __future__ import annotations

from collections.abc import Iterable

from torchcourse.allocator import events
from torchcourse.allocator.blocks import Block
from torchcourse.allocator.config import UNLIMITED
from torchcourse.allocator.expandable import unmap_whole_pages
from torchcourse.allocator.pools import FreeBlocks, Pool
from torchcourse.allocator.state import State


def release_cached_blocks(state: State) -> None:
    """Give back every segment that is wholly free, the large pool first; of expandable ones whole pages."""
    for pool in (state.large, state.small):
        for block in _in_order(block for block in state.idle.values() if block.home.pool is pool):
            release_segment(state, block)
        if state.conf.expandable_segments:
            for block in _holding_a_page(pool):
                unmap_whole_pages(state, block)


def _in_order(blocks: Iterable[Block]) -> list[Block]:
    """The order of PyTorch's sets."""
    return sorted(blocks, key=lambda block: (block.home.stream, block.size, block.number, block.address))


def _holding_a_page(pool: Pool) -> list[Block]:
    return [block for home in pool.ordered() for block in home.from_size(pool.page)]


def release_segment(state: State, block: Block) -> None:
    """cudaFree one segment, which `block` is the whole of."""
    state.write(events.SEGMENT_FREE, block.address, block.size, block.home, block=block.size)
    state.driver.release(block.address, block.size)
    state.reserved -= block.size
    block.home.take(block)
    del state.idle[block.address]
    del state.blocks[block.address]


def release_oversize(state: State, home: FreeBlocks, size: int) -> bool:
    """Before the whole cache, give back oversize blocks. False: there were not enough of them."""
    blocks = oversize_to_release(state, home, size)
    for block in blocks:
        release_segment(state, block)
    return sum(block.size for block in blocks) >= max(size, state.conf.max_split_size)


def oversize_to_release(state: State, home: FreeBlocks, size: int) -> list[Block]:
    """One free block of at least `size`, or the largest oversize ones until they add up to it.

    Only with max_split_size_mb, and only of this pool and stream.
    """
    limit = state.conf.max_split_size
    if limit == UNLIMITED:
        return []
    idle = _in_order(b for b in state.idle.values() if b.home is home and b.size >= limit)
    wanted, chosen = max(size, limit), []
    enough = [block for block in idle if block.size >= wanted]
    if enough:
        return enough[:1]
    while idle and wanted > 0:
        chosen.append(idle.pop())
        wanted -= chosen[-1].size
    return chosen


def collect_garbage(state: State) -> None:
    """Give back free segments of the large pool, the longest unused first, down to the threshold.

    Each round frees all that are at least as old as the average of what is left; age is counted in
    searches of the pool.
    """
    assert state.allowed is not None
    limit = int(state.conf.garbage_collection_threshold * state.allowed)
    excess = state.reserved - limit
    idle = _in_order(block for block in state.idle.values() if block.home.pool is state.large)
    while excess > 0 and idle:
        ages = [state.large.searches - block.born for block in idle]
        average = sum(ages) / len(ages)
        for block, age in zip(idle, ages, strict=True):
            if age >= average:
                excess -= block.size
                release_segment(state, block)
        idle = [block for block, age in zip(idle, ages, strict=True) if age < average]
