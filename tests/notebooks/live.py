"""One kernel for three lanes: runs a notebook again in several orders, and watches state, network and memory.

A learner runs cells twice, goes back, jumps about. After one full pass every cell must show the same
thing in any order, and leave the process as it found it.
"""

import random
import time
from dataclasses import dataclass, field
from pathlib import Path

from nbformat import NotebookNode

from . import files
from .files import NotebookError, place, tags
from .form import EXEMPT
from .kernel import CELL_TIMEOUT, CPU, Kernel, running, unforeseen_error
from .normalise import WIDGET_VIEW, clean

MAX_PEAK, MARKED_PEAK = 2**30, 500 * 10**6  # bytes: what Binder gives; what leaves room for a second notebook
SECONDS = 8  # of computing in one pass; marked, never a reason to fail: machines differ
SEEDS = (1, 2)


@dataclass
class Live:
    """What happened to one notebook: sentences per lane, and its budgets."""

    cells: int = 0
    runs: int = 0
    seconds: float = 0.0  # of the first pass, without the start of the kernel
    peak: int = 0  # bytes, over all passes
    rerun: list[str] = field(default_factory=list)
    state: list[str] = field(default_factory=list)
    budget: list[str] = field(default_factory=list)

    def mark(self) -> str:
        """A word for the table."""
        if self.peak > MAX_PEAK:
            return "too large for Binder"
        return ", ".join(
            ["over 500 MB"] * (self.peak > MARKED_PEAK) + [f"over {SECONDS} s"] * (self.seconds > SECONDS)
        )


def orders(count: int) -> dict[str, list[int]]:
    """The passes after the first: their names, and the cells in the order in which they run."""
    passes = {"backwards, each twice": [i for i in reversed(range(count)) for _ in range(2)]}
    for seed in SEEDS:
        passes[f"random order {seed}"] = random.Random(seed).sample(range(count), count)
    return passes


def run(path: Path, kernel: str = CPU, timeout: int = CELL_TIMEOUT, again: bool = True) -> Live:
    """Runs the notebook; whatever goes wrong is in the result, nothing is raised."""
    live = Live()
    try:
        notebook = files.read(path)
        cells = [cell for cell in files.code_cells(notebook) if cell.source.strip()]
        live.cells = len(cells)
        if cells:  # a page without code needs no kernel
            with running(notebook, path, kernel, timeout) as started:
                _passes(_Watch(started, notebook, live), cells, again)
    except NotebookError as error:
        for lane in (live.rerun, live.state, live.budget):
            lane.append(str(error))
    return live


def _passes(watch: "_Watch", cells: list[NotebookNode], again: bool) -> None:
    started = time.monotonic()
    first = [watch.run(cell, "first pass") for cell in cells]
    watch.live.seconds = time.monotonic() - started
    for name, order in (orders(len(cells)) if again else {}).items():
        for index in order:
            shown = watch.run(cells[index], name)
            if not EXEMPT & set(tags(cells[index])) and shown != first[index]:
                watch.differs(cells[index], name, first[index], shown)
    watch.weigh()


class _Watch:
    """Runs cells and asks, after each, what it changed and whom it called."""

    def __init__(self, kernel: Kernel, notebook: NotebookNode, live: Live) -> None:
        self.kernel, self.notebook, self.live = kernel, notebook, live

    def run(self, cell: NotebookNode, name: str) -> list:
        ran = self.kernel.run(cell)
        self.live.runs += 1
        where = f"{place(self.notebook, cell)}, {name}:"
        if error := unforeseen_error(ran):
            _note(self.live.rerun, f"{where} raises {error.ename}: {error.evalue}")
        told = self.kernel.ask("after_cell")
        for said in told["changes"]:
            _note(self.live.state, f"{where} {said}.")
        for host in told["refused"]:
            _note(self.live.state, f"{where} asks the network for {host}.")
        self.live.peak = max(self.live.peak, told["peak"])
        return shown(ran)

    def differs(self, cell: NotebookNode, name: str, before: list, after: list) -> None:
        pairs = [(old, new) for old, new in zip(before, after, strict=False) if old != new]
        old, new = pairs[0] if pairs else (f"{len(before)} outputs", f"{len(after)} outputs")
        _note(
            self.live.rerun, f"{place(self.notebook, cell)}, {name}: shows {new!s:.200} after {old!s:.200}."
        )

    def weigh(self) -> None:
        if self.live.peak > MAX_PEAK:
            said = f"the kernel held {self.live.peak / 2**30:.2f} GiB at its peak; Binder gives 1 GiB."
            _note(self.live.budget, said)


def _note(lane: list[str], said: str) -> None:
    if len(lane) < 20:  # one fault early on makes every later cell differ
        lane.append(said)


def shown(cell: NotebookNode) -> list:
    """What a reader sees: texts without what may differ, and of pictures and views that they are there."""
    return [seen for output in cell.outputs if (seen := _seen(output))]


def _seen(output: NotebookNode) -> tuple | None:
    if output.output_type == "stream":
        return None if output.name == "stderr" else ("stdout", clean(output.text))
    if output.output_type == "error":
        return "error", output.ename, clean(output.evalue)
    kinds = {
        kind: clean(value) if isinstance(value, str) and _is_text(kind) else "(there)"
        for kind, value in output.data.items()
    }
    return output.output_type, tuple(sorted(kinds.items()))


def _is_text(kind: str) -> bool:
    return kind != WIDGET_VIEW and (kind.startswith("text/") or kind == "image/svg+xml")
