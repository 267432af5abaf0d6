"""A real class: hub, servers, kernels. It ends whole, whatever ends it."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from classroom.report import Report

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.slow


@contextmanager
def start(folder, *words):
    """The class as a process, with a folder of its own for temporary files; ended with the test."""
    process = subprocess.Popen(
        [sys.executable, "-m", "classroom", "--learners", "2", "--chapters", "05c,09b", *words],
        cwd=ROOT,
        env=os.environ | {"TMPDIR": str(folder)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.terminate()
            process.communicate(timeout=120)


def left(folder):
    """The commands of the processes that this test's class started and that are still there."""
    found = []
    for process in psutil.process_iter():
        try:
            if (
                str(folder) in process.environ().get("TMPDIR", "")
                and process.status() != psutil.STATUS_ZOMBIE
            ):
                found.append(process.cmdline())
        except (psutil.Error, OSError):
            continue
    return found


def until(true, seconds):
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.2)


def test_two_learners_run_all_cells_and_a_killed_kernel_comes_back(tmp_path):
    figures = tmp_path / "figures.json"
    (temporary := tmp_path / "t").mkdir()
    with start(temporary, "--json", str(figures)) as process:
        said, complaints = process.communicate(timeout=900)
    assert process.returncode == 0, said + complaints
    report = Report.read(json.loads(figures.read_text()))
    assert str(report) in said
    assert [seat.notebook for seat in report.seats] == ["05c_first_weights", "09b_decay_over_a_run"]
    assert report.failures == () and all(seat.cells > 10 for seat in report.seats)
    assert "ended without a word in the cell `import time; time.sleep(600)`" in report.killed.said
    assert 0 < report.killed.noticed <= report.killed.fresh
    assert left(temporary) == [] and list(temporary.iterdir()) == []


def test_a_cell_over_its_limit_is_a_failure(tmp_path):
    with start(tmp_path, "--cell-limit", "0.01") as process:
        said, complaints = process.communicate(timeout=600)
    assert process.returncode == 1, said + complaints
    assert "learner-01, 05c_first_weights: cell 1 (" in said and "it ran longer than 0.01 s" in said
    assert left(tmp_path) == [] and list(tmp_path.iterdir()) == []


# SIGTERM takes the way of Ctrl-C: the program turns the one into the other.
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_whatever_ends_the_class_ends_all_of_it(tmp_path, how):
    with start(tmp_path) as process:
        until(lambda: any("ipykernel_launcher" in command for command in left(tmp_path)), 300)
        process.send_signal(how)
        _, complaints = process.communicate(timeout=120)
    if how == signal.SIGKILL:  # nobody tidies up then, but nothing goes on running
        assert process.returncode == -how
        return until(lambda: left(tmp_path) == [], 120)
    assert process.returncode == 130, complaints
    assert complaints.endswith("Stopped as asked; every process of the class is ended.\n")
    assert left(tmp_path) == [] and list(tmp_path.iterdir()) == []
