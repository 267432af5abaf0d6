"""The check on in-place writes: what was saved decides, and nothing simpler does."""

import pytest
import torch

from torchcourse.autograd import graph
from torchcourse.exercises import autograd as check
from torchcourse.exercises.writes import CASES, TRAPS, fails


def saved(result):
    node = result.grad_fn
    values = [getattr(node, name) for name in dir(node) if name.startswith("_saved_")]
    return [value for value in values if isinstance(value, torch.Tensor)]


def memory(tensor):
    return tensor.untyped_storage().data_ptr()


def by_trial(result, written):
    with torch.no_grad():
        written.add_(0)
    return bool(graph(result).stale)


ANSWERS = {
    "the storage": (
        lambda result, written: any(memory(s) == memory(written) for s in saved(result)),
        "right",
        "what was saved",
    ),
    "tried, and the graph asked": (by_trial, "right", "what was saved"),
    "always": (lambda result, written: True, "wrong", "backward works"),
    "never": (lambda result, written: False, "wrong", "backward raises"),
    "outputs only": (lambda result, written: result is written, "wrong", "y = x.sin(), and y"),
    "inputs only": (lambda result, written: result is not written, "wrong", "y = x.exp(), and y"),
    "the object": (
        lambda result, written: any(s is written for s in saved(result)),
        "wrong",
        "y = x.exp(), and y",
    ),
    "the values": (
        lambda result, written: any(
            s.shape == written.shape and torch.equal(s, written) for s in saved(result)
        ),
        "almost",
        "Equal values in other memory",
    ),
    "the address": (
        lambda result, written: any(s.data_ptr() == written.data_ptr() for s in saved(result)),
        "almost",
        "A view shares",
    ),
    "the stub": (lambda result, written: ..., "not yet", "still returns"),
    "nothing returned": (lambda result, written: None, "not yet", "True or False"),
    "a comparison of lists": (lambda result, written: written in saved(result), "wrong", "Boolean value"),
}


@pytest.mark.parametrize("answer", ANSWERS)
def test_breaks(answer):
    given, state, words = ANSWERS[answer]
    verdict = check.breaks(given)
    assert verdict.state == state and words in verdict.why, verdict


def test_both_outcomes_are_among_the_cases():
    outcomes = {what: fails(build) for what, build in CASES.items()}
    assert 3 <= sum(outcomes.values()) <= len(outcomes) - 3
    assert {fails(build) for build, _ in TRAPS.values()} == {True, False}
