"""The same calls under another configuration: what would have happened with expandable segments?"""

from __future__ import annotations

from typing import Any

from torchcourse.allocator import events
from torchcourse.allocator.history import Call, History, history
from torchcourse.allocator.messages import OutOfMemoryError
from torchcourse.allocator.model import Allocator


def rerun(source: Allocator | dict[str, Any], conf: str = "", total_bytes: int | None = None) -> Allocator:
    """A new allocator that has made the calls of `source`, in their order, under `conf`.

    total_bytes: another card than the source's. A malloc that ran out of memory there is tried again (with
    its rounded size); the first one that runs out here and not there ends the run, as it would end the program.
    A call of empty_cache that gave nothing back left no trace, and is not made again. ValueError: a snapshot
    that starts in the middle, or that does not tell its card's size where `total_bytes` is not given.
    """
    past = history(source)
    total = past.total if total_bytes is None else total_bytes
    if past.held:
        raise ValueError(
            "This trace starts in the middle: there was memory before its first entry. "
            "Only a trace from the start can be run again."
        )
    if total is None:
        raise ValueError("This snapshot does not tell the size of its card. Pass total_bytes.")
    return _Rerun(past, Allocator(total, conf)).run()


class _Rerun:
    """`where`: the address of a block in the source -> its address here."""

    def __init__(self, past: History, model: Allocator) -> None:
        self.past, self.model = past, model
        self.where: dict[int, int] = {}
        self.pending: dict[int, int] = {}
        model.gpu_busy = True  # only the trace says when a stream is done

    def run(self) -> Allocator:
        for call in self.past.calls:
            try:
                self.make(call)
            except OutOfMemoryError:
                if self.past.log[call.last - 1].kind != events.OOM:
                    break
        self.model.gpu_busy = False
        return self.model

    def make(self, call: Call) -> None:
        entry = self.past.log[call.last - 1]
        if call.kind == "malloc":
            address = self.model.malloc(entry.size, entry.stream)
            if entry.kind == events.ALLOC:
                self.where[entry.address] = address
        elif call.kind == "give back":
            self.model.empty_cache()
        elif entry.kind == events.FREE_AT_ONCE:
            self.model.free(self.where.pop(entry.address))
        elif entry.kind == events.FREE_REQUESTED:
            address = self.pending[entry.address] = self.where.pop(entry.address)
            self.model.record_stream(address, -1 - address)  # a stream of its own, so that it can end alone
            self.model.free(address)
        elif (address := self.pending.pop(entry.address)) in self.model.state.waits:
            self.model.finish(address)
