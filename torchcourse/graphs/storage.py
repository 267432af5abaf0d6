"""The storage explorer's pictures: a `storage.scene` as SVG, the same bytes every time.

`grid_svg` and `strip_svg` draw the parts that the live view lights up; `svg` draws the whole card as one
static picture (what a page without a kernel or without JavaScript shows).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise, product
from textwrap import wrap

from torchcourse.storage.scene import Grid, Scene, Strip

from .look import INKS, PAINTS, px
from .page import Caption, Page

HEIGHT, GAP, NARROWEST = 30, 3, 34  # of a cell, in px
CHARACTER = 7.8  # width of a 13 px code character
RULER = 15  # height of a line of indices
FOLD = 20  # the place of … between cells
WIDTH = 724  # of a card's body
ARC = 32  # room above a strip for the steps that lead to an element
BLOCK_GAP = 18


@dataclass(frozen=True)
class Drawing:
    """SVG elements and the size, in px, that they take."""

    body: str
    width: int
    height: int

    def fitted(self, width: int) -> "Drawing":
        """At most so wide: a static page can't scroll inside of a card."""
        if self.width <= width:
            return self
        factor = width / self.width
        body = f'<g transform="scale({factor:.4f})">{self.body}</g>'
        return Drawing(body, width, round(self.height * factor))

    def element(self) -> str:
        """As an `<svg>` that a named group around it describes."""
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="tc-svg" aria-hidden="true" focusable="false" '
            f'width="{self.width}" height="{self.height}" viewBox="0 0 {self.width} {self.height}">'
            f"{self.body}</svg>"
        )


def cell_width(characters: int) -> int:
    """Width of a cell that holds this many characters, in px."""
    return max(NARROWEST, round(characters * CHARACTER + 10))


def grid_svg(grid: Grid, characters: int) -> Drawing:
    """The tensor's matrices with their indices; cells in the order of `grid.cells()`."""
    if not grid.values:
        return _note("no elements")
    texts = iter(grid.values)
    parts, right, bottom = [], 0, 0
    for x, y, outer in _blocks(grid, characters):
        block = _matrix(grid, outer, texts, characters)
        parts.append(f'<g transform="translate({x} {y})">{block.body}</g>')
        right, bottom = max(right, x + block.width), max(bottom, y + block.height)
    return Drawing("".join(parts), right + 3, bottom + 3)


def _note(text: str) -> Drawing:
    return Drawing(f'<text class="tc-number" x="2" y="20" {_ink("second")}>{text}</text>', 120, 30)


