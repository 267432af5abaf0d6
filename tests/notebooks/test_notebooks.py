"""Every lane of every notebook: `python -m pytest tests/notebooks -k 01_storage -x -q` runs those of one."""

from pathlib import Path

import pytest

from . import claims, files, form
from .compare import comparing
from .kernel import CPU, CUDA


def told(faults: list[str], path: Path) -> str:
    return f"{path.name}:\n  " + "\n  ".join(faults)


def test_there_are_notebooks(course):
    assert course, "no notebook found: the lanes would prove nothing"
    assert any(files.code_cells(files.read(path)) for path in course)


def test_every_claim_is_shown(course, claims_file):
    assert not (faults := claims.orphans(course, claims_file)), "\n".join(faults)


def test_stored_form(notebook, course):
    assert not (faults := form.faults(notebook, course)), told(faults, notebook)


def test_claims(notebook, course, claims_file):
    assert not (faults := claims.faults(notebook, course, claims_file)), told(faults, notebook)


@pytest.mark.cuda_lane
def test_nbval(notebook, nbval_run, request):
    report = nbval_run(CUDA if request.config.getoption("--cuda") else CPU)
    faults = report.faults(files.read(notebook), comparing()[0])
    assert not faults, told(faults, notebook)


@pytest.mark.slow
def test_nbval_on_the_suffix_kernel(notebook, nbval_run):
    """One stored output serves the CPU and CUDA: tensors that print a device pass with the same file."""
    faults = nbval_run("torchcourse-suffix").faults(files.read(notebook), comparing()[0])
    assert not faults, told(faults, notebook)


def test_rerun(notebook, lived):
    assert not lived.rerun, told(lived.rerun, notebook)


def test_state(notebook, lived):
    assert not lived.state, told(lived.state, notebook)


def test_budget(notebook, lived):
    assert not lived.budget, told(lived.budget, notebook)
