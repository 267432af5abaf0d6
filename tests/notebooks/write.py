"""The only way in which outputs get into a notebook.

    python -m tests.notebooks.write [notebook …]     stems, paths or chapter numbers; none: all

Runs each notebook in a fresh CPU kernel and stores it in its normal form, in one step. A notebook
with a cell that raises is left as it was. Exit status: 0 when every notebook is stored, 1 otherwise.
"""

import argparse
import os
import sys
import time
from copy import deepcopy
from pathlib import Path

from nbformat import NotebookNode

from torchcourse import _course

from . import files
from .files import NotebookError
from .kernel import CELL_TIMEOUT, Kernel, running, unforeseen_error
from .normalise import normalise, source_mark, without_paths

os.environ.setdefault("OMP_NUM_THREADS", "1")  # as the lanes do that compare: see tests/conftest.py


def execute(notebook: NotebookNode, path: Path, timeout: int = CELL_TIMEOUT) -> NotebookNode:
    """The notebook with the outputs of one run, in its normal form; NotebookError where a cell raises."""
    notebook = normalise(notebook)
    refresh(notebook, path.stem)
    measured = {cell.id: deepcopy(cell.outputs) for cell in files.code_cells(notebook) if _still_holds(cell)}
    for cell in files.code_cells(notebook):
        cell.outputs, cell.execution_count = [], None
    with running(notebook, path, timeout=timeout) as kernel:
        for index, cell in enumerate(notebook.cells):
            if cell.cell_type == "code" and cell.source.strip():
                notebook.cells[index] = _run(kernel, notebook, cell, path)
    for cell in files.code_cells(notebook):
        _keep_measured(cell, measured)
    return normalise(notebook)


def refresh(notebook: NotebookNode, stem: str) -> None:
    """Brings the cells that are made from the course's table (bars, openings, contents) up to date."""
    for cell in notebook.cells:
        for tag in files.tags(cell) if cell.cell_type == "markdown" else []:
            cell.source = _course.generated(stem, tag) or cell.source


def _still_holds(cell: NotebookNode) -> bool:
    """True for a measured cell whose stored outputs belong to the source that it has now."""
    return "measured" in files.tags(cell) and cell.metadata.get("measured_source") == source_mark(cell)


def _keep_measured(cell: NotebookNode, measured: dict[str, list]) -> None:
    if "measured" in files.tags(cell):
        cell.metadata["measured_source"] = source_mark(cell)
        cell.outputs = measured.get(cell.id, cell.outputs)


def _run(kernel: Kernel, notebook: NotebookNode, cell: NotebookNode, path: Path) -> NotebookNode:
    ran = kernel.run(cell)
    where = f"{path.name}, {files.place(notebook, cell)}"
    if error := unforeseen_error(ran):
        said = without_paths(error.evalue).strip()
        raise NotebookError(f"{where} raises {error.ename}: {said}")
    if hosts := kernel.ask("refused"):
        raise NotebookError(
            f"{where} asks the network for {', '.join(hosts)}; a notebook must run without one."
        )
    return ran


def write(path: Path, timeout: int = CELL_TIMEOUT) -> bool:
    """Runs and stores one notebook; False where the file held the same bytes already."""
    before = path.read_bytes() if path.is_file() else b""
    stored = execute(files.read(path), path, timeout)
    if path.read_bytes() != before:
        raise NotebookError(f"{path.name} was saved by someone else while it ran; run this again.")
    return files.write(path, stored)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="run.py write", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("notebook", nargs="*", help="stems, paths or chapter numbers; none: all")
    parser.add_argument("--timeout", type=int, default=CELL_TIMEOUT, help="seconds that one cell may take")
    asked = parser.parse_args(arguments)
    try:
        paths = files.find(asked.notebook)
    except NotebookError as error:
        print(error, file=sys.stderr)
        return 1
    return max([_report(path, asked.timeout) for path in paths], default=0)


def _report(path: Path, timeout: int) -> int:
    started = time.monotonic()
    try:
        changed = write(path, timeout)
    except NotebookError as error:
        print(f"{error}\n{path.name} is left as it was.", file=sys.stderr)
        return 1
    print(f"{path.name}: {'stored' if changed else 'unchanged'} ({time.monotonic() - started:.1f} s)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
