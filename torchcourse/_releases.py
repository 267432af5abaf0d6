"""What is not the same on every release of torch, said in the cell that shows it.

The outputs of the course are stored with one release. On another one a cell may show something else, or its
check may fail: a note below the cell says so, from the table `_releases.toml` where the difference is known,
and in general words where it is not. On the stored release nothing is ever said: there a failing check is
the reader's own. Imports neither PyTorch nor a widget.
"""

import re
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from packaging.version import Version

STORED = "2.13"  # the release of torch with which the outputs were stored
RAISES = "tc.raises: expected here was "  # what `raises` notes on an exception that it did not foresee
HOME = "https://github.com/torchcourse/torchcourse"
CLAIMS = f"{HOME}/blob/main/tests/claims.md"
DIFFERS = f"{HOME}/issues/new?template=output-differs.yml"

_TABLE = Path(__file__).with_suffix(".toml")


@dataclass(frozen=True)
class Change:
    """What some cells show on other releases. torch: the releases, as pip writes them (`<2.10`)."""

    torch: str
    sentence: str
    claims: tuple[str, ...]  # ids of tests/claims.csv
    cells: tuple[str, ...]  # marks of the cells that show it

    def holds(self, version: str) -> bool:
        """Whether this release is one of them; builds (`+cpu`) and previews (`.dev…`) count as their release."""
        from packaging.specifiers import SpecifierSet

        release = _release(version)
        return release is not None and SpecifierSet(self.torch).contains(release)


@dataclass(frozen=True)
class Note:
    """A sentence for the reader of a cell, and where more stands: (what to click on, address)."""

    sentence: str
    links: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        return "\n".join([f"Note: {self.sentence}", *(f"  {words}: {to}" for words, to in self.links)])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        links = " · ".join(f'<a href="{escape(to)}">{escape(words)}</a>' for words, to in self.links)
        said = re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(self.sentence))
        return f'<div class="tc-note" role="note" style="{_BOX}"><b>Note.</b> {said}<br>{links}</div>'


_BOX = (
    "border:1px solid var(--jp-border-color2,#D1D9E0);border-left:4px solid var(--jp-warn-color1,#A03A00);"
    "border-radius:4px;padding:6px 12px;margin:4px 0;max-width:46rem;color:var(--jp-ui-font-color1,inherit)"
)


def is_older(release: str) -> bool:
    """Whether the torch that is loaded comes before this release ("2.10")."""
    here = _release(str(getattr(sys.modules.get("torch"), "__version__", "")))
    than = _release(release)
    return here is not None and than is not None and here < than


def _release(version: str) -> "Version | None":
    """Without the build (`+cpu`) and the preview (`.dev…`); None for a version that pip would not understand."""
    from packaging.version import InvalidVersion, Version

    try:
        return Version(Version(version).base_version)
    except InvalidVersion:
        return None


def mark(source: str) -> str:
    """A short mark of a cell's source: a cell that the reader has changed is no longer the course's."""
    return sha256(source.strip().encode()).hexdigest()[:16]


@cache
def changes() -> tuple[Change, ...]:
    """The table of known differences."""
    told = tomllib.loads(_TABLE.read_text(encoding="utf-8"))
    return tuple(
        Change(row["torch"], row["sentence"], tuple(row["claims"]), tuple(row["cells"]))
        for row in told.get("change", [])
    )


def notes(source: str, error: BaseException | None, version: str) -> Iterator[Note]:
    """What to say below a cell that ran on this version of torch; nothing on the stored release.

    source: the cell's text. error: the exception that it ended with, or None.
    """
    release = ".".join(version.split(".")[:2])
    if release == STORED:
        return
    cell = mark(source)
    known = [change for change in changes() if cell in change.cells and change.holds(version)]
    for change in known:
        said = f"The course was stored with torch {STORED}; you run {release}. {change.sentence}"
        yield Note(said, _MORE[:1])
    if error is not None and not known and complains(error):
        yield Note(_UNKNOWN.format(stored=STORED, here=release), _MORE)


_UNKNOWN = (
    "This was true on torch {stored}, with which the course was stored. You run torch {here}: what the cell "
    "claims may no longer hold. (If you have changed the cell, look at your change first.)"
)
_MORE = (("What holds on which release", CLAIMS), ("Tell us that this output differs", DIFFERS))


def complains(error: BaseException) -> bool:
    """Whether a check of the course failed, or a name of torch is gone."""
    if isinstance(error, AssertionError):
        return True
    if any(note.startswith(RAISES) for note in getattr(error, "__notes__", ())):
        return True
    if isinstance(error, ImportError):
        return _of_torch(error.name)
    if isinstance(error, AttributeError):
        there = error.obj
        return _of_torch(getattr(there, "__module__", None) or getattr(there, "__name__", None)) or _of_torch(
            type(there).__module__
        )
    return False


def _of_torch(name: object) -> bool:
    return isinstance(name, str) and name.split(".")[0] == "torch"
