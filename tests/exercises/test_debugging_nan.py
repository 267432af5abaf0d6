"""The checks of chapter 11b on right answers, and on the wrong answers that people really give."""

import pytest
import torch

from torchcourse.exercises import debugging_nan as check


def squares(x):
    return x.square().sum(-1)


def chosen_before(x):
    s = squares(x)
    return torch.where(s == 0, 0.0, torch.where(s == 0, 1.0, s).sqrt())


def by_index(x):
    s = squares(x)
    lengths = torch.zeros_like(s)
    lengths[s > 0] = s[s > 0].sqrt()
    return lengths


LENGTHS = {
    "right": (chosen_before, "right", "exact"),
    "by index": (by_index, "right", "exact"),
    "torch's own": (lambda x: torch.linalg.vector_norm(x, dim=-1), "right", "exact"),
    "the stub": (lambda x: ..., "not yet", "still returns"),
    "no care": (lambda x: squares(x).sqrt(), "wrong", "infinite"),
    "where outside": (
        lambda x: torch.where(squares(x) > 0, squares(x).sqrt(), 0.0),
        "wrong",
        "infinite",
    ),
    "nan_to_num": (lambda x: squares(x).sqrt().nan_to_num(), "wrong", "infinite"),
    "eps": (lambda x: (squares(x) + 1e-8).sqrt(), "almost", "moved a little"),
    "clamped": (lambda x: squares(x).clamp(min=1e-8).sqrt(), "almost", "moved a little"),
    "large eps": (lambda x: (squares(x) + 1.0).sqrt(), "wrong", "should be"),
    "detached": (lambda x: chosen_before(x.detach()), "wrong", "no graph"),
    "not rooted": (squares, "wrong", "should be"),
    "of the columns": (lambda x: x.norm(dim=0), "wrong", "shape"),
    "a list": (lambda x: x.norm(dim=-1).tolist(), "wrong", "list"),
    "one length a row, kept": (lambda x: x.norm(dim=-1, keepdim=True), "wrong", "shape"),
}


@pytest.mark.parametrize("name", LENGTHS)
def test_row_lengths(name):
    answer, state, words = LENGTHS[name]
    verdict = check.row_lengths(answer)
    assert (verdict.state, words in verdict.why) == (state, True), str(verdict)


def states(finite=lambda g: g.isfinite().all(), any_=lambda g: g.any(), none="none", skip=False):
    """The right answer, with one thing done otherwise."""

    def of(gradient):
        if gradient is None:
            return none
        if not finite(gradient):
            return "not finite"
        return "fine" if any_(gradient) else "zero"

    def gradient_states(model):
        named = model.named_parameters()
        return {name: of(p.grad) for name, p in named if p.grad is not None or not skip}

    return gradient_states


def writes(model):
    for parameter in model.parameters():
        if parameter.grad is not None:
            parameter.grad.nan_to_num_()
    return states()(model)


def clears(model):
    result = states()(model)
    model.zero_grad()
    return result


STATES = {
    "right": (states(), "right", "told apart"),
    "the stub": (lambda model: ..., "not yet", "still returns"),
    "isnan": (states(finite=lambda g: not g.isnan().any()), "almost", "isnan doesn't see"),
    "of the sum": (states(any_=lambda g: g.sum() != 0), "almost", "its sum is 0"),
    "of the mean": (states(any_=lambda g: g.mean() != 0), "almost", "its sum is 0"),
    "a threshold": (states(any_=lambda g: g.norm() > 1e-8), "almost", "1e-30"),
    "None is zero": (states(none="zero"), "almost", "did not reach"),
    "None as a value": (states(none=None), "wrong", "did not reach"),
    "None left out": (states(skip=True), "wrong", "missing"),
    "all elements": (states(any_=lambda g: g.all()), "almost", "not every element"),
    "no look at None": (lambda m: {n: p.grad.norm() for n, p in m.named_parameters()}, "wrong", "Attribute"),
    "a list": (lambda model: list(states()(model)), "wrong", "list"),
    "one too many": (lambda model: {**states()(model), "total": "fine"}, "wrong", "no parameter"),
    "mended on the way": (writes, "wrong", "change nothing"),
    "cleared": (clears, "wrong", "change nothing"),
}


@pytest.mark.parametrize("name", STATES)
def test_gradient_states(name):
    answer, state, words = STATES[name]
    verdict = check.gradient_states(answer)
    assert (verdict.state, words in verdict.why) == (state, True), str(verdict)
