"""The checks on training loops: right loops, and the wrong ones that people really write."""

import pytest
import torch
from torch.nn import functional as F

from torchcourse.exercises import autograd as check


def loop(loss_of, *, zero="before", log=lambda loss: loss.item(), mend=lambda loss: loss):
    """A training loop with one thing exchanged."""

    def fit(model, inputs, targets):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for _ in range(5):
            if zero == "before":
                optimizer.zero_grad()
            loss = mend(loss_of(model, inputs, targets))
            loss.backward()
            if zero == "between":
                optimizer.zero_grad()
            optimizer.step()
            if zero == "after":
                optimizer.zero_grad()
            losses.append(log(loss))
        return losses

    return fit


def plain(model, inputs, targets):
    return F.mse_loss(model(inputs), targets)


def row_by_row(model, inputs, targets):
    predictions = torch.tensor([model(row).item() for row in inputs]).unsqueeze(1)
    return F.mse_loss(predictions, targets.float())


def stacked(model, inputs, targets):
    return F.mse_loss(torch.stack([model(row) for row in inputs]), targets)


def frozen_weight(model, inputs, targets):
    return F.mse_loss(F.linear(inputs, model.weight.detach(), model.bias), targets)


FIT = {
    "the usual order": (loop(plain), "right", "plain numbers"),
    "cleared after step": (loop(plain, zero="after"), "right", "plain numbers"),
    "row by row, stacked": (loop(stacked), "right", "plain numbers"),
    "losses detached": (loop(plain, log=lambda loss: loss.detach()), "right", "plain numbers"),
    "the stub": (loop(row_by_row, mend=lambda loss: loss.requires_grad_()), "not yet", "its way is cut"),
    "no requires_grad": (loop(row_by_row), "wrong", "does not require grad"),
    "a new tensor": (
        loop(lambda *a: torch.tensor(plain(*a).item(), requires_grad=True)),
        "not yet",
        "its way is cut",
    ),
    "detached": (loop(lambda *a: plain(*a).detach().requires_grad_()), "not yet", "its way is cut"),
    "the weight detached": (loop(frozen_weight), "wrong", "weight has not moved"),
    "cleared between": (loop(plain, zero="between"), "wrong", "gone before step()"),
    "never cleared": (loop(plain, zero="never"), "wrong", "adds the gradients"),
    "losses with graphs": (loop(plain, log=lambda loss: loss), "almost", "keeps its graph alive"),
    "a sum": (loop(lambda *a: plain(*a) * 2), "wrong", "plain SGD gives"),
    "no list": (lambda *a: loop(plain)(*a)[-1], "wrong", "return the list"),
    "no function": (3, "not yet", "the function itself"),
}


@pytest.mark.parametrize("answer", FIT)
def test_fit(answer):
    given, state, words = FIT[answer]
    verdict = check.fit(given)
    assert verdict.state == state and words in verdict.why, verdict


def accumulating(weight, *, zero="before", backward="each"):
    def accumulate(model, batches):
        rows = sum(len(inputs) for inputs, _ in batches)
        if zero == "before":
            model.zero_grad()
        losses = []
        for inputs, targets in batches:
            if zero == "each":
                model.zero_grad()
            loss = F.mse_loss(model(inputs), targets) * weight(len(inputs), rows, len(batches))
            losses.append(loss)
            if backward == "each":
                loss.backward()
        if backward == "once":
            sum(losses).backward()

    return accumulate


def shares(rows, total, batches):
    return rows / total


def one_batch(model, batches):
    model.zero_grad()
    inputs, targets = (torch.cat(part) for part in zip(*batches, strict=True))
    F.mse_loss(model(inputs), targets).backward()


def summed(model, batches):
    """The sum over rows and a division at the end: another right spelling."""
    model.zero_grad()
    for inputs, targets in batches:
        F.mse_loss(model(inputs), targets, reduction="sum").backward()
    for parameter in model.parameters():
        parameter.grad /= sum(len(inputs) for inputs, _ in batches)


ACCUMULATE = {
    "weighed by rows": (accumulating(shares), "right", "one small graph"),
    "summed and divided": (summed, "right", "one small graph"),
    "the stub": (lambda model, batches: ..., "not yet", "still returns"),
    "nothing done": (lambda model, batches: None, "not yet", ".grad is None"),
    "no weight": (accumulating(lambda *_: 1), "wrong", "the sum of the batches"),
    "the same weight": (accumulating(lambda r, t, n: 1 / n), "almost", "weigh each by its rows"),
    "cleared each time": (accumulating(shares, zero="each"), "wrong", "only the last batch"),
    "never cleared": (accumulating(shares, zero="never"), "almost", "called again"),
    "one backward": (accumulating(shares, backward="once"), "almost", "alive together"),
    "one batch": (one_batch, "almost", "alive together"),
    "doubled": (accumulating(lambda r, t, n: 2 * r / t), "wrong", "one large batch gives"),
    "raises": (lambda model, batches: model(batches), "wrong", "raised"),
}


@pytest.mark.parametrize("answer", ACCUMULATE)
def test_accumulate(answer):
    given, state, words = ACCUMULATE[answer]
    verdict = check.accumulate(given)
    assert verdict.state == state and words in verdict.why, verdict
