"""Runs one notebook to its end, whatever fails, on the torch of the Python that runs this.

python -m tests.versions.observe NOTEBOOK FILE
"""

import ast
import hashlib
import os
import re
import sys
from difflib import SequenceMatcher
from html import unescape
from importlib import metadata
from pathlib import Path

from IPython.core.inputtransformer2 import TransformerManager
from nbformat import NotebookNode

from tests.notebooks import files
from tests.notebooks.compare import Tolerant
from tests.notebooks.files import NotebookError, tags
from tests.notebooks.form import EXEMPT
from tests.notebooks.kernel import Kernel, running, unforeseen_error
from tests.notebooks.normalise import clean, without_paths

from .seen import Cell, Seen, store

NOT_COMPARED = {"measured", *EXEMPT}  # their text is never the same twice
KEPT = 12  # lines of a difference: a table shows no more
_TAG = re.compile(r"<[^>]*>")
_BUILD = re.compile(r" ?\(Triggered internally at .*|(?<=\.cpp):\d+")  # where a build's own source stood


def observe(path: Path) -> Seen:
    """Every code cell of the notebook, in order; after an error the next one runs all the same."""
    notebook = files.read(path)
    seen: list[Cell] = []
    with running(notebook, path) as kernel:
        for number, cell in enumerate(notebook.cells, 1):
            if cell.cell_type == "code" and cell.source.strip():
                seen.append(_run(kernel, cell, number, seen))
    return Seen(metadata.version("torch"), path.stem, mark(path), tuple(seen))


def mark(path: Path) -> str:
    """Changes when the notebook or the package does, so that what was seen before no longer counts."""
    package = sorted((files.ROOT / "torchcourse").rglob("*.py"))
    digest = hashlib.sha256()
    for file in [path, *package]:
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def _run(kernel: Kernel, cell: NotebookNode, number: int, before: list[Cell]) -> Cell:
    claims = tuple(tag.removeprefix("claim:") for tag in tags(cell) if tag.startswith("claim:"))
    known = {"number": number, "claims": claims, "makes": tuple(sorted(bound(cell.source)))}
    try:
        ran = kernel.run(cell)
    except NotebookError as error:  # the kernel died: the cells below say the same
        return Cell(**known, error="DeadKernel", says=str(error))
    if error := unforeseen_error(ran):
        return Cell(**known, error=error.ename, says=without_paths(error.evalue).strip())
    stored, here = ((), ()) if NOT_COMPARED & set(tags(cell)) else difference(cell, ran)
    return Cell(**known, stored=stored, here=here)


def bound(source: str) -> set[str]:
    """The names that a cell leaves behind."""
    try:
        tree = ast.parse(TransformerManager().transform_cell(source))
    except SyntaxError:
        return set()
    names = {
        node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names |= {(alias.asname or alias.name).split(".")[0] for alias in node.names}
    return names


def difference(stored: NotebookNode, ran: NotebookNode) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The lines of text that went and came; floats are compared as nbval compares them."""
    for lines in (_printed, _page):
        old, new = ([Tolerant(line) for line in lines(cell)] for cell in (stored, ran))
        if old != new:
            return _parted(old, new)
    return (), ()


def _parted(old: list[Tolerant], new: list[Tolerant]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    # The hash of a line knows no tolerance: a line that is close to its neighbour takes its text first.
    close = [next((line for line in old if line == other), other) for other in new]
    blocks = SequenceMatcher(None, [str(line) for line in old], [str(line) for line in close]).get_opcodes()
    went = [str(line) for kind, a, b, _, _ in blocks if kind != "equal" for line in old[a:b]]
    came = [str(line) for kind, _, _, a, b in blocks if kind != "equal" for line in close[a:b]]
    return tuple(went[:KEPT]), tuple(came[:KEPT])


def _plain(text: str) -> str:
    return _BUILD.sub("", clean(text))


def _shown(cell: NotebookNode) -> list[dict[str, str]]:
    """What the cell displays, less the course's own note on this release."""
    data = [output.get("data", {}) for output in cell.outputs]
    return [one for one in data if 'class="tc-note"' not in one.get("text/html", "")]


def _printed(cell: NotebookNode) -> list[str]:
    texts = [out.text for out in cell.outputs if out.output_type == "stream" and out.name == "stdout"]
    texts += [data["text/plain"] for data in _shown(cell) if "text/plain" in data]
    return [line.rstrip() for text in texts for line in _plain(text).splitlines() if line.strip()]


def _page(cell: NotebookNode) -> list[str]:
    """The words of HTML: the answer to a prediction stands nowhere else."""
    texts = [data["text/html"] for data in _shown(cell) if "text/html" in data]
    lines = [unescape(line).strip() for text in texts for line in _TAG.sub("\n", _plain(text)).splitlines()]
    return [line for line in lines if line]


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # as where the outputs were stored: see tests/conftest.py
    store(Path(sys.argv[2]), observe(Path(sys.argv[1])))
