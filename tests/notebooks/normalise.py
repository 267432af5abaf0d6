"""The one stored form of a notebook: two runs give the same bytes, and a diff shows content only."""

import hashlib
import re
from copy import deepcopy

import nbformat
from nbformat import NotebookNode

from .files import tags
from .slides import slide_types

KERNELSPEC = {"display_name": "torchcourse (CPU)", "language": "python", "name": "torchcourse-cpu"}
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"

_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
# Only where Python prints an object's address: an address that a model of memory computed is a result.
_ADDRESS = re.compile(r"\bat 0x[0-9a-fA-F]+")
# A path begins where a word begins: without that a long line of text would take quadratic time.
_CELL_FILE = re.compile(r"(?<![^\s\"'<>()])[^\s\"'<>()]*[/\\]ipykernel_\d+[/\\]\d+\.py")
_PATH = re.compile(r"(?<![^\s\"'<>(),=])(?:[A-Za-z]:|~)?[/\\][^\s\"'<>():]+")
_LIBRARY = re.compile(r".*[/\\](?:site-packages|lib[/\\]python3\.\d+)[/\\]")


def normalise(notebook: NotebookNode) -> NotebookNode:
    """A copy of the notebook in its stored form; a notebook in that form comes back equal."""
    cells = _cells(deepcopy(notebook.cells))
    metadata = {"kernelspec": dict(KERNELSPEC), "language_info": {"name": "python"}}
    stored = nbformat.from_dict({"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5})
    for cell, kind in zip(stored.cells, slide_types(stored.cells), strict=True):
        if kind:
            cell.metadata["slideshow"] = {"slide_type": kind}
    return stored


def source_mark(cell: NotebookNode) -> str:
    """A short mark of the source: a measured cell carries the mark of the source that was measured."""
    return hashlib.sha256(cell.source.encode()).hexdigest()[:16]


def clean(text: str) -> str:
    """A text without what differs from run to run: addresses in reprs, the kernel's file names for cells."""
    return _ADDRESS.sub("at 0x…", _CELL_FILE.sub("<cell>", text))


def without_paths(text: str) -> str:
    """A traceback's or a warning's text without colours, and without the folders of this machine."""
    return _PATH.sub(_shorten, clean(_ANSI.sub("", text)))


def _shorten(path: re.Match[str]) -> str:
    """A library's file from the library on, any other Python file by its name; other texts stay."""
    if library := _LIBRARY.match(path[0]):
        return "…/" + path[0][library.end() :]
    return "…/" + re.split(r"[/\\]", path[0])[-1] if path[0].endswith(".py") else path[0]


def _cells(cells: list[NotebookNode]) -> list[dict]:
    seen: set[str] = set()
    count = 0
    stored = []
    for cell in cells:
        kept = {"cell_type": cell.cell_type, "id": _cell_id(cell, seen), "metadata": _metadata(cell)}
        kept["source"] = cell.source
        if cell.get("attachments"):
            kept["attachments"] = cell.attachments
        if cell.cell_type == "code":
            count += 1
            kept["execution_count"] = None if cell.get("execution_count") is None else count
            kept["outputs"] = _outputs(cell.get("outputs", []), kept["execution_count"])
        stored.append(kept)
    return stored


def _cell_id(cell: NotebookNode, seen: set[str]) -> str:
    """The cell's own id where it is valid and the first of its kind, else one made from the text."""
    wanted = cell.get("id", "")
    if not _ID.fullmatch(wanted) or wanted in seen:
        mark = wanted = hashlib.sha256(f"{cell.cell_type}\n{cell.source}".encode()).hexdigest()[:8]
        again = 1
        while wanted in seen:
            again += 1
            wanted = f"{mark}-{again}"
    seen.add(wanted)
    return wanted


def _metadata(cell: NotebookNode) -> dict:
    keys = ["tags"] + (["measured_source"] if "measured" in tags(cell) else [])
    kept = {key: cell.metadata[key] for key in keys if cell.get("metadata", {}).get(key)}
    if "predict" in tags(
        cell
    ):  # the source gives the answer away: JupyterLab folds it, running it works as ever
        kept["jupyter"] = {"source_hidden": True}
    return kept


def _outputs(outputs: list[NotebookNode], count: int | None) -> list[dict]:
    kept: list[dict] = []
    streams: dict[str, dict] = {}
    for output in outputs:
        kind = output.output_type
        if kind == "stream":
            if output.name in streams:
                streams[output.name]["text"] += output.text
                continue
            streams[output.name] = {"output_type": "stream", "name": output.name, "text": output.text}
            kept.append(streams[output.name])
        elif kind == "error":
            kept.append(_error(output))
        elif data := _data(output.data):
            kept.append({"output_type": kind, "data": data, "metadata": {}})
            if kind == "execute_result":
                kept[-1]["execution_count"] = count
    for name, stream in streams.items():
        stream["text"] = without_paths(stream["text"]) if name == "stderr" else clean(stream["text"])
    return kept


def _data(data: dict) -> dict:
    """What a page without a kernel can show: the view itself lives in the kernel, its twins stay."""
    return {
        kind: clean(value) if isinstance(value, str) and not kind.startswith("image/") else value
        for kind, value in data.items()
        if kind != WIDGET_VIEW
    }


def _error(output: NotebookNode) -> dict:
    return {
        "output_type": "error",
        "ename": output.ename,
        "evalue": without_paths(output.evalue),
        "traceback": [without_paths(line) for line in output.traceback],
    }
