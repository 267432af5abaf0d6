"""An xray as the rows of a folding table: one a source line, opening to its tree of operators.

Big traces fold: repeated blocks are one row with × N, and what exceeds `MOST_ITEMS` rows is left out,
outermost operators first to stay, with a row that says how many are missing.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from torchcourse.layers import Row, Trace, rows

from .items import Item, Scene
from .telling import sentence_and_line
from .trees import Line, Trees, count, lines_of

MOST_ITEMS = 1600  # rows that a view holds; with it the state stays below 300 kB
MOST_LINES = 300
MOST_OPENED = 14  # rows of a line that opens by itself
_NONE = Line(1, (), ())


def scene(seen: Any) -> Scene:
    """The rows of a `Seen` or a `Trace`."""
    with _uncollected():
        return _scene(seen)


@contextmanager
def _uncollected() -> Iterator[None]:
    """Without Python's cycle collector: it would look through 100,000 new rows again and again."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def _scene(seen: Any) -> Scene:
    trace: Trace = getattr(seen, "trace", seen)
    table, lines = rows(trace), lines_of(trace)
    sentence, telling = sentence_and_line(trace, table, {at: line.times for at, line in lines.items()})
    found, trees = [lines.get(row.line, _NONE) for row in table[:MOST_LINES]], Trees(trace)
    rooms = _rooms([count(line.blocks) for line in found])
    items = [trees.line(*each) for each in zip(table[:MOST_LINES], found, rooms, strict=True)]
    items = [_opened(item, len(items) == 1 or item.line == telling) for item in items]
    left = trees.left_out
    if unseen := table[MOST_LINES:]:
        items.append(Item(1, "rest", f"{len(unseen):,} more lines are left out here"))
        left += sum(row.operators for row in unseen)
    storages = tuple(sorted(trees.marks.names.items()))
    return Scene(title(trace, table), sentence, tuple(items), storages, (*seen.notes, *_left_out(left)), left)


def title(trace: Trace, table: tuple[Row, ...]) -> str:
    """'xray · 4 lines · 20 operators · 4 nodes · 1 wait'."""
    lines = len([row for row in table if row.line is not None])
    counts = {
        "line": lines,
        "operator": len(trace.operators),
        "node": len(trace.nodes),
        "wait": len(trace.waits),
    }
    return " · ".join(["xray", *(f"{n:,} {word}{'' if n == 1 else 's'}" for word, n in counts.items())])


def _opened(item: Item, telling: bool) -> Item:
    fits = 0 < sum(inner.shown for inner in item.inside) <= MOST_OPENED
    return replace(item, opened=True) if telling and fits else item


def _left_out(operators: int) -> tuple[str, ...]:
    if not operators:
        return ()
    return (
        f"This view holds {MOST_ITEMS:,} rows. {operators:,} operators have no row of their own here; "
        "the sums count them, and `.operators` has all.",
    )


def _rooms(wanted: list[int]) -> list[int]:
    """How many rows each line gets: small ones all, the others equal shares of what is left."""
    rooms = [0] * len(wanted)
    left = MOST_ITEMS
    for done, k in enumerate(sorted(range(len(wanted)), key=wanted.__getitem__)):
        rooms[k] = min(wanted[k], left // (len(wanted) - done))
        left -= rooms[k]
    return rooms
