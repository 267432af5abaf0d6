"""The timeline of a caching allocator: every event, what it did to the blocks, and why.

See https://docs.pytorch.org/docs/stable/notes/cuda.html#memory-management for the allocator itself.
"""

import os
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from torchcourse.allocator import Allocator, rerun
from torchcourse.allocator.history import History, history
from torchcourse.graphs.timeline.geometry import layout
from torchcourse.graphs.timeline.picture import frame, svg
from torchcourse.graphs.timeline.story import Column, Story, tell
from torchcourse.graphs.timeline.twin import twin

from ._card import Card, script, style

UNIT = 512  # bytes: sizes are sent in blocks of the smallest size
Source = Allocator | dict[str, Any] | str | os.PathLike[str]


def timeline(
    source: Source,
    *,
    against: Source | None = None,
    owners: Mapping[int, str] | Sequence[str] | None = None,
    request: int = 0,
    device: int = 0,
) -> "AllocatorTimeline":
    """Show the history of an `Allocator`, of a snapshot, or of a snapshot's file, event by event.

    An event is one call: a malloc with all that it led to, a free, a cache that was emptied. against: a second
    run of the same program, drawn beside it: another allocator or snapshot, or the settings under which the
    calls are made again ("expandable_segments:True"). owners: whose each block is, by the number of the malloc,
    counted from 0 ("parameter", "gradient", "optimizer state", "activation", "temporary", "input", or names of
    your own). request: bytes; free blocks that can't serve such a request are crossed out. device: of a snapshot.

    A snapshot is replayed through the model, and read without trusting it. TypeError, ValueError: what the
    source, the settings or the request lack, in one sentence; two sources that are not runs of one program.
    """
    if isinstance(request, bool) or not isinstance(request, int) or request < 0:
        raise ValueError(f"request is a number of bytes, 0 for none, not {request!r}.")
    past = [history(source, device)]
    if against is not None:
        past.append(_second(source, against, device))
    return AllocatorTimeline(tell(past, owners, request))


def _second(source: Source, against: Source, device: int) -> History:
    """The other run: as given, or made here under other settings."""
    if isinstance(against, str) and not Path(against).is_file():
        if not isinstance(source, Allocator | dict):
            raise TypeError("Settings can be tried on an Allocator or a snapshot; load the file first.")
        return history(rerun(source, against))
    return history(against, device)


class AllocatorTimeline(Card):
    """What `timeline` gives. `.story` is the plain data: columns of segments, changes and sentences."""

    _esm = script("player", "timeline_states", "timeline_shelf", "timeline")
    _css = style("player", "timeline")

    def __init__(self, story: Story) -> None:
        super().__init__()
        self.story = story
        self.picture = picture(story)

    def twin(self) -> str:
        return twin(self.story)

    def static_svg(self) -> str:
        return svg(self.story)


def picture(story: Story) -> dict[str, Any]:
    """The story as the browser takes it. Sizes in units of 512 bytes, levels and ends as differences."""
    texts: dict[str, int] = {}
    return {
        "title": story.title,
        "steps": story.steps,
        "columns": [_column(story, column, texts) for column in story.columns],
        "texts": list(texts),
        "owners": [[owner.name, owner.letter, owner.role] for owner in story.owners],
        "legend": [list(item) for item in story.legend],
        "requests": list(story.requests),
        "request": story.request,
        "twin": twin(story),
    }


def _column(story: Story, column: Column, texts: dict[str, int]) -> dict[str, Any]:
    side, plan = column.side, layout(story, column)
    return {
        "name": side.name,
        "total": side.total,
        "svg": frame(story, column),
        "width": plan.width,
        "chart": {"top": plan.top, "bottom": plan.bottom},
        "pools": [
            {"small": rows.small, "top": rows.top, "step": rows.step, "rows": rows.shelf.rows,
             "width": rows.shelf.width, "height": rows.shelf.height, "scale": rows.shelf.scale}
            for rows in plan.rows
        ],
        "slots": [
            [slot.extent // UNIT, slot.is_small, place, slot.stream, slot.is_expandable]
            for slot, place in zip(side.slots, column.places, strict=True)
        ],
        "paints": [
            n for slot, offset, size, state in side.paints for n in (slot, offset // UNIT, size // UNIT, state)
        ],
        "ends": _differences(side.ends),
        "reserved": _differences([n // UNIT for n in side.reserved]),
        "allocated": _differences([n // UNIT for n in side.allocated]),
        "says": [texts.setdefault(say, len(texts)) for say in side.says],
    }  # fmt: skip


def _differences(values: Sequence[int]) -> list[int]:
    return [values[0], *(after - before for before, after in pairwise(values))]
