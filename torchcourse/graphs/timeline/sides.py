"""One allocator's part of a story: its segments, what each step paints, its numbers and sentences."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from torchcourse.allocator import events
from torchcourse.allocator.blocks import ALLOCATED, PENDING
from torchcourse.allocator.events import Entry
from torchcourse.allocator.history import Call, Held, History

from .owners import Owners
from .tiles import FIRST_OWNER, FREE, NO_MEMORY, WAITS, Paint
from .words import sentence

_FREED = (events.FREE_AT_ONCE, events.FREE_COMPLETED)


@dataclass(frozen=True)
class Slot:
    """A segment, or all that an expandable one ever holds: `extent` bytes, from step `born` up to `died`."""

    extent: int
    is_small: bool
    stream: int
    is_expandable: bool
    born: int
    died: int


@dataclass(frozen=True)
class Side:
    """One column. After step k, `paints[: ends[k]]` have happened; step 0 is the state at the start.

    `reserved`, `allocated` (bytes) and `says` have one item for each step, from 0 on. `ended`: the step at which
    this side ran out of memory and ended, None where it did not. `total`: the card, None if not known.
    """

    name: str
    total: int | None
    slots: tuple[Slot, ...]
    paints: tuple[Paint, ...]
    ends: tuple[int, ...]
    reserved: tuple[int, ...]
    allocated: tuple[int, ...]
    says: tuple[str, ...]
    ended: int | None
    note: str


def side(history: History, calls: Sequence[Call | None], owners: Owners) -> Side:
    """The part of one history. `calls`: its call at each step, None where it has none."""
    builder = _Builder(history, owners)
    for number, call in enumerate(calls, 1):
        builder.step(number, call)
    return builder.side()


@dataclass
class _Growing:
    """A slot in the making; `held` bytes of it have memory."""

    base: int
    is_small: bool
    stream: int
    is_expandable: bool
    born: int
    extent: int = 0
    held: int = 0
    died: int = 0


class _Builder:
    def __init__(self, history: History, owners: Owners) -> None:
        self.history, self.owners = history, owners
        self.slots: list[_Growing] = []
        self.bases: list[int] = []  # of the segments that are there, sorted
        self.at: dict[int, int] = {}  # base -> slot
        self.growing: dict[tuple[int, bool], list[int]] = {}  # stream and pool -> expandable slots
        self.owner: dict[int, int | None] = {}  # address -> the call of malloc that got it
        self.mallocs = self.now = self.reserved = self.allocated = 0
        self.paints: list[Paint] = []
        for held in history.held:
            self.hold(held)
        self.ends, self.says = [len(self.paints)], ["The state at the start."]
        self.levels = [(self.reserved, self.allocated)]
        self.ended: int | None = None

    def side(self) -> Side:
        last = len(self.ends)
        slots = tuple(
            Slot(s.extent, s.is_small, s.stream, s.is_expandable, s.born, s.died or last) for s in self.slots
        )
        reserved, allocated = zip(*self.levels, strict=True)
        return Side(
            name=self.history.conf.text or "default settings",
            total=self.history.total,
            slots=slots,
            paints=tuple(self.paints),
            ends=tuple(self.ends),
            reserved=reserved,
            allocated=allocated,
            says=tuple(self.says),
            ended=self.ended,
            note=self.history.note,
        )

    # Steps

    def step(self, number: int, call: Call | None) -> None:
        self.now = number
        self.says.append(self.sentence(call))
        for entry in self.history.log[call.first : call.last] if call else ():
            self.apply(entry)
        if call and call.last == len(self.history.log) and self.history.log[-1].kind == events.OOM:
            self.ended = number
        self.ends.append(len(self.paints))
        self.levels.append((self.reserved, self.allocated))

    def sentence(self, call: Call | None) -> str:
        if call is None:
            return f"Ended at event {self.ended}: out of memory." if self.ended else "Nothing to do here."
        entry = self.history.log[call.last - 1]
        malloc = self.mallocs if call.kind == "malloc" else self.owner.get(entry.address)
        return sentence(call, self.history.log, self.owners.name(malloc))

    def apply(self, entry: Entry) -> None:
        if entry.kind == events.SEGMENT_ALLOC:
            self.open(entry.address, entry, expandable=False)
            self.memory(self.at[entry.address], entry.address, entry.size)
        elif entry.kind == events.SEGMENT_MAP:
            self.memory(self.reservation(entry), entry.address, entry.size)
        elif entry.kind in (events.SEGMENT_FREE, events.SEGMENT_UNMAP):
            self.give_back(entry)
        elif entry.kind == events.OOM:
            self.mallocs += 1
        else:
            self.block(entry)

    # Blocks

    def block(self, entry: Entry) -> None:
        state = FREE
        if entry.kind == events.ALLOC:
            self.owner[entry.address] = self.mallocs
            state = FIRST_OWNER + self.owners.place(self.mallocs)
            self.mallocs += 1
            self.allocated += entry.block
        else:
            self.allocated -= entry.block if entry.kind != events.FREE_COMPLETED else 0
            if entry.kind in _FREED:
                self.owner.pop(entry.address, None)
            else:
                state = WAITS
        self.put(self.slot_of(entry.address), entry.address, entry.block, state)

    def put(self, slot: int, address: int, size: int, state: int) -> None:
        self.paints.append(Paint(slot, address - self.slots[slot].base, size, state))

    def slot_of(self, address: int) -> int:
        return self.at[self.bases[bisect_right(self.bases, address) - 1]]

    # Segments

    def open(self, base: int, entry: Entry, expandable: bool) -> int:
        small = bool(entry.flags & events.IN_SMALL_POOL)
        return self.add(_Growing(base, small, entry.stream, expandable, self.now))

    def add(self, slot: _Growing) -> int:
        self.at[slot.base] = len(self.slots)
        insort(self.bases, slot.base)
        self.slots.append(slot)
        return len(self.slots) - 1

    def reservation(self, entry: Entry) -> int:
        """The expandable segment that the pages belong to: a pool opens another where one has no room left."""
        own = self.growing.setdefault((entry.stream, bool(entry.flags & events.IN_SMALL_POOL)), [])
        total = self.history.total or 1 << 62
        room = total + total // 8 + self.history.conf.large_segment_size
        for slot in reversed(own):
            if self.slots[slot].held and 0 <= entry.address - self.slots[slot].base < room:
                return slot
        own.append(self.open(entry.address, entry, expandable=True))
        return own[-1]

    def memory(self, slot: int, address: int, size: int) -> None:
        grown = self.slots[slot]
        grown.held += size
        grown.extent = max(grown.extent, address + size - grown.base)
        self.reserved += size
        self.put(slot, address, size, FREE)

    def give_back(self, entry: Entry) -> None:
        slot = self.slot_of(entry.address)
        self.put(slot, entry.address, entry.size, NO_MEMORY)
        self.reserved -= entry.size
        self.slots[slot].held -= entry.size
        if not self.slots[slot].held:
            self.slots[slot].died = self.now
            base = self.slots[slot].base
            del self.at[base], self.bases[bisect_right(self.bases, base) - 1]

    def hold(self, held: Held) -> None:
        """A block that was there at the start."""
        if held.segment not in self.at:
            slot = self.add(_Growing(held.segment, held.is_small, held.stream, held.is_expandable, 0))
            if held.is_expandable:
                self.growing.setdefault((held.stream, held.is_small), []).append(slot)
        slot = self.at[held.segment]
        self.memory(slot, held.address, held.size)
        if held.state in (ALLOCATED, PENDING):
            in_use = held.state == ALLOCATED
            self.allocated += held.size if in_use else 0
            state = FIRST_OWNER + self.owners.place(None) if in_use else WAITS
            self.put(slot, held.address, held.size, state)


def aligned(histories: Sequence[History]) -> list[tuple[Call | None, ...]]:
    """One row for each step: the call that each history makes there, None where it has none.

    ValueError where two histories are not of the same program.
    """
    if len(histories) == 1:
        return [(call,) for call in histories[0].calls]
    return list(_pairs(*histories))


def _pairs(one: History, other: History) -> Iterator[tuple[Call | None, Call | None]]:
    left, right = _Reader(one), _Reader(other)
    while left.call or right.call:
        if left.key() == right.key():
            yield left.take(), right.take()
        elif left.optional() or right.ran_out():
            yield left.take(), None
        elif right.optional() or left.ran_out():
            yield None, right.take()
        else:
            raise ValueError(
                f"These are not two runs of one program: after {left.at} calls one has {left.told()}, "
                f"the other {right.told()}. torchcourse.allocator.rerun(allocator, conf) makes the same calls again."
            )


class _Reader:
    """The calls of a history, one after the other."""

    def __init__(self, history: History) -> None:
        self.history, self.at = history, 0

    @property
    def call(self) -> Call | None:
        return self.history.calls[self.at] if self.at < len(self.history.calls) else None

    def take(self) -> Call | None:
        call = self.call
        self.at += 1
        return call

    def optional(self) -> bool:
        """What the program did not ask for, or what may have had nothing to do in the other run."""
        return self.call is not None and self.call.kind in ("finish", "give back")

    def ran_out(self) -> bool:
        """Whether it ended, out of memory."""
        log = self.history.log
        return self.call is None and bool(log) and log[-1].kind == events.OOM

    def key(self) -> tuple[str, int]:
        if self.call is None:
            return "end", 0
        entry = self.history.log[self.call.last - 1]
        size = 0 if self.optional() else entry.size
        # Of a malloc that failed the trace has the rounded size.
        return self.call.kind, -(-size // 512) if self.call.kind == "malloc" else size

    def told(self) -> str:
        kind, size = self.key()
        words = {"malloc": f"a malloc of about {512 * size} bytes", "end": "ended"}
        return words.get(kind, f"a {kind} of {size} bytes")
