"""The command `torchcourse`."""

import json
import subprocess
import sys

import pytest

import torchcourse
from torchcourse import cli, devices
from torchcourse.devices import Build

from .devices.test_doctor import WELL


@pytest.fixture
def here(monkeypatch):
    """Put a machine in this one's place."""
    return lambda machine: monkeypatch.setattr(devices, "read_machine", lambda: machine)


def test_doctor_on_a_machine_that_is_well(here, capsys):
    here(WELL)
    assert cli.main(["doctor"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("must")
    assert "Everything that the course needs is here" in out


def test_doctor_on_a_machine_without_torch(here, capsys):
    here(devices.Machine(build=Build(error="ModuleNotFoundError: No module named 'torch'"), python="3.12.0"))
    assert cli.main(["doctor"]) == 1
    out = capsys.readouterr().out
    assert "torch is not installed in this Python" in out
    assert "The course can't run yet" in out


def test_doctor_as_json(here, capsys):
    here(WELL)
    assert cli.main(["doctor", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["healthy"] is True
    assert told["diagnosis"]["kind"] == "cpu-build"
    assert told["machine"]["build"]["version"] == "2.13.0+cpu"


@pytest.mark.parametrize("words", [["doctor"], ["doctor", "--json"]])
@pytest.mark.parametrize("home", ["/home/anna", "/Users/anna", "C:\\Users\\anna", "/root"])
def test_the_report_names_nobody(here, capsys, words, home):
    """It is pasted into public issues, and the error of a library names the file that it met."""
    slash = "\\" if "\\" in home else "/"
    error = f"OSError: {home}{slash}course{slash}.venv{slash}libtorch.so: undefined symbol"
    here(devices.Machine(build=Build(error=error), python="3.12.0"))
    assert cli.main(words) == 1
    out = capsys.readouterr().out
    assert "anna" not in out and "root" not in out and "libtorch.so: undefined symbol" in out
    if words == ["doctor", "--json"]:
        assert json.loads(out)["machine"]["build"]["error"].startswith("OSError: ~")


@pytest.mark.parametrize("arguments", [[], ["nurse"], ["doctor", "--yaml"]])
def test_a_wrong_call_is_2_and_says_how(arguments, capsys):
    with pytest.raises(SystemExit) as stopped:
        cli.main(arguments)
    assert stopped.value.code == 2
    assert "usage: torchcourse" in capsys.readouterr().err


def test_help_and_version(capsys):
    for arguments, word in ((["--help"], "doctor"), (["--version"], torchcourse.__version__)):
        with pytest.raises(SystemExit) as stopped:
            cli.main(arguments)
        assert stopped.value.code == 0
        assert word in capsys.readouterr().out


def test_the_real_doctor_on_this_machine():
    """The whole way, in a process of its own, with an encoding that knows no more than ASCII."""
    import os

    answer = subprocess.run(
        [sys.executable, "-m", "torchcourse.cli", "doctor"],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "PYTHONIOENCODING": "ascii", "CUDA_VISIBLE_DEVICES": ""},
    )
    assert answer.returncode in (0, 1), answer.stderr
    assert answer.stderr == ""
    assert "torch" in answer.stdout and "verdict" in answer.stdout


def test_the_doctor_runs_where_torch_crashes_on_import(tmp_path):
    """A torch that kills its process: the doctor, in another process, tells it and lives."""
    import os

    (tmp_path / "torch.py").write_text("import os\nos._exit(77)\n")
    answer = subprocess.run(
        [sys.executable, "-m", "torchcourse.cli", "doctor"],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "PYTHONPATH": str(tmp_path), "PYTHONIOENCODING": "utf-8"},
        encoding="utf-8",
    )
    assert answer.returncode == 1, answer.stderr
    assert "exit status 77" in answer.stdout
