"""The small language in which the table says how a message looks.

Plain text stands for itself (in any case, any white space). `{name}` is anything, `{name:d}` an integer,
`{name:n}` a number, `{name:w}` a word, `{name:s}` a list in brackets, `{...}` a gap. Every hole is bounded and
ends at the next plain text, without a second try, so no text, however odd, makes a search slow.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

LONGEST = 200  # characters that a value may have
GAP = 300  # characters that a gap may have
TRIES = 12  # places at which a template is tried in one text

_SHAPES = {
    "": rf".{{1,{LONGEST}}}?",
    "d": r"-?\d{1,20}",
    "n": r"-?[\d.]{1,30}",
    "w": rf"[\w.:/+-]{{0,{LONGEST}}}\w",
    "s": rf"(?:torch\.size)?[\[(][^\])]{{0,{LONGEST}}}[\])]{{1,2}}",
}
# A value at a template's end reaches to the end of its sentence.
_LAST = rf"(?:.{{1,{LONGEST}}}?(?=[.;,]?$|[.;] )|.{{1,{LONGEST}}})"
_HOLE = re.compile(r"\{(\.\.\.|\w+(?::[dnws])?)\}")
_QUOTES = str.maketrans({"`": "'", "‘": "'", "’": "'", "“": '"', "”": '"', "\u00a0": " "})
_LOWER = str.maketrans({chr(code): chr(code + 32) for code in range(ord("A"), ord("Z") + 1)})


def plain(text: str) -> str:
    """White space as one blank, quotation marks as straight ones: what templates are compared with."""
    return " ".join(text.translate(_QUOTES).split())


def lowered(text: str) -> str:
    """The text with small letters, position by position (`str.lower` may change the length)."""
    return text.translate(_LOWER)


@dataclass(frozen=True)
class Template:
    """One template. literal: its longest plain text; weight: how much plain text it has.

    first: the plain text at which it is tried; pieces: plain texts and holes by turns.
    """

    literal: str
    weight: int
    first: str
    pieces: tuple[str, ...]

    @property
    def begins(self) -> bool:
        """Whether it begins with a hole."""
        return len(self.pieces) > 1 and not self.pieces[0]

    def find(self, text: str, lower: str) -> dict[str, str] | None:
        """The values in the holes, or None where the template doesn't fit. lower: `lowered(text)`."""
        if self.literal not in lower:
            return None
        if len(self.pieces) == 1:
            return {}
        tries = (self._at(text, place) for place in self._places(lower))
        return next((found for found in tries if found is not None), None)

    def _places(self, lower: str) -> Iterator[int]:
        place = lower.find(self.first)
        for _ in range(TRIES):
            if place < 0:
                return
            yield place
            place = lower.find(self.first, place + 1)

    def _at(self, text: str, place: int) -> dict[str, str] | None:
        before, rest = _patterns(self.pieces)
        behind = rest.match(text, place)
        ahead = before.search(text[max(0, place - LONGEST) : place])
        if behind is None or ahead is None:
            return None
        found = {**ahead.groupdict(), **behind.groupdict()}
        return {name: value.strip() for name, value in found.items() if value is not None}


@cache
def template(source: str) -> Template:
    """The template that this text stands for."""
    pieces = tuple(_HOLE.split(plain(source)))
    literals = [lowered(literal) for literal in pieces[::2]]
    first = literals[0] or (literals[1] if len(literals) > 1 else "")
    return Template(max(literals, key=len).strip(), sum(map(len, literals)), first, pieces)


@cache
def _patterns(pieces: tuple[str, ...]) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """What stands before the first plain text, and the rest from there on."""
    start = 0 if pieces[0] else 2
    before = re.compile(f"{_hole(pieces[1])}$" if start else "")
    parts = [re.escape(pieces[start])]
    for at in range(start + 1, len(pieces), 2):
        last = not pieces[at + 1] and at + 2 >= len(pieces)
        parts.append(f"(?>{_hole(pieces[at], last)}{re.escape(pieces[at + 1])})")
    return before, re.compile("".join(parts), re.IGNORECASE)


def _hole(hole: str, last: bool = False) -> str:
    if hole == "...":
        return rf".{{0,{GAP}}}?"
    name, _, shape = hole.partition(":")
    return f"(?P<{name}>{_LAST if last and not shape else _SHAPES[shape]})"
