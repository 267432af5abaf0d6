"""The checks on right answers, and on the wrong answers that people really give."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from torchcourse.exercises import data as data_check
from torchcourse.exercises import training as check

from .rebuilt import rebuilt, rebuilt_lines


def step(
    clear=True,
    clip="norm",
    order="clip, step",
    clear_after=True,
    numbers=True,
    norm_from="before",
    stepped=True,
):
    """A training step with one thing done otherwise."""

    def train_step(model, optimizer, x, y, max_norm):
        if clear:
            optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        if order == "zero, step":
            optimizer.zero_grad()
        if order == "step, clip":
            optimizer.step()
        norm = nn.utils.clip_grad_norm_(model.parameters(), max_norm if clip == "norm" else 1e9)
        if clip == "value":
            nn.utils.clip_grad_value_(model.parameters(), max_norm)
        if norm_from == "after":
            norm = nn.utils.get_total_norm([p.grad for p in model.parameters()])
        if order != "step, clip" and stepped:
            optimizer.step()
        if clear_after:
            optimizer.zero_grad()
        return (loss.item(), norm.item()) if numbers else (loss, norm)

    return train_step


STEPS = {
    "right": (step(), "right", "clipped by norm"),
    "cleared before and kept None after": (step(clear_after=True), "right", "no gradient left"),
    "the stub": (lambda m, o, x, y, n: ..., "not yet", "still returns"),
    "never cleared": (step(clear=False), "wrong", "Old gradients were there"),
    "not clipped": (step(clip="no"), "wrong", "not clipped"),
    "clipped by value": (step(clip="value"), "wrong", "clip_grad_norm_ keeps the direction"),
    "clipped after the step": (step(order="step, clip"), "wrong", "not clipped"),
    "cleared before the step": (step(order="zero, step"), "wrong", "no weight moved"),
    "no step": (step(stepped=False), "wrong", "no weight moved"),
    "the norm from after": (step(norm_from="after"), "wrong", "norm before clipping"),
    "gradients left": (step(clear_after=False), "almost", "left behind"),
    "tensors": (step(numbers=False), "almost", r".item()"),
    "one value": (lambda m, o, x, y, n: 0.5, "wrong", "return two values"),
    "an error": (lambda m, o, x, y, n: m(x).nothing, "wrong", "raised AttributeError"),
    "not called": (3, "not yet", "hand over the function"),
}


def evaluation(mode=True, restore=True, grad=False, mean="samples", number=True, always_train=False):
    """A validation with one thing done otherwise."""

    def evaluate(model, batches):
        was = model.training
        if mode:
            model.eval()
        total, count = 0.0, 0
        with torch.set_grad_enabled(grad):
            for x, y in batches:
                loss = F.cross_entropy(model(x), y)
                total, count = (
                    (total + loss * len(x), count + len(x))
                    if mean == "samples"
                    else (total + loss, count + 1)
                )
        if restore:
            model.train(True if always_train else was)
        return (total / count).item() if number else (total / count).detach()

    return evaluate


EVALUATIONS = {
    "right": (evaluation(), "right", "each sample counts once"),
    "the stub": (lambda m, b: ..., "not yet", "still returns"),
    "a mean of means": (evaluation(mean="batches"), "almost", "mean of means"),
    "no eval()": (evaluation(mode=False), "wrong", "was eval() called?"),
    "left in eval": (evaluation(restore=False), "almost", "another mode"),
    "always back to train": (evaluation(always_train=True), "almost", "another mode"),
    "graphs": (evaluation(grad=True), "almost", "no_grad"),
    "a tensor": (evaluation(number=False), "almost", "return a number"),
    "nothing": (lambda m, b: None, "wrong", "returns None"),
}


def accumulation(weigh="samples", clear=True, step_each=False, stepped=True):
    def accumulate(model, optimizer, batches):
        if clear:
            optimizer.zero_grad()
        total = sum(len(x) for x, _ in batches)
        for x, y in batches:
            loss = F.cross_entropy(model(x), y)
            loss = {"samples": loss * len(x) / total, "batches": loss / len(batches), "none": loss}[weigh]
            loss.backward()
            if step_each:
                optimizer.step()
                optimizer.zero_grad()
        if stepped:
            optimizer.step()

    return accumulate


ACCUMULATIONS = {
    "right": (accumulation(), "right", "also when the last one is smaller"),
    "the stub": (lambda m, o, b: ..., "not yet", "still returns"),
    "a mean over batches": (accumulation(weigh="batches"), "almost", "weighs too much"),
    "no division": (accumulation(weigh="none"), "wrong", "twice the gradient"),
    "never cleared": (accumulation(clear=False), "wrong", "old gradients cleared"),
    "a step each": (accumulation(step_each=True), "wrong", "not the step of the large batch"),
    "no step": (accumulation(stepped=False), "wrong", "no weight moved"),
}


def pad_with(batch_first=True, side="right", lengths=True, label_dtype=torch.int64):
    def pad(samples):
        sequences, labels = zip(*samples, strict=True)
        x = nn.utils.rnn.pad_sequence(sequences, batch_first=batch_first, padding_side=side)
        counts = [len(s) for s in sequences] if lengths else [3, 3, 3]
        return x, torch.tensor(counts), torch.tensor(labels, dtype=label_dtype)

    return pad


PADS = {
    "right": (pad_with(), "right", "padded on the right"),
    "the stub": (lambda samples: ..., "not yet", "still returns"),
    "time first": (pad_with(batch_first=False), "almost", "batch_first=True"),
    "on the left": (pad_with(side="left"), "almost", "on the left"),
    "lengths after padding": (pad_with(lengths=False), "wrong", "lengths are [3, 1, 2]"),
    "float labels": (pad_with(label_dtype=torch.float32), "wrong", "int64"),
    "two parts": (lambda samples: pad_with()(samples)[:2], "wrong", "three tensors"),
    "stacked": (lambda samples: torch.stack([s for s, _ in samples]), "wrong", "raised RuntimeError"),
}

CASES = [
    *((check.train_step, name, *case) for name, case in STEPS.items()),
    *((check.evaluate, name, *case) for name, case in EVALUATIONS.items()),
    *((check.accumulate, name, *case) for name, case in ACCUMULATIONS.items()),
    *((data_check.pad, name, *case) for name, case in PADS.items()),
]


@pytest.mark.parametrize(
    ("judge", "name", "answer", "state", "words"), CASES, ids=[f"{c[0].__name__}: {c[1]}" for c in CASES]
)
def test_verdicts(judge, name, answer, state, words):
    verdict = judge(answer)
    assert (verdict.state, words in verdict.why) == (state, True), str(verdict)


def test_checks_leave_the_random_numbers_alone():
    before = torch.get_rng_state()
    check.train_step(step())
    check.accumulate(accumulation())
    assert torch.equal(before, torch.get_rng_state())


def test_the_rebuilt_sgd_is_torchs():
    assert check.compare_sgd(rebuilt("07c_rates_and_schedules")["MomentumSGD"]).state == "right"
    assert rebuilt_lines("07c_rates_and_schedules") <= 60


class WithoutBuffer:
    """SGD that forgets its momentum."""

    def __init__(self, parameters, lr, momentum, weight_decay):
        self.parameters, self.lr = parameters, lr

    def zero_grad(self):
        for p in self.parameters:
            p.grad = None

    @torch.no_grad()
    def step(self):
        for p in self.parameters:
            p.add_(p.grad, alpha=-self.lr)


def test_an_sgd_without_momentum_is_found():
    verdict = check.compare_sgd(WithoutBuffer)
    assert verdict.state == "wrong" and "'momentum': 0.9" in verdict.why and "after step 1" in verdict.why
    assert "can't be followed" in check.compare_sgd(lambda *args, **settings: None).why


def test_the_rebuilt_loader_is_torchs():
    names = rebuilt("07b_data_loading")
    assert data_check.compare_loader(names["WorkingLoader"]).state == "right"
    assert rebuilt_lines("07b_data_loading") <= 60


def spoiled(**methods):
    return type("Spoiled", (rebuilt("07b_data_loading")["WorkingLoader"],), methods)


@pytest.mark.parametrize(
    ("methods", "words"),
    [
        ({"__len__": lambda self: len(self.dataset) // self.batch_size}, "len() is"),
        ({"indices": lambda self: range(len(self.dataset))}, "starts with"),
        (
            {"fetch": lambda self, chosen: {"name": [f"sample {k}" for k in chosen]}},
            "can't be followed: KeyError",
        ),
        (
            {"indices": lambda self: torch.randperm(len(self.dataset), generator=self.generator).tolist()},
            "starts with",
        ),
    ],
)
def test_faulty_loaders_are_found(methods, words):
    verdict = data_check.compare_loader(spoiled(**methods))
    assert verdict.state == "wrong" and words in verdict.why


def test_a_loader_that_swallows_errors_is_found():
    class Quiet(rebuilt("07b_data_loading")["WorkingLoader"]):
        def __iter__(self):
            try:
                yield from super().__iter__()
            except KeyError:
                return

    assert "did not pass it on" in data_check.compare_loader(Quiet).why
