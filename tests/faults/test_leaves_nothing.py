"""`check_up` changes nothing: not a bit of the model, the batch, the optimizer, a generator, a mode or a flag."""

import gc
import random
import weakref

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F

from torchcourse.faults import check_up

from .faulty import FAULTY, Net
from .sound import SOUND, N, adam, classes, features, setup, stepped
from .state import state

CE = nn.CrossEntropyLoss()


def test_what_is_looked_at_can_be_seen_by_the_digest():
    """A digest that never changes would prove nothing."""
    made = stepped()
    before = state(*made)
    made[0].train(False)
    assert state(*made) != before
    made[0].train()
    made[0][1].running_mean += 0
    assert state(*made) != before  # the version


class Writes(nn.Module):
    """Writes wherever a forward can."""

    def __init__(self):
        super().__init__()
        self.body, self.log, self.count, self.extra = nn.Linear(4, 3), [1], 0, {"a": 1}
        self.register_buffer("mean", torch.zeros(4))
        self.register_buffer("seen", torch.zeros(()))
        self.noise, self.own = torch.Generator(), np.random.default_rng(0)
        self.cache, self.array = None, np.zeros(3)

    def forward(self, x):
        with torch.no_grad():
            self.body.weight.clamp_(-0.1, 0.1)
            self.body.bias.data = self.body.bias.data * 2
            self.mean.mul_(0.9).add_(x.mean(0), alpha=0.1)
            torch.add(self.seen, 1, out=self.seen)
        self.mean = self.mean.clone()
        self.count += 1
        self.log.append(self.count)
        self.extra["b"] = self.count
        self.extra.pop("a", None)
        self.array += 1
        self.cache = x.detach()
        self.body.requires_grad_(True)
        self.training = True
        random.random(), np.random.rand(), self.own.random()
        return self.body(x) + 0 * torch.rand(3, generator=self.noise)


def test_a_forward_that_writes_everywhere():
    model = Writes()
    model.eval()
    model.body.bias.requires_grad_(False)
    made = setup(model, (features(), classes()), CE)
    held = vars(model).copy(), list(model.log), dict(model.extra), model.mean, model.array.copy()
    weight, drawn, own = model.body.weight.clone(), model.noise.get_state(), model.own.bit_generator.state
    before = state(*made)
    check_up(*made)
    assert state(*made) == before
    assert vars(model).keys() == held[0].keys() and model.log == held[1] and model.extra == held[2]
    assert (
        model.mean is held[3] and (model.array == held[4]).all() and model.count == 0 and model.cache is None
    )
    assert torch.equal(model.body.weight, weight) and torch.equal(model.noise.get_state(), drawn)
    assert model.own.bit_generator.state == own


@pytest.mark.parametrize("when", ["forward", "loss", "backward"])
def test_also_when_the_step_raises(when):
    class Slope(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, grad):
            raise RuntimeError("in backward")

    class Breaks(Writes):
        def forward(self, x):
            out = super().forward(x)
            if when == "forward":
                raise RuntimeError("in forward")
            return Slope.apply(out) if when == "backward" else out

    def loss_fn(out, target):
        if when == "loss":
            raise RuntimeError("in loss")
        return CE(out, target)

    made = setup(Breaks(), (features(), classes()), loss_fn)
    before = state(*made)
    found = check_up(*made)
    assert [one.kind for one in found] == ["step-raises"] and f"in {when}" in found[0].evidence
    assert state(*made) == before


def test_an_interrupt_goes_on_to_you_and_everything_is_put_back():
    class Stops(Writes):
        def forward(self, x):
            super().forward(x)
            raise KeyboardInterrupt

    made = setup(Stops(), (features(), classes()), CE)
    before = state(*made)
    with pytest.raises(KeyboardInterrupt):
        check_up(*made)
    assert state(*made) == before


def test_gradients_that_were_there_are_the_same_objects():
    model, batch, loss_fn, optimizer = stepped()
    grads = [p.grad for p in model.parameters()]
    values = [g.clone() for g in grads]
    check_up(model, batch, loss_fn, optimizer)
    assert all(p.grad is g for p, g in zip(model.parameters(), grads, strict=True))
    assert all(torch.equal(g, v) for g, v in zip(grads, values, strict=True))


def test_an_optimizer_in_the_backward_is_not_stepped():
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    calls = []

    def update(p):
        calls.append(p)
        optimizer.step()

    handles = [p.register_post_accumulate_grad_hook(update) for p in model.parameters()]
    made = setup(model, (features(), classes()), CE, optimizer)
    before = state(*made)
    assert not check_up(*made) and not calls
    assert state(*made) == before
    F.cross_entropy(model(features()), classes()).backward()
    assert len(calls) == 4 and [handle.remove() for handle in handles]


def test_the_steps_after_it_are_the_same_as_without():
    def weights(checked):
        torch.manual_seed(0)
        model, batch, loss_fn, optimizer = SOUND["a CNN with batch norm and dropout"]()
        for _ in range(3):
            if checked:
                check_up(model, batch, loss_fn, optimizer)
            optimizer.zero_grad()
            loss_fn(model(batch[0]), batch[1]).backward()
            optimizer.step()
        return torch.cat([t.flatten().float() for t in model.state_dict().values()])

    assert torch.equal(weights(True), weights(False))


@pytest.mark.parametrize(
    "make",
    [FAULTY["a list of losses"][1], FAULTY["a state with its graph"][1], SOUND["numbers in a log"]],
    ids=["a list", "a state", "a log"],
)
def test_no_reference_is_left(make):
    model, batch, loss_fn, optimizer = make()
    found = check_up(model, batch, loss_fn, optimizer)
    gone = [weakref.ref(one) for one in (model, batch[0], optimizer, next(model.parameters()))]
    del model, batch, loss_fn, optimizer
    gc.collect()
    assert [ref() for ref in gone] == [None] * 4 and found is not None


def test_it_prints_nothing_and_warns_of_nothing(capfd, recwarn):
    check_up(*FAULTY["print in forward"][1]())
    check_up(*FAULTY["[N, 1] against [N] in MSE"][1]())
    assert capfd.readouterr() == ("", "") and not recwarn.list


@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode])
def test_under_a_mode_without_gradients_the_step_has_them(mode):
    made = setup(Net(), (features(), classes()), CE)
    with mode():
        assert not check_up(*made)
        assert not torch.is_grad_enabled()


def test_an_input_that_requires_grad_gets_none():
    x = features().requires_grad_()
    model = Net()
    assert not check_up(model, (x, classes()), CE, adam(model))
    assert x.grad is None and x.requires_grad


def test_twice_the_same_answer():
    made = FAULTY["Softmax before cross entropy"][1]()
    first, second = check_up(*made), check_up(*made)
    assert first == second and str(first) == str(second) and len(first) == 1 and N == 16
