"""What a cell did, and what that makes of its claim."""

import pytest

from . import results, verdict
from .results import Result
from .seen import Cell, Seen, load, store
from .verdict import ANOTHER, FALSE, GONE, TRUE, Verdict


def seen(*cells):
    return Seen("2.9.1+cpu", "00_example", "mark", cells)


def cell(number=1, claims=("X-1",), makes=(), **more):
    return Cell(number, tuple(claims), tuple(makes), **more)


@pytest.mark.parametrize(
    ("error", "says", "word"),
    [
        ("", "", TRUE),
        ("AssertionError", "", FALSE),
        ("AssertionError", "Nothing was raised. Expected here: ValueError.", FALSE),
        ("AssertionError", "No such warning was given. Expected here: UserWarning.", FALSE),
        ("AssertionError", "RuntimeError was raised, but its message has no match for 'size': odd", ANOTHER),
        ("TypeError", "view(): argument 'size' must be tuple of ints", ANOTHER),
        ("AttributeError", "module 'torch.onnx' has no attribute 'dynamo_export'", GONE),
        ("AttributeError", "type object 'torch.device' has no attribute 'kind'", GONE),
        ("AttributeError", "'Tensor' object has no attribute 'solve'", GONE),
        ("AttributeError", "'list' object has no attribute 'shape'", ANOTHER),
        ("ImportError", "cannot import name 'jiterator' from 'torch.cuda' (…/torch/cuda/__init__.py)", GONE),
        ("ImportError", "cannot import name 'figure' from 'matplotlib'", ANOTHER),
        ("ModuleNotFoundError", "No module named 'torch.jit'", GONE),
        ("ModuleNotFoundError", "No module named 'torchvision'", ANOTHER),
        ("DeadKernel", "00_example.ipynb, cell 1 ended the kernel", ANOTHER),
    ],
)
def test_each_end_of_a_cell_has_its_word(error, says, word):
    assert verdict.verdicts(seen(cell(error=error, says=says)))["X-1"].word == word


def test_an_error_that_follows_from_an_earlier_cell_is_that_cells():
    gone = cell(1, (), ("solver",), error="AttributeError", says="module 'torch' has no attribute 'solve'")
    between = cell(2, (), ("answer",), error="NameError", says="name 'solver' is not defined")
    follows = cell(3, error="NameError", says="name 'answer' is not defined")
    found = verdict.verdicts(seen(gone, between, follows))["X-1"]
    assert found.word == GONE
    assert "no attribute 'solve' (in cell 1, before this one)" in found.shows


def test_a_name_that_nobody_makes_is_an_error_of_its_own():
    found = verdict.verdicts(seen(cell(error="NameError", says="name 'typo' is not defined")))["X-1"]
    assert found == Verdict(ANOTHER, "NameError: name 'typo' is not defined")


def test_a_claim_of_several_cells_is_as_bad_as_its_worst():
    cells = [cell(1), cell(2, error="AssertionError"), cell(3, stored=("a",), here=("b",))]
    assert verdict.verdicts(seen(*cells))["X-1"].word == FALSE
    assert verdict.verdicts(seen(cells[0], cells[2]))["X-1"].here == ("b",)


def test_what_was_seen_comes_back_from_its_file(tmp_path):
    told = seen(
        cell(2, makes=("a", "b"), error="KeyError", says="'k'"), cell(3, stored=("x",), here=("y", "z"))
    )
    store(tmp_path / "run.json", told)
    assert load(tmp_path / "run.json") == told


@pytest.mark.parametrize("text", ["", "{", "[]", '{"cells": [{"number": 1}]}'])
def test_half_a_file_counts_as_none(tmp_path, text):
    (tmp_path / "run.json").write_text(text, encoding="utf-8")
    assert load(tmp_path / "run.json") is None


def test_a_result_comes_back_from_its_file(tmp_path):
    claims = {
        "X-1": Verdict(TRUE),
        "X-2": Verdict(FALSE, "AssertionError"),
        "X-3": Verdict(TRUE, "", ("a",), ("b",)),
    }
    told = Result("2.9.1", claims, {"passed": 7, "failed": 1}, ("tests/test_x.py::test_y",))
    path = results.write(told, tmp_path)
    assert path.name == "2.9.json"
    assert results.read(path) == told
    assert results.read_all(tmp_path) == [told]


def test_a_folder_of_runs_makes_a_result(tmp_path):
    store(tmp_path / "a.json", seen(cell(1, ("X-1", "X-2")), cell(2, ("X-2",), error="AssertionError")))
    store(tmp_path / "b.json", seen(cell(4, ("X-1",))))
    lines = [
        "FAILED tests/test_a.py::test_b[c d] - assert 1",
        "1 failed, 20 passed, 2 skipped, 1 warning in 3.21s",
    ]
    (tmp_path / "tests.txt").write_text("\n".join(lines), encoding="utf-8")
    found = results.gather(tmp_path)
    assert found.torch == "2.9.1"
    assert {claim: one.word for claim, one in found.claims.items()} == {"X-1": TRUE, "X-2": FALSE}
    assert found.tests == {"failed": 1, "passed": 20, "skipped": 2}
    assert found.failed == ("tests/test_a.py::test_b[c d]",)
    with pytest.raises(ValueError, match="No run lies in"):
        results.gather(tmp_path / "nothing")


def test_what_did_not_run_stands_as_it_was():
    before = Result(
        "2.9.0", {"X-1": Verdict(FALSE, "old"), "X-2": Verdict(TRUE), "gone": Verdict(TRUE)}, {"passed": 3}
    )
    new = Result("2.9.1", {"X-1": Verdict(TRUE)})
    found = results.merged(new, before, ["X-1", "X-2", "X-9"])
    assert found == Result("2.9.1", {"X-1": Verdict(TRUE), "X-2": Verdict(TRUE)}, {"passed": 3})


@pytest.mark.parametrize(
    ("version", "release"), [("2.13.0+cpu", "2.13"), ("2.9.1", "2.9"), ("2.16.0.dev20261130+cpu", "nightly")]
)
def test_a_version_belongs_to_a_release(version, release):
    assert results.release_of(version) == release
