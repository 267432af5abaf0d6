"""The learning-rate scan: what it returns, and that it leaves everything as it was."""

import copy
import math

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from torchcourse.training import learning_rate_range, overfit_one_batch

from . import loops

OPTIMIZERS = {
    "SGD": lambda p: torch.optim.SGD(p, lr=0.05),
    "momentum": lambda p: torch.optim.SGD(p, lr=0.05, momentum=0.9, weight_decay=0.01),
    "Adam": lambda p: torch.optim.Adam(p, lr=1e-3, amsgrad=True),
    "AdamW": lambda p: torch.optim.AdamW(p, lr=1e-3),
    "RMSprop": lambda p: torch.optim.RMSprop(p, lr=1e-3, centered=True),
    "a tensor as rate": lambda p: torch.optim.Adam(p, lr=torch.tensor(1e-3)),
}


@pytest.fixture(params=OPTIMIZERS)
def started(request):
    """A model and an optimizer in the middle of a run, with a gradient, a scheduler and a loader of their own."""
    model = loops.network(full=True)
    optimizer = OPTIMIZERS[request.param](model.parameters())
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2)
    generator = torch.Generator().manual_seed(3)
    batches = loops.loader(generator=generator)
    loops.train(model, optimizer, batches, scheduler)
    F.cross_entropy(model(loops.data()[0]), loops.data()[1]).backward()
    return model, optimizer, batches, generator


def scan(model, batches, optimizer, loss_fn=F.cross_entropy, **settings):
    return learning_rate_range(model, batches, loss_fn, optimizer, steps=30, **settings)


def test_everything_is_as_it_was(started):
    model, optimizer, batches, generator = started
    before = loops.everything(model, optimizer, generator)
    found = scan(model, batches, optimizer)
    assert loops.everything(model, optimizer, generator) == before
    assert len(found.rates) == len(found.losses) == len(found.smoothed) > 10


def test_everything_is_as_it_was_after_a_check_on_one_batch(started):
    model, optimizer, _, generator = started
    before = loops.everything(model, optimizer, generator)
    overfit_one_batch(model, loops.data(8), F.cross_entropy, optimizer, steps=20)
    assert loops.everything(model, optimizer, generator) == before


class Broken(Exception):
    pass


def breaking(batches, after):
    """Batches of which one raises."""
    for count, batch in enumerate(batches):
        if count == after:
            raise Broken
        yield batch


class Breaking:
    def __init__(self, batches, after):
        self.batches, self.after = batches, after

    def __iter__(self):
        return breaking(self.batches, self.after)


def test_everything_is_as_it_was_when_a_batch_raises(started):
    model, optimizer, batches, _ = started
    ready = list(batches)
    before = loops.everything(model, optimizer)
    with pytest.raises(Broken):
        scan(model, Breaking(ready, 3), optimizer)
    assert loops.everything(model, optimizer) == before


@pytest.mark.parametrize("fault", ["the model raises", "the loss raises", "the loss is a vector"])
def test_everything_is_as_it_was_when_a_step_raises(started, fault):
    model, optimizer, batches, generator = started
    calls = []

    def loss_fn(output, target):
        calls.append(1)
        if fault == "the loss raises" and len(calls) == 4:
            raise Broken
        reduction = "none" if fault == "the loss is a vector" and len(calls) == 4 else "mean"
        return F.cross_entropy(output, target, reduction=reduction)

    if fault == "the model raises":
        model[0].register_forward_hook(
            lambda *_: (_ for _ in ()).throw(Broken()) if len(calls) == 3 else None
        )
    before = loops.everything(model, optimizer, generator)
    with pytest.raises((Broken, ValueError)):
        scan(model, batches, optimizer, loss_fn)
    assert len(calls) >= 3
    assert loops.everything(model, optimizer, generator) == before


def test_everything_is_as_it_was_when_the_loss_becomes_nan(started):
    model, optimizer, batches, generator = started
    before = loops.everything(model, optimizer, generator)
    calls = []

    def loss_fn(output, target):
        calls.append(1)
        return F.cross_entropy(output, target) * (float("nan") if len(calls) == 7 else 1.0)

    found = scan(model, batches, optimizer, loss_fn)
    assert len(found.losses) == 6 and all(map(math.isfinite, found.losses))
    assert found.diverged_at is not None
    assert loops.everything(model, optimizer, generator) == before


def test_training_goes_on_as_if_nothing_had_been(started):
    model, optimizer, batches, generator = started
    twin_model, twin_optimizer = copy.deepcopy((model, optimizer))
    states = torch.get_rng_state(), generator.get_state()
    expected = loops.train(twin_model, twin_optimizer, batches)
    torch.set_rng_state(states[0])
    generator.set_state(states[1])
    scan(model, batches, optimizer)
    # Counting adds Python's and NumPy's random numbers, whose generators the twin has moved: leave them out.
    assert len(loops.train(model, optimizer, batches)) == len(expected)


def test_the_next_run_is_the_same_bit_for_bit():
    runs = []
    for scanned in (False, True):
        model = loops.network(seed=1)
        optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
        batches = loops.loader()
        torch.manual_seed(5)
        loops.train(model, optimizer, batches)
        if scanned:
            scan(model, batches, optimizer)
        runs.append((loops.train(model, optimizer, batches), [p.tolist() for p in model.parameters()]))
    assert runs[0] == runs[1]


