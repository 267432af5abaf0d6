"""What an allocator holds: its blocks, pools, log, and the memory it has from the driver.

`model.py` decides about requests; `expandable.py` and `release.py` get memory and give it back. All
three work on this one object.
"""

from __future__ import annotations

from collections import deque
from typing import Protocol

from torchcourse.allocator.blocks import FREE, Block
from torchcourse.allocator.config import AllocConf
from torchcourse.allocator.events import Log
from torchcourse.allocator.pools import FreeBlocks, Pool
from torchcourse.allocator.sizes import SMALL_SIZE
from torchcourse.allocator.stats import Stats

TIES = ("segment", "address", "block")


class Source(Protocol):
    """Where segments come from: `driver.Driver`, or the answers in a recorded trace."""

    total: int
    free: int

    def malloc(self, size: int) -> int | None: ...

    def release(self, address: int, size: int) -> None: ...

    def reserve(self, size: int, page: int) -> tuple[int, int]: ...

    def unreserve(self, address: int) -> None: ...

    def map(self, size: int) -> bool: ...

    def unmap(self, size: int) -> None: ...


class State:
    """The blocks of one device. `tie`: what decides among equal free blocks (`Allocator` explains)."""

    def __init__(self, driver: Source, conf: AllocConf, tie: str) -> None:
        self.driver = driver
        self.conf = conf
        self.tie = tie
        self.blocks: dict[int, Block] = {}  # every block by address, unmapped ones too
        self.small, self.large = (Pool(is_small, conf) for is_small in (True, False))
        self.idle: dict[int, Block] = {}  # the free blocks that are a whole segment
        self.reserved = 0
        self.allowed: int | None = None
        self.log: Log = []
        self.stats = Stats(conf.max_split_size)
        # Streams that use a block beside its own, until it is freed; then the streams' events, in order.
        self.uses: dict[int, list[int]] = {}
        self.unfinished: dict[int, deque[Block]] = {}
        self.waits: dict[int, int] = {}  # address of a pending block -> events not yet finished
        self._numbers = 0

    def pool_for(self, size: int) -> Pool:
        """The pool that serves a rounded size."""
        return self.small if size <= SMALL_SIZE else self.large

    def new_segment_number(self) -> int:
        """The number of a new segment's first block."""
        if self.tie == "address":
            return 0
        self._numbers += 1
        return self._numbers

    def split_number(self, block: Block) -> int:
        """The number of a block carved from `block`: its own where blocks are counted, else the segment's."""
        return self.new_segment_number() if self.tie == "block" else block.number

    def new_block(self, address: int, size: int, home: FreeBlocks, number: int) -> Block:
        """A free block that is in the table, not yet among the free blocks of its pool."""
        block = self.blocks[address] = Block(address, size, home, number)
        return block

    def write(self, kind: int, address: int, size: int, home: FreeBlocks, block: int = 0) -> None:
        """Log an entry that is about a segment, not about a request."""
        self.log.append((kind, address, size, home.stream, home.flags, block, 0, 0))

    def settle(self, block: Block) -> None:
        """Put a free block among its pool's, and note when it is a whole segment."""
        block.home.add(block)
        if block.prev is None and block.next is None and block.reservation is None:
            self.idle[block.address] = block

    def is_free(self, block: Block | None) -> bool:
        """Whether the block is there, mapped and free."""
        return block is not None and block.state == FREE
