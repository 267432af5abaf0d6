"""Where the parts of a column stand, in px: the rows of the two pools, one below the other, then the curves."""

from __future__ import annotations

from dataclasses import dataclass

from .places import Shelf
from .story import Column, Story, width_of
from .words import size

LABEL = 18  # the line of words over a part
BETWEEN = 10  # between two rows, and the line under each block's row in it
CURVES = 72


@dataclass(frozen=True)
class Rows:
    """One pool: its first row begins at `top`, the next ones `step` below each other."""

    small: bool
    shelf: Shelf
    top: int
    step: int

    @property
    def label(self) -> str:
        """Which pool, and the scale."""
        name, row = "small" if self.small else "large", "a" if self.shelf.rows > 1 else "the"
        return f"{name} pool · {row} row is {size(round(self.shelf.scale * self.shelf.width))} long"


@dataclass(frozen=True)
class Layout:
    """All of a column. The curves stand between `top` and `bottom`; `most` bytes reach up to `top`."""

    width: int
    rows: tuple[Rows, ...]
    top: int
    bottom: int
    most: int
    height: int


def layout(story: Story, column: Column) -> Layout:
    """The same for all columns of a story, so that they can be compared."""
    y, rows = 0, []
    for small, shelf in ((False, column.large), (True, column.small)):
        if shelf is not None:
            rows.append(Rows(small, shelf, y + LABEL, shelf.height + BETWEEN))
            y += LABEL + shelf.rows * (shelf.height + BETWEEN) + 6
    top = y + LABEL + 4
    return Layout(width_of(story), tuple(rows), top, top + CURVES, _most(story), top + CURVES + 6)


def _most(story: Story) -> int:
    """The top of the curves: the card where it isn't much larger than what was reserved, else the peak."""
    peak = max(max(column.side.reserved) for column in story.columns)
    card = max(column.side.total or 0 for column in story.columns)
    return max(card if peak <= card <= 3 * peak else peak, 1)
