"""What the views of a notebook hold: run it once in a kernel of its own, keep the views' state, drop the rest."""

import hashlib
import logging
import subprocess
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jupyter_client.kernelspec import NoSuchKernel
from nbclient import NotebookClient
from nbclient.exceptions import CellTimeoutError, DeadKernelError
from nbformat import NotebookNode

from tests.notebooks.files import NotebookError, place
from tests.notebooks.kernel import CELL_TIMEOUT, CPU, unforeseen_error

WIDGET, SVG = "application/vnd.jupyter.widget-view+json", "image/svg+xml"


@dataclass(frozen=True)
class View:
    """A view as the browser needs it: its script, its style, what it shows (plain data), and its text twin."""

    script: str
    style: str
    state: dict[str, Any]
    twin: str

    @property
    def key(self) -> str:
        """A name for the script; views of one kind share it."""
        return hashlib.sha256(self.script.encode()).hexdigest()[:12]


def pictures(cell: NotebookNode) -> list[NotebookNode]:
    """The stored outputs of a cell that a view may stand behind: those with a static picture."""
    return [output for output in cell.get("outputs", []) if SVG in output.get("data", {})]


def collect(notebook: NotebookNode, path: Path) -> dict[str, list[View]]:
    """Cell id -> its views, in order. A notebook without pictures is not run.

    Raises NotebookError (one sentence) where a cell fails, or shows other views than are stored.
    """
    if not any(pictures(cell) for cell in notebook.cells):
        return {}
    ran = deepcopy(notebook)
    client = _run(ran, path)
    found = {}
    for cell in ran.cells:
        _check(cell, ran, path)
        shown = [output.data for output in cell.get("outputs", []) if WIDGET in output.get("data", {})]
        found[cell.id] = [_view(client.widget_state[data[WIDGET]["model_id"]], data) for data in shown]
    for cell in notebook.cells:
        stored, live = len(pictures(cell)), len(found[cell.id])
        if live not in (0, stored):
            raise NotebookError(
                f"{path.name}, {place(notebook, cell)} shows {live} views and has {stored} stored pictures. "
                f"{_mend(path)}"
            )
    return {cell: views for cell, views in found.items() if views}


def _mend(path: Path) -> str:
    return f"Run `python3 run.py write {path.stem}`, then build again."


def _run(notebook: NotebookNode, path: Path) -> NotebookClient:
    """The client that ran all cells, with the state of every widget."""
    client = NotebookClient(
        notebook,
        kernel_name=CPU,
        timeout=CELL_TIMEOUT,
        allow_errors=True,  # an expected error is an output; `_check` tells the others
        store_widget_state=True,
        shutdown_kernel="immediate",
        resources={"metadata": {"path": str(path.parent)}},
    )
    client.log.setLevel(logging.CRITICAL)  # what matters is raised
    client.comm_open_handlers.pop("jupyter.widget", None)  # nbclient #312: its sends can hang a cell
    try:
        client.execute(stderr=subprocess.DEVNULL)
    except CellTimeoutError:
        raise NotebookError(
            f"{path.name}: a cell ran longer than {CELL_TIMEOUT} s and was stopped."
        ) from None
    except DeadKernelError:
        raise NotebookError(
            f"{path.name}: the kernel died (out of memory, or a crash in native code)."
        ) from None
    except NoSuchKernel:
        raise NotebookError(f"The kernel {CPU} is not installed; `pip install -e .` does it.") from None
    return client


def _check(cell: NotebookNode, notebook: NotebookNode, path: Path) -> None:
    error = unforeseen_error(cell) if cell.cell_type == "code" else None
    if error:
        raise NotebookError(
            f"{path.name}, {place(notebook, cell)} raised {error.ename}: {error.evalue}. "
            f"Mend the cell. {_mend(path)}"
        )


def _view(state: dict[str, Any], shown: NotebookNode) -> View:
    """Of a widget's state: its script, its style, and the traits of its own (ipywidgets' begin with _)."""
    common = ("layout", "tabbable", "tooltip")
    own = {name: value for name, value in state.items() if not name.startswith("_") and name not in common}
    return View(state["_esm"], state.get("_css", ""), own, shown.get("text/plain", ""))
