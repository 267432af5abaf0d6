"""The observers: their numbers are those computed by hand, and the run under observation is the same run."""

from contextlib import ExitStack

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from torchcourse.training import ActivationStats, GradientNorms, StepTimes, UpdateRatios, overfit_one_batch
from torchcourse.training import times as times_module

from . import loops


def observed_run(observe):
    """Two epochs, and everything afterwards."""
    model = loops.network(full=True)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    torch.manual_seed(7)
    with ExitStack() as stack:
        batches = loops.loader()
        if observe:
            for observer in (
                GradientNorms(model, optimizer),
                UpdateRatios(model, optimizer),
                ActivationStats(model),
            ):
                stack.enter_context(observer)
            batches = StepTimes().data(batches)
        losses = loops.train(model, optimizer, batches)
    return losses, [p.detach().tolist() for p in model[0].parameters()], model, optimizer


def test_the_run_under_observation_is_the_same_run(monkeypatch):
    # Counting draws from Python's and NumPy's generators, which a seed of torch does not set.
    monkeypatch.setattr(loops.random, "random", lambda: 0.5)
    monkeypatch.setattr(loops.numpy.random, "random", lambda: 0.5)
    plain, observed = observed_run(False), observed_run(True)
    assert plain[:2] == observed[:2]
    assert torch.equal(plain[2][1].running_var, observed[2][1].running_var)


def test_no_hook_stays_also_when_the_block_raises():
    model = loops.network()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with (
        pytest.raises(KeyError),
        GradientNorms(model, optimizer),
        UpdateRatios(model, optimizer),
        ActivationStats(model),
    ):
        raise KeyError
    assert not any(module._forward_hooks for module in model.modules())
    assert not optimizer._optimizer_step_pre_hooks and not optimizer._optimizer_step_post_hooks


def test_gradient_norms_are_those_that_the_step_finds():
    model = loops.network()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    expected = []
    with GradientNorms(model, optimizer) as norms:
        for x, y in [loops.data(8)] * 3:
            optimizer.zero_grad()
            F.cross_entropy(model(x), y).backward()
            nn.utils.clip_grad_norm_(model.parameters(), 0.1)
            expected.append(
                [torch.cat([p.grad.flatten() for p in model[k].parameters()]).norm() for k in (0, 2)]
            )
            optimizer.step()
    assert norms.seen.layers == ("0", "2") and norms.seen.steps == (0, 1, 2)
    for row, found in zip(norms.seen.values, expected, strict=True):
        assert row == pytest.approx([float(v) for v in found], rel=1e-5)
    assert norms.seen.of("2")[-1] == norms.seen.last()["2"]
    with pytest.raises(KeyError, match="no layer '1'; there are 0, 2"):
        norms.seen.of("1")


def test_a_layer_without_a_gradient_is_none_and_frozen_ones_are_left_out():
    model = nn.ModuleDict({"used": nn.Linear(6, 3), "unused": nn.Linear(6, 3), "frozen": nn.Linear(3, 3)})
    model["frozen"].requires_grad_(False)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    x, y = loops.data(8)
    with GradientNorms(model, optimizer) as norms, UpdateRatios(model, optimizer) as ratios:
        F.cross_entropy(model["frozen"](model["used"](x)), y).backward()
        optimizer.step()
    assert norms.seen.layers == ("used", "unused")
    assert norms.seen.last()["unused"] is None and norms.seen.last()["used"] > 0
    assert ratios.seen.last()["unused"] is None and "none" in str(ratios.seen)


def test_update_ratios():
    model = nn.Linear(6, 3)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    x, y = loops.data(8)
    with UpdateRatios(model, optimizer) as ratios:
        F.cross_entropy(model(x), y).backward()
        old = torch.cat([p.detach().flatten().clone() for p in model.parameters()])
        optimizer.step()
        new = torch.cat([p.detach().flatten() for p in model.parameters()])
    # weight and bias belong to the module itself, and are told apart by their own names
    by_name = ratios.seen.last()
    assert set(by_name) == {"weight", "bias"}
    whole = float((new - old).norm() / old.norm())
    assert min(by_name.values()) <= whole <= max(by_name.values())
    assert by_name["weight"] == pytest.approx(float((new - old)[:18].norm() / old[:18].norm()), rel=1e-5)


