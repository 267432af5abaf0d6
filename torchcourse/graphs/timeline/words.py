"""What is said: sizes, one sentence for each call, and how many segments went back."""

from __future__ import annotations

from collections.abc import Sequence

from torchcourse.allocator import events
from torchcourse.allocator.events import Entry
from torchcourse.allocator.history import GETS, GIVES_BACK, Call

_UNITS = ((1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"))


def size(nbytes: int) -> str:
    """A size in its largest unit, with two decimals at most: "18.8 MiB", "512 bytes"."""
    for unit, name in _UNITS:
        if nbytes >= unit:
            whole, part = divmod((200 * nbytes + unit) // (2 * unit), 100)
            return f"{whole}.{part:02}".rstrip("0").rstrip(".") + f" {name}"
    return f"{nbytes} bytes"


def sentence(call: Call, log: Sequence[Entry], owner: str = "") -> str:
    """What this call did, and why, in a sentence or two. `log`: all entries."""
    entries = log[call.first : call.last]
    last = entries[-1]
    if call.kind == "give back":
        return f"Memory goes back to the driver: {_given_back(entries)}."
    if call.kind == "free":
        return _freed(last, owner)
    if call.kind == "finish":
        return f"The other stream is done with the freed block of {size(last.block)}{_of(owner)}: {_merged(last)}"
    return _asked(entries, owner)


def _of(owner: str) -> str:
    return f" ({owner})" if owner else ""


def _asked(entries: Sequence[Entry], owner: str) -> str:
    last = entries[-1]
    got = [entry for entry in entries if entry.kind in GETS]
    if last.kind not in (events.ALLOC, events.OOM):
        return f"{_getting(got)}, and the trace ends."
    pool = "small" if last.flags & events.IN_SMALL_POOL else "large"
    start = f"Asked for {size(last.size)}{_of(owner)}, {pool} pool: "
    given_back = [entry for entry in entries if entry.kind in GIVES_BACK]
    way = f"the driver refused, so {_given_back(given_back)}; " if given_back else ""
    if last.kind == events.OOM:
        return f"{start}no cached block fits; {way}the card has {size(last.address)} free: out of memory."
    if not got:
        return f"{start}the best fit is a free block of {size(last.block + last.rest)}; {_cut(last)}"
    return f"{start}no cached block fits; {way}{_getting(got)}; {_cut(last)}"


def _getting(got: Sequence[Entry]) -> str:
    total = size(sum(entry.size for entry in got))
    mapped = any(entry.kind == events.SEGMENT_MAP for entry in got)
    return f"{total} of pages are mapped" if mapped else f"cudaMalloc of {total}"


def _given_back(entries: Sequence[Entry]) -> str:
    total = size(sum(entry.size for entry in entries))
    if any(entry.kind == events.SEGMENT_UNMAP for entry in entries):
        return f"wholly free pages are unmapped, {total}"
    if len(entries) == 1:
        return f"cudaFree of one wholly free segment of {total}"
    return f"cudaFree of {len(entries)} wholly free segments, {total} in all"


def _cut(entry: Entry) -> str:
    if entry.rest:
        return f"split, {size(entry.rest)} left."
    unused = entry.block - entry.size
    return f"taken whole, {size(unused)} of it unused." if unused >= 512 else "taken whole."


def _freed(entry: Entry, owner: str) -> str:
    start = f"Freed {size(entry.block)}{_of(owner)}"
    if entry.kind == events.FREE_REQUESTED:
        return f"{start}; another stream may still use it, so the block waits."
    return f"{start} into the cache; {_merged(entry)}"


def _merged(entry: Entry) -> str:
    """With which free neighbours the block joined."""
    joined = [
        f"{size(part)} {where}"
        for part, where in ((entry.before, "in front"), (entry.rest, "behind"))
        if part
    ]
    if joined:
        return f"it merges with {' and '.join(joined)} to {size(entry.before + entry.block + entry.rest)}."
    return "no neighbour is free." if entry.flags & events.WAS_SPLIT else "its whole segment is free with it."
