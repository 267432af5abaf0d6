"""What the load test is asked for: sentences for bad calls, one chapter per learner."""

from types import SimpleNamespace

import pytest

from classroom import __main__ as program
from torchcourse._course import LESSONS


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--learners 0", "--learners 0: a number from 1 to 60 is expected."),
        ("--learners -3", "--learners -3: a number from 1 to 60 is expected."),
        ("--learners 61", "--learners 61: a number from 1 to 60 is expected."),
        ("--learners ten", "argument --learners: invalid int value: 'ten'"),
        ("--chapters 00,99", "--chapters: there is no '99'; there are 00, 01, 01b,"),
        ("--limit 0", "a number above 0 is expected"),
        ("--cell-limit nan", "a number above 0 is expected"),
        ("--threads 0", "a number above 0 is expected"),
        ("--json no/such/folder/x.json", "--json no/such/folder/x.json: there is no folder "),
    ],
)
def test_a_bad_call_gets_a_sentence(words, said, capsys):
    with pytest.raises(SystemExit) as ended:
        program.arguments(words.split())
    assert ended.value.code == 2
    assert said in capsys.readouterr().err


def numbers(words):
    return [lesson.number for lesson in program.lessons(program.arguments(words.split()))]


def test_few_learners_spread_over_the_course_and_many_take_it_in_turn():
    every = [lesson.number for lesson in LESSONS]
    assert numbers("--learners 1") == every[:1]
    assert len(set(numbers("--learners 10"))) == 10 and numbers("--learners 10")[-1] > "09"
    assert numbers(f"--learners {len(every)}") == every
    assert numbers("--learners 40") == [*every, *every][:40]
    assert numbers("--learners 3 --chapters 01b,00") == ["00", "01b", "00"]


def test_more_learners_than_memory_are_refused_with_a_number(monkeypatch):
    machine = SimpleNamespace(available=3.5 * 2**30)
    monkeypatch.setattr(program.psutil, "virtual_memory", lambda: machine)
    assert program.enough(3) == ""
    assert program.enough(4).endswith("3.5 are free: ask for 3 at most.")
