"""A story as SVG: the frame that the live view fills, and the whole card as one static picture."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape

from torchcourse.allocator.sizes import SMALL_SIZE
from torchcourse.graphs.look import INKS, PAINTS
from torchcourse.graphs.page import Caption, Page

from .curves import area, line
from .geometry import Layout, Rows, layout
from .story import Column, Story, states
from .tiles import FIRST_OWNER, FREE, NO_MEMORY, WAITS, Tiles
from .words import size

Paths = dict[str, list[str]]  # look -> pieces of one path


@dataclass(frozen=True)
class Drawing:
    """SVG elements and their size in px."""

    body: str
    width: int
    height: int


def frame(story: Story, column: Column) -> str:
    """The SVG of a column without its blocks: words and curves. Colours are the live view's."""
    plan = layout(story, column)
    label = escape(f"{column.side.name}: blocks of the two pools, and the curves of memory over the events")
    return (
        f'<svg class="tc-svg" role="img" aria-label="{label}" width="{plan.width}" height="{plan.height}" '
        f'viewBox="0 0 {plan.width} {plan.height}">{_words(story, plan)}{_curves(column, plan)}</svg>'
    )


def _words(story: Story, plan: Layout) -> str:
    lines = [_text(0, rows.top - 6, rows.label) for rows in plan.rows]
    most, wide = size(plan.most), plan.width > 500
    first = f"over time, up to {most}" if wide else f"up to {most}"
    lines.append(_text(0, plan.top - 8, first))
    x = 16 + 7 * len(first)
    for name, look in (("allocated", "allocated"), ("reserved", "reserved"), ("card free", "driver")):
        if look != "driver" or _shows_the_card(story, plan):
            lines += [_curve(look, f"M{x} {plan.top - 12}.5h14"), _text(x + 18, plan.top - 8, name)]
            x += 32 + round(6.4 * len(name))
    return "".join(lines)


def _text(x: int, y: int, words: str) -> str:
    fill = INKS["second"][0]
    return f'<text class="tc-label tc-second" x="{x}" y="{y}" font-size="12" fill="{fill}">{escape(words)}</text>'


def _shows_the_card(story: Story, plan: Layout) -> bool:
    return any(column.side.total and column.side.total <= plan.most for column in story.columns)


def _curve(look: str, path: str) -> str:
    green, orange, grey = PAINTS["run"], PAINTS["now"].line, INKS["second"][0]
    attributes = {
        "allocated": f'fill="{green.fill}" stroke="{green.line}" stroke-width="1.5"',
        "reserved": f'fill="none" stroke="{orange}" stroke-width="1.5" stroke-dasharray="5 3"',
        "driver": f'fill="none" stroke="{grey}" stroke-width="1.5" stroke-dasharray="1.5 2.5"',
    }[look]
    return f'<path class="tc-curve tc-curve-{look}" d="{path}" {attributes}/>'


def _curves(column: Column, plan: Layout) -> str:
    side, total = column.side, column.side.total
    parts = [
        f'<path class="tc-axis tc-rule" d="M0 {plan.bottom}.5H{plan.width}" stroke="{INKS["rule"][0]}"/>',
        _curve("allocated", area(side.allocated, plan)),
        _curve("reserved", line(side.reserved, plan)),
    ]
    if total and total <= plan.most:
        parts.append(_curve("driver", line([total - reserved for reserved in side.reserved], plan)))
    return "".join(parts)


# --- blocks ---------------------------------------------------------------------------------------


