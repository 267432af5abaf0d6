"""The one table of the course's words: from it come the glossary page, and what a view says of a word.

`_glossary.csv` holds a row for each term: its other forms, what it means, the notebook and the heading under which
it is first explained, related terms, and the views in which the word has this meaning. `python -m
torchcourse._glossary notebooks/glossary.md` writes the page anew.
"""

import csv
import json
import sys
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from pathlib import Path

from torchcourse._course import lesson

TABLE = Path(__file__).with_name("_glossary.csv")
HEAD = """\
# Glossary

The words of this course, each with what happens behind it. They are PyTorch's own terms, and the same word stands \
in the texts, the code and the views. In a view, dotted words say the same: point at one, or press `w`.

The arrow leads to the place where a word is first explained. (In JupyterLab the first click opens the notebook at \
its top; the same link once more leads to the place.)

[Contents](index.ipynb)"""


@dataclass(frozen=True)
class Term:
    """One word of the course. meaning: one or two sentences, with `code` between backticks.

    forms: other spellings of it, without the term itself. notebook: a stem; heading: the text of a heading in it.
    see: other terms. views: words of the views ("timeline") in which the word has this meaning.
    """

    name: str
    forms: tuple[str, ...]
    meaning: str
    notebook: str
    heading: str
    see: tuple[str, ...]
    views: tuple[str, ...]

    @property
    def spellings(self) -> tuple[str, ...]:
        return (self.name, *self.forms)

    @property
    def place(self) -> str:
        """The lesson in which it is explained: "04 CUDA memory"."""
        entry = lesson(self.notebook)
        return f"{entry.number} {entry.title}"

    @property
    def link(self) -> str:
        """Where it is first explained, relative to the notebooks' folder.

        It begins with ./, since some renderers take what stands before a heading's colon for a protocol.
        """
        return f"./{self.notebook}.ipynb#{anchor(self.heading)}"


def anchor(heading: str) -> str:
    """The name that Jupyter gives to a heading: its text, with - for each space."""
    return heading.replace(" ", "-")


@cache
def terms() -> tuple[Term, ...]:
    """All rows of the table, in its order: by name, small and capital letters alike."""
    with TABLE.open(encoding="utf-8", newline="") as file:
        return tuple(
            Term(
                name=row["term"],
                forms=_listed(row["forms"]),
                meaning=row["meaning"],
                notebook=row["notebook"],
                heading=row["heading"],
                see=_listed(row["see"]),
                views=_listed(row["views"]),
            )
            for row in csv.DictReader(file)
        )


def _listed(cell: str) -> tuple[str, ...]:
    return tuple(filter(None, cell.split("|")))


def words(view: str) -> str:
    """The words of one view, as JSON: [[spellings, meaning, "04 CUDA memory"], …]."""
    known = [[term.spellings, term.meaning, term.place] for term in terms() if view in term.views]
    return json.dumps(known, ensure_ascii=False).replace("<", "\\u003c")  # safe within a page's script, too


def page() -> str:
    """The glossary as Markdown: a heading for each letter and each term, so that every renderer makes anchors."""
    parts = [HEAD]
    letters = [
        (letter, tuple(found)) for letter, found in groupby(terms(), lambda term: term.name[0].upper())
    ]
    parts.append(" · ".join(f"[{letter}](#{letter})" for letter, _ in letters))
    for letter, found in letters:
        parts += [f"## {letter}", *map(_entry, found)]
    return "\n\n".join(parts) + "\n"


def _entry(term: Term) -> str:
    links = [f"[{term.place}]({term.link})", *(f"[{other}](#{anchor(other)})" for other in term.see)]
    first, *others = links
    see = f" · see {', '.join(others)}" if others else ""
    return f"### {term.name}\n\n{term.meaning}\n\n→ {first}{see}"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(page(), encoding="utf-8")
