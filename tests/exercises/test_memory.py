"""The checks on right answers, and on the wrong answers that people really give."""

from itertools import pairwise

import pytest
import torch

from torchcourse.exercises import memory as check


def parts(widths, batch, weights=lambda a, b: (a + 1) * b, size=4, copies=2, saved=lambda w: sum(w[1:])):
    numbers = sum(weights(a, b) for a, b in pairwise(widths))
    return size * numbers, size * numbers, copies * size * numbers, size * batch * saved(widths)


BYTES_WRONG = {
    "the stub": (lambda w, b: ..., "not yet", "still returns"),
    "numbers, not bytes": (lambda w, b: parts(w, b, size=1), "almost", "each float32 takes 4 bytes"),
    "no biases": (lambda w, b: parts(w, b, weights=lambda i, o: i * o), "almost", "biases are missing"),
    "one copy of state": (lambda w, b: parts(w, b, copies=1), "almost", "two numbers for each parameter"),
    "the input too": (lambda w, b: parts(w, b, saved=sum), "almost", "was there before the step"),
    "not the output": (lambda w, b: parts(w, b, saved=lambda v: sum(v[1:-1])), "almost", "last layer's output"),
    "before each ReLU too": (
        lambda w, b: parts(w, b, saved=lambda v: 2 * sum(v[1:-1]) + v[-1]), "almost", "ReLU saves its own output",
    ),
    "one number": (lambda w, b: 3, "wrong", "four numbers"),
    "nonsense": (lambda w, b: (1, 2, 3, 4), "wrong", "yours is 1, the step has"),
    "raises": (lambda w, b: w[9], "wrong", "raised IndexError"),
}  # fmt: skip


def test_the_right_bytes_are_green():
    assert check.step_bytes(parts).state == "right"


@pytest.mark.parametrize("mistake", BYTES_WRONG)
def test_typical_mistakes_in_bytes_are_named(mistake):
    answer, state, words = BYTES_WRONG[mistake]
    verdict = check.step_bytes(answer)
    assert verdict.state == state and words in verdict.why, verdict


def trained(keep):
    def history(model, optimizer, batches):
        losses = []
        for batch in batches:
            loss = model(batch).square().mean()
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            losses.append(keep(loss))
        return losses

    return history


def untrained(model, optimizer, batches):
    return [model(batch).square().mean().item() for batch in batches]


HISTORY_WRONG = {
    "the stub": (lambda *_: ..., "not yet", "still returns"),
    "the tensor": (trained(lambda loss: loss), "wrong", "holds its grad_fn"),
    "a clone": (trained(lambda loss: loss.clone()), "wrong", "holds its grad_fn"),
    "detached": (trained(lambda loss: loss.detach()), "almost", "still a tensor"),
    "untrained": (untrained, "wrong", "must still train"),
    "a sum": (lambda *a: sum(trained(torch.Tensor.item)(*a)), "wrong", "one loss for each"),
    "rounded": (trained(lambda loss: round(loss.item())), "wrong", "yours differ"),
}


@pytest.mark.parametrize("keep", [torch.Tensor.item, lambda loss: loss.detach().tolist()])
def test_right_histories_are_green(keep):
    assert check.history(trained(keep)).state == "right"


@pytest.mark.parametrize("mistake", HISTORY_WRONG)
def test_typical_leaks_are_named(mistake):
    answer, state, words = HISTORY_WRONG[mistake]
    verdict = check.history(answer)
    assert verdict.state == state and words in verdict.why, verdict


def test_the_rebuilt_recorder_agrees_on_a_network():
    from torchcourse.memory import record_step

    from .rebuilt import rebuilt, rebuilt_lines

    recorder = rebuilt("04b_what_fills_it")["Recorder"]
    model = torch.nn.Sequential(torch.nn.Linear(30, 40), torch.nn.ReLU(), torch.nn.Linear(40, 5))
    x = torch.ones(11, 30)

    def step():
        model(x).exp().sum().backward()
        model.zero_grad()

    with recorder(*model.parameters(), x) as mine:
        step()
    assert mine.alive.peak == record_step(step, model).peak_bytes
    assert 20 < rebuilt_lines("04b_what_fills_it") <= 60
