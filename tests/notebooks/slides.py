"""Where a slide begins: made from a cell's place and size, so that nobody keeps it by hand.

The metadata is the `slideshow` of the notebook format, which jupyterlab-rise and `nbconvert --to slides`
read. A heading begins a slide; below it, cells stay together as long as they fit on a screen of
1280 × 720; what answers a prediction comes when it is called for; hints and solutions are speaker's notes.
"""

import base64
import re
from collections.abc import Iterator
from itertools import chain

from nbformat import NotebookNode

from .files import tags

ROOM = 660  # pixels of a screen of 720, at the size that jupyterlab-rise gives to cells
LINE, CODE_LINE, GAP = 24, 18, 22
HEADINGS = {1: 120, 2: 80, 3: 60}
COLUMNS = 150  # characters in a line of prose
_HEADING = re.compile(r"^(#{1,3}) ", re.M)
_FENCED = re.compile(r"^```.*?^```", re.M | re.S)
_HEIGHT = re.compile(r'<svg\b[^>]*?\bheight="([\d.]+)(pt)?')


def slide_types(cells: list[NotebookNode]) -> Iterator[str | None]:
    """For each cell its slide type; None: it stays on the slide that is."""
    used, answers = 0, False
    for cell, after in zip(cells, chain(cells[1:], [None]), strict=False):
        if hidden := _hidden(cell):
            yield hidden
            continue
        level, needs = _level(cell), _height(cell)
        full = used + _unit(cell, after) > ROOM
        begins = "slide" if level in (1, 2) else "subslide" if level or full else None
        answers = answers and not begins
        yield begins or ("fragment" if answers else None)
        used = needs if begins else used + needs
        # All up to the next code cell belongs to the answer.
        answers = "predict" in tags(cell) or (answers and cell.cell_type == "markdown")


def _hidden(cell: NotebookNode) -> str | None:
    """Bars are no slides; what is folded in the notebook is the speaker's."""
    if "nav" in tags(cell):
        return "skip"
    if cell.cell_type == "markdown":
        return "notes" if "solution" in tags(cell) or "<details" in cell.source else None
    return "skip" if "solution" in tags(cell) else None


def _level(cell: NotebookNode) -> int:
    """The level of a text's first heading; 0 where it has none."""
    text = _FENCED.sub("", cell.source) if cell.cell_type == "markdown" else ""
    return len(heading[1]) if (heading := _HEADING.search(text)) else 0


def _unit(cell: NotebookNode, after: NotebookNode | None) -> int:
    """A text keeps the code that it speaks of: both or none fit."""
    together = cell.cell_type == "markdown" and after is not None and after.cell_type == "code"
    return _height(cell) + (_height(after) if together else 0)


def _height(cell: NotebookNode) -> int:
    """Pixels, roughly."""
    lines = cell.source.splitlines()
    if cell.cell_type == "markdown":
        rows = sum(1 + len(line) // COLUMNS for line in lines if line.strip())
        return GAP + rows * LINE + HEADINGS.get(_level(cell), 0)
    source = 0 if "predict" in tags(cell) else GAP + len(lines) * CODE_LINE
    return source + sum(_output_height(output) for output in cell.get("outputs", []))


def _output_height(output: NotebookNode) -> int:
    data = output.get("data", {})
    if svg := data.get("image/svg+xml"):
        found = _HEIGHT.search(svg)
        return GAP + round(float(found[1]) * (4 / 3 if found[2] else 1)) if found else ROOM // 2
    if png := data.get("image/png"):
        return GAP + int.from_bytes(base64.b64decode(png[:64])[20:24], "big")  # where its header says so
    if html := data.get("text/html"):
        return GAP + LINE * (len(re.findall(r"<(?:tr|p|summary|li|h\d)\b", html)) + 1)
    text = "\n".join(output.get("traceback", [])) or output.get("text", "") or data.get("text/plain", "")
    return GAP // 2 + CODE_LINE * (text.count("\n") + 1)
