"""The xray as one static SVG: what a page without a kernel or without JavaScript shows."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape

from ..look import GLYPHS, INKS, PAINTS, px
from ..page import Caption, Page
from .items import Chip, Item, Scene
from .pairs import MARKS, Pair, Pairs, Side

ROW, WIDTH = 26, 724  # px: height of a row, width of a card's body
MOST_ROWS = 36
CODE, WORD = 7.3, 6.4  # px a letter: code of 12 px, words of 12 px
# Right edges of the columns, and their heads.
COLUMNS = (("operators", 474), ("new bytes", 566), ("nodes", 664), ("waits", WIDTH))
LEGEND = (("base", "new"), ("view", "view"), ("now", "in place"), ("wait", "wait"))
SIDES = (150, 446)  # left edges of a comparison's two columns


@dataclass(frozen=True)
class Table:
    body: str
    width: int
    height: int


def svg(shown: Scene | Pairs) -> str:
    """The whole card: header, the rows that the view opens with, legend. The same bytes every time."""
    page = Page(shown.title, shown.sentence)
    table = _table(shown) if isinstance(shown, Scene) else _pairs(shown)
    page.flow([(Caption(), table)])
    return page.finish(LEGEND)


def visible(items: Iterable[Item]) -> Iterator[Item]:
    for item in items:
        yield item
        if item.opened:
            yield from visible(item.inside)


def visible_pairs(rows: Iterable[Pair]) -> Iterator[Pair]:
    for pair in rows:
        yield pair
        if pair.opened:
            yield from visible_pairs(pair.inside)


def _table(shown: Scene) -> Table:
    rows = list(visible(shown.lines))
    parts = [_words(3, 14, "line", "second")]
    parts += [_words(x, 14, name, "second", "end") for name, x in COLUMNS]
    for k, item in enumerate(rows[:MOST_ROWS]):
        parts.append(f'<g transform="translate(0 {(k + 1) * ROW})">{_rule()}{_row(item)}</g>')
    return _finished(parts, len(rows), shown.notes)


def _finished(parts: list[str], rows: int, notes: Sequence[str], head: int = 0) -> Table:
    y = (min(rows, MOST_ROWS) + 1) * ROW + head
    more = [f"… {rows - MOST_ROWS:,} more rows"] if rows > MOST_ROWS else []
    for text in (*more, *notes):
        parts.append(_words(3, y + 18, text if len(text) < 116 else text[:115] + "…", "second"))
        y += 20
    return Table("".join(parts), WIDTH, y + 4)


def _row(item: Item) -> str:
    x = 3.0 + 18 * (item.level - 1) + (26 if item.level > 1 else 0)
    parts = []
    if item.inside:
        parts.append(_triangle(x, item.opened))
    if item.level == 1 and item.line is not None:
        parts.append(_code(x + 34, 17, str(item.line), "second", "end"))
    x += 42 if item.level == 1 else 16
    end = COLUMNS[0][1] - 62
    chips = [_chip_width(chip) for chip in item.chips]
    times = f"× {item.times:,}" if item.times > 1 else ""
    room = end - x - sum(chips) - (len(times) + 1) * CODE * bool(times)
    name = _cut(item.name, int(room / CODE))
    parts.append(_code(x, 17, name, "ink" if item.level == 1 or item.chips else "second"))
    x += (len(name) + 1) * CODE
    if times:
        parts.append(_code(x, 17, times, "ink", weight="600"))
        x += (len(times) + 1) * CODE
    for chip, width in zip(item.chips, chips, strict=True):
        parts.append(_chip(x, chip))
        x += width
    return "".join([*parts, *_cells(item)])


def _cells(item: Item) -> Iterator[str]:
    for (name, edge), text in zip(COLUMNS, figures(item), strict=True):
        if text and name == "waits":
            chip = Chip("wait", text)
            yield _chip(edge - _chip_width(chip) + 6, chip)
        elif text:
            yield _code(edge, 17, text, "ink", "end")


def figures(item: Item) -> tuple[str, str, str, str]:
    """The row's cells after the first: operators, new bytes, nodes, waits."""
    nbytes = "" if item.new_bytes is None else f"{item.new_bytes:,}"
    if item.kind == "operator" and item.times > 1 and item.new_bytes:
        nbytes = f"{item.times:,} × {nbytes}"
    if item.level == 1:
        nodes = f"{item.node_count:,}" if item.node_count else ""
    else:
        nodes = (
            short(item.nodes[0]) if len(item.nodes) == 1 else f"{len(item.nodes)} nodes" if item.nodes else ""
        )
    waits = f"{len(item.waits):,}" if item.waits else ""
    return "" if item.operators is None else f"{item.operators:,}", nbytes, nodes, waits


