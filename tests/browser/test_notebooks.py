"""Every notebook in a real JupyterLab: it runs, it shows, everybody can use it, and it asks nobody else."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser

from .conftest import NOTEBOOKS
from .lab import Lab
from .visit import visit

ALL = sorted(NOTEBOOKS.glob("*.ipynb"))


def test_there_are_notebooks() -> None:
    assert ALL, f"{NOTEBOOKS.name}/ holds no notebook, so this lane would be green without having looked."


@pytest.mark.parametrize("notebook", ALL, ids=lambda path: path.stem)
def test_in_browser(notebook: Path, browser: Browser, jupyter: Lab, pictures: Path | None) -> None:
    findings = visit(browser, jupyter, notebook.name, pictures)
    assert not findings, "\n".join(map(str, findings))
