"""The caching allocator: which block a request gets, and what becomes of it when it is freed.

Mirrors `DeviceCachingAllocator` of `c10/cuda/CUDACachingAllocator.cpp` (PyTorch 2.14) for one device.
"""

from __future__ import annotations

import operator
from collections import deque
from collections.abc import Iterator
from typing import Any, NoReturn

from torchcourse.allocator import events
from torchcourse.allocator.blocks import ALLOCATED, FREE, PENDING, UNMAPPED, Block
from torchcourse.allocator.config import UNLIMITED, AllocConf, parse_conf
from torchcourse.allocator.driver import Driver
from torchcourse.allocator.events import ALLOC, FREE_AT_ONCE, WAS_SPLIT
from torchcourse.allocator.expandable import grow
from torchcourse.allocator.layout import snapshot_of
from torchcourse.allocator.messages import OutOfMemoryError, oom_message
from torchcourse.allocator.pools import FreeBlocks
from torchcourse.allocator.reasons import reasons
from torchcourse.allocator.release import (
    collect_garbage,
    release_cached_blocks,
    release_oversize,
    release_segment,
)
from torchcourse.allocator.sizes import LARGEST_REQUEST, MIN_BLOCK_SIZE, SMALL_SIZE, round_size, segment_size
from torchcourse.allocator.state import TIES, Source, State
from torchcourse.allocator.summary import memory_summary


