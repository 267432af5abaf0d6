"""The way to a GPU as a picture: questions below one another, one column for each machine, lit as far as it comes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape

from torchcourse.devices import Diagnosis, Machine, diagnose
from torchcourse.devices.build import this_build
from torchcourse.devices.diagnosis import QUESTIONS
from torchcourse.devices.machine import read_machine

from .look import INKS, PAINTS
from .page import EDGE, Caption, Page
from .storage import Drawing

LEFT, CELL, ROW = 316, 30, 26  # px: room for the questions, a column, a row
MOST = 13  # columns that a card holds
OWN = "The path of this very machine: run the cell to see it."
_MARKS = {"yes": ("run", "✓"), "not known": ("view", "?"), "no": ("now", "✕"), "": ("rest", "·")}
LEGEND = "✓ yes; ? not known; ✕ no, and the way ends here; · not asked"


@dataclass(frozen=True)
class Paths:
    """Diagnoses side by side. `str()` tells each in a sentence; as a cell's value it shows itself as a picture.

    own: it is the reader's machine, so that what is stored with the cell must not depend on it.
    """

    found: tuple[tuple[str, Diagnosis], ...]
    own: bool = False

    @property
    def questions(self) -> tuple[str, ...]:
        """All that a CUDA build is asked, and those that were asked besides."""
        asked = dict.fromkeys(step.question for _, found in self.found for step in found.path)
        cuda = () if set(asked) - set(QUESTIONS) and len(self.found) == 1 else QUESTIONS
        return tuple(dict.fromkeys((*cuda, *asked)))

    def __str__(self) -> str:
        return (
            OWN if self.own else "\n".join(_told(number, *pair) for number, pair in enumerate(self.found, 1))
        )

    __repr__ = __str__

    def _repr_svg_(self) -> str:
        return svg(self)


def _told(number: int, name: str, found: Diagnosis) -> str:
    if found.works:
        return f"{number:>2} {name}: every answer is yes. {found.sentence}"
    return f"{number:>2} {name}: “{found.path[-1].question}” no. {found.advice}"


def paths(machines: Mapping[str, Machine]) -> Paths:
    """Diagnose each machine and set the ways side by side. ValueError: none, or more than 13."""
    if not 1 <= len(machines) <= MOST:
        raise ValueError(f"paths takes 1 to {MOST} machines, a dict name -> Machine; got {len(machines)}.")
    return Paths(tuple((name, diagnose(machine)) for name, machine in machines.items()))


def own_path() -> Paths:
    """The way of the machine that this kernel runs on, with what this kernel may have hidden."""
    return Paths((("this machine", diagnose(read_machine(build=this_build()))),), own=True)


def drawing(shown: Paths) -> Drawing:
    """The grid: one row for a question, one column for a machine."""
    rows = list(shown.questions)
    parts = [_text(question, 3, 32 + k * ROW, "ink", 12) for k, question in enumerate(rows)]
    for column, (_, found) in enumerate(shown.found):
        x = LEFT + column * CELL
        if len(shown.found) > 1:
            parts.append(_text(str(column + 1), x + 12, 10, "second", 12, "middle"))
        answers = {step.question: step.answer for step in found.path}
        ends = 16 + len(found.path) * ROW - 4
        parts.append(
            f'<path class="tc-rule" d="M{x + 12} 18V{ends}" stroke="{INKS["rule"][0]}" stroke-width="2"/>'
        )
        parts += [_cell(x, 16 + k * ROW, answers.get(question, "")) for k, question in enumerate(rows)]
        if len(shown.found) == 1:
            said = [answers.get(question, "not asked") for question in rows]
            parts += [_text(answer, x + 34, 32 + k * ROW, "second", 12) for k, answer in enumerate(said)]
    return Drawing("".join(parts), LEFT + len(shown.found) * CELL, 20 + len(rows) * ROW)


def _cell(x: int, y: int, answer: str) -> str:
    role, glyph = next(mark for start, mark in _MARKS.items() if answer.startswith(start))
    paint = PAINTS[role]
    dash = "" if answer else ' stroke-dasharray="3 3" stroke-opacity="0.5"'
    return (
        f'<g class="tc-{role}" transform="translate({x} {y})"><title>{escape(answer or "not asked")}</title>'
        f'<rect width="24" height="22" rx="4" fill="{paint.fill}" stroke="{paint.line}" stroke-width="1.5"{dash}/>'
        f"{_text(glyph, 12, 15.5, 'ink', 13, 'middle')}</g>"
    )


def _text(text: str, x: float, y: float, ink: str, size: int, anchor: str = "start") -> str:
    return (
        f'<text class="tc-{ink}" x="{x:g}" y="{y:g}" text-anchor="{anchor}" font-size="{size}" '
        f'fill="{INKS[ink][0]}">{escape(text)}</text>'
    )


def svg(shown: Paths) -> str:
    """The whole card; for one machine with its answers in words."""
    works = sum(found.works for _, found in shown.found)
    if len(shown.found) == 1:
        name, found = shown.found[0]
        page = Page(f"Can the GPU be used? {name}", found.advice)
        page.flow([(Caption(), drawing(shown))])
    else:
        page = Page(
            "Can the GPU be used?", f"{len(shown.found)} machines, {works} of them can use their GPU."
        )
        names = tuple(f"{number:>2}  {name}" for number, (name, _) in enumerate(shown.found, 1))
        page.flow([(Caption(), drawing(shown))])
        page.flow([(Caption(facts=names), Drawing("", 0, 0))])
    page.parts.append(_text(LEGEND, EDGE, page.y + 25, "second", 13))  # in the footer
    return page.finish(())
