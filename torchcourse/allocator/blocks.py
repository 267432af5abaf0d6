"""A block: a run of bytes inside one segment, and what it is used for at the moment."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torchcourse.allocator.expandable import Reservation
    from torchcourse.allocator.pools import FreeBlocks

FREE, ALLOCATED, PENDING, UNMAPPED = range(4)

# The names that a snapshot gives them. PENDING: freed by the program, but another stream may still use it.
STATE_NAMES = {FREE: "inactive", ALLOCATED: "active_allocated", PENDING: "active_pending_free"}


Entry = tuple[int, int, "Block"]  # number, address, block: how free blocks of one size are ordered


class Block:
    """One block, linked to its neighbours in the segment (`prev`, `next`: lower, higher address).

    `requested` is what the program asked for, and stays on a free block until the next use. `number` breaks
    ties among equal blocks. `entry` is its place among the free blocks of its size, None elsewhere; `born`
    the pool's search count when it came there: its age.
    """

    __slots__ = (
        "address", "born", "entry", "home", "next", "number", "prev", "requested", "reservation", "size", "state",
    )  # fmt: skip

    def __init__(self, address: int, size: int, home: FreeBlocks, number: int) -> None:
        self.address = address
        self.size = size
        self.home = home
        self.number = number
        self.requested = 0
        self.state = FREE
        self.born = 0
        self.entry: Entry | None = None
        self.prev: Block | None = None
        self.next: Block | None = None
        self.reservation: Reservation | None = None

    def __lt__(self, other: Block) -> bool:
        """Of two entries with the same number and address one is stale: their order does not matter."""
        return False

    def swallow_next(self) -> int:
        """Take over the block behind, which is neither filed nor used any more; its address."""
        other = self.next
        assert other is not None
        self.size += other.size
        self.next = other.next
        if other.next is not None:
            other.next.prev = self
            other.next = None
        other.prev = None
        return other.address

    @property
    def is_split(self) -> bool:
        """Whether the block shares its segment with others."""
        return self.prev is not None or self.next is not None

    def __repr__(self) -> str:
        state = STATE_NAMES.get(self.state, "unmapped")
        return f"Block({self.address:#x}, {self.size} bytes, {state})"
