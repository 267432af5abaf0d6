"""What a replay found: the events, the first difference, the peak."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Event:
    """One entry of the trace: what the record says, and what the model did. Addresses and sizes in bytes.

    `recorded`, `model`: the addresses; `model` is None where the model did nothing of the kind. `reason`: why
    the model did what it did, "" where it did nothing.
    """

    action: str
    size: int
    stream: int
    recorded: int
    model: int | None
    agrees: bool
    reason: str = ""

    def __str__(self) -> str:
        here = f"{self.action} of {self.size} bytes at {self.recorded:#x}"
        if self.agrees:
            return here
        return f"{here} (model: {'nothing' if self.model is None else hex(self.model)})"


@dataclass(frozen=True)
class Difference:
    """The first event on which model and record differ: its place in `.events`, and why in a sentence."""

    index: int
    event: Event
    why: str

    def __str__(self) -> str:
        return f"event {self.index}, {self.event}: {self.why}"


@dataclass(frozen=True)
class Replay:
    """A replayed trace. `peak_reserved`: the most bytes that the model held, the start included.

    `layout_agrees`: whether the model ends with the blocks that the snapshot shows.
    """

    events: tuple[Event, ...]
    first_difference: Difference | None
    peak_reserved: int
    layout_agrees: bool
    tie: str

    def __str__(self) -> str:
        exact = sum(event.agrees for event in self.events)
        lines = [f"{exact} of {len(self.events)} events agree, peak reserved {self.peak_reserved} bytes"]
        if self.first_difference is not None:
            lines.append(f"first difference: {self.first_difference}")
        elif not self.layout_agrees:
            lines.append("every event agrees, the final layout differs")
        return "\n".join(lines)
