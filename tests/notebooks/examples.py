"""Small notebooks for the lanes' own tests: a good one, and ways to spoil it."""

from pathlib import Path

from nbformat import NotebookNode, from_dict
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output

from . import files
from .normalise import normalise


def result(text: str) -> NotebookNode:
    return new_output("execute_result", data={"text/plain": text}, execution_count=1)


def printed(text: str) -> NotebookNode:
    return new_output("stream", name="stdout", text=text)


def code(source: str, *outputs: NotebookNode, tags: tuple[str, ...] = ()) -> NotebookNode:
    """A code cell as if it had run."""
    return _without_id(
        new_code_cell(source, outputs=list(outputs), execution_count=1, metadata={"tags": list(tags)})
    )


def text(source: str, tags: tuple[str, ...] = ()) -> NotebookNode:
    cell = _without_id(new_markdown_cell(source))
    if tags:
        cell.metadata["tags"] = list(tags)
    return cell


def _without_id(cell: NotebookNode) -> NotebookNode:
    del cell["id"]  # nbformat draws one at random; the normal form makes one from the source
    return cell


def notebook(*given: NotebookNode) -> NotebookNode:
    """A notebook in its stored form."""
    cells = [text("# An example"), *given]
    return normalise(from_dict({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))


def good() -> NotebookNode:
    """Green in every lane; needs no torch, so it is fast."""
    return notebook(
        code("import math\n\nmath.pi", result("3.141592653589793"), tags=("claim:X-1",)),
        text("## A second idea\n\n[This page](good.ipynb#An-example) has a [part](#A-second-idea)."),
        code("numbers = [1, 2]\nprint(len(numbers))", printed("2\n")),
        code('print("silenced below")\n42;', printed("silenced below\n")),
    )


def with_tensor() -> NotebookNode:
    """Shows a tensor; on a kernel that names a device the stored text must still serve."""
    shown = "tensor([0.0000, 0.3333, 0.6667])"
    long = "tensor([[0, 1, 2],\n        [3, 4, 5]], dtype=torch.int32)"
    return notebook(
        code("import torch\n\ntorch.arange(3) / 3", result(shown)),
        code("torch.arange(6, dtype=torch.int32).reshape(2, 3)", result(long)),
    )


def store(folder: Path, stored: NotebookNode, name: str = "good") -> Path:
    path = folder / f"{name}.ipynb"
    files.write(path, stored)
    return path


def store_cells(folder: Path, *cells: NotebookNode) -> Path:
    return store(folder, notebook(*cells))
