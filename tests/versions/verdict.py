"""From what the cells of a notebook did to what became of its claims."""

import re
from dataclasses import dataclass

from .seen import Cell, Seen

TRUE, FALSE, ANOTHER, GONE, NOT_RUN = "true", "false", "raises another error", "not there", "not run"
WORST_LAST = (NOT_RUN, TRUE, GONE, ANOTHER, FALSE)

_UNMET = re.compile(r"Nothing was raised\.|No such warning was given\.")  # teaching.raises and .warns
_OTHER_WORDS = re.compile(r"\w+ was raised, but its message has no match for ")
_UNDEFINED = re.compile(r"name '(\w+)' is not defined")
# A module, a class or an object of torch that has no such attribute; a name or a module that can't be imported.
_NO_NAME = re.compile(
    r"(module|type object) '(torch[.\w]*|Tensor|Module)' has no attribute|'Tensor' object has no attribute"
    r"|cannot import name '\w+' from 'torch|No module named 'torch\."
)


@dataclass(frozen=True)
class Verdict:
    """What became of one claim on one release, and the sentence that shows it (nothing where it is true)."""

    word: str
    shows: str = ""
    stored: tuple[str, ...] = ()  # other words: what the notebook holds, what came
    here: tuple[str, ...] = ()


def verdicts(seen: Seen) -> dict[str, Verdict]:
    """Claim id -> its verdict; of a claim that several cells show, the worst."""
    found: dict[str, Verdict] = {}
    for cell in seen.cells:
        for claim in cell.claims:
            found[claim] = worse(found.get(claim), _of_cell(cell, seen.cells))
    return found


def worse(one: Verdict | None, other: Verdict) -> Verdict:
    """The worse of two; of two that are as bad the one that has something to say, and the first."""
    if one is None:
        return other
    return max(one, other, key=lambda v: (WORST_LAST.index(v.word), bool(v.stored or v.here)))


def _of_cell(cell: Cell, cells: tuple[Cell, ...]) -> Verdict:
    if not cell.error:
        return Verdict(TRUE, stored=cell.stored, here=cell.here)
    earlier = _follows_from(cell, cells)
    cause = earlier or cell
    said = f"{cause.error}: {cause.says.splitlines()[0] if cause.says else ''}".rstrip(": ")
    return Verdict(_word(cause), f"{said} (in cell {earlier.number}, before this one)" if earlier else said)


def _word(cell: Cell) -> str:
    if cell.error == "AssertionError":
        return ANOTHER if _OTHER_WORDS.match(cell.says) else FALSE
    if cell.error in ("AttributeError", "ImportError", "ModuleNotFoundError") and _NO_NAME.search(cell.says):
        return GONE
    return ANOTHER


def _follows_from(cell: Cell, cells: tuple[Cell, ...]) -> Cell | None:
    """The first failed cell that should have made the name which this one misses."""
    missing = _UNDEFINED.search(cell.says) if cell.error == "NameError" else None
    if missing is None:
        return None
    before = [other for other in cells if other.number < cell.number and other.error]
    return next((_follows_from(other, cells) or other for other in before if missing[1] in other.makes), None)
