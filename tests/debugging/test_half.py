"""The meter's shares against sums by hand, and nothing left behind."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from torchcourse.debugging import half_meter


class Times(nn.Module):
    def __init__(self, factor):
        super().__init__()
        self.factor = factor

    def forward(self, x):
        return x * self.factor


VALUES = torch.tensor([0.0, 1e-8, 6e-8, 1e-5, 1.0, 65504.0, 65520.0, 1e6])


def test_activations_by_hand():
    with half_meter(Times(1.0)) as meter:
        meter_output = Times(1.0)(VALUES)
    assert not meter.seen.layers  # another module
    model = Times(1.0)
    with half_meter(model) as meter:
        model(VALUES)
    shares = meter.seen.of("(model)").activation
    # 0 is no loss; 1e-8 goes to 0; 6e-8 and 1e-5 are subnormal; 65520 and 1e6 round to infinity.
    assert (shares.count, shares.zero, shares.subnormal, shares.overflow) == (7, 1, 2, 2)
    assert torch.equal(meter_output, VALUES) and shares.share("zero") == 1 / 7


def test_gradients_by_hand():
    model = nn.Sequential(Times(2.0), Times(1e-9))
    x = torch.ones(4, requires_grad=True)
    with half_meter(model) as meter:
        model(x).sum().backward()
    seen = meter.seen
    assert seen.of("0").gradient.zero == 4 and seen.of("1").gradient.zero == 0
    assert (seen.of("1").gradient_largest, seen.of("0").gradient_smallest) == (1.0, pytest.approx(1e-9))
    assert seen.loss_scale == 2.0**14  # twice the largest gradient, 1, is still below 65504
    scaled = nn.Sequential(Times(2.0), Times(1e-9))
    with half_meter(scaled) as meter:
        (scaled(x).sum() * seen.loss_scale).backward()
    assert meter.seen.of("0").gradient.zero == 0 and meter.seen.of("1").gradient.overflow == 0


@given(st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=1, max_size=30))
def test_shares_are_those_of_a_cast(values):
    x, model = torch.tensor(values), Times(1.0)
    for dtype in (torch.float16, torch.bfloat16):
        with half_meter(model, dtype) as meter:
            model(x)
        shares, cast, some = meter.seen.layers[0].activation, x.to(dtype), x != 0
        assert shares.zero == int(((cast == 0) & some).sum()) and shares.overflow == int(cast.isinf().sum())
        below = (cast.abs() < torch.finfo(dtype).smallest_normal) & (cast != 0)
        assert shares.subnormal == int(below.sum()) and shares.count == int(some.sum())


def test_nothing_is_left_and_values_are_the_same():
    torch.manual_seed(0)
    model, x = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.LSTM(4, 3)), torch.randn(2, 5, 4)
    model(x)[0].sum().backward()
    plain = [p.grad.clone() for p in model.parameters()]
    model.zero_grad()
    with half_meter(model) as meter:
        loss = model(x)[0].sum()
        loss.backward(retain_graph=True)
    counted = meter.seen.of("0").gradient.count
    assert all(torch.equal(a, p.grad) for a, p in zip(plain, model.parameters(), strict=True))
    assert not any(m._forward_hooks for m in model.modules())
    loss.backward()  # a hook that the graph still holds looks no more
    assert meter.seen.of("0").gradient.count == counted > 0
    assert "0 Linear" in str(meter.seen) and "loss scale" in str(meter.seen)


def test_bad_input_gets_a_sentence():
    with pytest.raises(TypeError, match=r"nn\.Module"):
        half_meter(3)
    with pytest.raises(ValueError, match=r"torch\.float16 and torch\.bfloat16"):
        half_meter(nn.Linear(1, 1), torch.float32)
    with half_meter(nn.Linear(1, 1)) as meter:
        pass
    assert str(meter.seen) == "float16: no layer was called" and meter.seen.loss_scale is None
    with pytest.raises(KeyError, match="no layer 'x'"):
        meter.seen.of("x")
