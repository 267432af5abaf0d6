"""Checks of chapter 08: right answers are green, the wrong ones that people give stay red, a stub is no answer."""

import pytest
import torch

from torchcourse.exercises import export


def branch(x):
    return x * 2 if x.sum() > 0 else -x


def by_item(x):
    return torch.where(torch.tensor(x.sum().item() > 0), x * 2, -x)


TRACEABLE = {
    "the solution": (lambda x: torch.where(x.sum() > 0, x * 2, -x), "right"),
    "by arithmetic": (lambda x: x * (3 * (x.sum() > 0) - 1), "right"),
    "the stub": (branch, "not yet"),
    "a number on the way": (by_item, "not yet"),
    "per element": (lambda x: torch.where(x > 0, x * 2, -x), "wrong"),
    "at least zero": (lambda x: torch.where(x.sum() >= 0, x * 2, -x), "wrong"),
    "always doubled": (lambda x: x * 2, "wrong"),
    "a list": (lambda x: x.tolist(), "not yet"),
    "raises": (lambda x: x.nothing, "wrong"),
}


@pytest.mark.parametrize("answer", TRACEABLE)
def test_traceable(answer):
    function, state = TRACEABLE[answer]
    verdict = export.traceable(function)
    assert verdict.state == state, verdict


def solution(model, traced, inputs):
    wrong = []
    for place, x in enumerate(inputs):
        try:
            mine, theirs = traced(x), model(x)
            same = mine.shape == theirs.shape and torch.allclose(mine, theirs)
        except Exception:
            same = False
        if not same:
            wrong.append(place)
    return wrong


def uncaught(model, traced, inputs):
    return [
        place
        for place, x in enumerate(inputs)
        if traced(x).shape != model(x).shape or not torch.allclose(traced(x), model(x))
    ]


def without_shapes(model, traced, inputs):
    wrong = []
    for place, x in enumerate(inputs):
        try:
            same = torch.allclose(traced(x), model(x))
        except Exception:
            same = False
        if not same:
            wrong.append(place)
    return wrong


def to_the_bit(model, traced, inputs):
    wrong = []
    for place, x in enumerate(inputs):
        try:
            same = torch.equal(traced(x), model(x))
        except Exception:
            same = False
        if not same:
            wrong.append(place)
    return wrong


UNLIKE = {
    "the solution": (solution, "right"),
    "the stub": (lambda model, traced, inputs: [], "not yet"),
    "errors fly": (uncaught, "almost"),
    "shapes that broadcast": (without_shapes, "wrong"),
    "to the bit": (to_the_bit, "wrong"),
    "everything": (lambda model, traced, inputs: list(range(len(inputs))), "wrong"),
    "a yes": (lambda model, traced, inputs: True, "not yet"),
    "nothing returned": (lambda model, traced, inputs: None, "not yet"),
}


@pytest.mark.parametrize("answer", UNLIKE)
def test_unlike(answer):
    function, state = UNLIKE[answer]
    verdict = export.unlike(function)
    assert verdict.state == state, verdict


def centred(x):
    rows = x.new_ones(x.shape[0]).sum()
    return torch.where(rows > 1, x - x.mean(dim=0), x)


CENTRE = {
    "the solution": (centred, "right"),
    "arithmetic": (lambda x: x - x.mean(0) * (x.new_ones(x.shape[0]).sum() - 1).clamp(max=1), "right"),
    "a tensor of the answer": (
        lambda x: torch.where(torch.tensor(x.shape[0] > 1), x - x.mean(dim=0), x),
        "right",
    ),
    "a number as a factor": (lambda x: x - min(x.shape[0] - 1, 1) * x.mean(dim=0), "right"),
    "a branch of the graph": (
        lambda x: torch.cond(x.shape[0] > 1, lambda x: x - x.mean(0), lambda x: x.clone(), (x,)),
        "right",
    ),
    "Python asks": (lambda x: x - int(x.shape[0] > 1) * x.mean(dim=0), "not yet"),
    "the stub": (lambda x: x - x.mean(dim=0) if x.shape[0] > 1 else x, "not yet"),
    "len": (lambda x: x if len(x) == 1 else x - x.mean(dim=0), "almost"),
    "always": (lambda x: x - x.mean(dim=0), "wrong"),
    "over the columns": (lambda x: x - x.mean(dim=1, keepdim=True), "wrong"),
    "on a value": (lambda x: x - x.mean(0) if x.new_ones(x.shape[0]).sum() > 1 else x, "almost"),
    "a size": (lambda x: x.shape, "not yet"),
}


@pytest.mark.parametrize("answer", CENTRE)
def test_centre(answer, capfd):
    function, state = CENTRE[answer]
    verdict = export.centre(function)
    assert verdict.state == state, verdict
    assert capfd.readouterr() == ("", "")


columns, auto = torch.export.Dim("columns"), torch.export.Dim.AUTO
SHAPES = {
    "the solution": (lambda rows: ({0: rows}, {0: rows}), "right"),
    "by names": (lambda rows: {"x": {0: rows}, "weight": {0: rows}}, "right"),
    "found": (lambda rows: ({0: auto}, {0: auto}), "right"),
    "the stub": (lambda rows: ..., "not yet"),
    "nothing returned": (lambda rows: None, "not yet"),
    "the columns too": (lambda rows: ({0: rows, 1: columns}, {0: rows}), "almost"),
    "all fixed": (lambda rows: ({}, {}), "almost"),
    "one argument": (lambda rows: ({0: rows},), "wrong"),
    "two sizes": (lambda rows: ({0: rows}, {0: columns}), "wrong"),
    "the first only": (lambda rows: ({0: rows}, None), "wrong"),
}


@pytest.mark.parametrize("answer", SHAPES)
def test_shapes(answer):
    function, state = SHAPES[answer]
    verdict = export.shapes(function)
    assert verdict.state == state, verdict


def careful(run, low, high, message="made for {low} to {high} rows", last=0):
    def checked(x):
        if not low <= x.shape[0] <= high - last:
            raise ValueError(message.format(low=low, high=high))
        return run(x)

    return checked


def too_late(run, low, high):
    def checked(x):
        result = run(x)
        if not low <= len(x) <= high:
            raise ValueError(f"{low} to {high}")
        return result

    return checked


def asserting(run, low, high):
    def checked(x):
        assert low <= len(x) <= high
        return run(x)

    return checked


GUARDED = {
    "the solution": (careful, "right"),
    "the stub": (lambda run, low, high: run, "not yet"),
    "called at once": (lambda run, low, high: run(torch.ones(2, 2)), "not yet"),
    "without the range": (lambda *given: careful(*given, message="no"), "almost"),
    "one end left out": (lambda *given: careful(*given, last=1), "almost"),
    "too late": (too_late, "almost"),
    "an assertion": (asserting, "wrong"),
    "the upper end only": (lambda run, low, high: careful(run, 0, high), "not yet"),
    "the lower end only": (lambda run, low, high: careful(run, low, 10**9), "almost"),
    "nothing returned": (lambda run, low, high: None, "not yet"),
}


@pytest.mark.parametrize("answer", GUARDED)
def test_guarded(answer):
    function, state = GUARDED[answer]
    verdict = export.guarded(function)
    assert verdict.state == state, verdict
