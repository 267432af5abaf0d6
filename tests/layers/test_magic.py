"""`%%xray` in a real IPython shell."""

import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from IPython.core.interactiveshell import InteractiveShell

from torchcourse.layers import Seen, register_magic

from .test_leaves_nothing import CLEAN, modes


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch) -> Iterator[InteractiveShell]:
    shell = InteractiveShell.instance()
    shell.user_ns["torch"] = torch
    monkeypatch.setattr("torchcourse._magic.running_shell", lambda: shell)
    yield shell
    InteractiveShell.clear_instance()


def run(shell: Any, cell: str) -> Any:
    return shell.run_cell(cell)


def test_it_registers_any_number_of_times(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    assert all(register_magic() for _ in range(3))
    assert "xray" in shell.magics_manager.magics["cell"]
    assert capsys.readouterr() == ("", "")


def test_without_ipython_it_does_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torchcourse._magic.running_shell", lambda: None)
    assert register_magic() is False


def test_a_cell_with_its_lines(shell: InteractiveShell, capsys: pytest.CaptureFixture[str]) -> None:
    register_magic()
    run(shell, "%%xray kept\nx = torch.ones(3)\ny = x + 1\n")
    seen = shell.user_ns["kept"]
    assert isinstance(seen, Seen)
    lines = {(o.name, o.line) for o in seen.operators if o.depth == 0}
    assert lines == {("aten::ones", 1), ("aten::add", 2)}
    assert shell.user_ns["y"].shape == (3,)
    assert "y = x + 1" in capsys.readouterr().out  # the value of the cell, shown


def test_a_syntax_error_runs_nothing(shell: InteractiveShell, capsys: pytest.CaptureFixture[str]) -> None:
    register_magic()
    result = run(shell, "%%xray\nx = = 1\n")
    out = capsys.readouterr().out
    assert result.result is None
    assert "SyntaxError" in out and "nothing ran" in out
    assert modes() == CLEAN


def test_an_error_shows_what_had_happened(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    register_magic()
    result = run(shell, "%%xray\ntorch.ones(3) + 1\n1 / 0\n")
    out = capsys.readouterr().out
    assert "ZeroDivisionError" in out and "torch.ones(3) + 1" in out
    assert isinstance(result.error_in_exec, ZeroDivisionError)
    assert modes() == CLEAN


@pytest.mark.parametrize(
    ("line", "words"), [("%%xray\n\n", "the cell is empty"), ("%%xray a b\n1", "is no name")]
)
def test_bad_cells(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str], line: str, words: str
) -> None:
    register_magic()
    run(shell, line)
    assert words in capsys.readouterr().out


def test_registering_imports_no_torch() -> None:
    code = "import sys; from torchcourse._magic import register_magic; register_magic(); print('torch' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"
