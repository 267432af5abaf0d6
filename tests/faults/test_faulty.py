"""Each planted fault is found under its slug, and nothing else is told but what follows from it."""

import pytest
import torch

from torchcourse.faults import SLUGS, check_up

from .faulty import FAULTY
from .state import state


def test_there_are_enough_cases():
    assert len(FAULTY) >= 90


@pytest.mark.parametrize("name", FAULTY)
def test_each_fault_is_found_and_no_other(name):
    torch.manual_seed(0)
    kind, make, follows = FAULTY[name]
    made = make()
    before = state(*made)
    found = check_up(*made)
    assert state(*made) == before
    kinds = {one.kind for one in found}
    assert kind in kinds, str(found)
    assert kinds <= {kind, *follows}, str(found)
    assert all(one.where and one.evidence and one.mend and one.kind in SLUGS for one in found)
