"""The export view's pictures: the graph's boxes and wires, and the whole card as one static SVG."""

from collections.abc import Iterator, Sequence
from html import escape
from textwrap import wrap

from ._places import Route, lay_out
from .look import INKS, PAINTS, px
from .page import EDGE, Caption, Drawn, Page
from .storage import Drawing
from .ways import Box, Chip, Row, Side

NAME, SMALL = 7.9, 6.8  # width of a character of 13 px and of 11 px, in px
PAD, TOP, STEP = 12, 22, 15  # in a box: at the sides, for the title, for each line below
GAP, BESIDE = 24, 20  # px between ranks, and between boxes of a rank
CODE_WIDTH, GRAPH_WIDTH = 396, 300  # px, of the static card
ROW = 20
MOST_ROWS = 60
LETTER = 6.7  # width of a character of 11 px code, in px
LETTERS = 96  # of a line of notes
ROLES = {"input": "base", "operator": "run", "output": "base", "fold": "run"}
# (meaning, glyph, words) for the footer
LEGEND = (
    ("run", "✓", "operator"),
    ("rest", "✕", "not taken"),
    ("rest", "·", "no trace"),
    ("view", "↻", "unrolled"),
    ("now", "✎", "baked in"),
)


def size(box: Box) -> tuple[int, int]:
    """Width and height of a box, in px."""
    lines = _lines(box)
    widths = [NAME * len(box.title), *(SMALL * len(text) for _, text in lines)]
    return max(64, round(max(widths)) + 2 * PAD), TOP + STEP * len(lines) + 6


def _lines(box: Box) -> list[tuple[str, str]]:
    baked = [("tc-baked", f"✎ {box.baked}")] if box.baked else []
    return [*(("tc-detail", text) for text in box.details), *baked]


def drawing(side: Side, static: bool = False) -> Drawing:
    """The graph, each wire and then each box a `<g>`, from the inputs at the top to the outputs."""
    places = lay_out([size(box) for box in side.boxes], side.wires, direction="TB", gap=GAP, beside=BESIDE)
    wires = [_wire(route, static) for route in places.routes]
    boxes = [_box(box, spot, static) for box, spot in zip(side.boxes, places.spots, strict=True)]
    return Drawing("".join([*wires, *boxes]), places.width, places.height)


def _box(box: Box, spot: tuple[int, int], static: bool) -> str:
    width, height = size(box)
    paint = PAINTS[ROLES[box.kind]]
    fill = f' fill="{paint.fill}" stroke="{paint.line}" stroke-width="1.5"' if static else ""
    face = f'<rect class="tc-face" width="{width}" height="{height}" rx="5"{fill}/>'
    texts = [_text("tc-top", box.title, width / 2, 16, 13, "ink", static)]
    for k, (name, text) in enumerate(_lines(box)):
        ink = "ink" if name == "tc-baked" else "second"
        texts.append(_text(name, text, width / 2, TOP + 9 + STEP * k, 11, ink, static))
    role = f" tc-{ROLES[box.kind]}" if static else ""
    return (
        f'<g class="node tc-w-{ROLES[box.kind]}{role}" transform="translate({spot[0]} {spot[1]})">'
        f"{face}{''.join(texts)}</g>"
    )


def _wire(route: Route, static: bool) -> str:
    line = f' fill="none" stroke="{PAINTS["rest"].line}" stroke-width="1.5"' if static else ""
    tip = f' fill="{PAINTS["rest"].line}"' if static else ""
    return f'<g class="tc-wire"><path d="{route.path}"{line}/><path class="tc-head-of" d="{route.tip}"{tip}/></g>'


def _text(
    name: str,
    text: str,
    x: float,
    y: float,
    size: int,
    ink: str,
    static: bool,
    anchor: str = "middle",
    weight: str = "",
) -> str:
    place = f'class="{name}{f" tc-{ink} tc-code" if static else ""}" x="{px(x)}" y="{px(y)}"'
    look = f' text-anchor="{anchor}" font-size="{size}" fill="{INKS[ink][0]}"' if static else ""
    bold = f' font-weight="{weight}"' if weight else ""
    return f"<text {place}{look}{bold}>{escape(text)}</text>"


