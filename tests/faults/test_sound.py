"""No false alarm: in a sound set-up nothing is found, and nothing is changed."""

import pytest
import torch

from torchcourse.faults import check_up

from .sound import SOUND
from .state import state


def test_there_are_enough_cases():
    assert len(SOUND) >= 80


@pytest.mark.parametrize("name", SOUND)
def test_nothing_is_found_and_nothing_changed(name):
    torch.manual_seed(0)
    made = SOUND[name]()
    before = state(*made)
    found = check_up(*made)
    assert not found and not found.notes, str(found)
    assert state(*made) == before
