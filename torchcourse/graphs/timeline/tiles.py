"""The blocks of a segment while time goes by.

A segment is a row of tiles that fill it. One operation does everything: paint a range in one state. Free
tiles (and tiles without memory) join with their like neighbours, as blocks do. The front end has the same
few lines; a test holds the two together.
"""

from __future__ import annotations

from typing import NamedTuple

NO_MEMORY, FREE, WAITS, FIRST_OWNER = range(4)  # states; from FIRST_OWNER on: in use, by owner


class Tile(NamedTuple):
    """From `offset` (bytes) up to the next tile. `since`: the step that painted it."""

    offset: int
    state: int
    since: int


class Paint(NamedTuple):
    """One change: `size` bytes from `offset` of segment `slot` turn into `state`."""

    slot: int
    offset: int
    size: int
    state: int


Tiles = tuple[Tile, ...]
BARE: Tiles = (Tile(0, NO_MEMORY, 0),)  # a segment before it is there


def paint(tiles: Tiles, extent: int, change: Paint, step: int) -> Tiles:
    """The tiles of a segment of `extent` bytes after one change."""
    end, state = change.offset + change.size, change.state
    row = [tile for tile in tiles if tile.offset < change.offset]
    here = len(row)
    row.append(Tile(change.offset, state, step))
    if end < extent:
        cut = [tile for tile in tiles if tile.offset <= end][-1]
        row.append(Tile(end, cut.state, cut.since))
    row += [tile for tile in tiles if tile.offset > end]
    if state <= FREE:
        if here + 1 < len(row) and row[here + 1].state == state:
            del row[here + 1]
        if here and row[here - 1].state == state:
            row[here - 1 : here + 1] = [Tile(row[here - 1].offset, state, step)]
    return tuple(row)
