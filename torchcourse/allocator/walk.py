"""The walk of a replay: the model answers a recorded trace, entry by entry."""

from __future__ import annotations

from torchcourse.allocator import events
from torchcourse.allocator.beginning import beginning, reservation_starts
from torchcourse.allocator.blocks import FREE
from torchcourse.allocator.config import UNLIMITED
from torchcourse.allocator.events import Entry
from torchcourse.allocator.messages import OutOfMemoryError
from torchcourse.allocator.model import Allocator
from torchcourse.allocator.reasons import reason
from torchcourse.allocator.record import GETS, GIVES_BACK, SILENT, Record, RecordedEntry
from torchcourse.allocator.recorded_driver import RecordedDriver, card_size
from torchcourse.allocator.release import oversize_to_release
from torchcourse.allocator.restore import restore
from torchcourse.allocator.results import Difference, Event, Replay
from torchcourse.allocator.sizes import LARGEST_REQUEST, round_size

_ON_THE_WAY = (*GETS, *GIVES_BACK, "free_completed")  # what stands between a request and its answer


class Walk:
    """The walk through a record. `at`: the next entry that nothing has answered yet.

    explaining: whether every entry gets its reason in words.
    """

    def __init__(self, record: Record, tie: str, explaining: bool = True) -> None:
        self.record = record
        self.entries = record.entries
        self.at = 0
        self.request = 0  # the alloc or oom entry that the model is working on
        self.tie = tie
        self.explaining = explaining
        segments = beginning(record)
        driver = RecordedDriver(self, record, card_size(record, sum(segment.size for segment in segments)))
        driver.starts = reservation_starts(record, segments)
        self.model = Allocator.over(driver, record.conf, tie)
        self.model.gpu_busy = True  # only the record says when a stream is done
        restored = restore(self.model, segments, record)
        self.where, self.pending = restored.live, restored.pending  # recorded address -> the model's
        self.names = {address: recorded for recorded, address in self.pending.items()}
        for held in restored.ranges:
            driver.hold(*held)
        self.start = self.model.state.reserved
        self.looked_to = -1  # up to here `_request_after` has looked
        self.read = 0  # entries of the model's log that are matched
        self.done: dict[int, int | None] = {}  # entry -> the model's address
        self.reasons: dict[int, str] = {}  # entry -> why the model did so
        self.wrong: dict[int, str] = {}  # entry -> why it differs

    def run(self) -> Difference | None:
        """Walk to the end; the first difference."""
        while self.at < len(self.entries):
            self._step(self.entries[self.at])
        first = min(self.wrong, default=None)
        return None if first is None else Difference(first, self._event(first), self.wrong[first])

    def result(self) -> Replay:
        difference = self.run()
        return Replay(
            events=tuple(self._event(number) for number in range(len(self.entries))),
            first_difference=difference,
            peak_reserved=self._peak(),
            layout_agrees=self._layout() == _recorded_layout(self.record),
            tie=self.tie,
        )

    def _event(self, number: int) -> Event:
        entry = self.entries[number]
        agrees = number not in self.wrong
        model, why = self.done.get(number), self.reasons.get(number, "")
        return Event(entry.action, entry.size, entry.stream, entry.addr, model, agrees, why)

    def _step(self, entry: RecordedEntry) -> None:
        if entry.action in SILENT:
            self._answer(entry.addr)
        elif entry.action == "free_requested":
            self._free(entry)
        elif entry.action == "free_completed":
            self._finish_run()
        else:
            self._serve()

    def _answer(self, address: int | None, why: str = "") -> None:
        """The model's answer to the entry at hand; `why` it differs, if it does."""
        self.done[self.at] = address
        if why:
            self.wrong.setdefault(self.at, why)
        self.at += 1

    # --- frees ------------------------------------------------------------------------------------

    def _free(self, entry: RecordedEntry) -> None:
        address = self.where.pop(entry.addr, None)
        if address is None:
            self._answer(None, f"The record frees {entry.addr:#x}, where no block is in use.")
            return
        block = self.model.state.blocks[address]
        why = self._unlike(entry, address, block.requested, block.home.stream)
        if self._next_is_its_end(entry):
            self.model.free(address)
            self._explain(len(self.model.state.log) - 1)
            self._answer(address, why)
            self._answer(address, why)
        else:
            self._free_later(entry, address, why)
        self.read = len(self.model.state.log)

    def _next_is_its_end(self, entry: RecordedEntry) -> bool:
        following = self.entries[self.at + 1 : self.at + 2]
        return bool(following) and following[0] == entry._replace(action="free_completed")

    def _free_later(self, entry: RecordedEntry, address: int, why: str) -> None:
        """Nothing completes the free at once: another stream used the block. Each gets a stream of its own."""
        self.model.state.uses[address] = [-1 - address]
        self.model.free(address)
        if entry.addr in self.pending:
            why = why or f"The record frees {entry.addr:#x} again before the first free is complete."
        self.pending[entry.addr], self.names[address] = address, entry.addr
        self._explain(len(self.model.state.log) - 1)
        self._answer(address, why)

    def _finish_run(self) -> None:
        """A run of free_completed: the streams are done, or the allocator waited for all of them."""
        end = self.at
        while end < len(self.entries) and self.entries[end].action == "free_completed":
            end += 1
        if self._waited_for_all(end):
            self._serve()
        while self.at < end:
            self._finish(self.entries[self.at])

    def _waited_for_all(self, end: int) -> bool:
        """Whether this run is the synchronisation of a malloc that the driver refused.

        Then it ends in memory given back or in an oom. Otherwise a malloc saw finished streams on its way.
        """
        request = self._request_after(end)
        if request is None or self.entries[end].action not in (*GIVES_BACK, "oom"):
            return False
        named = {entry.addr for entry in self.entries[self.at : end]}
        return named == self.pending.keys() and not self._would_find(self.entries[request])

    def _finish(self, entry: RecordedEntry) -> None:
        address = self.pending.pop(entry.addr, None)
        if address is None:
            self._answer(None, f"The record completes a free of {entry.addr:#x}, which no free asked for.")
            return
        block = self.model.state.blocks[address]
        why = self._unlike(entry, address, block.requested, block.home.stream)
        del self.names[address]
        self.model.finish(address)
        self._explain(len(self.model.state.log) - 1)
        self.read = len(self.model.state.log)
        self._answer(address, why)

    # --- requests ---------------------------------------------------------------------------------

    def _serve(self) -> None:
        """A request with what the allocator did for it, or an empty_cache."""
        request = self._request_after(self.at)
        if request is None or self._is_empty_cache(request):
            self._empty_cache()
            return
        entry = self.entries[request]
        self.request = request
        try:
            address = self.model.malloc(entry.size, entry.stream)
        except OutOfMemoryError:
            address = 0
        self.match()
        self._skip_to(request)
        if entry.action == "oom":
            self._answer_oom(entry, address)
        else:
            self._answer_alloc(entry, address)

    def _answer_alloc(self, entry: RecordedEntry, address: int) -> None:
        if address:
            self.where[entry.addr] = address
        self._answer(address or None, self._unlike(entry, address, entry.size, entry.stream))

    def _answer_oom(self, entry: RecordedEntry, address: int) -> None:
        if address:
            self.model.free(address)  # the program got none
            self.read = len(self.model.state.log)
            self._answer(
                address, f"The record ran out of memory, the model has a block of {entry.size} bytes."
            )
        else:
            self._answer(entry.addr)

    def _request_after(self, here: int) -> int | None:
        """The alloc or oom that the entries from `here` on lead to, if only the driver stands between."""
        if here > self.looked_to:  # each run is looked through once
            self.looked_to = here
            while self.looked_to < len(self.entries) and self.entries[self.looked_to].action in _ON_THE_WAY:
                self.looked_to += 1
        here = self.looked_to
        found = here < len(self.entries) and self.entries[here].action in ("alloc", "oom")
        return here if found and 0 < self.entries[here].size < LARGEST_REQUEST else None

    def _is_empty_cache(self, request: int) -> bool:
        """Whether the segments given back here were asked for by the program, not by the next request."""
        if self.entries[self.at].action not in GIVES_BACK:
            return False
        wanted = self.entries[request]
        between = {entry.action for entry in self.entries[self.at : request]}
        served_from_cache = wanted.action == "alloc" and not between & set(GETS)
        return served_from_cache or self._would_find(wanted) or self._not_oversize(wanted)

    def _would_find(self, wanted: RecordedEntry) -> bool:
        size = round_size(wanted.size, self.record.conf.roundup_power2_divisions)
        return self.model.would_find(size, wanted.stream)

    def _not_oversize(self, wanted: RecordedEntry) -> bool:
        """With max_split_size a failed request first gives back oversize blocks: are these not they?"""
        if self.record.conf.max_split_size == UNLIMITED:
            return False
        state = self.model.state
        size = round_size(wanted.size, self.record.conf.roundup_power2_divisions)
        blocks = oversize_to_release(state, state.pool_for(size).of(wanted.stream), size)
        named = [entry.addr for entry in self.entries[self.at : self.at + len(blocks)]]
        return named != [block.address for block in blocks]

    def _empty_cache(self) -> None:
        end = self.at
        while end < len(self.entries) and self.entries[end].action in GIVES_BACK:
            end += 1
        self.request = end
        if end == self.at:
            self._answer(None, "No request of the record leads to this segment.")
        elif self.record.conf.garbage_collection_threshold:
            self._collect(end)
        else:
            self.model.empty_cache()
            self.match()
            self._skip_to(end)

    def _collect(self, end: int) -> None:
        """Garbage collection depends on a limit that no snapshot holds: give back what the record did."""
        while self.at < end:
            entry = self.entries[self.at]
            if self.model.give_back(entry.addr):
                self.match()
            else:
                self._answer(None, f"The segment at {entry.addr:#x} is not wholly free.")

    def _skip_to(self, end: int) -> None:
        while self.at < end:
            entry = self.entries[self.at]
            self._answer(
                None, f"The record has a {entry.action} of {entry.size} bytes, the model has none here."
            )

    # --- the model's log against the record -------------------------------------------------------

    def match(self) -> None:
        """Compare what the model wrote since the last look with the entries up to the request."""
        log = self.model.state.log
        while self.read < len(log):
            kind, address, size, stream, *_ = log[self.read]
            if kind == events.FREE_COMPLETED:
                self._match_finished(address)
            elif kind not in (events.ALLOC, events.OOM):
                self._match_segment(events.ACTIONS[kind], address, size, stream)
            else:
                self._explain(self.read, self.request)
            self.read += 1

    def _match_segment(self, action: str, address: int, size: int, stream: int) -> None:
        entry = self.entries[self.at] if self.at < self.request else None
        if entry is None or entry.action != action:
            self._note(f"Here the model has a {action} of {size} bytes, which the record has not.")
        else:
            self._explain(self.read)
            self._answer(address, self._unlike(entry, address, size, stream))

    def _explain(self, place: int, number: int | None = None) -> None:
        """Give the entry at hand, or `number`, the reason of the model's log entry at `place`."""
        if not self.explaining:
            return
        log = self.model.state.log
        before = Entry._make(log[place - 1]) if place else None
        for offset, sentence in enumerate(reason(Entry._make(log[place]), before)):
            self.reasons[(self.at if number is None else number) + offset] = sentence

    def _match_finished(self, address: int) -> None:
        """Streams finish in an order that the rules leave open: any entry of the run will do."""
        recorded = self.names.pop(address)
        if self.pending.get(recorded) == address:
            del self.pending[recorded]
        entry = self.entries[self.at] if self.at < self.request else None
        if entry is not None and entry.action == "free_completed":
            self._explain(self.read)
            self._answer(entry.addr)
        else:
            self._note(f"Here the model completes the free of {recorded:#x}, and the record does not.")

    def _note(self, why: str) -> None:
        """Something that the model did and no entry shows counts against the entry at hand."""
        self.wrong.setdefault(min(self.at, len(self.entries) - 1), why)

    def _unlike(self, entry: RecordedEntry, address: int, size: int, stream: int) -> str:
        """Why the model's answer is not the record's; "" where it is."""
        if (entry.addr, entry.size, entry.stream) == (address, size, stream):
            return ""
        if not address:
            return "The record has a block, the model runs out of memory."
        if entry.size != size:
            return f"The record says {entry.size} bytes, the model {size}."
        if entry.stream != stream:
            return f"The record says stream {entry.stream}, the model {stream}."
        if entry.action == "alloc":
            return self._other_block(entry, address)
        return f"The record says {entry.addr:#x}, the model {address:#x}."

    def _other_block(self, entry: RecordedEntry, address: int) -> str:
        """Which two places a request could have gone to, and what the trace does not say about them."""
        block = self.model.state.blocks.get(entry.addr)
        taken = (
            "no free block begins" if block is None or block.state != FREE else f"{block.size} bytes are free"
        )
        unknown = ""
        if self.record.conf.expandable_segments:
            unknown = " How far a segment could grow is not in the record."
        elif self.tie == "segment" and self.start:
            unknown = (
                " The record does not hold which of the first segments is older, nor the exact size of a block "
                "that was in use at the start."
            )
        return (
            f"The record took the block at {entry.addr:#x}, where in the model {taken}; "
            f"the model took the one at {address:#x}.{unknown}"
        )

    def _peak(self) -> int:
        reserved = peak = self.start
        for kind, _, size, *_ in self.model.state.log:
            if kind in (events.SEGMENT_ALLOC, events.SEGMENT_MAP):
                reserved += size
                peak = max(peak, reserved)
            elif kind in (events.SEGMENT_FREE, events.SEGMENT_UNMAP):
                reserved -= size
        return peak

    def _layout(self) -> list[tuple[int, list[tuple[int, str]]]]:
        return [
            (segment["address"], [(block["size"], block["state"]) for block in segment["blocks"]])
            for segment in self.model.snapshot()["segments"]
        ]


def _recorded_layout(record: Record) -> list[tuple[int, list[tuple[int, str]]]]:
    return sorted(
        (segment.address, [(block.size, block.state) for block in segment.blocks])
        for segment in record.segments
    )
