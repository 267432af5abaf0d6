"""The module tree as one static SVG, and its text twin."""

from collections.abc import Iterable, Iterator
from html import escape

from torchcourse.modules import Missed, Tree, Walk

from .look import GLYPHS, INKS, PAINTS, px
from .modules import COLUMNS, Mark, Row, Scene
from .page import EDGE, Caption, Page
from .xray.picture import CODE, ROW, WIDTH, WORD, Table, _code, _cut, _rule, _triangle, _words

MOST_ROWS = 36
MOST_STEPS = 16  # of each walk in the twin
EDGES = (494, 580, 668, WIDTH)  # right edges of the columns
LETTERS = {"parameter": "P", "buffer": "B"}
LEGEND = (("base", "parameter"), ("run", "buffer"), ("view", "tied"), ("now", "missed"))


def svg(shown: Scene) -> str:
    """The whole card: header, the rows that the view opens with, legend. The same bytes every time."""
    page = Page(shown.title, shown.sentence)
    page.flow([(Caption(), _table(shown))])
    page.parts.append(f'<g transform="translate({EDGE} {page.y + 8})">{"".join(_legend())}</g>')
    return page.finish(())  # the page's own legend has one glyph a role; here a word has its letter


def _legend() -> Iterator[str]:
    x = 0.0
    for role, words in LEGEND:
        mark = Mark(role, words, wrong=words == "missed")
        yield _chip(x, mark, _width(mark))
        x += _width(mark) + 6


def visible(rows: Iterable[Row]) -> Iterator[tuple[Row, bool]]:
    """The rows that show, and whether there is something inside."""
    every, hidden = list(rows), 10**9
    for row, after in zip(every, [*every[1:], None], strict=True):
        if row.level > hidden:
            continue
        inner = after is not None and after.level > row.level
        hidden = row.level if inner and not row.opened else 10**9
        yield row, inner


def _table(shown: Scene) -> Table:
    rows = list(visible(shown.rows))
    parts = [_words(3, 14, "name", "second")]
    parts += [_words(x, 14, name, "second", "end") for name, x in zip(COLUMNS, EDGES, strict=True)]
    for k, (row, inner) in enumerate(rows[:MOST_ROWS]):
        parts.append(f'<g transform="translate(0 {(k + 1) * ROW})">{_rule()}{_row(row, inner)}</g>')
    y = (min(len(rows), MOST_ROWS) + 1) * ROW
    if len(rows) > MOST_ROWS:
        parts.append(_words(3, y + 18, f"… {len(rows) - MOST_ROWS:,} more rows", "second"))
        y += 20
    return Table("".join(parts), WIDTH, y + 4)


def _row(row: Row, inner: bool) -> str:
    x = 3.0 + 18 * (row.level - 1)
    parts = [_triangle(x, row.opened)] if inner else []
    x += 16
    widths = [_width(mark) for mark in row.marks]
    room = EDGES[0] - 56 - x - sum(widths)
    wrong = any(mark.wrong for mark in row.marks)
    name = _cut(row.name, int(room / CODE))
    ink = "second" if row.kind == "rest" else "ink"
    parts.append(_code(x, 17, name, ink, weight="600" if wrong or row.kind == "module" else "400"))
    x += (len(name) + 1) * CODE
    if row.note:
        note = _cut(row.note, int((room - (len(name) + 2) * CODE) / CODE))
        parts.append(_code(x, 17, note, "second"))
        x += (len(note) + 1) * CODE
    for mark, width in zip(row.marks, widths, strict=True):
        parts.append(_chip(x, mark, width))
        x += width
    for edge, text in zip(EDGES, cells(row), strict=True):
        if text:
            parts.append(_code(edge, 17, text, "ink", "end"))
    return "".join(parts)


def cells(row: Row) -> tuple[str, str, str, str]:
    """bytes, dtype, device, mode."""
    return "" if row.nbytes is None else f"{row.nbytes:,}", row.dtype, row.device, row.mode


def glyph(mark: Mark) -> str:
    """✕ where something is wrong: said by shape, too. ✓ is kept for what a walk has visited."""
    return "✕" if mark.wrong else LETTERS.get(mark.words, GLYPHS[mark.role])


def _width(mark: Mark) -> float:
    return round(len(mark.words) * WORD) + 38.0


def _chip(x: float, mark: Mark, width: float) -> str:
    paint = PAINTS[mark.role]
    dashed = ' stroke-dasharray="3 2.5"' if mark.role == "rest" else ""
    return (
        f'<g class="tc-{mark.role}"><rect x="{px(x)}" y="4.5" width="{px(width - 6)}" height="17" rx="3.5" '
        f'fill="{paint.fill}" stroke="{paint.line}"{dashed}/></g>'
        f'<text class="tc-ink" x="{px(x + 6)}" y="17" fill="{INKS["ink"][0]}" font-size="12">'
        f"{glyph(mark)} {escape(mark.words)}</text>"
    )


def twin(tree: Tree, missed: Missed, walks: Iterable[Walk]) -> str:
    """The tree, what was missed, and the walks, as text."""
    return "\n".join([str(tree), str(missed), *(_walk(tree, walk) for walk in walks)])


def _walk(tree: Tree, walk: Walk) -> str:
    if walk.why:
        return f"{walk.call}: {walk.why}"
    steps = []
    for step in walk.steps:
        node = tree.nodes[step.node]
        place = ".".join(part for part in (node.path, step.tensor) if part) or node.kind
        changed = step.before and step.before != step.after and walk.call != ".to(device)"
        steps.append(f"{place} {step.before} → {step.after}" if changed else place)
    more = [f"… {len(steps) - MOST_STEPS:,} more"] if len(steps) > MOST_STEPS else []
    return f"{walk.call} visits {', '.join([*steps[:MOST_STEPS], *more])}"
