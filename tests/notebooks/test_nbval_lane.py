"""The nbval lane: a good notebook is green and really compared, each fault turns it red."""

from nbformat import NotebookNode

from . import files, nbval_lane
from .examples import code, good, notebook, result, store, with_tensor

SUFFIX = "torchcourse-suffix"


def faults(tmp_path, stored: NotebookNode, **options) -> list[str]:
    return nbval_lane.run(store(tmp_path, stored), **options).faults(stored)


def test_a_good_notebook_is_compared(tmp_path):
    report = nbval_lane.run(store(tmp_path, good()))
    assert report == nbval_lane.Report(cells=3, compared=3, failures=(), status=0)
    assert report.faults(good()) == []


def test_changed_outputs_and_errors(tmp_path):
    """Several faults in one kernel: each cell is judged for itself."""
    stored = notebook(
        code("1 + 1", result("3")),
        code("0.5001", result("0.5")),
        code("1 / 0"),
        code("def f(:"),
        code("2", result("2")),
    )
    first, second, third = faults(tmp_path, stored)
    assert "Cell 0: Cell outputs differ" in first
    assert "ZeroDivisionError" in second and "SyntaxError" in third


def test_a_missing_count_is_not_compared_and_so_red(tmp_path):
    stored = notebook(code("1", result("1")), code("2"))
    files.code_cells(stored)[1].execution_count = None
    (said,) = faults(tmp_path, stored)
    assert "compared 1 cells; 2 less 0" in said


def test_an_exemption_is_counted(tmp_path):
    stored = notebook(code("1", result("1")), code("2", result("3"), tags=("nbval-ignore-output",)))
    assert faults(tmp_path, stored) == []


def test_running_without_comparing(tmp_path):
    stored = notebook(code("1", result("2")))
    report = nbval_lane.run(store(tmp_path, stored), compare=False)
    assert report.compared == 0 and report.faults(stored, comparing=False) == []
    assert report.faults(stored, comparing=True)


def test_the_network_is_out_of_reach(tmp_path):
    stored = notebook(code("import socket\n\nsocket.create_connection(('192.0.2.1', 80))"))
    assert "must not use the network" in faults(tmp_path, stored)[0]


def test_a_dying_kernel(tmp_path):
    found = faults(tmp_path, notebook(code("import os\n\nos._exit(1)"), code("1", result("1"))))
    assert "The kernel died" in found[0] and "Kernel dead" in found[1]


def test_a_hanging_cell(tmp_path):
    found = faults(tmp_path, notebook(code("while True:\n    pass"), code("1", result("1"))), timeout=2)
    assert "Timeout of 2 seconds" in found[0]


def test_a_kernel_that_is_not_there(tmp_path):
    assert "no-such-kernel" in faults(tmp_path, good(), kernel="no-such-kernel")[0]


def test_invalid_json(tmp_path):
    path = tmp_path / "broken.ipynb"
    path.write_text("{", encoding="utf-8")
    report = nbval_lane.run(path)
    assert report.faults(good()) and "JSON" in report.failures[0]


def test_a_page_without_code(tmp_path):
    assert faults(tmp_path, notebook()) == []


def test_one_stored_output_serves_a_kernel_that_prints_a_device(tmp_path):
    assert faults(tmp_path, with_tensor(), kernel=SUFFIX) == []


def test_without_the_sanitise_file_the_suffix_shows(tmp_path):
    found = faults(tmp_path, with_tensor(), kernel=SUFFIX, sanitize=None)
    assert len(found) == 2 and all("device='cuda:0'" in said for said in found)
