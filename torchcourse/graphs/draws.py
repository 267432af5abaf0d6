"""What `draws` saw as a picture: one row a line of code, one column a generator, lit where the line moved it."""

from __future__ import annotations

from html import escape

from torchcourse.layers.draws import Drawn, Draws
from torchcourse.randomness import Move

from .look import CODE_FONT, INKS, PAINTS
from .page import Caption, Page
from .storage import Drawing

SOURCE, CELL, OPERATORS, ROW = (
    306,
    62,
    164,
    30,
)  # px: room for the code, for a generator, the operators; a row
LETTERS, OPERATOR_LETTERS = 36, 21  # of a source line; of the operators
MOST_COLUMNS, MOST_ROWS = 4, 24  # what a card holds; beyond that it says how many are left out
TITLE = "Random numbers, line by line"
LEGEND = (("now", "this line moved this generator: how many 32-bit numbers it took"), ("rest", "it did not"))


def svg(draws: Draws) -> str:
    """The card. Lines beyond 24 and generators beyond four are counted in a sentence, not drawn."""
    shown = draws.lines[:MOST_ROWS]
    names = draws.moved[:MOST_COLUMNS]
    page = Page(TITLE, _sentence(draws, len(shown), len(names)))
    if shown:
        page.flow([(Caption(), drawing(shown, names))])
    return page.finish(LEGEND)


def drawing(shown: tuple[Drawn, ...], names: tuple[str, ...]) -> Drawing:
    """The grid with its heads: the generators' names above, line number and source on the left."""
    parts = [_text(name, SOURCE + (k + 0.5) * CELL, 12, "ink", "middle") for k, name in enumerate(names)]
    right = SOURCE + len(names) * CELL
    for k, drawn in enumerate(shown):
        y = 22 + k * ROW
        times = f"  ×{drawn.line.times}" if drawn.line.times > 1 else ""
        parts.append(_text(str(drawn.line.number), 22, y + 18, "second", "end"))
        parts.append(_text(_cut(drawn.line.source, LETTERS - len(times)) + times, 32, y + 18, "ink"))
        moves = {move.name: move for move in drawn.line.moves}
        parts += [_cell(SOURCE + c * CELL, y, moves.get(name)) for c, name in enumerate(names)]
        parts.append(_text(_cut(drawn.told, OPERATOR_LETTERS), right + 8, y + 18, "second"))
    return Drawing("".join(parts), right + OPERATORS, 26 + len(shown) * ROW)


def _cell(x: float, y: float, move: Move | None) -> str:
    paint = PAINTS["now" if move else "rest"]
    if move is None:
        return _text("·", x + CELL / 2, y + 18, "second", "middle")
    label = "kept" if move.numbers == 0 else "set" if move.how == "set anew" else "moved"
    label = f"{move.numbers:,}" if move.numbers else label
    return (
        f'<g class="tc-now" transform="translate({x + 4:g} {y})"><title>{escape(str(move))}</title>'
        f'<rect width="{CELL - 8}" height="24" rx="4" fill="{paint.fill}" stroke="{paint.line}" stroke-width="1.5"/>'
        f"{_text(label, CELL / 2 - 4, 17, 'ink', 'middle')}</g>"
    )


def _sentence(draws: Draws, rows: int, columns: int) -> str:
    if not draws.lines:
        return str(draws)
    count = len(draws.lines)
    told = (
        f"{count} line{'' if count == 1 else 's'} of this block moved a generator: {', '.join(draws.moved)}."
    )
    left = [f"{count - rows} more lines"] * (count > rows)
    left += [f"{len(draws.moved) - columns} more generators"] * (len(draws.moved) > columns)
    return told + (f" Not drawn: {' and '.join(left)}; print it to read all." if left else "")


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def _text(text: str, x: float, y: float, ink: str, anchor: str = "start") -> str:
    return (
        f'<text class="tc-{ink}" x="{x:g}" y="{y:g}" text-anchor="{anchor}" font-size="12" '
        f'font-family="{escape(CODE_FONT)}" fill="{INKS[ink][0]}">{escape(text)}</text>'
    )
