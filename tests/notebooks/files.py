"""Notebooks on disk: which there are, how one is read, how one is written."""

import json
import os
import tempfile
from pathlib import Path

import nbformat
from nbformat import NotebookNode

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = ROOT / "notebooks"


class NotebookError(Exception):
    """One sentence about a notebook: which, where, what is wrong, and what to do."""


def find(names: list[str], folder: Path = NOTEBOOKS) -> list[Path]:
    """The notebooks called by stem, path or chapter number ("01", "1"); all of the folder for no name."""
    there = sorted(folder.glob("*.ipynb"))
    if not names:
        return there
    return [path for name in names for path in _find_one(name, there)]


def _find_one(name: str, there: list[Path]) -> list[Path]:
    if name.endswith(".ipynb") and Path(name).is_file():
        return [Path(name).resolve()]
    stem = Path(name).stem if name.endswith(".ipynb") else name
    number = f"{int(stem):02d}_" if stem.isdecimal() else None
    found = [path for path in there if path.stem == stem or (number and path.stem.startswith(number))]
    if not found:
        known = ", ".join(path.stem for path in there) or "none yet"
        raise NotebookError(
            f"There is no notebook {name!r}; give a stem, a path or a chapter number of: {known}."
        )
    return found


def read(path: Path) -> NotebookNode:
    """A notebook as it stands in the file, nothing added; NotebookError where it can't be read as one."""
    try:
        notebook = nbformat.from_dict(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise NotebookError(
            f"{path.name} can't be read as a notebook, it is not valid JSON: {error}."
        ) from None
    if not isinstance(notebook, dict) or notebook.get("nbformat") != 4 or not _cells_look_right(notebook):
        raise NotebookError(
            f"{path.name} is JSON, but no notebook of format 4: `cells` is missing or broken."
        )
    for cell in notebook.cells:
        _join(cell)
    return notebook


def _cells_look_right(notebook: NotebookNode) -> bool:
    cells = notebook.get("cells")
    return isinstance(cells, list) and all(
        isinstance(cell, dict) and "cell_type" in cell and isinstance(cell.get("source"), str | list)
        for cell in cells
    )


def _join(cell: NotebookNode) -> None:
    """The format allows a list of lines wherever it allows a text; everybody else expects the text."""
    cell.source = _text(cell.source)
    for output in cell.get("outputs", []):
        if "text" in output:
            output.text = _text(output.text)
        for kind, value in output.get("data", {}).items():
            if not kind.endswith("json"):
                output.data[kind] = _text(value)


def _text(value: str | list[str]) -> str:
    return value if isinstance(value, str) else "".join(value)


def as_text(notebook: NotebookNode) -> str:
    """The bytes that `write` stores, as text."""
    return nbformat.writes(notebook).rstrip("\n") + "\n"


def write(path: Path, notebook: NotebookNode) -> bool:
    """Stores a notebook in one step (all of it or nothing of it); False where the file held it already."""
    text = as_text(notebook)
    if path.is_file() and path.read_text(encoding="utf-8") == text:
        return False
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.stem}-", suffix=".tmp")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        os.chmod(name, path.stat().st_mode & 0o777 if path.exists() else 0o644)  # mkstemp makes it private
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    return True


def tags(cell: NotebookNode) -> list[str]:
    return list(cell.get("metadata", {}).get("tags", []))


def code_cells(notebook: NotebookNode) -> list[NotebookNode]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def place(notebook: NotebookNode, cell: NotebookNode) -> str:
    """Where a cell stands, for a sentence: its number among all cells, from 1, and its first line."""
    number = next((i for i, other in enumerate(notebook.cells, 1) if other is cell), "?")
    first = next((line.strip() for line in cell.source.splitlines() if line.strip()), "")
    return f"cell {number} (`{first[:60]}`)"
