"""What happened, entry by entry: the allocator's log, and PyTorch's trace read from it.

The log is the one thing that every call writes, a plain tuple per entry, so that it costs little. The
trace, the statistics and the reasons are read from it when somebody asks.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

(ALLOC, FREE_AT_ONCE, FREE_REQUESTED, FREE_COMPLETED, SEGMENT_ALLOC, SEGMENT_FREE, SEGMENT_MAP, SEGMENT_UNMAP,
 OOM) = range(9)  # fmt: skip

ACTIONS = {
    ALLOC: "alloc",
    FREE_REQUESTED: "free_requested",
    FREE_COMPLETED: "free_completed",
    SEGMENT_ALLOC: "segment_alloc",
    SEGMENT_FREE: "segment_free",
    SEGMENT_MAP: "segment_map",
    SEGMENT_UNMAP: "segment_unmap",
    OOM: "oom",
}

IN_SMALL_POOL, WAS_SPLIT, IS_EXPANDABLE = 1, 2, 4  # flags of an entry


class Entry(NamedTuple):
    """One entry of the log.

    alloc: `size` was asked for, `block` given, `rest` is what a split left behind it (0: no split);
    WAS_SPLIT: the block found shared its segment before. free: `before` and `rest` are the sizes of the
    free neighbours that the block merged with, WAS_SPLIT: it shares its segment afterwards.
    oom: `address` is what the driver had free, `size` the rounded size.
    """

    kind: int
    address: int
    size: int
    stream: int
    flags: int
    block: int
    before: int
    rest: int


class TraceEntry(NamedTuple):
    """One entry as PyTorch records it. `addr` is what the driver has free where `action` is "oom"."""

    action: str
    addr: int
    size: int
    stream: int


LogEntry = tuple[int, int, int, int, int, int, int, int]  # the fields of Entry
Log = list[LogEntry]


def trace(log: Iterable[LogEntry]) -> Iterator[TraceEntry]:
    """PyTorch's trace of a log. A free that nothing delays is one entry of the log and two of the trace."""
    for kind, address, size, stream, *_ in log:
        if kind == FREE_AT_ONCE:
            yield TraceEntry("free_requested", address, size, stream)
            yield TraceEntry("free_completed", address, size, stream)
        else:
            yield TraceEntry(ACTIONS[kind], address, size, stream)
