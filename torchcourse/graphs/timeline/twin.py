"""The story as text: the peaks, the segments at the end, and the events, at most so many lines of each."""

from __future__ import annotations

from collections.abc import Iterator

from .sides import Side
from .story import Column, Story, states
from .tiles import FIRST_OWNER, FREE, NO_MEMORY, WAITS, Tiles
from .words import size

EVENTS, SEGMENTS, BLOCKS = 30, 10, 8  # lines; of a line, blocks


def twin(story: Story) -> str:
    """At most about 50 lines for each column."""
    lines = [f"{story.title}, {story.steps:,} {'event' if story.steps == 1 else 'events'}"]
    if story.hidden:
        lines.append(f"The {story.hidden:,} events before them are not shown.")
    for column in story.columns:
        lines += _column(story, column)
    return "\n".join(lines)


def _column(story: Story, column: Column) -> Iterator[str]:
    side = column.side
    card = f" of a card of {size(side.total)}" if side.total else ""
    yield f"{side.name}: at most {size(max(side.allocated))} allocated, {size(max(side.reserved))} reserved{card}"
    if side.note:
        yield side.note
    yield f"At the end: {', '.join(story.numbers(column)).replace(' · ', ', ')}"
    tiles = states(side, story.steps)
    if story.request:
        yield chance(story, side, tiles)
    yield from _segments(story, side, tiles)
    yield from _events(story, side)


def chance(story: Story, side: Side, tiles: list[Tiles]) -> str:
    """What the cache could do for the request."""
    small = story.request <= 1 << 20
    free = [
        (nbytes, slot.is_small)
        for slot, own in zip(side.slots, tiles, strict=True)
        for nbytes, state in _sized(own, slot.extent)
        if state == FREE
    ]
    total, fits = sum(n for n, _ in free), [n for n, s in free if s is small and n >= story.request]
    start = f"For {size(story.request)}: "
    if not free:
        return f"{start}nothing is free in the cache."
    if fits:
        unfit = f"{size(total - sum(fits))} of {size(total)} free could not"
        return f"{start}a free block of {size(min(fits))} serves it; {unfit}."
    largest = max((n for n, s in free if s is small), default=0)
    found = f"the largest piece of its pool is {size(largest)}"
    return f"{start}{size(total)} is free in the cache, and none of it serves: {found}."


def _sized(own: Tiles, extent: int) -> Iterator[tuple[int, int]]:
    """The bytes and the state of each tile."""
    for number, tile in enumerate(own):
        yield (own[number + 1].offset if number + 1 < len(own) else extent) - tile.offset, tile.state


def _segments(story: Story, side: Side, tiles: list[Tiles]) -> Iterator[str]:
    there = [k for k, own in enumerate(tiles) if any(tile.state != NO_MEMORY for tile in own)]
    for k in there[:SEGMENTS]:
        slot = side.slots[k]
        names = [
            f"{size(nbytes)} {_state(story, state)}"
            for nbytes, state in _sized(tiles[k], slot.extent)
            if state != NO_MEMORY
        ]
        more = f" + {len(names) - BLOCKS:,} more" if len(names) > BLOCKS else ""
        kind = "expandable segment" if slot.is_expandable else f"segment of {size(slot.extent)}"
        stream = f", stream {slot.stream}" if slot.stream else ""
        yield f"  {'small' if slot.is_small else 'large'} pool{stream}, {kind}: {' | '.join(names[:BLOCKS])}{more}"
    if len(there) > SEGMENTS:
        yield f"  and {len(there) - SEGMENTS:,} more segments"


def _state(story: Story, state: int) -> str:
    if state in (FREE, WAITS):
        return "free" if state == FREE else "waiting for a stream"
    return story.owners[state - FIRST_OWNER].name


def _events(story: Story, side: Side) -> Iterator[str]:
    """All events, or the first and last ones of many."""
    wide = len(str(story.steps))
    numbers = range(1, story.steps + 1)
    shown = [*numbers] if len(numbers) <= EVENTS else [*numbers[: EVENTS - 10], 0, *numbers[-10:]]
    for k in shown:
        yield f"{k:{wide + 2}}. {side.says[k]}" if k else f"{'':{wide}}  … {story.steps - EVENTS:,} more"
