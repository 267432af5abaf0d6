"""Notes below a cell: when they come, what they say, and that they never come on the stored release."""

import sys
from types import SimpleNamespace

import pytest
import torch
from packaging.specifiers import SpecifierSet

from tests.notebooks.compare import STORED_WITH
from torchcourse import _ipython, _releases
from torchcourse._releases import STORED, Change, complains, mark, notes
from torchcourse.teaching import raises, warns

CELL = "assert 1 + 1 == 2"
OTHERS = ["2.9.1", "2.14.1+cpu", "2.16.0", "2.16.0.dev20261130+cpu"]


@pytest.fixture
def table(monkeypatch):
    change = Change("<2.10", "Before 2.10 `view` did <not> ask.", ("A-1",), (mark(CELL),))
    monkeypatch.setattr(_releases, "changes", lambda: (change,))


def failed(block, *arguments):
    try:
        block(*arguments)
    except BaseException as error:
        return error


def test_the_lanes_compare_with_the_same_release():
    assert f"{STORED}." == STORED_WITH


@pytest.mark.parametrize("version", [f"{STORED}.0", f"{STORED}.1+cpu", f"{STORED}.0.dev20260101"])
@pytest.mark.parametrize("error", [None, AssertionError()])
def test_on_the_stored_release_nothing_is_said(table, version, error):
    assert list(notes(CELL, error, version)) == []


def test_no_row_of_the_table_speaks_of_the_stored_release():
    for change in _releases.changes():
        assert not change.holds(f"{STORED}.0") and not change.holds(f"{STORED}.1+cpu"), change
        assert change.sentence.endswith(".") and SpecifierSet(change.torch)
        assert all(len(one) == 16 for one in change.cells) and change.cells


@pytest.mark.parametrize("version", OTHERS)
def test_a_failed_check_says_that_the_release_may_be_why(table, version):
    (note,) = notes("x = 1\nassert x == 2", AssertionError(), version)
    release = ".".join(version.split(".")[:2])
    assert str(note).startswith(
        f"Note: This was true on torch {STORED}, with which the course was stored. You run torch {release}:"
    )
    assert _releases.CLAIMS in str(note) and _releases.DIFFERS in note._repr_html_()


@pytest.mark.parametrize("version", OTHERS)
def test_a_cell_that_holds_says_nothing(table, version):
    assert list(notes("x = 1", None, version)) == []


@pytest.mark.parametrize("error", [None, AssertionError()])
def test_a_known_difference_is_told_once_whether_the_cell_fails_or_not(table, error):
    (note,) = notes(f"\n{CELL}\n", error, "2.9.1+cpu")
    assert str(note).splitlines() == [
        f"Note: The course was stored with torch {STORED}; you run 2.9. Before 2.10 `view` did <not> ask.",
        f"  What holds on which release: {_releases.CLAIMS}",
    ]
    assert "Before 2.10 <code>view</code> did &lt;not&gt; ask." in note._repr_html_()
    assert list(notes(CELL, None, "2.14.0")) == []
    assert list(notes(CELL + "  # mine", None, "2.9.1")) == []


def passes_through():
    with raises(ValueError, match="size"):
        raise KeyError("k")


def no_warning():
    with warns(UserWarning):
        pass


@pytest.mark.parametrize(
    ("block", "arguments", "expected"),
    [
        (passes_through, (), True),
        (no_warning, (), True),
        (getattr, (torch, "long_gone"), True),
        (getattr, (torch.onnx, "long_gone"), True),
        (getattr, (torch.ones(1), "long_gone"), True),
        (getattr, (torch.Tensor, "long_gone"), True),
        (__import__, ("torch.long_gone",), True),
        (__import__, ("long_gone",), False),
        (getattr, ([], "long_gone"), False),
        (int, ("x",), False),
    ],
)
def test_only_a_check_or_a_name_that_is_gone_complains(block, arguments, expected):
    assert complains(failed(block, *arguments)) is expected


def test_a_warning_that_an_older_torch_may_not_give(monkeypatch, capsys):
    monkeypatch.setattr(torch, "__version__", "2.9.1+cpu")
    with warns(UserWarning, since="2.10"):
        pass
    assert capsys.readouterr().out == "No such warning: torch gives it since 2.10 or a little earlier.\n"
    monkeypatch.setattr(torch, "__version__", "2.10.0")
    with pytest.raises(AssertionError, match="No such warning was given"), warns(UserWarning, since="2.10"):
        pass


def shell_result(source, error=None):
    return SimpleNamespace(info=SimpleNamespace(raw_cell=source), error_in_exec=error)


def test_the_hook_displays_the_note(monkeypatch, capsys):
    monkeypatch.setattr(torch, "__version__", "2.16.0")
    _ipython._note(shell_result(CELL, AssertionError()))
    assert capsys.readouterr().out.startswith(f"Note: This was true on torch {STORED}")


@pytest.mark.parametrize("version", [f"{STORED}.0+cpu", None])
def test_the_hook_is_silent_on_the_stored_release_and_without_torch(monkeypatch, capsys, version):
    if version is None:
        monkeypatch.delitem(sys.modules, "torch")
    else:
        monkeypatch.setattr(torch, "__version__", version)
    _ipython._note(shell_result(CELL, AssertionError()))
    assert capsys.readouterr().out == ""


def test_a_shell_is_told_once():
    code = [
        "from IPython.core.interactiveshell import InteractiveShell as S",
        "from torchcourse._ipython import register, _note",
        "s = S.instance(); register(s); register(s)",
        "assert s.events.callbacks['post_run_cell'].count(_note) == 1",
    ]
    import subprocess

    subprocess.run([sys.executable, "-c", "; ".join(code)], check=True, timeout=120)


@pytest.mark.parametrize(
    ("version", "holds"), [("2.9.1+cu128", True), ("2.15.0a0+git1", False), ("parrots", False)]
)
def test_a_version_that_pip_does_not_understand_is_no_release(version, holds):
    assert _releases.Change("<2.10", "", (), ()).holds(version) is holds