def test_a_graph_that_was_open_can_still_run_backward():
    model = loops.network()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loss = F.cross_entropy(model(loops.data()[0]), loops.data()[1])
    (expected,) = torch.autograd.grad(loss, model[0].weight, retain_graph=True)
    scan(model, loops.loader(), optimizer)
    (given,) = torch.autograd.grad(loss, model[0].weight)
    assert torch.equal(given, expected)


def test_the_same_tensors_are_there_afterwards():
    model = loops.network(full=True)
    optimizer = torch.optim.Adam(model.parameters())
    loops.train(model, optimizer, loops.loader())
    owned = [*model.state_dict(keep_vars=True).values(), *(s["exp_avg"] for s in optimizer.state.values())]
    addresses = [t.data_ptr() for t in owned]
    scan(model, loops.loader(), optimizer)
    again = [*model.state_dict(keep_vars=True).values(), *(s["exp_avg"] for s in optimizer.state.values())]
    assert all(a is b for a, b in zip(owned, again, strict=True))
    assert [t.data_ptr() for t in again] == addresses


def test_tied_weights_and_weights_in_the_loss_are_kept():
    model = nn.Sequential(nn.Linear(6, 6), nn.Linear(6, 6), nn.Linear(6, 3))
    model[1].weight = model[0].weight
    loss_layer = nn.Linear(3, 3)
    optimizer = torch.optim.SGD([*model.parameters(), *loss_layer.parameters()], lr=0.1)

    class Loss(nn.Module):
        def __init__(self):
            super().__init__()
            self.head = loss_layer

        def forward(self, output, target):
            return F.cross_entropy(self.head(output), target)

    before = loops.everything(model, optimizer), loops.everything(loss_layer, optimizer)
    scan(model, loops.loader(), optimizer, Loss())
    assert (loops.everything(model, optimizer), loops.everything(loss_layer, optimizer)) == before


def test_rates_rise_geometrically_and_losses_are_those_of_a_plain_loop():
    batches = [loops.data(8)] * 3
    model = loops.network()
    found = learning_rate_range(
        model,
        batches,
        F.cross_entropy,
        torch.optim.SGD(model.parameters(), lr=1.0),
        start=1e-3,
        stop=1e-1,
        steps=5,
    )
    assert found.rates == pytest.approx([1e-3, 10**-2.5, 1e-2, 10**-1.5, 1e-1])
    expected = []
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    for rate in found.rates:
        optimizer.param_groups[0]["lr"] = rate
        expected += loops.train(model, optimizer, batches[:1])
    assert list(found.losses) == expected


@pytest.mark.parametrize(("name", "low", "high"), [("SGD", 0.03, 3.0), ("Adam", 5e-4, 0.3)])
def test_the_suggestion_trains_well(name, low, high):
    model = loops.network()
    optimizer = getattr(torch.optim, name)(model.parameters(), lr=123.0)
    torch.manual_seed(0)
    found = learning_rate_range(model, loops.loader(400, batch_size=32), F.cross_entropy, optimizer)
    rate_low, rate_high = found.suggested
    assert low < rate_low <= found.suggested <= rate_high < high
    assert found.diverged_at is None or found.diverged_at > rate_high
    for group in optimizer.param_groups:
        group["lr"] = float(found.suggested)
    losses = [
        loss for _ in range(5) for loss in loops.train(model, optimizer, loops.loader(400, batch_size=32))
    ]
    assert losses[-1] < 0.5 * losses[0]


def test_a_suggestion_is_a_number_that_can_be_copied():
    model = loops.network()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    found = learning_rate_range(model, loops.loader(), F.cross_entropy, optimizer, steps=60)
    copied = copy.deepcopy(found)
    assert copied == found and tuple(copied.suggested) == tuple(found.suggested)
    assert f"{found.suggested:.3f}" == f"{float(found.suggested):.3f}"
    assert "range" in str(found.suggested) and str(found.suggested) in str(found)


def test_no_suggestion_where_nothing_can_be_learned():
    model = loops.network()
    noise = [
        (torch.zeros(8, 6), torch.randint(0, 3, (8,), generator=torch.Generator().manual_seed(k)))
        for k in range(5)
    ]
    nn.init.zeros_(model[2].weight), nn.init.zeros_(model[2].bias)
    found = scan(model, noise, torch.optim.SGD(model.parameters(), lr=0.1), stop=1e-3)
    assert found.suggested is None and "did not fall" in str(found)


def test_the_text_says_that_the_scan_ended_too_early():
    model = loops.network()
    found = scan(model, loops.loader(), torch.optim.SGD(model.parameters(), lr=0.1), start=0.05, stop=0.2)
    assert "scan further" in str(found)


def test_an_iterator_is_read_no_further_than_needed():
    source = iter([loops.data(8)] * 50)
    model = loops.network()
    scan(model, source, torch.optim.SGD(model.parameters(), lr=0.1), stop=1e-3)
    assert len(list(source)) == 20


def test_the_mode_and_python_numpy_generators_are_kept_when_the_model_is_in_eval():
    model = loops.network(full=True).eval()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    before = loops.everything(model, optimizer)
    scan(model, loops.loader(), optimizer)
    assert loops.everything(model, optimizer) == before and not model.training
