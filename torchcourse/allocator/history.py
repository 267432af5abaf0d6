"""The history of an allocator, call by call: what stood there at first, and what each call did.

The trace has entries; a program makes calls. One malloc may write five entries: memory given back, a
cudaMalloc, the block. A history puts them together again, for views and for running the calls once more.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from torchcourse.allocator import events
from torchcourse.allocator.blocks import UNMAPPED, Block
from torchcourse.allocator.config import AllocConf
from torchcourse.allocator.events import Entry
from torchcourse.allocator.model import Allocator
from torchcourse.allocator.record import read_record
from torchcourse.allocator.sizes import segment_size
from torchcourse.allocator.snapshot import load_snapshot
from torchcourse.allocator.state import State
from torchcourse.allocator.walk import Walk

UNKNOWN_CARD = 1 << 40  # what a replay assumes where no entry tells the card's size
GETS = (events.SEGMENT_ALLOC, events.SEGMENT_MAP)
GIVES_BACK = (events.SEGMENT_FREE, events.SEGMENT_UNMAP)


class Held(NamedTuple):
    """A block that was there before the first entry. `segment`: where its segment (or reservation) begins."""

    address: int
    size: int
    state: int
    stream: int
    is_small: bool
    segment: int
    is_expandable: bool


class Call(NamedTuple):
    """One call of the program, and the entries `first` to `last` of the log that it wrote, `last` not included.

    kind: "malloc", "free", "finish" (another stream was done with a freed block) or "give back".
    """

    kind: str
    first: int
    last: int


@dataclass(frozen=True)
class History:
    """What an allocator did. `total`: the card in bytes, None where a snapshot does not tell.

    `note`: "" or, of a snapshot, the first event on which the model and the record differ.
    """

    held: tuple[Held, ...]
    log: tuple[Entry, ...]
    calls: tuple[Call, ...]
    conf: AllocConf
    total: int | None
    note: str = ""


def history(source: Allocator | dict[str, Any] | str | os.PathLike[str], device: int = 0) -> History:
    """The history of a model, of a snapshot or of a snapshot's file (read without trusting it).

    A snapshot is replayed: the history is the model's. Raises SnapshotError (a ValueError) for what is no
    snapshot, TypeError for anything else.
    """
    if isinstance(source, Allocator):
        return _of_model(source.state, (), source.state.driver.total, "")
    if isinstance(source, str | os.PathLike):
        source = load_snapshot(source)
    if not isinstance(source, dict):
        raise TypeError(
            f"This takes an Allocator, a snapshot (a dictionary) or the path of a snapshot's file, "
            f"not a {type(source).__name__}."
        )
    record = read_record(source, device)
    walk = Walk(record, record.tie, explaining=False)
    held = tuple(_held(walk.model.state))
    difference = walk.run()
    total = walk.model.state.driver.total
    note = "" if difference is None else f"Model and record differ from {difference}"
    return _of_model(walk.model.state, held, None if total == UNKNOWN_CARD else total, note)


def _of_model(state: State, held: tuple[Held, ...], total: int | None, note: str) -> History:
    log = tuple(map(Entry._make, state.log))
    limit = state.allowed if state.allowed is not None else total
    before = sum(block.size for block in held)
    return History(held, log, tuple(_calls(log, state.conf, limit, before)), state.conf, total, note)


def _held(state: State) -> Iterator[Held]:
    """The blocks by address; addresses of a reservation without memory are left out."""
    segment = 0
    for block in sorted(state.blocks.values(), key=lambda block: block.address):
        if block.prev is None:
            segment = block.address
        if block.state != UNMAPPED:
            yield _one(block, segment)


def _one(block: Block, segment: int) -> Held:
    home, expandable = block.home, block.reservation is not None
    return Held(block.address, block.size, block.state, home.stream, home.pool.is_small, segment, expandable)


def _calls(log: Sequence[Entry], conf: AllocConf, limit: int | None, reserved: int) -> Iterator[Call]:
    """Group the entries. Where no entry tells (memory is given back, then a malloc follows), the card does."""
    first = 0
    while first < len(log):
        kind = log[first].kind
        if kind in (events.FREE_AT_ONCE, events.FREE_REQUESTED):
            last, name = first + 1, "free"
        elif kind == events.FREE_COMPLETED:
            last, name = first + 1, "finish"
        else:
            last, name = _end(log, conf, limit, reserved, first)
        reserved += sum(_gained(entry) for entry in log[first:last])
        yield Call(name, first, last)
        first = last


def _end(
    log: Sequence[Entry], conf: AllocConf, limit: int | None, reserved: int, first: int
) -> tuple[int, str]:
    """Where a run that gives back or gets memory ends, and whether a malloc did it."""
    last = first
    while last < len(log) and log[last].kind in GIVES_BACK:
        last += 1
    given_back = last
    while last < len(log) and log[last].kind in GETS:
        last += 1
    answered = last < len(log) and log[last].kind in (events.ALLOC, events.OOM)
    if not answered:
        return max(last, first + 1), "give back" if given_back > first else "malloc"
    if given_back > first and not _was_refused(log[last], conf, limit, reserved, last > given_back):
        return given_back, "give back"
    return last + 1, "malloc"


def _was_refused(answer: Entry, conf: AllocConf, limit: int | None, reserved: int, got: bool) -> bool:
    """Whether the malloc itself gave memory back: it ran out, or it would not have fitted before."""
    if answer.kind == events.OOM:
        return True
    wanted = answer.block if conf.expandable_segments else segment_size(answer.block, conf.large_segment_size)
    collects = conf.garbage_collection_threshold > 0
    return got and (collects or (limit is not None and reserved + wanted > limit))


def _gained(entry: Entry) -> int:
    return (entry.kind in GETS) * entry.size - (entry.kind in GIVES_BACK) * entry.size
