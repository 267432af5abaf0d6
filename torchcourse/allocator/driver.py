"""The driver under the allocator: how much memory the card has, and at which addresses it hands it out.

A stand-in for cudaMalloc, cudaFree and the virtual-memory calls behind expandable segments. It hands out
rising or falling addresses and never one twice.
"""

from torchcourse.allocator.sizes import GIB, ROUND_LARGE

_FIRST_UP = 0x7000_0000_0000
_FIRST_DOWN = 0x7800_0000_0000
_FIRST_RESERVED = 0x7400_0000_0000


class Driver:
    """A card of `total` bytes with nothing else on it. `addresses`: "up" or "down"."""

    def __init__(self, total: int, addresses: str = "up") -> None:
        self.total = total
        self.free = total
        self._down = addresses == "down"
        self._next = _FIRST_DOWN if self._down else _FIRST_UP
        self._next_reserved = _FIRST_RESERVED

    def malloc(self, size: int) -> int | None:
        """cudaMalloc: the address of `size` bytes, or None when they are not there."""
        size = _pages(size)
        if size > self.free:
            return None
        self.free -= size
        if self._down:
            self._next -= size
            return self._next
        address, self._next = self._next, self._next + size
        return address

    def release(self, address: int, size: int) -> None:
        """cudaFree."""
        self.free += _pages(size)

    def reserve(self, size: int, page: int) -> tuple[int, int]:
        """cuMemAddressReserve: the address and size of a range of addresses, without memory behind them.

        `size` is a multiple of `page`, and so is what comes back.
        """
        address = self._next_reserved
        self._next_reserved += _pages(size) + GIB
        return address, size

    def unreserve(self, address: int) -> None:
        """cuMemAddressFree. The addresses are not used again."""

    def map(self, size: int) -> bool:
        """cuMemCreate and cuMemMap of `size` bytes; False when they are not there."""
        if size > self.free:
            return False
        self.free -= size
        return True

    def unmap(self, size: int) -> None:
        """cuMemUnmap and cuMemRelease of `size` bytes."""
        self.free += size


def _pages(size: int) -> int:
    return -(-size // ROUND_LARGE) * ROUND_LARGE
