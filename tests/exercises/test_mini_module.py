"""The module of chapter 05's "Rebuild it", as it stands in the notebook, held to nn.Module."""

from random import Random

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from torchcourse.exercises.mini_module import compare_mini, family

from .rebuilt import rebuilt, rebuilt_lines

OURS = rebuilt("05_modules")
Mini = OURS["Mini"]


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32))
def test_random_models_agree_with_pytorch(seed):
    verdict = compare_mini(Mini, Random(seed), models=3)
    assert verdict.state == "right", verdict


def test_an_assignment_of_another_kind_leaves_the_old_place():
    model = Mini()
    model.x = torch.ones(1)
    model.x = torch.nn.Parameter(torch.ones(1))
    assert "x" not in vars(model) and [name for name, _ in model.named_parameters()] == ["x"]


def broken(name, method):
    return type("Broken", (Mini,), {name: method})


def new_parameters(self, dtype):
    for child in self._modules.values():
        child.to(dtype)
    for table in ("_parameters", "_buffers"):
        for name, t in self.__dict__[table].items():
            if t.is_floating_point():
                moved = t.detach().to(dtype)
                self.__dict__[table][name] = torch.nn.Parameter(moved) if table == "_parameters" else moved
    return self


def only_itself(self, mode=True):
    self.training = mode
    return self


def no_hooks(self, *args):
    return self.forward(*args)


def hooks_ignored(self, *args):
    output = self.forward(*args)
    for hook in self.hooks:
        hook(self, args, output)
    return output


def accepts_all(self, name, value):
    if name in self.__dict__["_parameters"]:
        self.__dict__["_parameters"][name] = value
    else:
        Mini.__setattr__(self, name, value)


def saves_all(self):
    return {p: t.detach() for table in ("_parameters", "_buffers") for p, t, _ in self.entries(table)}


FAULTS = {
    "to() makes new parameters": ("to", new_parameters),
    "to() does nothing": ("to", lambda self, dtype: self),
    "train() stays at the top": ("train", only_itself),
    "no hooks": ("__call__", no_hooks),
    "a hook's result is dropped": ("__call__", hooks_ignored),
    "a tensor replaces a parameter": ("__setattr__", accepts_all),
    "all buffers are saved": ("state_dict", saves_all),
    "shared parameters twice": ("once", lambda self, table: [(p, t) for p, t, _ in self.entries(table)]),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_found(fault):
    assert compare_mini(broken(*FAULTS[fault]), Random(0), models=40).state == "wrong"


def test_what_raises_is_told():
    verdict = compare_mini(broken("train", lambda self, mode: self.nothing), Random(0), models=3)
    assert verdict.state == "wrong" and "AttributeError" in verdict.why


def test_both_families_are_the_same_source():
    ours, theirs = family(Mini), family(torch.nn.Module)
    assert all(ours[name].forward.__code__ == theirs[name].forward.__code__ for name in theirs)


def test_it_stays_short_enough_to_read_in_class():
    assert 20 < rebuilt_lines("05_modules") <= 60
