"""The check on right answers, and on the wrong answers that people really give."""

import pytest
import torch

from torchcourse.exercises import autograd as check


def function(forward, backward):
    return type(
        "Answer",
        (torch.autograd.Function,),
        {"forward": staticmethod(forward), "backward": staticmethod(backward)},
    )


def save_output(ctx, value):
    y = 1 / (1 + (-value).exp())
    ctx.save_for_backward(y)
    return y


def save_input(ctx, value):
    ctx.save_for_backward(value)
    return value.sigmoid()


def keep_on_ctx(ctx, value):
    ctx.y = value.sigmoid()
    return ctx.y


def from_output(ctx, gradient):
    (y,) = ctx.saved_tensors
    return gradient * y * (1 - y)


RIGHT = {
    "by hand": function(save_output, from_output),
    "torch": function(lambda ctx, v: ctx.save_for_backward(y := v.sigmoid()) or y, from_output),
}
WRONG = {
    "a function": (torch.sigmoid, "not yet", "the class itself"),
    "the stub": (function(lambda ctx, v: ..., lambda ctx, g: ...), "not yet", "still returns"),
    "the slope alone": (
        function(save_output, lambda ctx, g: ctx.saved_tensors[0] * (1 - ctx.saved_tensors[0])),
        "almost",
        "incoming gradient",
    ),
    "the input saved": (
        function(
            save_input,
            lambda ctx, g: g * ctx.saved_tensors[0].sigmoid() * (1 - ctx.saved_tensors[0].sigmoid()),
        ),
        "almost",
        "saved the input",
    ),
    "kept on ctx": (
        function(keep_on_ctx, lambda ctx, g: g * ctx.y * (1 - ctx.y)),
        "almost",
        "save_for_backward",
    ),
    "the gradient alone": (function(save_output, lambda ctx, g: g), "wrong", "backward gives"),
    "tanh": (function(lambda ctx, v: v.tanh(), lambda ctx, g: g), "wrong", "the sigmoid is"),
    "backward returns nothing": (function(save_output, lambda ctx, g: None), "wrong", "no gradient"),
    "backward raises": (function(save_output, lambda ctx, g: g[0][0]), "wrong", "raised IndexError"),
    "forward raises": (function(lambda ctx, v: v.sigmoidd(), from_output), "wrong", "raised AttributeError"),
    "forward returns a number": (function(lambda ctx, v: 1.0, from_output), "wrong", "the sigmoid is"),
}


@pytest.mark.parametrize("spelling", RIGHT)
def test_right_answers_are_green(spelling):
    assert check.sigmoid(RIGHT[spelling]).state == "right"


@pytest.mark.parametrize("mistake", WRONG)
def test_typical_mistakes_stay_red_and_are_named(mistake):
    answer, state, words = WRONG[mistake]
    verdict = check.sigmoid(answer)
    assert verdict.state == state and words in verdict.why, verdict
