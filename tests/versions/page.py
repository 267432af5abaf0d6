"""The page tests/claims.md, written from the results that are kept: the same bytes every time."""

import re
from collections import Counter
from dataclasses import dataclass
from html import escape
from pathlib import Path

from tests.notebooks import claims, files
from torchcourse._releases import STORED, Change, changes

from .results import Result
from .verdict import NOT_RUN, TRUE, WORST_LAST, Verdict

PAGE = files.ROOT / "tests" / "claims.md"
_UNRUN = Verdict(NOT_RUN)
_HEAD = """\
# Which claim holds on which release of PyTorch

Every claim of the course is shown by code in a notebook. The notebooks ran to their end on each release
below, and this page says what became of each claim there. `python3 run.py versions` writes it; nobody edits it.

- **true**: the cells that show the claim ran, and what they check held.
- **false**: a check in such a cell failed.
- **raises another error**: the cell met an error, or a message, that it does not foresee.
- **not there**: a name of PyTorch that the cell calls does not exist in that release.
- **not run**: the claim is newer than the last run on that release.

A claim may be true and yet print another text: that stands under *The same claim, in other words*.
All ran on a CPU, on Linux x86-64. The outputs in the notebooks are stored with torch {stored}.
"""


@dataclass(frozen=True)
class Claim:
    """A row of tests/claims.csv, and the first notebook that shows it."""

    id: str
    chapter: str
    truth: str
    notebook: str


def known_claims(table: Path = claims.CLAIMS, course: list[Path] | None = None) -> list[Claim]:
    """The claims, as they stand in their table."""
    where: dict[str, str] = {}
    for path in files.find([]) if course is None else course:
        for cell in files.code_cells(files.read(path)):
            for tag in files.tags(cell):
                where.setdefault(tag.removeprefix("claim:"), path.name)
    rows = claims.rows(table).items()
    return [Claim(id, row["chapter"], row["truth"], where.get(id, "")) for id, row in rows]


def page(known: list[Claim], results: list[Result], newest: str = "") -> str:
    """The whole page. newest: the newest release that there was at the last look ("2.15.0"), if anybody looked."""
    parts = [
        _HEAD.format(stored=STORED),
        _in_short(known, results, newest),
        _what_differs(known, results),
        _other_words(known, results),
        _all(known, results),
    ]
    return "\n".join(parts)


def _in_short(known: list[Claim], results: list[Result], newest: str) -> str:
    lines = ["## In short", "", "| torch | " + " | ".join(_COUNTED) + " | unit tests |"]
    lines.append("| --- |" + " ---: |" * len(_COUNTED) + " --- |")
    for one in results:
        counts = Counter(_verdict(one, claim).word for claim in known)
        words = sum(bool(v.stored or v.here) for claim in known if (v := _verdict(one, claim)))
        counted = [str(words if word == _WORDS else counts[word]) for word in _COUNTED]
        lines.append(f"| {one.torch} | {' | '.join(counted)} | {_tests(one)} |")
    if newest and not any(one.torch == newest for one in results):
        lines += [
            "",
            f"The newest release at the last look was {newest}. It has not run, so nothing is said of it.",
        ]
    return "\n".join(lines) + "\n" + _failed_tests(results)


_WORDS = "true, in other words"
_COUNTED = (TRUE, _WORDS, "false", "raises another error", "not there", NOT_RUN)


def _tests(one: Result) -> str:
    return ", ".join(f"{count} {word}" for word, count in one.tests.items()) or "did not run"


def _failed_tests(results: list[Result]) -> str:
    lines = []
    for one in results:
        if one.failed:
            names = "\n".join(f"- `{name}`" for name in one.failed)
            lines.append(
                f"\n<details><summary>Unit tests that fail on {one.torch}</summary>\n\n{names}\n\n</details>\n"
            )
    return "".join(lines)


def _what_differs(known: list[Claim], results: list[Result]) -> str:
    lines = ["## What differs", ""]
    rows = [
        claim for claim in known if any(_verdict(one, claim).word not in (TRUE, NOT_RUN) for one in results)
    ]
    if not rows:
        return "\n".join([*lines, "No claim is false on any release that ran.", ""])
    lines += [_row("claim", *(one.release for one in results), "what changed"), _rule(results)]
    for claim in rows:
        words = [_verdict(one, claim).word for one in results]
        said = " ".join(
            _said(one, claim) for one in results if _verdict(one, claim).word not in (TRUE, NOT_RUN)
        )
        lines.append(_row(_link(claim), *map(_strong, words), said.strip()))
    return "\n".join([*lines, ""])


def _said(one: Result, claim: Claim) -> str:
    """The sentence of the table of changes, and what the cell said itself."""
    shows = f"torch {one.release}: `{_in_cell(_verdict(one, claim).shows)}`"
    return " ".join([*(change.sentence for change in _known_changes(one, claim)), shows])


def _known_changes(one: Result, claim: Claim) -> list[Change]:
    return [change for change in changes() if claim.id in change.claims and change.holds(one.torch)]


def _other_words(known: list[Claim], results: list[Result]) -> str:
    lines = ["## The same claim, in other words", ""]
    for one in results:
        rows = [claim for claim in known if (v := _verdict(one, claim)).word == TRUE and (v.stored or v.here)]
        if rows:
            lines += [f"### torch {one.release}", ""]
            for claim in rows:
                lines += [_words(one, claim), ""]
    if len(lines) == 2:
        lines += ["Every release that ran prints what is stored.", ""]
    return "\n".join(lines)


def _words(one: Result, claim: Claim) -> str:
    found = _verdict(one, claim)
    why = " ".join(change.sentence for change in _known_changes(one, claim))
    shown = [f"- {line}" for line in found.stored] + [f"+ {line}" for line in found.here]
    folded = f"<details><summary>{claim.id} {_html(why)}</summary>\n\n{_link(claim)}:\n\n```diff\n"
    return folded + "\n".join(line.replace("```", "'''") for line in shown) + "\n```\n\n</details>"


def _all(known: list[Claim], results: list[Result]) -> str:
    lines = ["## All claims", ""]
    for chapter in claims.CHAPTERS:
        rows = [claim for claim in known if claim.chapter == chapter]
        if rows:
            lines += [f"### {chapter}", "", _row("claim", *(one.release for one in results), "what holds")]
            lines.append(_rule(results))
            for claim in rows:
                words = [_strong(_verdict(one, claim).word) for one in results]
                lines.append(
                    _row(f'<a id="{claim.id}"></a>{_notebook(claim)}', *words, _in_cell(claim.truth))
                )
            lines.append("")
    return "\n".join(lines)


def _verdict(one: Result, claim: Claim) -> Verdict:
    return one.claims.get(claim.id, _UNRUN)


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def _rule(results: list[Result]) -> str:
    return "| --- |" + " --- |" * len(results) + " --- |"


def _strong(word: str) -> str:
    return word if WORST_LAST.index(word) <= WORST_LAST.index(TRUE) else f"**{word}**"


def _link(claim: Claim) -> str:
    """To the claim's row on this page."""
    return f'<a href="#{claim.id}">{claim.id}</a>'


def _notebook(claim: Claim) -> str:
    return f"[{claim.id}](../notebooks/{claim.notebook})" if claim.notebook else claim.id


def _html(text: str) -> str:
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text, quote=False))


def _in_cell(text: str) -> str:
    """A text on one line that does not end a table's cell."""
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")
