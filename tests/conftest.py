"""Options of the whole test suite. The lanes' own fixtures stand beside them."""

import os
from pathlib import Path

import pytest

from tests.notebooks import summary

# The suite runs in several processes, and each starts kernels. Threads that wait for one another on a busy
# core spin: a cell of 5 s then took over 180 s.
os.environ.setdefault("OMP_NUM_THREADS", "1")


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("torchcourse")
    group.addoption("--cuda", action="store_true", help="only nbval, on the CUDA kernel")
    group.addoption("--slow", action="store_true", help="only the tests that take minutes")
    group.addoption("--notebooks", type=Path, metavar="FOLDER", help="notebooks of another folder")
    group.addoption("--alloc-real", metavar="FOLDER", help="allocator traces recorded on real GPUs")
    group.addoption("--claims", type=Path, metavar="FILE", help="claims of another file")
    group.addoption("--pictures", type=Path, metavar="FOLDER", help="keep what the browser showed there")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """A test runs in its own lane: the slow ones with --slow, all others without."""
    slow = config.getoption("--slow")
    chosen = [item for item in items if bool(item.get_closest_marker("slow")) == slow]
    if len(chosen) < len(items):
        config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
        items[:] = chosen


@pytest.hookimpl(optionalhook=True)  # pytest-xdist calls it, where it is installed
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> object:
    """Hands tests to the processes one by one, in their order, and keeps together what `_together` says."""
    from xdist.scheduler import LoadScopeScheduling

    class Scheduling(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return _together(nodeid)

    return Scheduling(config, log)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    # Here, not beside the lanes: with several processes, the first one loads no conftest below this.
    summary.write(terminalreporter)


def _together(nodeid: str) -> str:
    """What must run in one process: the lanes that share a notebook's kernel, and tests on one open page."""
    file, _, test = nodeid.partition("::")
    if file.startswith("tests/web/"):  # they share a site that one of them builds
        return file
    name, _, parameter = test.partition("[")
    if name in ("test_rerun", "test_state", "test_budget"):
        return f"{file} {parameter}"
    alone = "tests/browser/test_notebooks.py" in file or "tests/browser/" not in file
    return nodeid if alone and not file.endswith("test_live.py") else file
