"""Each rule equals torch's own step to the last bit, in values and in state, whatever the settings."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from torchcourse.optimizers import RULES, record

rates = st.floats(1e-4, 0.5)
fractions = st.floats(0, 0.99)
decays = st.sampled_from([0.0, 0.01, 0.25]) | st.floats(0, 0.5)
betas = st.tuples(fractions, st.floats(0.5, 0.9999))

SETTINGS = {
    torch.optim.SGD: st.fixed_dictionaries(
        {"lr": rates, "momentum": st.sampled_from([0.0, 0.5, 0.9]), "weight_decay": decays},
        optional={"dampening": fractions, "maximize": st.booleans()},
    ),
    torch.optim.Adam: st.fixed_dictionaries(
        {"lr": rates, "betas": betas, "weight_decay": decays},
        optional={
            "amsgrad": st.booleans(),
            "decoupled_weight_decay": st.booleans(),
            "eps": st.floats(1e-9, 0.1),
        },
    ),
    torch.optim.AdamW: st.fixed_dictionaries(
        {"lr": rates, "betas": betas}, optional={"weight_decay": decays, "amsgrad": st.booleans()}
    ),
    torch.optim.Adagrad: st.fixed_dictionaries(
        {"lr": rates, "weight_decay": decays, "lr_decay": fractions},
        optional={"initial_accumulator_value": st.floats(0, 1)},
    ),
    torch.optim.RMSprop: st.fixed_dictionaries(
        {"lr": rates, "alpha": st.floats(0.5, 0.999), "weight_decay": decays},
        optional={"momentum": st.sampled_from([0.5, 0.9]), "centered": st.booleans()},
    ),
}


def problem(parameters):
    """A loss with gradients of very different size, and one that is often zero."""
    w, b = parameters["w"], parameters["b"]
    return (torch.sin(w) * torch.logspace(-3, 1, w.numel(), dtype=w.dtype)).sum() + (b.relu() ** 2).sum()


def start(seed, dtype):
    generator = torch.Generator().manual_seed(seed)
    return {
        "w": torch.randn(7, generator=generator, dtype=dtype),
        "b": torch.randn(2, 3, generator=generator, dtype=dtype),
    }


def test_a_rule_for_each():
    assert set(SETTINGS) == set(RULES)


@pytest.mark.parametrize("optimizer", SETTINGS, ids=lambda one: one.__name__)
@given(st.data())
@settings(deadline=None, max_examples=40)
def test_equal_to_the_last_bit(optimizer, data):
    chosen = data.draw(SETTINGS[optimizer])
    variant = data.draw(st.sampled_from([{}, {"foreach": False}, {"foreach": True}]))
    dtype = data.draw(st.sampled_from([torch.float32, torch.float64]))
    done = record(optimizer, start(data.draw(st.integers(0, 99)), dtype), problem, 6, **chosen, **variant)
    assert done.stopped is None and len(done.steps) == 12
    assert {update.difference for update in done.steps} == {0.0}


@given(st.floats(0.01, 0.3), st.sampled_from([0.5, 0.9]), decays, st.booleans())
@settings(deadline=None, max_examples=40)
def test_nesterov(lr, momentum, weight_decay, foreach):
    """Also where torch writes into .grad: the recorded gradient is the loss's."""
    chosen = {
        "lr": lr,
        "momentum": momentum,
        "weight_decay": weight_decay,
        "nesterov": True,
        "foreach": foreach,
    }
    done = record(torch.optim.SGD, start(0, torch.float64), problem, 6, **chosen)
    assert {update.difference for update in done.steps} == {0.0}


@pytest.mark.parametrize(
    "optimizer", [torch.optim.SGD, torch.optim.Adam, torch.optim.AdamW, torch.optim.Adagrad]
)
def test_the_fused_variant_rounds_otherwise_at_most(optimizer):
    done = record(optimizer, start(0, torch.float64), problem, 20, lr=0.1, weight_decay=0.1, fused=True)
    assert max(update.difference for update in done.steps) < 1e-13


@pytest.mark.parametrize("optimizer", RULES, ids=lambda one: one.__name__)
def test_the_state_is_torchs_own(optimizer):
    """The same keys, and the same values: what a checkpoint would hold."""
    value = torch.tensor([1.0, -3.0], requires_grad=True)
    real = optimizer([value], lr=0.1, **({"momentum": 0.9} if optimizer is torch.optim.SGD else {}))
    mine, rule = {}, RULES[optimizer]
    group = {"momentum": 0.9} if optimizer is torch.optim.SGD else {}
    for _ in range(3):
        value.grad = torch.cos(value.detach())
        decay = {"weight_decay": 0.01} if optimizer is torch.optim.AdamW else {}
        mine = rule(value.detach().clone(), value.grad, mine, lr=0.1, **group, **decay).state
        real.step()
    theirs = {key: kept for key, kept in real.state[value].items() if kept is not None}
    assert set(mine) == set(theirs)
    assert all(torch.equal(torch.as_tensor(mine[key]).float(), theirs[key].float()) for key in mine)


def test_a_rule_changes_nothing_it_was_given():
    for rule in RULES.values():
        value, gradient = torch.tensor([1.0]), torch.tensor([2.0])
        state = rule(value, gradient, {}, lr=0.1).state
        before = {
            key: kept.clone() if isinstance(kept, torch.Tensor) else kept for key, kept in state.items()
        }
        rule(value, gradient, state, lr=0.1)
        assert value == 1 and gradient == 2 and state == before