class Allocator:
    """A model of PyTorch's CUDA caching allocator on a card of `total_bytes` bytes with nothing else on it.

    conf: what PYTORCH_ALLOC_CONF would hold. tie: which of several equally large free blocks is taken:
    "segment" (PyTorch 2.13 and later: the oldest segment, then the lowest address), "address" (up to 2.11:
    the lowest address) or "block" (a while between them: the block made first). addresses: whether the
    driver hands out rising ("up") or falling ("down") addresses.

    Streams are whole numbers, 0 is the default stream. Wrong arguments raise TypeError or ValueError and
    change nothing.
    """

    def __init__(self, total_bytes: int, conf: str = "", tie: str = "segment", addresses: str = "up") -> None:
        total = _whole("total_bytes", total_bytes)
        if not 0 < total < LARGEST_REQUEST:
            raise ValueError(f"total_bytes is the size of the card, at least 1 and below 2**60, not {total}.")
        if addresses not in ("up", "down"):
            raise ValueError(f"addresses is 'up' or 'down', not {addresses!r}.")
        self._open(Driver(total, addresses), parse_conf(conf), tie)

    @classmethod
    def over(cls, driver: Source, conf: AllocConf, tie: str) -> Allocator:
        """An allocator over another source of segments, such as a recorded trace."""
        self = cls.__new__(cls)
        self._open(driver, conf, tie)
        return self

    def _open(self, driver: Source, conf: AllocConf, tie: str) -> None:
        if tie not in TIES:
            raise ValueError(f"tie is one of {', '.join(map(repr, TIES))}, not {tie!r}.")
        state = self.state = State(driver, conf, tie)
        self.conf = conf
        self.gpu_busy = False  # while True, recorded events stay unfinished
        self._divisions = conf.roundup_power2_divisions
        self._expandable = conf.expandable_segments
        self._picky = self._expandable or conf.max_split_size < UNLIMITED
        self._collecting = False
        self._allocated = 0
        # The hot path looks these up once.
        self._small, self._large, self._blocks, self._idle = (
            state.small,
            state.large,
            state.blocks,
            state.idle,
        )
        self._log, self._append = state.log, state.log.append
        self._uses, self._unfinished = state.uses, state.unfinished
        self.set_per_process_memory_fraction(conf.per_process_memory_fraction)

    # --- requests ---------------------------------------------------------------------------------

    def malloc(self, nbytes: int, stream: int = 0) -> int:
        """The address of a block for `nbytes` bytes on `stream`; 0 bytes: address 0, nothing recorded.

        Raises OutOfMemoryError with PyTorch's text where the card has no room.
        """
        if type(nbytes) is not int or type(stream) is not int or nbytes <= 0 or nbytes >= LARGEST_REQUEST:
            nbytes, stream = _request(nbytes, stream)
            if nbytes == 0:
                return 0
        if self._unfinished and not self.gpu_busy:
            self._finish_events()
        if self._divisions or nbytes < MIN_BLOCK_SIZE:
            size = round_size(nbytes, self._divisions)
        else:
            size = (nbytes + 511) & -512
        pool = self._small if size <= SMALL_SIZE else self._large
        home = pool.streams.get(stream) or pool.of(stream)
        block = home.best_fit(size)
        if self._special or block is None:
            block = self._find(home, size, block) or self._get_memory(home, size)
        else:
            home.take(block)
        return self._hand_out(block, nbytes, size)

    def free(self, address: int) -> None:
        """Give a block back to the cache. Address 0 (of 0 bytes) is ignored, as by PyTorch."""
        block = self._blocks.get(address)
        if block is None or block.state != ALLOCATED:
            if _whole("address", address) != 0:
                raise ValueError(self._why_not(address, "free"))
            return
        self._allocated -= block.size
        if self._uses and address in self._uses:
            self._free_later(block)
        else:
            self._merge(block, FREE_AT_ONCE)

    def record_stream(self, address: int, stream: int) -> None:
        """Note that `stream` uses the block too: once freed, it waits until that stream's work is done."""
        block = self._blocks.get(_whole("address", address))
        stream = _whole("stream", stream)
        if address == 0:
            return
        if block is None or block.state != ALLOCATED:
            raise ValueError(self._why_not(address, "record a stream for"))
        uses = self.state.uses.setdefault(address, []) if stream != block.home.stream else None
        if uses is not None and stream not in uses:
            uses.append(stream)

    def empty_cache(self) -> None:
        """Wait for all streams, then give every wholly free segment (expandable: page) back to the driver."""
        self._synchronize()
        release_cached_blocks(self.state)

    def set_per_process_memory_fraction(self, fraction: float) -> None:
        """Allow this process only part of the card: 0 to 1, where 1 is no limit."""
        if isinstance(fraction, bool) or not isinstance(fraction, int | float):
            raise TypeError(f"fraction is a number from 0 to 1, not {fraction!r}.")
        if not 0 <= fraction <= 1:
            raise ValueError(f"fraction is a number from 0 to 1, not {fraction}.")
        state = self.state
        state.allowed = int(fraction * state.driver.total) if fraction < 1 else None
        self._collecting = state.allowed is not None and self.conf.garbage_collection_threshold > 0
        self._special = self._picky or self._collecting

    # --- numbers ----------------------------------------------------------------------------------

    def memory_allocated(self) -> int:
        """Bytes of the blocks handed out now."""
        return self._allocated

    def memory_reserved(self) -> int:
        """Bytes held from the driver now."""
        return self.state.reserved

    def max_memory_allocated(self) -> int:
        """The highest `memory_allocated` since the start or the last `reset_peak_memory_stats`."""
        return self.memory_stats()["allocated_bytes.all.peak"]

    def max_memory_reserved(self) -> int:
        """The highest `memory_reserved` since the start or the last `reset_peak_memory_stats`."""
        return self.memory_stats()["reserved_bytes.all.peak"]

    def mem_get_info(self) -> tuple[int, int]:
        """Free and total bytes of the card, as `torch.cuda.mem_get_info`."""
        return self.state.driver.free, self.state.driver.total

    def memory_stats(self) -> dict[str, int]:
        """The dictionary of `torch.cuda.memory_stats()`, under its keys."""
        limit = self.conf.max_split_size
        stats = self.state.stats.read(self._log)
        stats["max_split_size"] = -1 if limit == UNLIMITED else limit
        return dict(sorted(stats.items()))

    def reset_peak_memory_stats(self) -> None:
        """Every peak becomes the current value."""
        self.state.stats.reset_peaks(self._log)

    def reset_accumulated_memory_stats(self) -> None:
        """Every `allocated`, `freed` and event count becomes 0."""
        self.state.stats.reset_accumulated(self._log)

    def memory_summary(self, abbreviated: bool = False) -> str:
        """The table of `torch.cuda.memory_summary()`."""
        return memory_summary(self.memory_stats(), abbreviated)

    def trace(self) -> Iterator[events.TraceEntry]:
        """Everything that happened so far, as PyTorch's memory history records it."""
        return events.trace(self._log)

    def reasons(self) -> Iterator[str]:
        """For each entry of `trace()` a sentence: what the allocator did, and why."""
        return reasons(self._log)

    def snapshot(self) -> dict[str, Any]:
        """The state in the format of `torch.cuda.memory._snapshot()`. Looking leaves no entry in the trace."""
        return snapshot_of(self.state)

    def __str__(self) -> str:
        total, reserved = self.state.driver.total, self.state.reserved
        return (
            f"Allocator of {total} bytes: {reserved} reserved, {self._allocated} allocated, "
            f"{sum(block.state == FREE for block in self._blocks.values())} free blocks ({self.conf})"
        )

    # --- for a replay -----------------------------------------------------------------------------

    def would_find(self, size: int, stream: int) -> bool:
        """Whether a cached block would serve a rounded size now."""
        home = self.state.pool_for(size).of(stream)
        block = home.best_fit(size)
        return block is not None and (not self._picky or self._pick(home, size, block) is not None)

    def finish(self, address: int) -> None:
        """The one stream that this pending block waits for is done."""
        block = self._blocks[address]
        del self.state.waits[address]
        del self.state.unfinished[-1 - address]
        self._merge(block, events.FREE_COMPLETED)

    def give_back(self, address: int) -> bool:
        """cudaFree the segment at `address` if it is wholly free."""
        block = self._idle.get(address)
        if block is not None:
            release_segment(self.state, block)
        return block is not None

    def count_restored(self) -> None:
        """Count what was put in without a request."""
        blocks = self._blocks.values()
        self.state.reserved = sum(block.size for block in blocks if block.state != UNMAPPED)
        self._allocated = sum(block.size for block in blocks if block.state == ALLOCATED)

    # --- malloc, step by step ---------------------------------------------------------------------

    def _find(self, home: FreeBlocks, size: int, block: Block | None) -> Block | None:
        """The cached block to use where settings matter, taken out of its pool; `block` is the best fit."""
        if self._collecting:
            home.pool.searches += 1
        if block is not None and self._picky:
            block = self._pick(home, size, block)
        if block is not None:
            home.take(block)
        return block

    def _pick(self, home: FreeBlocks, size: int, block: Block) -> Block | None:
        """Two exceptions to the best fit: a segment that can grow, and a block too large to be split."""
        if self._expandable:
            block = _least_growing(home, block)
        limit = self.conf.max_split_size
        if size < limit <= block.size:
            return None
        if size >= limit and block.size >= size + self.conf.max_non_split_rounding:
            return None
        return block

    def _get_memory(self, home: FreeBlocks, size: int) -> Block:
        """No cached block fits: get memory, and give cached memory back where the driver refuses."""
        state = self.state
        if self._collecting:
            collect_garbage(state)
        block = self._ask(home, size)
        if block is None and release_oversize(state, home, size):
            block = self._ask(home, size)
        if block is None:
            self.empty_cache()
            state.stats.counts["num_alloc_retries"] += 1
            block = self._ask(home, size)
        if block is None:
            self._fail(home, size)
        return block

    def _ask(self, home: FreeBlocks, size: int) -> Block | None:
        """One try: a new segment, or more pages of an expandable one. None: the limit or the driver refused."""
        state = self.state
        wanted = segment_size(size, self.conf.large_segment_size)
        if state.allowed is not None and state.reserved + wanted > state.allowed:
            return None
        if self._expandable:
            block = grow(state, home, size)
            if block is not None:
                home.take(block)
            return block
        address = state.driver.malloc(wanted)
        if address is None:
            return None
        state.reserved += wanted
        state.write(events.SEGMENT_ALLOC, address, wanted, home, block=wanted)
        block = state.new_block(address, wanted, home, state.new_segment_number())
        self._idle[address] = block
        return block

    def _fail(self, home: FreeBlocks, size: int) -> NoReturn:
        state = self.state
        free = state.driver.free
        state.write(events.OOM, free, size, home)
        raise OutOfMemoryError(
            oom_message(
                tried=segment_size(size, self.conf.large_segment_size),
                total=state.driver.total,
                free=free,
                allowed=state.allowed,
                allocated=self._allocated,
                reserved=state.reserved,
            )
        )

    def _hand_out(self, block: Block, nbytes: int, size: int) -> int:
        """Give the front of `block` out; what is left behind it becomes a free block where the rules split."""
        address, home = block.address, block.home
        flags, pool = home.flags, home.pool
        if block.prev is not None or block.next is not None:
            flags |= WAS_SPLIT
        elif not self._expandable:
            del self._idle[address]
        rest = block.size - size
        if rest >= pool.smallest_rest and size < pool.split_below:
            self._split(block, size, rest)
        else:
            size, rest = block.size, 0
        block.state = ALLOCATED
        block.requested = nbytes
        self._allocated += size
        self._append((ALLOC, address, nbytes, home.stream, flags, size, 0, rest))
        return address

    def _split(self, block: Block, size: int, rest: int) -> None:
        """Cut `block` after `size` bytes. In PyTorch the front is the new object, so it gets the new number."""
        home, number, after = block.home, block.number, block.next
        behind = Block(block.address + size, rest, home, number)
        behind.requested = block.requested
        behind.reservation = block.reservation
        behind.prev, behind.next = block, after
        if after is not None:
            after.prev = behind
        block.next = behind
        block.size = size
        if self.state.tie == "block":
            block.number = self.state.split_number(block)
        self._blocks[behind.address] = behind
        home.add(behind)

    # --- free, step by step -----------------------------------------------------------------------

    def _merge(self, block: Block, kind: int) -> None:
        """Turn a block free: join it with the free blocks on both sides, and file it."""
        address, size, requested, home = block.address, block.size, block.requested, block.home
        behind, front, flags = block.next, block.prev, home.flags
        before = after = 0
        block.state = FREE
        if behind is not None and behind.state == FREE:
            after = behind.size
            home.take(behind)
            del self._blocks[block.swallow_next()]
        if front is not None and front.state == FREE:
            before = front.size
            home.take(front)
            front.requested, front.number = requested, block.number
            del self._blocks[front.swallow_next()]
            block = front
        if block.prev is not None or block.next is not None:
            flags |= WAS_SPLIT
        elif not self._expandable:
            self._idle[block.address] = block
        home.add(block)
        self._append((kind, address, requested, home.stream, flags, size, before, after))

    def _free_later(self, block: Block) -> None:
        """The block is used on other streams: record an event on each, and wait for all."""
        state, address = self.state, block.address
        streams = state.uses.pop(address)
        for stream in streams:
            state.unfinished.setdefault(stream, deque()).append(block)
        state.waits[address] = len(streams)
        block.state = PENDING
        home = block.home
        self._append(
            (events.FREE_REQUESTED, address, block.requested, home.stream, home.flags, block.size, 0, 0)
        )

    def _finish_events(self) -> None:
        """All recorded events are done: free the blocks that waited for them, stream by stream."""
        state = self.state
        queues = list(self._unfinished.values())
        self._unfinished.clear()
        for waiting in queues:
            for block in waiting:
                state.waits[block.address] -= 1
                if state.waits[block.address] == 0:
                    del state.waits[block.address]
                    self._merge(block, events.FREE_COMPLETED)

    def _synchronize(self) -> None:
        self.state.stats.counts["num_sync_all_streams"] += 1
        self._finish_events()

    def _why_not(self, address: int, what: str) -> str:
        """Why an address cannot be freed or recorded."""
        block = self._blocks.get(address)
        if block is None or block.state == UNMAPPED:
            return f"Cannot {what} address {address:#x}: no block starts there. Pass an address from malloc."
        return f"Cannot {what} address {address:#x}: this block is free already."


def _least_growing(home: FreeBlocks, block: Block) -> Block:
    """Of a segment's last block count the size that it could grow to: step on while the next is smaller so."""
    following = home.from_size(block.size)
    for other in following:
        if other is block:
            break
    for other in following:
        if _could_grow_to(other) >= _could_grow_to(block):
            break
        block = other
    return block


def _could_grow_to(block: Block) -> int:
    behind = block.next
    return block.size + (behind.size if behind is not None and behind.state == UNMAPPED else 0)


def _whole(name: str, value: object) -> int:
    if isinstance(value, bool):
        raise TypeError(f"{name} is a whole number, not {value!r}.")
    try:
        return operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(f"{name} is a whole number, not {value!r}.") from None


def _request(nbytes: object, stream: object) -> tuple[int, int]:
    wanted, on = _whole("nbytes", nbytes), _whole("stream", stream)
    if wanted < 0:
        raise ValueError(f"nbytes is the number of bytes to allocate, 0 or more, not {wanted}.")
    if wanted >= LARGEST_REQUEST:
        raise OutOfMemoryError("CUDA out of memory. Tried to allocate more than 1EB memory.")
    return wanted, on
