"""Models as people write them: silent on the sound ones, and the planted fault in the others."""

import pytest
import torch

from torchcourse.faults import check_up

from .broken_models import BROKEN
from .models import MODELS
from .state import state


@pytest.mark.parametrize("name", MODELS)
def test_a_sound_model_has_no_finding(name):
    torch.manual_seed(0)
    made = MODELS[name]()
    before = state(*made)
    found = check_up(*made)
    assert not found and not found.notes, str(found)
    assert state(*made) == before


@pytest.mark.parametrize("name", BROKEN)
def test_the_planted_fault_is_found(name):
    torch.manual_seed(0)
    slug, make = BROKEN[name]
    made = make()
    before = state(*made)
    found = check_up(*made)
    assert slug in {one.kind for one in found}, str(found)
    assert state(*made) == before


def test_an_error_whose_text_raises():
    class Silent(Exception):
        def __str__(self):
            raise RuntimeError("no text")

    def loss_fn(out, target):
        raise Silent

    model = torch.nn.Linear(3, 2)
    found = check_up(model, (torch.randn(4, 3), torch.zeros(4)), loss_fn, None)
    assert [one.kind for one in found] == ["step-raises"] and "Silent" in found[0].evidence


def test_a_complex_loss():
    model = torch.nn.Linear(3, 2)
    found = check_up(model, (torch.randn(4, 3), None), lambda out, _: out.mean() * 1j, None)
    assert [one.kind for one in found] == ["loss-not-scalar"] and "complex64" in found[0].evidence


def test_a_compiled_model_is_looked_at_uncompiled():
    calls = []

    def backend(graph, inputs):
        calls.append(graph)
        return graph

    model = torch.compile(torch.nn.Linear(3, 2), backend=backend)
    batch, loss_fn = (torch.randn(4, 3), torch.tensor([0, 1, 0, 1])), torch.nn.CrossEntropyLoss()
    assert not check_up(model, batch, loss_fn, torch.optim.SGD(model.parameters(), 0.1))
    assert not calls