def _blocks(grid: Grid, characters: int) -> Iterator[tuple[int, int, tuple[int, ...]]]:
    """Where each matrix stands (x, y), and the outer indices that it belongs to."""
    outer = list(product(*grid.axes[:-2]))
    size = _matrix(grid, outer[0], iter(grid.values), characters)
    wide, high = size.width + BLOCK_GAP, size.height + 10
    beside = len(grid.axes[-3]) if len(grid.axes) == 4 else max(1, (WIDTH + BLOCK_GAP) // wide)
    for k, index in enumerate(outer):
        yield 3 + k % beside * wide, 3 + k // beside * high, index


def _matrix(grid: Grid, outer: tuple[int, ...], texts: Iterator[str], characters: int) -> Drawing:
    rows, columns = ((0,), (0,), *grid.axes)[-2:]
    dims = len(grid.axes)
    left = 8 + 7 * len(str(rows[-1])) if dims > 1 else 0
    head = RULER if outer else 0
    top = head + (RULER if dims else 0)
    width = cell_width(characters)
    xs, right = _places(columns, grid.size[-1] if dims else 1, left, width)
    ys, bottom = _places(rows, grid.size[-2] if dims > 1 else 1, top, HEIGHT)
    parts = [_number(0, 10, f"{grid.name}[{', '.join(map(str, outer))}]", "start")] if outer else []
    if dims:
        parts += [_number(x + width / 2, top - 5, str(c)) for x, c in zip(xs, columns, strict=True)]
    if dims > 1:
        parts += [_number(left - 6, y + HEIGHT / 2 + 4, str(r), "end") for y, r in zip(ys, rows, strict=True)]
    parts += [_cell(x, y, width, next(texts), grid.role) for y in ys for x in xs]
    parts += _dots(xs, ys, width)
    return Drawing("".join(parts), right - GAP, bottom - GAP)


def _places(shown: Sequence[int], size: int, start: int, step: int) -> tuple[list[int], int]:
    """Where the shown indices stand, with room where some are left out; and where the last ends."""
    places, at = [], start
    for k, index in enumerate(shown):
        if k and index != shown[k - 1] + 1:
            at += FOLD
        places.append(at)
        at += step + GAP
    return places, at


def _dots(xs: list[int], ys: list[int], width: int) -> list[str]:
    """… where columns are left out, ⋮ where rows are."""
    parts = []
    for a, b in pairwise(xs):
        if b - a > width + GAP:
            parts += [_number((a + width + b) / 2, y + HEIGHT / 2 + 4, "…") for y in ys]
    for a, b in pairwise(ys):
        if b - a > HEIGHT + GAP:
            parts += [_number(x + width / 2, (a + HEIGHT + b) / 2 + 4, "⋮") for x in xs]
    return parts


def strip_svg(strip: Strip, characters: int, room: int) -> Drawing:
    """The storage's elements in their order, element numbers below; `room` px above a single row."""
    slots = _slots(strip)
    if not slots:
        return _note("no elements")
    longest = max(len(number) for _, number, _, _ in slots)
    width = max(cell_width(characters), round(longest * 6.7 + 6))
    per_row = _per_row(len(slots), width)
    high = HEIGHT + 22 if len(slots) > per_row else HEIGHT + 20
    top = 4 if len(slots) > per_row else room
    parts = []
    for k, (_, number, value, owner) in enumerate(slots):
        x, y = 3 + k % per_row * (width + GAP), top + k // per_row * high
        parts.append(_slot(x, y, width, number, value, owner))
    rows = -(-len(slots) // per_row)
    return Drawing("".join(parts), 3 + min(per_row, len(slots)) * (width + GAP), top + rows * high - 2)


def _slots(strip: Strip) -> list[tuple[int, str, str, str]]:
    """(element, number, value, owner) of elements and folds, in order."""
    elements = zip(strip.shown, strip.values, strip.owners, strict=True)
    folds = [
        (first, f"+{n:,}" if n < 10**6 else f"+{n / 10**6:,.0f}M", "…", "fold") for first, n in strip.gaps
    ]
    return sorted([*((e, str(e), value, owner) for e, value, owner in elements), *folds])


def _per_row(slots: int, width: int) -> int:
    fits = max(1, (WIDTH - 3) // (width + GAP))
    return slots if slots <= fits else next((n for n in (16, 12, 10, 8) if n <= fits), fits)


def _slot(x: int, y: int, width: int, number: str, value: str, owner: str) -> str:
    below = _number(x + width / 2, y + HEIGHT + 14, number)
    if owner == "fold":
        return f'<g class="tc-fold">{_number(x + width / 2, y + HEIGHT / 2 + 4, value)}{below}</g>'
    role = "base" if owner == "both" else owner
    return _cell(x, y, width, value, role, below, bar=owner == "both")


def _cell(x: int, y: int, width: int, value: str, role: str, below: str = "", bar: bool = False) -> str:
    paint = PAINTS[role]
    dashed = ' stroke-dasharray="3 2.5"' if role == "rest" else ""
    also = _also(x, y, width) if bar else ""
    return (
        f'<g class="tc-cell tc-{role}"><rect x="{x}.5" y="{y}.5" width="{width - 1}" height="{HEIGHT - 1}" '
        f'rx="3.5" fill="{paint.fill}" stroke="{paint.line}"{dashed}/>{also}'
        f'<text x="{px(x + width / 2)}" y="{y + 19.5}" text-anchor="middle" {_ink("ink")}>'
        f"{escape(value)}</text>{below}</g>"
    )


def _also(x: int, y: int, width: int) -> str:
    """The mark of an element that the base and a view both read."""
    return (
        f'<path class="tc-also" d="M{x + 7} {y + HEIGHT - 4.5}H{x + width - 7}" '
        f'stroke="{PAINTS["view"].line}" stroke-width="2" stroke-linecap="round"/>'
    )


def _number(x: float, y: float, text: str, anchor: str = "middle") -> str:
    return (
        f'<text class="tc-number" x="{px(x)}" y="{px(y)}" text-anchor="{anchor}" {_ink("second")}>'
        f"{escape(text)}</text>"
    )


def _ink(name: str) -> str:
    return f'fill="{INKS[name][0]}"'


def svg(scene: Scene) -> str:
    """The whole card as one static SVG: header, grids, strips, legend."""
    page = Page(scene.title, scene.sentence)
    page.flow([(caption(grid), draw_grid(grid, scene)) for grid in scene.grids])
    for i, strip in enumerate(scene.strips):
        page.flow([(strip_caption(strip, scene), draw_strip(i, scene))])
    return page.finish(legend(scene))


def draw_grid(grid: Grid, scene: Scene) -> Drawing:
    """The grid, its cells as wide as those of its storage; nothing where there is no picture."""
    return Drawing("", 0, 0) if grid.refusal else grid_svg(grid, scene.characters(grid.strip))


def draw_strip(i: int, scene: Scene, room: int = 4) -> Drawing:
    """Strip number i of the scene, with `room` px above it."""
    return strip_svg(scene.strips[i], scene.characters(i), room)


def caption(grid: Grid) -> Caption:
    """What stands over a grid: its name and role, then size, stride and offset."""
    if grid.refusal:
        return Caption(grid.name, "", "", tuple(wrap(grid.refusal, 95)))
    facts = f"size {grid.size} · stride {grid.stride} · offset {grid.offset:,}"
    return Caption(grid.name, grid.role, grid.note, (facts, *([grid.folded] if grid.folded else [])))


def strip_caption(strip: Strip, scene: Scene) -> Caption:
    """What stands over a strip; with several strips, whose storage it is."""
    whose = f" · of {', '.join(strip.names)}" if len(scene.strips) > 1 else ""
    return Caption(facts=(strip.label + whose, *([strip.folded] if strip.folded else [])))


def legend(scene: Scene) -> list[tuple[str, str]]:
    """(meaning, words) for the footer."""
    items = [
        (g.role, f"{g.name}, a view" if g.role == "view" else g.name) for g in scene.grids if not g.refusal
    ]
    rest = any("rest" in strip.owners for strip in scene.strips)
    return [*items, *([("rest", "read by none of them")] if rest else [])]
