"""What run.py asks before anything is installed: which torch, and why pip failed."""

import subprocess
import sys

import pytest

from torchcourse import _setup

SKIPPED = "  Link requires a different Python (3.11.7 not in: '>=3.12'): https://example.org/a.whl\n"


@pytest.mark.parametrize(
    ("code", "log", "said"),
    [
        (1, "OSError: [Errno 28] No space left on device", "disk is full"),
        (1, "No matching distribution found for hatchling>=1.25", "network"),
        (2, "Connection broken: IncompleteRead", "network"),
        (1, "ERROR: No matching distribution found for torch==2.13.*", "torch==2.13.* is not to be had"),
        (1, "ERROR: Package 'torchcourse' requires a different Python: 3.10.1 not in", "Python"),
        (1, "OSError: [WinError 32] in use", "close Jupyter"),
        (1, SKIPPED + "Connection broken: IncompleteRead", "network"),
        (1, SKIPPED + "ERROR: Operation cancelled by user", "interrupted"),
        (1, SKIPPED, "exit code is 1"),
        (3, "nothing that is known", "exit code is 3"),
        (1, "", "delete that folder"),
        (-9, "", "signal 9"),
    ],
)
def test_each_failure_of_pip_gets_its_reason(tmp_path, capsys, code, log, said):
    file = tmp_path / "pip.log"
    file.write_text(log)
    assert _setup.main(["why", str(code), str(file)]) == 0
    told = capsys.readouterr().out.strip()
    assert said in told and "\n" not in told


def test_without_a_network_what_is_missing_is_a_wheel(tmp_path, monkeypatch):
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    file = tmp_path / "pip.log"
    file.write_text("ERROR: No matching distribution found for hatchling>=1.25")
    assert _setup.why(1, file) == "the folder of wheels holds no hatchling>=1.25 for this Python"


@pytest.mark.parametrize(
    ("system", "kind", "driver", "answers", "wants"),
    [
        ("linux", "x86_64", None, True, True),
        ("linux", "aarch64", None, True, True),
        ("linux", "x86_64", None, False, False),
        ("linux", "x86_64", "/usr/bin/nvidia-smi", True, False),
        ("linux", "riscv64", None, True, False),
        ("darwin", "arm64", None, True, False),
        ("win32", "AMD64", None, True, False),
    ],
)
def test_who_is_offered_the_cpu_build(tmp_path, monkeypatch, system, kind, driver, answers, wants):
    there = tmp_path / "index.html"
    there.touch()
    index = there.as_uri() if answers else (tmp_path / "nowhere").as_uri()
    monkeypatch.setattr(_setup.sys, "platform", system)
    monkeypatch.setattr(_setup.platform, "machine", lambda: kind)
    monkeypatch.setattr(_setup.shutil, "which", lambda name: driver)
    monkeypatch.setattr(_setup.os.path, "exists", lambda path: False)
    assert _setup.offered(index) is wants


def test_an_index_that_never_answers_is_given_up():
    """A host name whose look-up hangs can't be had here; a timer that ends the process is what would end it."""
    code = "import time, torchcourse._setup as s; s.SECONDS = 0.2; "
    code += "s.urllib.request.urlopen = lambda *a, **k: time.sleep(60); s.shutil.which = lambda name: None; "
    code += "s.os.path.exists = lambda path: False; s.sys.platform = 'linux'; "
    code += "s.platform.machine = lambda: 'x86_64'; s.offered('http://x')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=30)
    assert done.returncode == 1 and done.stderr == b""


def test_a_wrong_call_says_how_it_is_called(capsys):
    assert _setup.main(["why"]) == 2 and "offered URL" in capsys.readouterr().err