@dataclass
class _Blocks:
    """The blocks of one pool as they are drawn: a path for each look, and the letters."""

    story: Story
    rows: Rows
    paths: Paths = field(default_factory=lambda: defaultdict(list))
    letters: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        paths = (_path(self.story, look, pieces) for look, pieces in sorted(self.paths.items()))
        return "".join(paths) + "".join(self.letters)

    def add(self, start: float, end: float, state: int, unfit: bool) -> None:
        """One block from `start` to `end` (px of the strip of rows), cut at the ends of rows."""
        shelf = self.rows.shelf
        first, last = (int(px // shelf.width) for px in (start, end - 0.01))
        for row in range(first, min(last, shelf.rows - 1) + 1):
            x = max(0, round(start - row * shelf.width))
            wide = min(shelf.width, round(end - row * shelf.width)) - x
            if wide > 0:
                y = self.rows.top + row * self.rows.step
                self.paths["held"].append(f"M{x} {y + shelf.height + 2.5}h{wide}")
                self.piece(x, y, wide, state, unfit)

    def piece(self, x: int, y: int, wide: int, state: int, unfit: bool) -> None:
        high, look = self.rows.shelf.height, _look(state, unfit)
        if wide < 4:
            self.paths[f"{look}-thin"].append(f"M{x} {y}h{wide}v{high}h-{wide}z")
            return
        self.paths[look].append(f"M{x + 0.5} {y + 0.5}h{wide - 1}v{high - 1}h-{wide - 1}z")
        if state == FREE:
            self.paths[f"{look}-lines"] += hatch(x, y, wide, high, unfit)
        elif wide >= 13 and high >= 13:
            self.letter(x + wide / 2, y + high / 2 + 4, state)

    def letter(self, x: float, y: float, state: int) -> None:
        sign = "‖" if state == WAITS else self.story.owners[state - FIRST_OWNER].letter
        self.letters.append(
            f'<text class="tc-ink tc-code" x="{x:g}" y="{y:g}" text-anchor="middle" font-size="12" '
            f'fill="{INKS["ink"][0]}">{escape(sign)}</text>'
        )


def _look(state: int, unfit: bool) -> str:
    if state == FREE:
        return "unfit" if unfit else "free"
    return "waits" if state == WAITS else f"owner-{state - FIRST_OWNER}"


def blocks(story: Story, column: Column, rows: Rows, tiles: Sequence[Tiles]) -> str:
    """The blocks of one pool after a step."""
    drawn, scale = _Blocks(story, rows), rows.shelf.scale
    for slot, place, own in zip(column.side.slots, column.places, tiles, strict=True):
        if slot.is_small is not rows.small:
            continue
        for number, tile in enumerate(own):
            end = own[number + 1].offset if number + 1 < len(own) else slot.extent
            if tile.state != NO_MEMORY:
                unfit = tile.state == FREE and not _serves(story.request, end - tile.offset, slot.is_small)
                drawn.add(place + tile.offset / scale, place + end / scale, tile.state, unfit)
    return str(drawn)


def _serves(request: int, nbytes: int, is_small: bool) -> bool:
    return not request or (nbytes >= request and is_small is (request <= SMALL_SIZE))


def hatch(x: int, y: int, wide: int, high: int, crossed: bool) -> list[str]:
    """Slanted lines over a free block; crossed ones where the request can't use it."""
    pieces = []
    for at in range(8 - high, wide, 10):
        left, right = max(at, 2), min(at + high, wide - 2)
        if right > left:
            pieces.append(f"M{x + left} {y + high - left + at}L{x + right} {y + high - right + at}")
            if crossed:
                pieces.append(f"M{x + left} {y + left - at}L{x + right} {y + right - at}")
    return pieces


def _path(story: Story, look: str, pieces: list[str]) -> str:
    fill, stroke, dash = _paint(story, look)
    return f'<path d="{"".join(pieces)}" class="tc-t-{_name(story, look)}" fill="{fill}" stroke="{stroke}"{dash}/>'


def _name(story: Story, look: str) -> str:
    """The class that follows the reader's theme."""
    if not look.startswith("owner"):
        return look
    number, _, thin = look.removeprefix("owner-").partition("-")
    return story.owners[int(number)].role + ("-thin" if thin else "")


def _paint(story: Story, look: str) -> tuple[str, str, str]:
    """Fill, stroke and dashes in the light theme."""
    name = _name(story, look)
    if name == "held":
        return "none", INKS["second"][0], ""
    look = name.partition("-")[0]
    paint = PAINTS[{"free": "rest", "unfit": "now", "waits": "wait"}.get(look, look)]
    if name.endswith("-lines"):
        return "none", paint.line, ' opacity="0.6"'
    if name in ("free", "unfit"):
        return "none", paint.line, ' stroke-dasharray="3 2"' if name == "free" else ""
    if name.endswith("-thin"):
        return (paint.fill if name in ("free-thin", "unfit-thin") else paint.line), "none", ""
    return paint.fill, paint.line, ' stroke-dasharray="2 2"' if name == "waits" else ""


# --- the static card ------------------------------------------------------------------------------


def svg(story: Story) -> str:
    """The whole card as one static SVG, after the last event."""
    page = Page(f"{story.title}, {story.steps:,} events", story.closing)
    parts = []
    for column in story.columns:
        plan, tiles = layout(story, column), states(column.side, story.steps)
        drawn = "".join(blocks(story, column, rows, tiles) for rows in plan.rows)
        body = f"<style>{STYLE}</style>{_words(story, plan)}{_curves(column, plan)}{drawn}"
        name = column.side.name if len(story.columns) > 1 else ""
        parts.append((Caption(name, "", "", story.numbers(column)), Drawing(body, plan.width, plan.height)))
    page.flow(parts)
    return page.finish([(role, words) for role, _, words in story.legend if role in PAINTS])


def _style() -> str:
    rules = [
        ".tc-page .tc-t-held{stroke:var(--tc-second)}",
        ".tc-page .tc-t-free,.tc-page .tc-t-free-lines{stroke:var(--tc-rest-line)}",
        ".tc-page .tc-t-unfit,.tc-page .tc-t-unfit-lines{stroke:var(--tc-now-line)}",
        ".tc-page .tc-t-free-thin{fill:var(--tc-rest-fill)}.tc-page .tc-t-unfit-thin{fill:var(--tc-now-fill)}",
        ".tc-page .tc-t-waits{fill:var(--tc-wait-fill);stroke:var(--tc-wait-line)}",
        ".tc-page .tc-curve-allocated{fill:var(--tc-run-fill);stroke:var(--tc-run-line)}",
        ".tc-page .tc-curve-reserved{stroke:var(--tc-now-line)}.tc-page .tc-curve-driver{stroke:var(--tc-second)}",
    ]
    for role in PAINTS:
        rules.append(f".tc-page .tc-t-{role}{{fill:var(--tc-{role}-fill);stroke:var(--tc-{role}-line)}}")
        rules.append(f".tc-page .tc-t-{role}-thin{{fill:var(--tc-{role}-line)}}")
    return "".join(rules)


STYLE = _style()