def test_updates_of_zero_weights_have_no_ratio():
    model = nn.Sequential(nn.Linear(6, 3))
    nn.init.zeros_(model[0].weight), nn.init.zeros_(model[0].bias)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with UpdateRatios(model, optimizer) as ratios:
        F.cross_entropy(model(loops.data(8)[0]), loops.data(8)[1]).backward()
        optimizer.step()
    assert ratios.seen.last() == {"0": float("inf")}


def test_every_third_step():
    model = loops.network()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with GradientNorms(model, optimizer, every=3) as norms, ActivationStats(model, every=3) as stats:
        loops.train(model, optimizer, [loops.data(8)] * 7)
    assert norms.seen.steps == (0, 3, 6)
    assert len(stats.seen.of("0").means) == 3


def test_vanishing_gradients_are_seen():
    def spread(activation):
        torch.manual_seed(0)
        body = [layer for _ in range(10) for layer in (nn.Linear(16, 16), activation())]
        model = nn.Sequential(nn.Linear(6, 16), *body, nn.Linear(16, 3))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        with GradientNorms(model, optimizer) as norms:
            loops.train(model, optimizer, [loops.data(8)])
        return norms.seen.spread

    assert spread(nn.Sigmoid) < 1e-5
    assert spread(nn.Identity) > 1e-3


def test_activations():
    model = nn.Sequential(nn.Linear(6, 50), nn.ReLU(inplace=True), nn.Linear(50, 3))
    x = loops.data(8)[0]
    with ActivationStats(model) as stats:
        model(x)
        model(-x)
    hidden = model[0](-x).detach()
    first, relu = stats.seen.of("0"), stats.seen.of("1")
    assert first.kind == "Linear" and len(first.means) == 2
    assert first.means[1] == pytest.approx(float(hidden.mean()), abs=1e-6)
    assert first.stds[1] == pytest.approx(float(hidden.std(correction=0)), rel=1e-5)
    assert first.zeros == (0.0, 0.0)  # seen before the in-place ReLU wrote over it
    assert relu.zeros[1] == pytest.approx(float((hidden <= 0).float().mean()), abs=1e-6)
    assert "1 ReLU" in str(stats.seen)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
@pytest.mark.parametrize(("mean", "std"), [(0.0, 1.0), (3.0, 1.0), (1000.0, 0.5), (7.0, 0.0)])
def test_activations_with_a_large_mean_keep_their_digits(mean, std, dtype):
    x = (torch.randn(200, 50, generator=torch.Generator().manual_seed(0)) * std + mean).to(dtype)
    layer = nn.Identity()
    with ActivationStats(layer) as stats:
        layer(x)
    found = stats.seen.of("(model)")
    assert found.stds[0] == pytest.approx(float(x.double().std(correction=0)), rel=1e-3, abs=1e-4)
    assert found.means[0] == pytest.approx(float(x.double().mean()), rel=1e-3, abs=1e-4)


@pytest.mark.parametrize("shape", [(64, 3), (3, 64), (5, 7), (1,), (8, 4, 4, 2), (127, 64)])
@pytest.mark.parametrize("kept", [0.0, 0.3, 1.0])
def test_zeros_are_counted_exactly(shape, kept):
    x = (torch.rand(shape, generator=torch.Generator().manual_seed(1)) < kept).float()
    for one in (x, x.transpose(0, -1)):
        with ActivationStats(layer := nn.Identity()) as stats:
            layer(one)
        zeros = 1 - torch.count_nonzero(x).item() / x.numel()
        assert stats.seen.of("(model)").zeros[0] == pytest.approx(zeros, abs=1e-6)


