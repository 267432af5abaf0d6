"""The lanes' fixtures: one test per lane and notebook, one live kernel per notebook, a table of budgets."""

import subprocess
import sys
from pathlib import Path

import pytest

from . import claims, files, live, nbval_lane
from .compare import comparing
from .summary import BUDGET, COMPARED

# The notebooks that ran in a live kernel of this process.
_live = pytest.StashKey[dict[Path, live.Live]]()

_PROBE_GPU = "import torch; print(torch.ones(2, device='cuda').sum().item())"


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_live] = {}
    config.addinivalue_line("markers", "cuda_lane: runs with --cuda, on the CUDA kernel")


def _course(config: pytest.Config) -> list[Path]:
    folder = config.getoption("--notebooks") or files.NOTEBOOKS
    return files.find([], folder.resolve())


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "notebook" in metafunc.fixturenames:
        course = _course(metafunc.config)
        metafunc.parametrize("notebook", course, ids=[path.stem for path in course])


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """With --cuda only nbval runs; where no GPU computes, one sentence says so and nothing runs at all."""
    if not config.getoption("--cuda"):
        return
    chosen = [item for item in items if item.get_closest_marker("cuda_lane")]
    config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
    items[:] = chosen
    if reason := no_gpu():
        raise pytest.UsageError(
            f"The CUDA lane needs a GPU that computes, and here none does: {reason}. "
            "`torchcourse doctor` says what is missing; `python3 run.py test` needs no GPU."
        )


def no_gpu() -> str:
    """Why no GPU computes here; "" where one does. Asked of a process of its own, as the kernels are."""
    asked = subprocess.run([sys.executable, "-c", _PROBE_GPU], capture_output=True, text=True, timeout=300)
    lines = asked.stderr.strip().splitlines() or [f"the probe ended with status {asked.returncode}"]
    return lines[-1].rstrip(".") if asked.returncode else ""


@pytest.fixture(scope="session")
def course(request: pytest.FixtureRequest) -> list[Path]:
    """Every notebook of the course, the index too."""
    return _course(request.config)


@pytest.fixture(scope="session")
def claims_file(request: pytest.FixtureRequest) -> Path:
    return request.config.getoption("--claims") or claims.CLAIMS


@pytest.fixture
def lived(request: pytest.FixtureRequest, record_property, notebook: Path) -> live.Live:
    """What happened to the notebook in its live kernel; the first of the three lanes runs it."""
    seen = request.config.stash[_live]
    if notebook not in seen:
        told = seen[notebook] = live.run(notebook)
        record_property(BUDGET, [notebook.stem, told.cells, told.runs, told.seconds, told.peak, told.mark()])
    return seen[notebook]


@pytest.fixture
def nbval_run(record_property, notebook: Path):
    """Runs the notebook through nbval on a kernel, and remembers the report for the summary."""

    def run(kernel: str) -> nbval_lane.Report:
        report = nbval_lane.run(notebook, kernel, compare=comparing()[0])
        record_property(COMPARED, [report.compared, report.cells])
        return report

    return run
