"""Sizes of the caching allocator: its constants, its two rounding rules, and how it spells a size.

Mirrors `c10/core/AllocatorConfig.h` and `round_size`, `get_allocation_size`, `format_size` of
`c10/cuda/CUDACachingAllocator.cpp` (PyTorch 2.14). All sizes are bytes.
"""

KIB = 1 << 10
MIB = 1 << 20
GIB = 1 << 30

MIN_BLOCK_SIZE = 512  # every block is a multiple of it
SMALL_SIZE = MIB  # a rounded size up to this one comes from the small pool
SMALL_SEGMENT = 2 * MIB  # what the small pool asks the driver for
MIN_LARGE_ALLOC = 10 * MIB  # from here on a request gets a segment of its own
ROUND_LARGE = 2 * MIB  # such a segment is a multiple of it
LARGE_SEGMENT = 20 * MIB  # what smaller requests of the large pool share (large_segment_size_mb)
LARGEST_REQUEST = 1 << 60  # PyTorch refuses more at once (1 EiB), whatever the card

INTERVALS = 16  # roundup_power2_divisions: one number for each power of two from 1 MiB to 32 GiB


def divisions_for(nbytes: int, divisions: tuple[int, ...]) -> int:
    """The number of steps between two powers of two that the configuration asks for at this size."""
    return divisions[min(max(nbytes.bit_length() - 21, 0), INTERVALS - 1)]


def round_size(nbytes: int, divisions: tuple[int, ...] = ()) -> int:
    """The size of the block that a request of `nbytes` (at least 1) becomes."""
    if nbytes < MIN_BLOCK_SIZE:
        return MIN_BLOCK_SIZE
    steps = divisions_for(nbytes, divisions) if divisions else 0
    if steps > 1 and nbytes > MIN_BLOCK_SIZE * steps:
        return _next_division(nbytes, steps)
    return (nbytes + MIN_BLOCK_SIZE - 1) & -MIN_BLOCK_SIZE


def _next_division(nbytes: int, steps: int) -> int:
    power = 1 << (nbytes.bit_length() - 1)
    if nbytes == power:
        return nbytes
    step = power >> (steps.bit_length() - 1)
    return -(-nbytes // step) * step if step else power << 1


def segment_size(size: int, large_segment: int = LARGE_SEGMENT) -> int:
    """How much to ask the driver for when no cached block holds `size` (a rounded size)."""
    if size <= SMALL_SIZE:
        return SMALL_SEGMENT
    if size < MIN_LARGE_ALLOC:
        return large_segment
    return -(-size // ROUND_LARGE) * ROUND_LARGE


def format_size(nbytes: int) -> str:
    """A size as PyTorch's out-of-memory message spells it: exactly 1 GiB reads "1024.00 MiB"."""
    if nbytes <= KIB:
        return f"{nbytes} bytes"
    for unit, name in ((KIB, "KiB"), (MIB, "MiB")):
        if nbytes <= unit * KIB:
            return f"{nbytes / unit:.2f} {name}"
    return f"{nbytes / GIB:.2f} GiB"
