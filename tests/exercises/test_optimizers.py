"""Right answers are right, the wrong answers that people give are told apart, stubs are not yet."""

import pytest
import torch
from torch import nn

from torchcourse.exercises import optimizers as check
from torchcourse.optimizers import adam, sgd


def by_kind(model, weight_decay):
    groups = {True: [], False: []}
    for module in model.modules():
        for p in module.parameters(recurse=False):
            if p.requires_grad:
                groups[p.ndim > 1 and not isinstance(module, nn.Embedding)].append(p)
    return [
        {"params": groups[True], "weight_decay": weight_decay},
        {"params": groups[False], "weight_decay": 0.0},
    ]


def by_ndim(model, weight_decay):
    return [
        {"params": [p for p in model.parameters() if p.ndim > 1], "weight_decay": weight_decay},
        {"params": [p for p in model.parameters() if p.ndim <= 1], "weight_decay": 0.0},
    ]


def with_frozen(model, weight_decay):
    decayed, rest = by_kind(model, weight_decay)
    return [decayed, {"params": [*rest["params"], *model.frozen.parameters()], "weight_decay": 0.0}]


def without_zero(model, weight_decay):
    decayed, rest = by_kind(model, weight_decay)
    return [decayed, {"params": rest["params"]}]


GROUPS = {
    "right": (by_kind, "right", "nothing is forgotten"),
    "the stub": (lambda model, weight_decay: ..., "not yet", "still returns"),
    "by ndim": (by_ndim, "almost", "the embedding decays"),
    "frozen too": (with_frozen, "almost", "frozen"),
    "the default decays": (without_zero, "wrong", "optimizer's default"),
    "all decay": (
        lambda model, decay: [{"params": model.parameters(), "weight_decay": decay}],
        "almost",
        "embedding",
    ),
    "no bias": (
        lambda model, decay: [
            {"params": [p for p in model.parameters() if p.ndim > 1], "weight_decay": decay}
        ],
        "wrong",
        "would never train",
    ),
    "no groups": (lambda model, decay: list(model.parameters()), "wrong", "optimizer's default"),
    "raises": (lambda model, decay: model.weight, "wrong", "raised AttributeError"),
}


@pytest.mark.parametrize("answer", GROUPS)
def test_decay_groups(answer):
    given, state, says = GROUPS[answer]
    verdict = check.decay_groups(given)
    assert (verdict.state, says in verdict.why) == (state, True), verdict


TOWARDS = {
    "right": (lambda v, g, a, lr, d: v - lr * g - lr * d * (v - a), "right", "grows with the distance"),
    "shrink first": (lambda v, g, a, lr, d: a + (v - a) * (1 - lr * d) - lr * g, "right", "distance"),
    "the stub": (lambda *parts: ..., "not yet", "still returns"),
    "to zero": (lambda v, g, a, lr, d: v * (1 - lr * d) - lr * g, "almost", "towards zero"),
    "turned round": (lambda v, g, a, lr, d: v - lr * g - lr * d * (a - v), "almost", "turn the difference"),
    "no lr": (lambda v, g, a, lr, d: v - lr * g - d * (v - a), "almost", "not multiplied by `lr`"),
    "no gradient": (lambda v, g, a, lr, d: v - lr * d * (v - a), "almost", "step is missing"),
    "uphill": (lambda v, g, a, lr, d: v + lr * g, "wrong", "expected"),
    "a number": (lambda *parts: 1.0, "wrong", "a tensor"),
}


@pytest.mark.parametrize("answer", TOWARDS)
def test_decay_towards(answer):
    given, state, says = TOWARDS[answer]
    verdict = check.decay_towards(given)
    assert (verdict.state, says in verdict.why) == (state, True), verdict


def rebuilt(name, rule, **fixed):
    """An optimizer class of the given name that steps by one of the course's rules."""

    class Mine:
        def __init__(self, parameters, **settings):
            self.parameters, self.settings = list(parameters), {**settings, **fixed}
            self.states = [{} for _ in self.parameters]

        @torch.no_grad()
        def step(self):
            for k, p in enumerate(self.parameters):
                terms = rule(p.clone(), p.grad, self.states[k], **self.settings)
                self.states[k] = terms.state
                p.copy_(terms.value)

    Mine.__name__ = name
    return Mine


def test_rebuilt():
    assert check.rebuilt(rebuilt("SGD", sgd), {"momentum": 0.9}).state == "right"
    assert check.rebuilt(rebuilt("AdamW", adam, decoupled_weight_decay=True), {}).state == "right"


def test_rebuilt_with_the_wrong_decay():
    """Right without decay, so only the second round shows it."""
    verdict = check.rebuilt(rebuilt("AdamW", adam), {})
    assert verdict.state == "wrong" and "weight_decay=0.25" in verdict.why


def test_rebuilt_that_raises():
    class SGD:
        def __init__(self, parameters, **settings):
            raise ValueError("no such luck")

    verdict = check.rebuilt(SGD, {})
    assert verdict.state == "wrong" and "no such luck" in verdict.why
