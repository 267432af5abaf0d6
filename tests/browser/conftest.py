"""One server and one browser for all tests of the lane.

Their scope is the package, not the session: while Playwright is up, its event loop occupies the thread,
and the lanes that use asyncio come after this one.
"""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from . import chromium, lab

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = ROOT / "notebooks"


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    program = chromium.find()
    if program is None:
        pytest.skip(chromium.MISSING)
    with chromium.running(program) as started:
        yield started


@pytest.fixture(scope="package")
def jupyter(tmp_path_factory: pytest.TempPathFactory) -> Iterator[lab.Lab]:
    """A JupyterLab on a copy of the notebooks: it saves what it runs, and the originals stay."""
    place = tmp_path_factory.mktemp("browser")
    root = shutil.copytree(NOTEBOOKS, place / "root", ignore=shutil.ignore_patterns(".*"))
    with lab.running(root, place / "state") as started:
        yield started


@pytest.fixture(scope="package")
def pictures(pytestconfig: pytest.Config) -> Path | None:
    """Where a person finds what the browser showed; None where nobody asked, for painting takes time."""
    return pytestconfig.getoption("--pictures")
