"""Why: a sentence for each entry of the log, about what the allocator did and what made it do so."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from torchcourse.allocator import events
from torchcourse.allocator.events import Entry, LogEntry
from torchcourse.allocator.sizes import format_size


def reasons(log: Iterable[LogEntry]) -> Iterator[str]:
    """One sentence for each entry of the trace that `events.trace` makes of the same log."""
    before: Entry | None = None
    for line in log:
        entry = Entry._make(line)
        yield from reason(entry, before)
        before = entry


def reason(entry: Entry, before: Entry | None = None) -> tuple[str, ...]:
    """The sentence of one entry, two where a free is complete at once; `before`: the entry before it."""
    if entry.kind == events.FREE_AT_ONCE:
        return "The program freed it, and no other stream uses it.", _merged(entry)
    if entry.kind == events.FREE_COMPLETED:
        return (f"The other streams are done. {_merged(entry)}",)
    if entry.kind == events.ALLOC:
        return (_given(entry, before),)
    return (_SENTENCES[entry.kind].format(format_size(entry.size)),)


_SENTENCES = {
    events.FREE_REQUESTED: "The program freed it, and another stream may still use it: it waits.",
    events.SEGMENT_ALLOC: "No cached block fits: cudaMalloc of {}.",
    events.SEGMENT_FREE: "The segment is wholly free: cudaFree of {}.",
    events.SEGMENT_MAP: "No cached block fits: pages of {} are mapped where the segment has room.",
    events.SEGMENT_UNMAP: "These pages are wholly free: {} are unmapped.",
    events.OOM: "Neither a cached block nor the card has room for a block of {}: out of memory.",
}


def _given(entry: Entry, before: Entry | None) -> str:
    pool = "small" if entry.flags & events.IN_SMALL_POOL else "large"
    fresh = before is not None and before.kind in (events.SEGMENT_ALLOC, events.SEGMENT_MAP)
    found = format_size(entry.block + entry.rest)
    source = f"from the new memory, {found}" if fresh else f"best fit, a free block of {found}"
    return f"{format_size(entry.size)}, {pool} pool: {source}; {_cut(entry)}"


def _cut(entry: Entry) -> str:
    if entry.rest:
        return f"split, {format_size(entry.rest)} left."
    unused = entry.block - entry.size
    return f"taken whole, {format_size(unused)} of it unused." if unused else "taken whole."


def _merged(entry: Entry) -> str:
    """With which free neighbours the block joined."""
    joined = [
        f"{format_size(size)} {where}"
        for size, where in ((entry.before, "in front"), (entry.rest, "behind"))
        if size
    ]
    block = f"The block of {format_size(entry.block)} is free"
    if joined:
        return f"{block} and merges with {' and '.join(joined)}."
    return (
        f"{block}; no neighbour is."
        if entry.flags & events.WAS_SPLIT
        else f"{block}, and with it its segment."
    )
