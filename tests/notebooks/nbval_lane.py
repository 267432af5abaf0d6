"""The nbval lane: runs one notebook through nbval in a pytest of its own, and reads its report."""

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from nbformat import NotebookNode

from . import files
from .kernel import CELL_TIMEOUT, CPU

HERE = Path(__file__).parent
SANITIZE = HERE / "sanitize.cfg"
NOT_COMPARED = "nbval-ignore-output"


@dataclass(frozen=True)
class Report:
    """What nbval did with a notebook: code cells seen, cells compared, and a text per failure."""

    cells: int
    compared: int
    failures: tuple[str, ...]
    status: int

    def faults(self, notebook: NotebookNode, comparing: bool = True) -> list[str]:
        """Sentences on what is wrong; a run that compared fewer cells than it should is one."""
        found = list(self.failures)
        code = files.code_cells(notebook)
        exempt = sum(NOT_COMPARED in files.tags(cell) for cell in code)
        due = len(code) - exempt if comparing else 0
        if self.cells != len(code):
            found.append(f"nbval saw {self.cells} code cells of {len(code)}.")
        if self.compared != due and not found:
            found.append(
                f"nbval compared {self.compared} cells; {len(code)} less {exempt} exempt make {due}."
            )
        if self.status not in (0, 5 if not code else 0) and not found:
            found.append(f"nbval's pytest ended with status {self.status}.")
        return found


def run(
    path: Path,
    kernel: str = CPU,
    compare: bool = True,
    sanitize: Path | None = SANITIZE,
    timeout: int = CELL_TIMEOUT,
) -> Report:
    """Every code cell of the notebook, in order, on the kernel; strict comparison where `compare` says so."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.json")
        command = [sys.executable, "-m", "pytest", str(path), *_options(kernel, sanitize, timeout)]
        command += ["--lane-report", str(report)] + ([] if compare else ["--lane-run-only"])
        limit = 600 + 5 * timeout  # seconds for the whole, should nbval itself not come back
        try:
            done = subprocess.run(
                command, cwd=files.ROOT, env=_environment(), capture_output=True, text=True, timeout=limit
            )
        except subprocess.TimeoutExpired:
            return Report(0, 0, (f"nbval did not come back within {limit} s and was stopped.",), -1)
        if not report.is_file():
            return Report(0, 0, (f"nbval did not start:\n{done.stdout}{done.stderr}",), done.returncode)
        told = json.loads(report.read_text(encoding="utf-8"))
    return Report(told["cells"], told["compared"], tuple(told["failures"]), done.returncode)


def _options(kernel: str, sanitize: Path | None, timeout: int) -> list[str]:
    modules = ("tests.notebooks.lean", "nbval.plugin", "tests.notebooks.nbval_plugin", "no:cacheprovider")
    plugins = [word for module in modules for word in ("-p", module)]
    chosen = ["--nbval-kernel-name", kernel, "--nbval-cell-timeout", str(timeout)]
    quiet = ["--noconftest", "--color=no", "-q"]
    return plugins + chosen + quiet + (["--nbval-sanitize-with", str(sanitize)] if sanitize else [])


def _environment() -> dict[str, str]:
    """Only the plugins named above, and the suffix kernel beside the installed ones."""
    known = [str(HERE / "suffix"), os.environ.get("JUPYTER_PATH", "")]
    return os.environ | {
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "PYTEST_ADDOPTS": "",
        "JUPYTER_PATH": os.pathsep.join(filter(None, known)),
    }
