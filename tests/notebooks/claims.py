"""The claims: tests/claims.csv and the tags claim:<id> in the notebooks say the same, both ways."""

import ast
import csv
import re
from collections.abc import Iterator
from pathlib import Path

from IPython.core.inputtransformer2 import TransformerManager
from nbformat import NotebookNode

from . import files
from .files import NotebookError, place, tags

CLAIMS = Path(__file__).parents[1] / "claims.csv"
COLUMNS = ["id", "chapter", "statement", "verdict", "truth"]
# TRUE, IMPRECISE, OUTDATED, WRONG: a statement of the articles, as today's PyTorch has it; ADDED: one of our own.
VERDICTS = ("TRUE", "IMPRECISE", "OUTDATED", "WRONG", "ADDED")
# A chapter's place in this row is the number of its notebook.
CHAPTERS = (
    *("layers", "storage", "autograd", "devices", "allocator", "modules", "checkpoints"),
    *("training", "export", "optimizers", "randomness", "debugging", "bug_hunt"),
)


def rows(path: Path = CLAIMS) -> dict[str, dict[str, str]]:
    """The claims by id; NotebookError where the file is not what it should be. A missing file holds none."""
    if not path.is_file():
        return {}
    with path.open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        found = list(reader)
        if reader.fieldnames != COLUMNS:
            raise NotebookError(f"{path.name} has the columns {reader.fieldnames}; it must have {COLUMNS}.")
    by_id = {row["id"]: row for row in found}
    if len(by_id) != len(found):
        raise NotebookError(f"{path.name} holds an id twice.")
    for row in found:
        if set(row) != set(COLUMNS) or not all((value or "").strip() for value in row.values()):
            told = f"each of {COLUMNS} needs one value (one with a comma stands in quotes)."
            raise NotebookError(f"{path.name}, row {row['id']!r}: {told}")
        if row["verdict"] not in VERDICTS:
            told = f"the verdict is {row['verdict']!r}; there are {', '.join(VERDICTS)}."
            raise NotebookError(f"{path.name}, row {row['id']!r}: {told}")
    return by_id


def faults(path: Path, course: list[Path], claims: Path = CLAIMS) -> list[str]:
    """What is wrong with the tags of one notebook, and with the rows of its chapter."""
    try:
        known, mine = rows(claims), list(_tagged(path))
        everywhere = {id for other in course for id, _, _ in _tagged(other)}
    except NotebookError as error:
        return [str(error)]
    found = [
        f"{where} is tagged claim:{id}, and {claims.name} has no such row."
        for id, where, _ in mine
        if id not in known
    ]
    found += [f"{where} is tagged claim:{id}, but {wrong}." for id, where, wrong in mine if wrong]
    missing = [id for id, row in known.items() if _belongs(row["chapter"], path) and id not in everywhere]
    return found + [_unshown(claims, id) for id in missing]


def orphans(course: list[Path], claims: Path = CLAIMS) -> list[str]:
    """Rows of any chapter that no notebook shows, and rows of chapters that do not exist."""
    everywhere = {id for path in course for id, _, _ in _tagged(path)}
    known = rows(claims)
    found = [_unshown(claims, id) for id in known if id not in everywhere]
    strange = {row["chapter"] for row in known.values()} - set(CHAPTERS)
    return found + [f"{claims.name} speaks of a chapter {word!r}; there is none." for word in sorted(strange)]


def _unshown(claims: Path, id: str) -> str:
    return f"{claims.name} has the row {id}, and no cell is tagged claim:{id}."


def _belongs(chapter: str, path: Path) -> bool:
    number = re.match(r"(\d\d)[a-z]?_", path.name)
    return bool(number) and chapter in CHAPTERS and CHAPTERS.index(chapter) == int(number[1])


def _tagged(path: Path) -> Iterator[tuple[str, str, str]]:
    """(id, place, what is wrong with the place or "") of each claim tag in a notebook."""
    notebook = files.read(path)
    for cell in notebook.cells:
        for tag in tags(cell):
            if tag.startswith("claim:"):
                yield tag.removeprefix("claim:"), place(notebook, cell), _misplaced(cell)


def _misplaced(cell: NotebookNode) -> str:
    if cell.cell_type != "code":
        return f"a {cell.cell_type} cell runs nothing"
    try:
        body = ast.parse(TransformerManager().transform_cell(cell.source)).body
    except SyntaxError:
        return "the cell is not Python"
    if all(_is_idle(statement) for statement in body):
        return "the cell does nothing"
    if not _shows(cell) and not any(_asserts(node) for statement in body for node in ast.walk(statement)):
        return "the cell has neither a stored output nor an assert"
    return ""


def _is_idle(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Pass) or (
        isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    )


def _asserts(node: ast.AST) -> bool:
    return isinstance(node, ast.Assert) and not isinstance(node.test, ast.Constant)


def _shows(cell: NotebookNode) -> bool:
    """An output that says something; an error counts only where it is foreseen."""
    return any(
        (output.output_type == "stream" and output.text.strip())
        or output.get("data")
        or (output.output_type == "error" and "raises-exception" in tags(cell))
        for output in cell.get("outputs", [])
    )
