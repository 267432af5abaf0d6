"""The checks on right answers, and on the wrong answers that people really give."""

import pytest
import torch
from torch import nn

from torchcourse.exercises import modules as check

T = torch.ones


def encoder(layers=None, positions=None, mask=None, add=1.0):
    """The notebook's Encoder with three ways to hold its parts."""

    class Encoder(nn.Module):
        def __init__(self, depth=3, width=4):
            super().__init__()
            self.layers = (layers or list)(nn.Linear(width, width) for _ in range(depth))
            start = torch.zeros(width)
            self.positions = positions(start) if positions else start.requires_grad_()
            (mask or (lambda module, t: setattr(module, "mask", t)))(self, T(width))

        def forward(self, x):
            for layer in self.layers:
                x = layer(x + add * self.positions).relu()
            return x * self.mask

    return Encoder


def unsaved(module, mask):
    module.register_buffer("mask", mask, persistent=False)


def saved(module, mask):
    module.register_buffer("mask", mask)


def as_parameter(module, mask):
    module.mask = nn.Parameter(mask)


def as_buffer(start):
    return nn.Buffer(start)


def fails(self, depth, width):
    raise IndexError("no")


ENCODERS = {
    "the stub": (encoder(), "not yet", "all unregistered"),
    "an instance": (encoder()(), "not yet", "the class itself"),
    "a function": (lambda: 1, "not yet", "the class itself"),
    "right": (encoder(nn.ModuleList, nn.Parameter, unsaved), "right", "not saved"),
    "nn.Buffer": (
        encoder(nn.ModuleList, nn.Parameter, lambda m, t: setattr(m, "mask", nn.Buffer(t, persistent=False))),
        "right",
        "",
    ),
    "a Sequential": (encoder(lambda made: nn.Sequential(*made), nn.Parameter, unsaved), "right", ""),
    "layers alone": (encoder(nn.ModuleList), "wrong", "still beside the tree: positions, mask"),
    "a mask that is saved": (encoder(nn.ModuleList, nn.Parameter, saved), "almost", "persistent=False"),
    "a mask that is learned": (encoder(nn.ModuleList, nn.Parameter, as_parameter), "wrong", "optimizer would"),
    "positions as a buffer": (encoder(nn.ModuleList, as_buffer, unsaved), "wrong", "nobody would train"),
    "another forward": (encoder(nn.ModuleList, nn.Parameter, unsaved, add=2.0), "wrong", "other numbers"),
    "always one layer": (
        encoder(lambda made: nn.ModuleList(list(made)[:1]), nn.Parameter, unsaved), "wrong", "has 1 layers",
    ),
    "raises": (type("Bad", (nn.Module,), {"__init__": fails}), "wrong", "IndexError"),
}  # fmt: skip


@pytest.mark.parametrize("answer", ENCODERS)
def test_encoder(answer):
    given, state, words = ENCODERS[answer]
    verdict = check.encoder(given)
    assert verdict.state == state and words in verdict.why, verdict


# --- shapes ------------------------------------------------------------------------------------------------


def shapes(late=False, outer=True, keep=False, twice=False, order=None, finally_=True, forward=False):
    def answer(model, x):
        seen, handles = {}, []
        for path, module in model.named_modules():
            if not path and not outer:
                continue

            def note(module, args, output, bound=path):
                seen[path if late else bound] = tuple(output.shape)  # noqa: B023 (the mistake)

            handles.append(module.register_forward_hook(note))
        try:
            (model.forward if forward else model)(x)
            if twice:
                model(x)
        except Exception:
            if finally_:
                [handle.remove() for handle in handles]
            raise
        if not keep:
            [handle.remove() for handle in handles]
        return order(seen) if order else seen

    return answer


