"""From histories to a story: segments with places, steps with sentences. Plain data, drawn elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from torchcourse.allocator.history import History

from .owners import Owner, OwnerNames, Owners
from .places import Shelf, Span, shelves
from .sides import Side, Slot, aligned, side
from .tiles import BARE, NO_MEMORY, WAITS, Paint, Tiles, paint
from .words import size

MOST = 20_000  # steps; of a longer history the last ones are shown
WIDTH, PAIR_WIDTH = 720, 346  # px of a column


@dataclass(frozen=True)
class Column:
    """A side with the rows of its two pools. `places`: of each slot, px from the start of its pool's rows."""

    side: Side
    large: Shelf | None
    small: Shelf | None
    places: tuple[float, ...]


@dataclass(frozen=True)
class Story:
    """One or two allocators, step by step. `requests`: sizes (bytes) to ask about; `request`: which one first.

    `hidden`: steps of the history before the first one shown.
    """

    columns: tuple[Column, ...]
    owners: tuple[Owner, ...]
    requests: tuple[int, ...]
    request: int
    hidden: int

    @property
    def steps(self) -> int:
        """How many events there are; step 0 is before the first."""
        return len(self.columns[0].side.ends) - 1

    @property
    def title(self) -> str:
        """What is shown."""
        return "CUDA memory" if len(self.columns) == 1 else "CUDA memory, one program under two settings"

    @property
    def closing(self) -> str:
        """What happened last, in one sentence for each column."""
        says = [column.side.says[-1] for column in self.columns]
        if len(set(says)) == 1:
            return says[0]
        return " ".join(
            f"`{column.side.name}`: {say}" for column, say in zip(self.columns, says, strict=True)
        )

    @property
    def legend(self) -> tuple[tuple[str, str, str], ...]:
        """(look, sign, words) of what the picture may show."""
        waits = any(change.state == WAITS for column in self.columns for change in column.side.paints)
        return (
            *((owner.role, owner.letter, owner.name) for owner in self.owners),
            *([("waits", "‖", "waits for a stream")] if waits else []),
            ("free", "╱", "free, in the cache"),
            ("unfit", "✕", "free, and too small for the request"),
        )

    def numbers(self, column: Column, step: int = -1) -> tuple[str, ...]:
        """The levels after a step, in one or two lines."""
        side = column.side
        allocated, reserved = side.allocated[step], side.reserved[step]
        first = f"allocated {size(allocated)} · reserved {size(reserved)}"
        rest = f"not in use {size(reserved - allocated)}"
        if side.total is not None:
            rest += f" · free on the card {size(side.total - reserved)}"
        return (f"{first} · {rest}",) if len(self.columns) == 1 else (first, rest)

    def __str__(self) -> str:
        from .twin import twin

        return twin(self)


def width_of(story: Story) -> int:
    """The width of a column's picture in px."""
    return WIDTH if len(story.columns) == 1 else PAIR_WIDTH


def tell(histories: Sequence[History], owners: OwnerNames = None, request: int = 0) -> Story:
    """The story of one history, or of two runs of the same program.

    owners: whose each block is, by the number of the malloc. request: bytes, a size whose chances are shown.
    ValueError: the two are not runs of one program.
    """
    names, steps = Owners(owners), aligned(histories)
    sides = [side(history, [calls[k] for calls in steps], names) for k, history in enumerate(histories)]
    hidden = max(len(steps) - MOST, 0)
    if hidden:
        sides = [_latter(one, hidden) for one in sides]
    sizes = _requests(sides)
    chosen = min((s for s in sizes if s >= request), default=sizes[-1]) if request else 0
    if request and chosen != request:
        sizes = tuple(sorted({*sizes, request}))
        chosen = request
    return Story(_columns(sides), names.all, sizes, chosen, hidden)


def _columns(sides: Sequence[Side]) -> tuple[Column, ...]:
    width = WIDTH if len(sides) == 1 else PAIR_WIDTH
    pools: list[tuple[Shelf, ...] | None] = []
    members = [
        [[k for k, s in enumerate(one.slots) if s.is_small is small] for one in sides]
        for small in (False, True)
    ]
    for chosen in members:
        spans = [[_span(one.slots[k]) for k in own] for one, own in zip(sides, chosen, strict=True)]
        pools.append(shelves(spans, width) if any(spans) else None)
    columns = []
    for n, one in enumerate(sides):
        places = [0.0] * len(one.slots)
        for pool, chosen in zip(pools, members, strict=True):
            for k, place in zip(chosen[n], pool[n].places if pool else (), strict=True):
                places[k] = place
        large, small = (pool[n] if pool else None for pool in pools)
        columns.append(Column(one, large, small, tuple(places)))
    return tuple(columns)


def _span(slot: Slot) -> Span:
    return Span(slot.extent, slot.born, slot.died)


def _requests(sides: Sequence[Side]) -> tuple[int, ...]:
    """512 bytes and so on, in steps of two to the half, up to the largest that could ever matter."""
    most = max(max(max(one.reserved), one.total or 0) for one in sides)
    sizes: list[int] = []
    power = 512
    while power <= most and len(sizes) < 80:
        sizes += [power, power * 3 // 2]
        power *= 2
    return tuple(sizes) or (512,)


def states(one: Side, step: int) -> list[Tiles]:
    """The tiles of every slot after a step."""
    tiles = [BARE] * len(one.slots)
    done = 0
    for number in range(step + 1):
        for change in one.paints[done : one.ends[number]]:
            extent = one.slots[change.slot].extent
            tiles[change.slot] = paint(tiles[change.slot], extent, change, number)
        done = one.ends[number]
    return tiles


def _latter(one: Side, hidden: int) -> Side:
    """The side from step `hidden` on, which becomes its start."""
    begun = [
        Paint(slot, tile.offset, end - tile.offset, tile.state)
        for slot, tiles in enumerate(states(one, hidden))
        for tile, end in zip(tiles, [*(t.offset for t in tiles[1:]), one.slots[slot].extent], strict=True)
        if tile.state != NO_MEMORY
    ]
    cut = one.ends[hidden]
    return replace(
        one,
        slots=tuple(
            replace(s, born=max(s.born - hidden, 0), died=max(s.died - hidden, 0)) for s in one.slots
        ),
        paints=(*begun, *one.paints[cut:]),
        ends=tuple(end - cut + len(begun) for end in one.ends[hidden:]),
        reserved=one.reserved[hidden:],
        allocated=one.allocated[hidden:],
        says=(f"The state after {hidden:,} events that are not shown.", *one.says[hidden + 1 :]),
        ended=one.ended and max(one.ended - hidden, 0),
    )