def short(node: str) -> str:
    """'UnsafeViewBackward0' -> 'UnsafeView': in a column of nodes the ending says nothing."""
    return node.rstrip("0123456789").removesuffix("Backward")


def _pairs(shown: Pairs) -> Table:
    rows = list(visible_pairs(shown.rows))
    head = 18 if any(shown.sources) else 0  # room for the sources
    names = zip(shown.names, SIDES, strict=True)
    parts = [_code(x, 14, _cut(name, 36), "ink", weight="600") for name, x in names]
    parts += [
        _code(x, 32, _cut(text, 38), "second") for text, x in zip(shown.sources, SIDES, strict=True) if text
    ]
    for k, pair in enumerate(rows[:MOST_ROWS]):
        inner = _pair(pair, shown.names)
        parts.append(f'<g transform="translate(0 {(k + 1) * ROW + head})">{_rule()}{inner}</g>')
    return _finished(parts, len(rows), shown.notes, head)


def _pair(pair: Pair, names: tuple[str, str]) -> str:
    parts = []
    if pair.level == 1:
        parts += [_triangle(3, pair.opened), _words(20, 17, pair.what, "ink")]
    else:
        parts.append(_words(20, 17, _cut(pair.what or mark_words(pair.mark, names), 20), "second"))
        if pair.what and pair.mark != "same":
            parts.append(_code(SIDES[0] - 10, 17, MARKS[pair.mark], "ink", "end", "600"))
    for side, x in zip((pair.a, pair.b), SIDES, strict=True):
        if side is not None:
            parts.append(_side(side, x + 14.0 * max(0, pair.level - 2), x + 280, pair.mark != "same"))
    return "".join(parts)


def mark_words(mark: str, names: tuple[str, str]) -> str:
    """'only reshape', '≠ differs', '= same': said, not only coloured."""
    if mark in ("a", "b"):
        return f"only {names[mark == 'b']}"
    return {"same": "=", "differs": "≠"}[mark]


def _side(side: Side, x: float, end: float, marked: bool) -> str:
    chips = [_chip_width(chip) for chip in side.chips]
    times = f" × {side.times:,}" if side.times > 1 else ""
    name = _cut(side.text, int((end - x - sum(chips)) / CODE) - len(times)) + times
    parts = [_code(x, 17, name, "ink" if marked else "second", weight="600" if marked else "400")]
    x += (len(name) + 1) * CODE
    for chip, width in zip(side.chips, chips, strict=True):
        parts.append(_chip(x, chip))
        x += width
    return "".join(parts)


def _cut(text: str, letters: int) -> str:
    text = text.strip()
    letters = max(letters, 6)
    return text if len(text) <= letters else text[: letters - 1] + "…"


def _rule() -> str:
    return f'<path class="tc-rule" d="M-15 -0.5H{WIDTH + 21}" stroke="{INKS["rule"][0]}"/>'


def _triangle(x: float, opened: bool) -> str:
    path = f"M{px(x)} 9.5h8l-4 7z" if opened else f"M{px(x + 1)} 9l6 4l-6 4z"
    return f'<path class="tc-ink" d="{path}" fill="{INKS["ink"][0]}"/>'


def _chip_width(chip: Chip) -> float:
    return round(len(chip.words) * WORD) + 38.0


def _chip(x: float, chip: Chip) -> str:
    paint = PAINTS[chip.role]
    width = _chip_width(chip) - 6
    return (
        f'<g class="tc-{chip.role}"><rect x="{px(x)}" y="4.5" width="{px(width)}" height="17" rx="3.5" '
        f'fill="{paint.fill}" stroke="{paint.line}"/></g>'
        + _words(x + 6, 17, f"{GLYPHS[chip.role]} {chip.words}", "ink")
    )


def _words(x: float, y: float, text: str, ink: str, anchor: str = "start") -> str:
    return (
        f'<text class="tc-{ink}" x="{px(x)}" y="{px(y)}" fill="{INKS[ink][0]}" font-size="12" '
        f'text-anchor="{anchor}">{escape(text)}</text>'
    )


def _code(x: float, y: float, text: str, ink: str, anchor: str = "start", weight: str = "400") -> str:
    return (
        f'<g class="tc-code"><text class="tc-{ink}" x="{px(x)}" y="{px(y)}" fill="{INKS[ink][0]}" '
        f'font-size="12" font-weight="{weight}" text-anchor="{anchor}">{escape(text)}</text></g>'
    )