SHAPES = {
    "right": (shapes(), "right", "no hook is left"),
    "torch.Size": (shapes(order=lambda seen: {k: torch.Size(v) for k, v in seen.items()}), "right", ""),
    "the stub": (lambda model, x: ..., "not yet", "still returns"),
    "late binding": (shapes(late=True), "wrong", "path=path"),
    "children only": (shapes(outer=False), "almost", "under '', is missing"),
    "forward called directly": (shapes(forward=True), "almost", "Was forward called directly"),
    "hooks left": (shapes(keep=True), "almost", "hooks are left"),
    "two runs": (shapes(twice=True), "almost", "ran 2 times"),
    "sorted": (shapes(order=lambda seen: dict(sorted(seen.items()))), "almost", "order of finishing"),
    "no finally": (shapes(finally_=False), "almost", "finally"),
    "a list": (lambda model, x: [model(x).shape], "wrong", "got a list"),
    "not run": (lambda model, x: {}, "wrong", "empty"),
    "input shapes": (shapes(order=lambda seen: dict.fromkeys(seen, (2, 4))), "wrong", "you give"),
    "raises": (lambda model, x: model.nowhere, "wrong", "AttributeError"),
}
SHAPES["sorted"] = (SHAPES["sorted"][0], "almost", "modules finish in the order")


@pytest.mark.parametrize("answer", SHAPES)
def test_shapes(answer):
    given, state, words = SHAPES[answer]
    verdict = check.shapes(given)
    assert verdict.state == state and words in verdict.why, verdict


# --- freeze ------------------------------------------------------------------------------------------------


def grads(part):
    part.requires_grad_(False)


def grads_and_eval(part):
    grads(part)
    part.eval()


def for_good(part):
    grads_and_eval(part)
    for module in part.modules():
        module.train = lambda mode=True, module=module: module


def without_tracking(part):
    grads(part)
    for module in part.modules():
        if isinstance(module, nn.BatchNorm1d):
            module.momentum = 0.0


FREEZES = {
    "right": (for_good, "right", "does not wake"),
    "the stub": (lambda part: ..., "not yet", ""),
    "nothing": (lambda part: None, "not yet", "nothing is frozen"),
    "grads alone": (grads, "almost", "still drift"),
    "eval alone": (lambda part: part.eval() and None, "wrong", "still require grad"),
    "until train()": (grads_and_eval, "almost", "next model.train()"),
    "momentum 0": (without_tracking, "almost", "train mode"),
    "one layer": (lambda part: part[0].requires_grad_(False) and None, "wrong", "still require grad"),
}


@pytest.mark.parametrize("answer", FREEZES)
def test_freeze(answer):
    given, state, words = FREEZES[answer]
    verdict = check.freeze(given)
    assert verdict.state == state and words in verdict.why, verdict


# --- first weights -----------------------------------------------------------------------------------------


def he(kinds=(nn.Linear, nn.Conv2d), init=nn.init.kaiming_normal_, bias=True, **settings):
    def answer(module):
        if isinstance(module, kinds):
            init(
                module.weight,
                **({"nonlinearity": "relu"} if init is nn.init.kaiming_normal_ else {}),
                **settings,
            )
            if bias and module.bias is not None:
                nn.init.zeros_(module.bias)

    return answer


def forgets_no_bias(module):
    if isinstance(module, nn.Linear | nn.Conv2d):
        nn.init.kaiming_normal_(module.weight, nonlinearity="relu")
        nn.init.zeros_(module.bias)


def everything(module):
    he()(module)
    if isinstance(module, nn.BatchNorm2d):
        nn.init.normal_(module.weight)


HES = {
    "right": (he(), "right", "sqrt(2 / fan_in)"),
    "the stub": (lambda module: ..., "not yet", ""),
    "nothing": (lambda module: None, "not yet", "default"),
    "Linear alone": (he(nn.Linear), "almost", "tuple of classes"),
    "no zero bias": (he(bias=False), "almost", "bias is not zero"),
    "Xavier": (he(init=nn.init.xavier_normal_), "wrong", "He wants"),
    "fan_out": (he(mode="fan_out"), "wrong", "He wants"),
    "a layer without bias": (forgets_no_bias, "wrong", "AttributeError"),
    "BatchNorm, too": (everything, "wrong", "starts with ones"),
}


@pytest.mark.parametrize("answer", HES)
def test_he(answer):
    given, state, words = HES[answer]
    before = torch.get_rng_state()
    verdict = check.he(given)
    assert verdict.state == state and words in verdict.why, verdict
    assert torch.equal(before, torch.get_rng_state()), "the check moved the reader's generator"
