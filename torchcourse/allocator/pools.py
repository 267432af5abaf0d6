"""The free blocks: one sorted set for each pool and stream, in the order (size, number, address).

PyTorch keeps them in a `std::set`. Here each size has a heap, and a `SizeIndex` knows which sizes
there are. A block that leaves from the middle of its heap stays there as a stale entry, which is dropped
when it comes to the top: no list is ever searched or shifted.
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heapify, heappop, heappush

from torchcourse.allocator.blocks import Block, Entry
from torchcourse.allocator.config import AllocConf
from torchcourse.allocator.events import IN_SMALL_POOL, IS_EXPANDABLE
from torchcourse.allocator.size_index import SizeIndex
from torchcourse.allocator.sizes import MIN_BLOCK_SIZE, SMALL_SEGMENT, SMALL_SIZE

_SHIFT = MIN_BLOCK_SIZE.bit_length() - 1  # sizes are multiples of 512, so the index counts in 512 bytes
_BEARABLE = 1000  # stale entries
_HANDLES = 1 << 63  # streams are 64-bit handles


class Pool:
    """The small or the large pool: the rules that depend on it, and its free blocks by stream."""

    __slots__ = ("flags", "is_small", "page", "searches", "smallest_rest", "split_below", "streams")

    def __init__(self, is_small: bool, conf: AllocConf) -> None:
        self.is_small = is_small
        self.page = SMALL_SEGMENT if is_small else conf.large_segment_size  # of an expandable segment
        self.flags = IN_SMALL_POOL * is_small | IS_EXPANDABLE * conf.expandable_segments  # of log entries
        fine = is_small or conf.expandable_segments
        self.smallest_rest = MIN_BLOCK_SIZE if fine else SMALL_SIZE + MIN_BLOCK_SIZE
        self.split_below = (1 << 64) if fine else conf.max_split_size
        self.searches = 0
        self.streams: dict[int, FreeBlocks] = {}

    def of(self, stream: int) -> FreeBlocks:
        """The free blocks of one stream."""
        home = self.streams.get(stream)
        if home is None:
            if not -_HANDLES <= stream < _HANDLES:
                raise ValueError(f"A stream is a handle of 64 bits, not {stream}.")
            home = self.streams[stream] = FreeBlocks(self, stream)
        return home

    def ordered(self) -> list[FreeBlocks]:
        """The streams in the order of PyTorch's set: by handle."""
        return [self.streams[stream] for stream in sorted(self.streams)]


class FreeBlocks:
    """The free blocks of one pool and one stream."""

    __slots__ = ("_bearable", "_heaps", "_sizes", "_stale", "flags", "pool", "stream", "unmapped")

    def __init__(self, pool: Pool, stream: int) -> None:
        self.pool = pool
        self.stream = stream
        self.flags = pool.flags
        self.unmapped: list[int] = []  # addresses of unmapped blocks (expandable segments), sorted
        self._heaps: dict[int, list[Entry]] = {}
        self._sizes = SizeIndex()
        self._stale, self._bearable = 0, _BEARABLE

    def add(self, block: Block) -> None:
        """Put a free block in."""
        block.born = self.pool.searches
        block.entry = entry = (block.number, block.address, block)
        size = block.size
        heap = self._heaps.get(size)
        if heap is None:
            self._heaps[size] = [entry]
            self._sizes.add(size >> _SHIFT)
        else:
            heappush(heap, entry)

    def best_fit(self, size: int) -> Block | None:
        """The smallest free block of at least `size` bytes; it stays where it is."""
        next_from, heaps = self._sizes.next_from, self._heaps
        key = next_from(size >> _SHIFT)
        while key >= 0:
            heap = heaps[key << _SHIFT]
            while heap:
                entry = heap[0]
                if entry[2].entry is entry:
                    return entry[2]
                heappop(heap)
            del heaps[key << _SHIFT]
            self._sizes.remove(key)
            key = next_from(key + 1)
        return None

    def take(self, block: Block) -> None:
        """Take a free block out, whichever it is. Deep in a heap its entry goes stale."""
        size = block.size
        heap = self._heaps[size]
        if len(heap) == 1:
            del self._heaps[size]
            self._sizes.remove(size >> _SHIFT)
        elif heap[0] is block.entry:
            heappop(heap)
        else:
            self._stale += 1
        block.entry = None
        if self._stale > self._bearable:
            self._sweep()

    def _sweep(self) -> None:
        """Drop the stale entries, once there are as many as blocks: so the heaps stay in proportion."""
        for size, heap in list(self._heaps.items()):
            heap[:] = [entry for entry in heap if entry[2].entry is entry]
            heapify(heap)
            if not heap:
                del self._heaps[size]
                self._sizes.remove(size >> _SHIFT)
        self._stale = 0
        self._bearable = max(_BEARABLE, sum(map(len, self._heaps.values())))

    def from_size(self, size: int) -> Iterator[Block]:
        """All free blocks of at least `size` bytes, in order. The caller changes nothing meanwhile."""
        key = self._sizes.next_from(size >> _SHIFT)
        while key >= 0:
            heap = self._heaps[key << _SHIFT]
            heap[:] = sorted(entry for entry in heap if entry[2].entry is entry)
            yield from (entry[2] for entry in heap)
            key = self._sizes.next_from(key + 1)
