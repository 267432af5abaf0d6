"""The arithmetic of the plan, and that the stored measurement, the README and the set-ups tell one story."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from classroom.killed import Killed
from classroom.learner import Slowest
from classroom.memory import Memory
from classroom.report import GIB, MIB, Report, Seat, plan

CLASS = Path(__file__).parents[2] / "classroom"
MEASURED = Report.read(json.loads((CLASS / "measured.json").read_text(encoding="utf-8")))


def seat(**changes):
    given = Seat(
        name="learner-01",
        notebook="00_start_here",
        minutes=50,
        server_start=3.0,
        kernel_start=1.0,
        cells=38,
        seconds=20.0,
        slowest=Slowest(7, "import torch", 4.25),
        received=3 * MIB // 2,
        server=Memory(100 * MIB, 10 * MIB, 120 * MIB),
        kernel=Memory(300 * MIB, 20 * MIB, 400 * MIB),
        end=Memory(390 * MIB, 30 * MIB, 500 * MIB),
        start_cpu=6.0,
        cpu=30.0,
    )
    return replace(given, **changes)


def report(*seats, **changes):
    given = Report(
        seats=seats or (seat(),),
        hub=Memory(150 * MIB, 50 * MIB, 300 * MIB),
        together=GIB,
        cores=2,
        cpu=40.0,
        killed=Killed(3.1, 5.2, "The last kernel of this notebook ended …"),
        failures=(),
    )
    return replace(given, **changes)


def test_the_plan_by_hand():
    found = plan(report(), 30)
    assert found.per_seat == 1 * GIB  # 1.25 · (100 + 2·300) MiB = 875 MiB, up to the next quarter
    assert found.limit == 1.25 * GIB  # 1.25 · (120 + 2·400) MiB = 1150 MiB
    assert found.memory == 30.25 * GIB  # 30 GiB, the hub's own 150 MiB, 50 + 30 MiB that all share
    assert found.start_cores == 2  # 30 learners · 6 s in 120 s
    assert found.work_cores == 1  # 30 · 30 s in 50 minutes, three times over
    assert found.cores == 2


def test_the_hungriest_chapter_decides_and_nobody_gets_less_than_two_cores():
    hungry = seat(kernel=Memory(900 * MIB, 0, 950 * MIB))
    assert (
        plan(report(seat(), hungry), 1).per_seat
        == plan(report(hungry), 1).per_seat
        > plan(report(), 1).per_seat
    )
    assert plan(report(), 1).cores == 2


def test_the_table_has_a_row_per_learner_and_every_failure():
    text = str(report(seat(), seat(name="learner-02"), failures=("learner-02, 01: cell 3: NameError",)))
    rows = [line for line in text.splitlines() if line.startswith("learner-0")]
    assert [row.split()[0] for row in rows] == ["learner-01", "learner-02"]
    figures = "00_start_here 3.0 1.0 38 20.0 4.2 (7) 100 10 300 20 400 390 1.5"
    assert rows[0].split()[1:] == figures.split()
    assert "Failures: 1.\n  learner-02, 01: cell 3: NameError" in text
    assert "slowest cell: 00_start_here, code cell 7 (import torch): 4.2 s" in text.lower()
    assert max(map(len, rows)) <= 120


def test_the_figures_survive_json():
    given = report()
    assert Report.read(json.loads(json.dumps(given.json()))) == given


def test_the_stored_run_is_the_one_that_the_issue_asks_for():
    assert len(MEASURED.seats) == 10 and len({seat.notebook for seat in MEASURED.seats}) == 10
    assert MEASURED.failures == () and MEASURED.killed.said.startswith("The last kernel of this notebook ")
    assert all(seat.cells > 10 and seat.kernel.own > 100 * MIB for seat in MEASURED.seats)


def test_the_readme_shows_the_stored_run():
    assert str(MEASURED) in (CLASS / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("seats", [30, 300])
def test_the_stored_plans_are_what_the_arithmetic_says(seats):
    stored = json.loads((CLASS / "measured.json").read_text(encoding="utf-8"))["plans"]
    assert next(each for each in stored if each["seats"] == seats) == vars(plan(MEASURED, seats))
