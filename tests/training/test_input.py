"""Bad input: one clear sentence, and nothing of the reader's changed."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from torchcourse.training import (
    ActivationStats,
    GradientNorms,
    UpdateRatios,
    learning_rate_range,
    overfit_one_batch,
)

from . import loops

CHECKS = {
    "scan": lambda m, b, f, o: learning_rate_range(m, b, f, o, steps=5),
    "overfit": lambda m, b, f, o: overfit_one_batch(m, next(iter(b)), f, o, steps=5),
}


def sgd(model):
    return torch.optim.SGD(model.parameters(), lr=0.1)


def one_with(x=None, y=None):
    good_x, good_y = loops.data(8)
    return [(good_x if x is None else x, good_y if y is None else y)]


@pytest.fixture(params=CHECKS)
def check(request):
    def run(error, words, *, batches=None, loss_fn=F.cross_entropy, model=None, optimizer=None):
        model = loops.network() if model is None else model
        optimizer = sgd(model) if optimizer is None else optimizer
        batches = one_with() if batches is None else batches
        ours = isinstance(model, nn.Module) and isinstance(optimizer, torch.optim.Optimizer)
        before = loops.everything(model, optimizer) if ours else None
        with pytest.raises(error, match=words) as caught:
            CHECKS[request.param](model, batches, loss_fn, optimizer)
        assert "\n" not in str(caught.value) and str(caught.value).endswith(".")
        assert before is None or loops.everything(model, optimizer) == before

    return run


def test_a_model_without_parameters(check):
    check(
        ValueError,
        "Sequential has no parameters",
        model=nn.Sequential(nn.ReLU()),
        optimizer=sgd(nn.Linear(2, 2)),
    )


def test_an_optimizer_over_nothing(check):
    check(ValueError, "holds no parameters", optimizer=torch.optim.SGD([{"params": []}], lr=0.1))


def test_an_optimizer_of_another_model(check):
    check(ValueError, "another model", optimizer=sgd(loops.network()))


def test_a_frozen_model(check):
    check(ValueError, "everything is frozen", model=loops.network().requires_grad_(False))


def test_layers_without_a_shape():
    model = nn.Sequential(nn.LazyLinear(3))
    with pytest.raises(ValueError, match=r"0\.weight has no shape yet"):
        learning_rate_range(model, one_with(), F.cross_entropy, sgd(model))


def test_things_of_another_kind(check):
    check(TypeError, r"model is an nn\.Module; got the class Linear itself", model=nn.Linear, optimizer=3)
    check(TypeError, "optimizer is a .*got a float", optimizer=0.1)
    check(TypeError, "pair .*got a Tensor", batches=[torch.ones(3, 6)])
    check(TypeError, "pair .*got a tuple of 3", batches=[(1, 2, 3)])
    check(TypeError, "one element; got a float", loss_fn=lambda output, target: 0.5)


def test_a_loss_that_is_no_scalar(check):
    check(ValueError, r"shape \(8,\)", loss_fn=lambda o, t: F.cross_entropy(o, t, reduction="none"))


def test_a_loss_without_grad(check):
    check(ValueError, "does not require grad", loss_fn=lambda o, t: F.cross_entropy(o.detach(), t))


def test_nan_in_the_first_batch(check):
    x = torch.ones(8, 6)
    x[2, 3] = float("nan")
    check(ValueError, "first loss is nan.*the first batch's input", batches=one_with(x))


def test_nan_in_the_target(check):
    target = torch.full((8, 3), float("inf"))
    check(ValueError, "the first batch's target", batches=one_with(y=target), loss_fn=F.mse_loss)


def test_nan_in_a_weight(check):
    model = loops.network()
    with torch.no_grad():
        model[2].bias[0] = float("nan")
    check(ValueError, r"the parameter 2\.bias is not finite", model=model)


def test_nan_that_the_loss_makes(check):
    check(ValueError, "arises in the model or in loss_fn", loss_fn=lambda o, t: o.sum() * float("nan"))


def test_lbfgs(check):
    model = loops.network()
    check(ValueError, "LBFGS", model=model, optimizer=torch.optim.LBFGS(model.parameters()))


@pytest.mark.parametrize(
    ("batches", "words"),
    [
        ([], "No batch came"),
        (iter([]), "No batch came"),
        (loops.loader(0, shuffle=False), "No batch came"),
        (loops.loader(10, batch_size=32, drop_last=True), "10 samples and a batch takes 32"),
    ],
)
def test_no_batch(batches, words):
    model = loops.network()
    optimizer = sgd(model)
    before = loops.everything(model, optimizer)
    with pytest.raises(ValueError, match=words):
        learning_rate_range(model, batches, F.cross_entropy, optimizer)
    assert loops.everything(model, optimizer) == before


def test_a_batch_larger_than_the_data_that_is_kept_is_a_batch():
    model = loops.network()
    batches = loops.loader(10, batch_size=32)
    assert learning_rate_range(model, batches, F.cross_entropy, sgd(model), steps=4).losses


@pytest.mark.parametrize("batches", [3, None, torch.ones(4, 2)])
def test_batches_that_are_none(batches):
    model = loops.network()
    with pytest.raises(TypeError, match="batches is a DataLoader"):
        learning_rate_range(model, batches, F.cross_entropy, sgd(model))


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"start": 0}, "both above 0"),
        ({"start": 1.0, "stop": 0.1}, "rise from start to stop"),
        ({"stop": float("inf")}, "got 1e-06 and inf"),
        ({"steps": 1}, "2 or more; got 1"),
        ({"steps": 2.5}, "got 2.5"),
    ],
)
def test_settings(settings, words):
    model = loops.network()
    with pytest.raises(ValueError, match=words):
        learning_rate_range(model, one_with(), F.cross_entropy, sgd(model), **settings)


@pytest.mark.parametrize("observer", [GradientNorms, UpdateRatios])
def test_observers_refuse_with_the_same_sentences(observer):
    with pytest.raises(ValueError, match="has no parameters"):
        observer(nn.ReLU(), sgd(nn.Linear(2, 2)))
    with pytest.raises(ValueError, match="every is a whole number"):
        observer(model := nn.Linear(2, 2), sgd(model), every=0)
    with pytest.raises(TypeError, match=r"nn\.Module"):
        ActivationStats("model")


@pytest.mark.parametrize(
    ("loss_fn", "words"),
    [
        ("mse", "loss_fn is called as"),
        (nn.MSELoss, "the class MSELoss itself"),
        (lambda output, target: (output - target).abs().mean() * 1j, "its result is complex"),
    ],
)
def test_a_loss_that_can_be_no_loss_gets_a_sentence(loss_fn, words):
    model = nn.Linear(2, 2)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    batch = torch.ones(3, 2), torch.ones(3, 2)
    with pytest.raises((TypeError, ValueError), match=words):
        learning_rate_range(model, [batch], loss_fn, optimizer)
    with pytest.raises((TypeError, ValueError), match=words):
        overfit_one_batch(model, batch, loss_fn, optimizer)


def test_one_observer_watches_once_at_a_time():
    model = nn.Linear(2, 2)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    norms = GradientNorms(model, optimizer)
    with norms, pytest.raises(ValueError, match="watching already"), norms:
        pass
    assert not optimizer._optimizer_step_pre_hooks and not optimizer._optimizer_step_post_hooks
    with norms:
        pass
