"""The check of chapter 07 on the right answer, and on the wrong answers that people really give."""

import pytest
import torch
from torch.nn import functional as F

from torchcourse.exercises import training_loop as check


def step(dtype=torch.float32, shape=True, order="zero backward step", double_model=False, number=True):
    """A step on NumPy's numbers with one thing done otherwise."""

    def regression_step(model, optimizer, x, y):
        if double_model:
            model.double()
        x, y = torch.tensor(x, dtype=dtype), torch.tensor(y, dtype=dtype)
        output = model(x)
        loss = F.mse_loss(output, y.unsqueeze(1)) if shape else ((output - y) ** 2).mean()
        calls = {"zero": optimizer.zero_grad, "backward": loss.backward, "step": optimizer.step}
        for name in order.split():
            calls[name]()
        return loss.item() if number else loss

    return regression_step


def squeezed(model, optimizer, x, y):
    loss = F.mse_loss(model(torch.from_numpy(x).float()).squeeze(1), torch.tensor(y))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    return loss.item()


def of_absolute_errors(model, optimizer, x, y):
    loss = F.l1_loss(model(torch.from_numpy(x).float()).squeeze(1), torch.tensor(y))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


ANSWERS = {
    "right": (step(), "right", "float32 once"),
    "the output squeezed": (squeezed, "right", "one shape"),
    "the stub": (lambda model, optimizer, x, y: ..., "not yet", "still returns"),
    "still float64": (step(dtype=torch.float64), "wrong", "same dtype"),
    "a double model": (step(dtype=torch.float64, double_model=True), "wrong", "convert the data"),
    "shapes that broadcast": (step(shape=False), "wrong", "every target"),
    "never cleared": (step(order="backward step"), "wrong", "old gradients"),
    "never cleared, and broadcast": (step(order="backward step", shape=False), "wrong", "every target"),
    "cleared before the step": (step(order="backward zero step"), "wrong", "no weight moved"),
    "no step": (step(order="zero backward"), "wrong", "no weight moved"),
    "another loss": (of_absolute_errors, "wrong", "mean squared error"),
    "no loss": (lambda *args: step()(*args) and None, "wrong", "returns None"),
    "a tensor": (step(number=False), "almost", r".item()"),
    "not called": (3, "not yet", "hand over the function"),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_verdicts(name):
    answer, state, words = ANSWERS[name]
    before = torch.get_rng_state()
    verdict = check.regression_step(answer)
    assert (verdict.state, words in verdict.why) == (state, True), str(verdict)
    assert torch.equal(before, torch.get_rng_state())
