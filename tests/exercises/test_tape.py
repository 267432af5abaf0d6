"""The tape engine of chapter 02's "Rebuild it", as it stands in the notebook, held to autograd."""

from random import Random

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from torchcourse.exercises.tape import compare_tape

from .rebuilt import rebuilt, rebuilt_lines

OURS = rebuilt("02c_autograd_in_depth")


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32))
def test_random_expressions_agree_with_autograd(seed):
    verdict = compare_tape(OURS["Tape"], OURS["run_backward"], Random(seed), programs=5)
    assert verdict.state == "right", verdict


def test_a_long_chain_needs_no_recursion():
    leaf = OURS["Tape"](torch.ones((), dtype=torch.float64))
    value = leaf
    for _ in range(5000):
        value = value + leaf
    OURS["run_backward"](value)
    assert leaf.grad == 5001


@pytest.mark.parametrize(
    "fault",
    [
        lambda root: None,
        lambda root: OURS["run_backward"](OURS["Tape"](root.data, root.parents[:0])),
    ],
    ids=["does nothing", "forgets the parents"],
)
def test_a_fault_in_the_engine_is_found(fault):
    assert compare_tape(OURS["Tape"], fault, Random(0), programs=20).state == "wrong"


def test_a_fault_in_a_rule_is_found():
    class Wrong(OURS["Tape"]):
        def __mul__(self, other):
            return type(self)(
                self.data * other.data, [(self, lambda g: g * other.data), (other, lambda g: g)]
            )

    assert compare_tape(Wrong, OURS["run_backward"], Random(0), programs=50).state == "wrong"


def test_it_stays_short_enough_to_read_in_class():
    assert 20 < rebuilt_lines("02c_autograd_in_depth") <= 60
