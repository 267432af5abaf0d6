"""What the nbval lane adds to nbval, inside the pytest that nbval_lane starts.

Floats get a tolerance, stderr and SVG are not compared (both depend on the machine), a trailing
semicolon silences a cell as it does in JupyterLab, a dead kernel is noticed at once, and a report
tells how many cells were really compared.
"""

import json
from functools import partial
from pathlib import Path
from queue import Empty

from nbval.plugin import IPyNbCell, IPyNbFile

from .compare import Tolerant
from .kernel import probe_loader

_report = {"cells": 0, "compared": 0, "failures": []}


class LaneFile(IPyNbFile):
    """A notebook: its kernel keeps the network out and counts executions, as JupyterLab's does."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.skip_compare += ("stderr", "image/svg+xml")
        self.compare_outputs = not self.config.getoption("--lane-run-only")

    def collect(self):
        for cell in super().collect():
            yield LaneCell.from_parent(
                self, name=cell.name, cell_num=cell.cell_num, cell=cell.cell, options=cell.options
            )

    def setup(self):
        super().setup()
        # nbval #194: without history IPython ignores a trailing semicolon.
        self.kernel.execute_cell_input = partial(
            self.kernel.kc.execute, store_history=True, stop_on_error=False
        )
        self.kernel.await_reply = partial(_await_reply, self.kernel, self.kernel.await_reply)
        sent = self.kernel.kc.execute(probe_loader(), silent=True, store_history=False)
        self.kernel.await_reply(sent, timeout=30)


def _await_reply(kernel, wait, msg_id, timeout):
    """nbval waits for the whole time limit when a kernel died; a look every second finds it dead."""
    left = timeout
    while True:
        try:
            return wait(msg_id, timeout=min(1, left))
        except Empty:
            if not kernel.is_alive():
                raise RuntimeError("The kernel died while this cell ran.") from None
            left -= 1
            if left <= 0:
                raise


class LaneCell(IPyNbCell):
    """A code cell: texts are compared with a tolerance for floats, and each comparison is counted."""

    def sanitize(self, s):
        cleaned = super().sanitize(s)
        return Tolerant(cleaned) if isinstance(cleaned, str) else cleaned

    def compare_outputs(self, *args, **kwargs):
        _report["compared"] += 1
        return super().compare_outputs(*args, **kwargs)


def pytest_collect_file(file_path, parent):
    # In the place of nbval's own hook (switched on by --nbval), which knows its own classes only.
    return LaneFile.from_parent(parent, path=file_path) if file_path.suffix == ".ipynb" else None


def pytest_addoption(parser):
    parser.addoption("--lane-report", type=Path, required=True, help="where the report goes, as JSON")
    parser.addoption("--lane-run-only", action="store_true", help="run the cells, compare nothing")


def pytest_collection_finish(session):
    _report["cells"] = len(session.items)


def pytest_collectreport(report):
    if report.failed:
        _report["failures"].append(report.longreprtext)


def pytest_runtest_logreport(report):
    if report.failed:
        _report["failures"].append(report.longreprtext)


def pytest_sessionfinish(session):
    session.config.getoption("--lane-report").write_text(json.dumps(_report), encoding="utf-8")
