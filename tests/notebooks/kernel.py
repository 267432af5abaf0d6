"""One kernel for one notebook, driven by nbclient: runs cells, and answers questions about its own state."""

import ast
import json
import logging
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from pathlib import Path
from typing import Any

from jupyter_client.kernelspec import NoSuchKernel
from nbclient import NotebookClient
from nbclient.exceptions import CellTimeoutError, DeadKernelError
from nbformat import NotebookNode

from .files import NotebookError, place, tags

PROBE = Path(__file__).with_name("probe.py")
CPU, CUDA = "torchcourse-cpu", "torchcourse-cuda"
CELL_TIMEOUT = 180  # seconds; a cell of the course takes a few


def probe_loader() -> str:
    """Code that loads probe.py into a kernel as a module of its own and leaves no name behind."""
    return (
        "def _load():\n"
        "    import importlib.util, sys\n"
        f"    spec = importlib.util.spec_from_file_location('notebook_probe', {str(PROBE)!r})\n"
        "    sys.modules['notebook_probe'] = module = importlib.util.module_from_spec(spec)\n"
        "    spec.loader.exec_module(module)\n"
        "_load()\n"
        "del _load\n"
    )


class Kernel:
    """A running kernel. `run` executes a cell; `ask` reads the probe and leaves no trace in the notebook."""

    def __init__(self, client: NotebookClient, notebook: NotebookNode, name: str) -> None:
        self._client = client
        self._notebook = notebook
        self._name = name
        self._tell(code=probe_loader())

    def run(self, cell: NotebookNode) -> NotebookNode:
        """A copy of the cell with the outputs and the count of this run; NotebookError where none come."""
        index = next(i for i, other in enumerate(self._notebook.cells) if other is cell)
        try:
            return self._client.execute_cell(deepcopy(cell), index)
        except CellTimeoutError:
            said = f"ran longer than {self._client.timeout} s and was stopped"
        except DeadKernelError:
            said = "ended the kernel: the process died (out of memory, a crash in native code, or an exit)"
        finally:
            self._notebook.cells[index] = cell  # nbclient puts its copy there
        raise NotebookError(f"{self._name}, {place(self._notebook, cell)} {said}.")

    def ask(self, question: str) -> Any:
        """The answer of `probe.<question>()`, which is JSON."""
        reply = self._tell(user_expressions={"answer": f"__import__('notebook_probe').{question}()"})
        answer = reply["user_expressions"]["answer"]
        if answer["status"] != "ok":
            raise NotebookError(f"{self._name}: the probe failed: {answer['ename']}: {answer['evalue']}.")
        return json.loads(ast.literal_eval(answer["data"]["text/plain"]))

    def _tell(self, code: str = "", **options: Any) -> dict:
        """A silent request: it leaves no count and no output in the notebook."""
        try:
            sent = self._client.kc.execute(code, silent=True, store_history=False, **options)
            return self._client.wait_for_reply(sent)["content"]
        except DeadKernelError:
            raise NotebookError(f"{self._name}: the kernel died between two cells.") from None


def unforeseen_error(cell: NotebookNode) -> NotebookNode | None:
    """The error that a cell ended with, where its tags don't announce one."""
    if {"raises-exception", "nbval-raises-exception"} & set(tags(cell)):
        return None
    return next((output for output in cell.outputs if output.output_type == "error"), None)


@contextmanager
def running(
    notebook: NotebookNode, path: Path, name: str = CPU, timeout: int = CELL_TIMEOUT
) -> Iterator[Kernel]:
    """Starts a kernel in the notebook's folder, as JupyterLab does, and ends it."""
    client = NotebookClient(
        notebook,
        kernel_name=name,
        timeout=timeout,
        allow_errors=True,  # an error is an output; who runs the cell decides
        store_widget_state=False,
        record_timing=False,
        coalesce_streams=True,
        shutdown_kernel="immediate",
        resources={"metadata": {"path": str(path.parent)}},
    )
    client.log.setLevel(logging.CRITICAL)  # what matters is raised
    client.comm_open_handlers.pop("jupyter.widget", None)  # nbclient #312: its sends can hang a cell
    try:
        with client.setup_kernel(stderr=subprocess.DEVNULL):  # what a kernel logs is no output
            yield Kernel(client, notebook, path.name)
    except NoSuchKernel:
        raise NotebookError(
            f"The kernel {name} is not installed; `pip install -e .` at the top of the repository does it."
        ) from None