# --- the static card -----------------------------------------------------------------------------------


def svg(title: str, shown: Side, notes: Sequence[str] = ()) -> str:
    """The whole card of one way: the source with its marks, and the graph beside it."""
    page = Page(title, shown.sentence)
    parts: list[tuple[Caption, Drawn]] = [(Caption(), _source(shown.rows))]
    if not shown.refused:
        parts.append(
            (
                Caption(facts=(shown.folded,) if shown.folded else ()),
                drawing(shown, static=True).fitted(GRAPH_WIDTH),
            )
        )
    page.flow(parts)
    if notes:
        lines = tuple(line for note in notes for line in wrap(note.replace("`", ""), LETTERS))
        page.flow([(Caption(facts=lines), Drawing("", 0, 0))])
    page.parts.append(f'<g transform="translate({EDGE} {page.y + 10})">{"".join(_legend())}</g>')
    return page.finish(())  # the page's own legend has one glyph a role; here two of them share one


def _source(rows: Sequence[Row]) -> Drawing:
    parts: list[str] = []
    y = 0
    for row in rows[:MOST_ROWS]:
        drawn, used = _row(row, y)
        parts.append(drawn)
        y += used
    if len(rows) > MOST_ROWS:
        parts.append(
            _text(
                "tc-note", f"… {len(rows) - MOST_ROWS:,} more lines", 3, y + 14, 11, "second", True, "start"
            )
        )
        y += ROW
    return Drawing("".join(parts), CODE_WIDTH, y + 4)


def _row(row: Row, y: int) -> tuple[str, int]:
    """The row and the height that it takes: chips stand behind the code, or below where it is long."""
    if row.kind in ("head", "note"):
        return _text("tc-note", _cut(row.text, 56), 3, y + 16, 11, "ink", True, "start", "600"), ROW + 4
    text = _cut(row.text, int((CODE_WIDTH - 40) / LETTER))
    faint = row.kind in ("not taken", "no trace")
    parts = [_text("tc-no", str(row.number), 26, y + 14, 11, "second", True, "end")]
    parts.append(_indented(text, y, "second" if faint else "ink"))
    if row.kind == "not taken":
        line = PAINTS["rest"].line
        parts.append(f'<path d="M32 {y}V{y + ROW}" stroke="{line}" stroke-width="2" stroke-dasharray="4 3"/>')
    x, used = 40 + LETTER * (len(text) + 1), ROW
    for chip in row.chips:
        width = _chip_width(chip)
        if x + width > CODE_WIDTH and x > 60:
            x, used = 60, used + ROW
        parts.append(_chip(x, y + used - ROW, chip))
        x += width + 4
    return "".join(parts), used


def _indented(text: str, y: int, ink: str) -> str:
    spaces = len(text) - len(text.lstrip())
    return _text("tc-src", text.lstrip(), 38 + LETTER * spaces, y + 14, 11, ink, True, "start")


def _cut(text: str, letters: int) -> str:
    return text if len(text) <= letters else f"{text[: letters - 1]}…"


def _chip_width(chip: Chip) -> float:
    return round(5.9 * len(chip.words)) + 24.0


def _chip(x: float, y: int, chip: Chip) -> str:
    paint = PAINTS[chip.role]
    dashed = ' stroke-dasharray="3 2.5"' if chip.role == "rest" else ""
    return (
        f'<g class="tc-{chip.role}"><rect x="{px(x)}" y="{y + 1.5}" width="{px(_chip_width(chip))}" height="16" '
        f'rx="3.5" fill="{paint.fill}" stroke="{paint.line}"{dashed}/></g>'
        f'<text class="tc-ink" x="{px(x + 6)}" y="{y + 13}" fill="{INKS["ink"][0]}" font-size="11">'
        f"{chip.glyph} {escape(chip.words)}</text>"
    )


def _legend() -> Iterator[str]:
    x = 0.0
    for role, glyph, words in LEGEND:
        chip = Chip(role, glyph, words)
        yield _chip(x, 0, chip)
        x += _chip_width(chip) + 8
