"""The machines that chapter 03 shows: each is diagnosed as what it is written down to be."""

import pytest

from torchcourse.devices import diagnose, recorded_machines
from torchcourse.devices.recorded import recorded_kinds

MACHINES, KINDS = recorded_machines(), recorded_kinds()


@pytest.mark.parametrize("name", MACHINES)
def test_it_is_what_it_is_written_down_to_be(name):
    found = diagnose(MACHINES[name])
    assert found.kind == KINDS[name], found
    assert found.works or found.mend


def test_the_path_ends_at_many_different_questions():
    ends = {len(diagnose(machine).path) for machine in MACHINES.values()}
    assert ends >= {2, 3, 5, 6, 7, 8}


def test_the_same_driver_fails_one_build_and_runs_another():
    old, other = MACHINES["a driver that is too old"], MACHINES["the same driver, another build"]
    assert old.driver == other.driver and old.build.cuda > other.build.cuda
    assert not diagnose(old).works and diagnose(other).works