def test_activations_of_tuples_integers_and_models_without_children():
    lstm = nn.LSTM(6, 4)
    with ActivationStats(lstm) as stats:
        lstm(torch.ones(3, 6))
    assert stats.seen.layers[0].name == "(model)" and stats.seen.layers[0].kind == "LSTM"

    class Index(nn.Module):
        def forward(self, x):
            return x.argmax(1)

    with ActivationStats(Index()) as stats:
        Index()(torch.ones(2, 2))
    assert str(stats.seen) == "activations: no layer was called"


def test_sparse_gradients():
    model = nn.Embedding(10, 4, sparse=True)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with GradientNorms(model, optimizer) as norms, UpdateRatios(model, optimizer) as ratios:
        model(torch.tensor([1, 1, 3])).sum().backward()
        optimizer.step()
    assert norms.seen.last()["weight"] == pytest.approx((4 * 2**2 + 4) ** 0.5)
    assert ratios.seen.last()["weight"] > 0


def test_half_precision_is_summed_in_float32():
    model = nn.Sequential(nn.Linear(64, 64)).bfloat16()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with GradientNorms(model, optimizer) as norms, UpdateRatios(model, optimizer) as ratios:
        model(torch.ones(2, 64, dtype=torch.bfloat16)).sum().backward()
        optimizer.step()
    assert norms.seen.last()["0"] == pytest.approx((64 * 64 * 4 + 64 * 4) ** 0.5, rel=1e-4)
    assert ratios.seen.last()["0"] > 0


def test_times(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(times_module.time, "perf_counter", lambda: now[0])

    def slow():
        for k in range(3):
            now[0] += 4
            yield k

    times = StepTimes()
    for _ in times.data(slow()):
        with times.forward:
            now[0] += 2
        with times.backward:
            now[0] += 3
        with times.step:
            now[0] += 1
        now[0] += 0.5  # logging
    seen = times.seen
    assert (seen.steps, seen.data, seen.forward, seen.backward, seen.step, seen.other) == (
        3,
        12,
        6,
        9,
        3,
        1.5,
    )
    assert seen.total == 31.5 and seen.waits_for_data
    assert seen.share("data") == pytest.approx(12 / 31.5)
    assert str(seen).startswith("3 steps of 1.05e+04 ms: data 38%, forward 19%")
    with pytest.raises(KeyError, match="no part 'loss'"):
        seen.share("loss")


def test_times_of_a_loop_that_is_left_early():
    times = StepTimes()
    for _ in times.data([1, 2, 3]):
        break
    assert times.seen.steps == 1
    assert str(StepTimes().seen) == "no step yet"


def test_a_sound_loop_learns_one_batch_by_heart():
    model = loops.network()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    found = overfit_one_batch(model, loops.data(20), F.cross_entropy, optimizer)
    assert found.passed and not found.unmoved and "learned by heart" in str(found)


def softmax_twice(output, target):
    return F.cross_entropy(output.softmax(-1), target)


@pytest.mark.parametrize(
    ("loss_fn", "lr", "words"),
    [
        (softmax_twice, 5.0, "softmax twice"),
        (F.cross_entropy, 1e-6, "stands still"),
        (lambda output, target: F.cross_entropy(output, target) * 1e30, 1e10, "no number any more"),
    ],
)
def test_faulty_loops_do_not_pass(loss_fn, lr, words):
    model = loops.network()
    found = overfit_one_batch(model, loops.data(20), loss_fn, torch.optim.SGD(model.parameters(), lr=lr))
    assert not found.passed and words in str(found)


def test_a_layer_that_takes_no_part_is_named():
    class Bypassed(nn.Linear):
        def forward(self, x):
            return x

    model = nn.Sequential(loops.network(), Bypassed(3, 3))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    found = overfit_one_batch(model, loops.data(20), F.cross_entropy, optimizer)
    assert found.unmoved == ("1.weight", "1.bias") and "never moved: 1.weight, 1.bias" in str(found)
