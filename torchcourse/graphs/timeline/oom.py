"""An out-of-memory message as a picture: the card as one bar, and under it the segment that did not fit."""

from __future__ import annotations

from html import escape

from torchcourse.allocator import OutOfMemoryNumbers
from torchcourse.graphs.look import INKS, PAINTS
from torchcourse.graphs.page import Caption, Page

from .picture import Drawing, hatch
from .words import size

WIDE, HIGH = 720, 34  # px of the bar


def svg(numbers: OutOfMemoryNumbers) -> str:
    """The card of a message; its `str()` is the text twin."""
    page = Page(f"CUDA out of memory: {size(numbers.tried)} refused", f"Probable cause: {numbers.cause}")
    columns = [(f"{name:13}{size(value):>11}  ", what) for name, value, what in numbers.rows]
    facts = tuple(padded.replace(" ", "\u00a0") + what for padded, what in columns)
    page.flow([(Caption(), _bars(numbers)), (Caption(facts=facts), Drawing("", WIDE, 0))])
    return page.finish([(role, words) for role, words, _ in _parts(numbers)])


def _parts(numbers: OutOfMemoryNumbers) -> list[tuple[str, str, int]]:
    """(role, words, bytes) of what fills the card, from left to right."""
    parts = (
        ("base", "allocated", (numbers.allocated or 0) + (numbers.private_pools or 0)),
        ("rest", "cached", numbers.cached),
        ("wait", "context and libraries", numbers.outside),
        ("view", "other processes", numbers.others),
    )
    return [(role, words, nbytes) for role, words, nbytes in parts if nbytes]


def _bars(numbers: OutOfMemoryNumbers) -> Drawing:
    parts = _parts(numbers)
    filled = sum(nbytes for *_, nbytes in parts)
    total = max(numbers.total or 0, filled + (numbers.free or 0), numbers.tried, 1)
    body, x = "", 3.0
    for role, words, nbytes in parts:
        wide = nbytes / total * WIDE
        body += _bar(x, 4, wide, role, words)
        x += wide
    if numbers.total and numbers.total * WIDE / total > x:
        body += _outline(3, 2, numbers.total / total * WIDE)
    wide = numbers.tried / total * WIDE
    return Drawing(
        f"{body}{_bar(3, 4 + HIGH + 10, wide, 'now', f'tried {size(numbers.tried)}')}", WIDE, 2 * HIGH + 24
    )


def _bar(x: float, y: int, wide: float, role: str, words: str) -> str:
    paint = PAINTS[role]
    bar = (
        f'<g class="tc-{role}"><rect x="{x:.1f}" y="{y}" width="{max(wide, 1.5):.1f}" height="{HIGH}" '
        f'fill="{paint.fill}" stroke="{paint.line}"/></g>'
    )
    if role == "rest":
        lines = "".join(hatch(round(x), y, round(wide), HIGH, crossed=False))
        bar += f'<path d="{lines}" class="tc-t-free-lines" stroke="{paint.line}" opacity="0.6" fill="none"/>'
    inside = wide > 7.2 * len(words) + 8
    after = x + wide + 6 if role == "now" else None
    if not inside and after is None:
        return bar
    at, anchor = (x + wide / 2, "middle") if inside else (after, "start")
    return (
        f'{bar}<text class="tc-ink" x="{at:.1f}" y="{y + 21}" text-anchor="{anchor}" font-size="12" '
        f'fill="{INKS["ink"][0]}">{escape(words)}</text>'
    )


def _outline(x: int, y: int, wide: float) -> str:
    """The card: what is not filled is free."""
    return (
        f'<rect class="tc-rule" x="{x}" y="{y}" width="{wide:.1f}" height="{HIGH + 4}" fill="none" '
        f'stroke="{INKS["second"][0]}"/>'
    )
