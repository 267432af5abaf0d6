"""A card as one static SVG: what a view looks like where no JavaScript runs (GitHub, a printed page).

The parts are laid out top to bottom in the card's natural width, with the same colours, fonts and
order as the live card. Colours are written twice: as attributes in the light theme, for programs that
drop style sheets, and as variables that follow the reader's theme.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from textwrap import wrap
from typing import Protocol

from .look import CODE_FONT, GLYPHS, INKS, PAINTS, TEXT_FONT, css_variables

WIDTH, EDGE = 760, 18  # of the card and its margin, in px
LINE = 20  # height of a line of text
LETTERS_PER_LINE = 100  # 14 px text in the card's width


class Drawn(Protocol):
    """SVG elements and the size that they take, in px."""

    @property
    def body(self) -> str: ...
    @property
    def width(self) -> int: ...
    @property
    def height(self) -> int: ...


@dataclass(frozen=True)
class Caption:
    """What stands over a part: a name in code font, its note, and lines of facts."""

    name: str = ""
    role: str = ""
    note: str = ""
    facts: tuple[str, ...] = ()

    @property
    def height(self) -> int:
        """In px, with the room below."""
        return 18 * (bool(self.name) + len(self.facts)) + 6

    @property
    def width(self) -> int:
        """In px, about."""
        first = 7.8 * len(self.name) + 7 * len(self.note) + 40 if self.name else 0
        return round(max([first, *(7 * len(line) for line in self.facts)]))


class Page:
    """Collects the parts of a card and their heights; `finish` gives the SVG."""

    def __init__(self, title: str, sentence: str) -> None:
        self.title, self.sentence = title, sentence
        lines = wrap(sentence, LETTERS_PER_LINE, break_long_words=False)
        self.parts = [_text(EDGE, 30, escape(title), "ink", 15, "600")]
        code = False
        for k, line in enumerate(lines):
            spans, code = _spans(line, code)
            self.parts.append(_text(EDGE, 54 + k * LINE, spans, "second", 14))
        self.y = 54 + (len(lines) - 1) * LINE + 16
        self._rule()
        self.y += 16

    def flow(self, parts: Sequence[tuple[Caption, Drawn]]) -> None:
        """Put parts side by side, in a new line where the width is used up."""
        x, line = EDGE, 0
        for caption, drawing in parts:
            wide = max(caption.width, drawing.width)
            if x > EDGE and x + wide > WIDTH - EDGE:
                x, self.y, line = EDGE, self.y + line + 14, 0
            self._part(x, caption, drawing)
            line = max(line, caption.height + drawing.height)
            x += wide + 28
        self.y += line + 14

    def _part(self, x: int, caption: Caption, drawing: Drawn) -> None:
        y = self.y + 12
        if caption.name:
            left = x + (24 if caption.role else 0)
            if caption.role:
                self.parts.append(_chip(x, y - 13, caption.role))
            self.parts.append(_text(left, y, escape(caption.name), "ink", 13, "600", code=True))
            note = left + round(7.9 * len(caption.name)) + 10
            self.parts.append(_text(note, y, escape(caption.note), "second", 13))
            y += 18
        for fact in caption.facts:
            self.parts.append(_text(x, y, escape(fact), "second", 12, code=True))
            y += 18
        self.parts.append(f'<g transform="translate({x - 3} {y - 6})">{drawing.body}</g>')

    def finish(self, legend: Sequence[tuple[str, str]]) -> str:
        """The whole SVG. legend: (meaning, words) for the footer."""
        self._rule()
        x, y = EDGE, self.y + 12
        for role, words in legend:
            self.parts += [_chip(x, y, role), _text(x + 24, y + 13, escape(words), "second", 13)]
            x += 24 + round(7.4 * len(words)) + 18
        height = self.y + 42
        frame = (
            f'<rect class="tc-frame" x="0.5" y="0.5" width="{WIDTH - 1}" height="{height - 1}" rx="8" '
            f'fill="{INKS["page"][0]}" stroke="{INKS["rule"][0]}"/>'
        )
        label = escape(f"{self.title}. {self.sentence.replace('`', '')}")
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="tc-page" role="img" aria-label="{label}" '
            f'width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}">'
            f"<style>{STYLE}</style>{frame}{''.join(self.parts)}</svg>"
        )

    def _rule(self) -> None:
        rule = INKS["rule"][0]
        self.parts.append(f'<path class="tc-rule" d="M0 {self.y}.5H{WIDTH}" stroke="{rule}"/>')


def _text(x: int, y: int, content: str, ink: str, size: int, weight: str = "400", code: bool = False) -> str:
    font = ' class="tc-code"' if code else ""
    return (
        f'<g{font}><text class="tc-{ink}" x="{x}" y="{y}" fill="{INKS[ink][0]}" font-size="{size}" '
        f'font-weight="{weight}">{content}</text></g>'
    )


def _spans(line: str, code: bool) -> tuple[str, bool]:
    """The line with `code` as spans, and whether it ends inside of one."""
    spans = []
    for k, piece in enumerate(re.split("`", line)):
        code = code if k == 0 else not code
        if piece:
            spans.append(
                f'<tspan class="tc-code" font-weight="600">{escape(piece)}</tspan>' if code else escape(piece)
            )
    return "".join(spans), code


def _chip(x: int, y: int, role: str) -> str:
    paint = PAINTS[role]
    dashed = ' stroke-dasharray="3 2.5"' if role == "rest" else ""
    return (
        f'<g class="tc-{role}"><rect x="{x}.5" y="{y}.5" width="17" height="17" rx="3.5" '
        f'fill="{paint.fill}" stroke="{paint.line}"{dashed}/></g>'
        f'<text class="tc-ink" x="{x + 9}" y="{y + 13}" text-anchor="middle" font-size="12" '
        f'fill="{INKS["ink"][0]}">{GLYPHS[role]}</text>'
    )


def _style() -> str:
    fills = "".join(
        f".tc-page .tc-{role}>rect{{fill:var(--tc-{role}-fill);stroke:var(--tc-{role}-line)}}"
        for role in PAINTS
    )
    return (
        f".tc-page{{{css_variables(dark=False)}font-family:{TEXT_FONT}}}"
        f"@media (prefers-color-scheme:dark){{.tc-page{{{css_variables(dark=True)}}}}}"
        f".tc-page .tc-code,.tc-page .tc-cell,.tc-page .tc-number{{font-family:{CODE_FONT}}}"
        ".tc-page .tc-frame{fill:var(--tc-page);stroke:var(--tc-rule)}"
        ".tc-page .tc-rule{stroke:var(--tc-rule)}"
        ".tc-page .tc-ink,.tc-page .tc-cell>text{fill:var(--tc-ink)}"
        ".tc-page .tc-second,.tc-page .tc-number,.tc-page .tc-cell>.tc-number{fill:var(--tc-second)}"
        ".tc-page .tc-cell>text{font-size:13px}"
        ".tc-page .tc-number,.tc-page .tc-cell>.tc-number{font-size:11px}"
        ".tc-page .tc-also{stroke:var(--tc-view-line)}" + fills
    )


STYLE = _style()
