"""The check of chapter 07d on the right answer, and on the wrong answers that people really give."""

import pytest
import torch

from torchcourse.exercises import training_precision as check


def parameters(optimizer):
    return [p for group in optimizer.param_groups for p in group["params"] if p.grad is not None]


def step(clear=True, scaled=True, divide=True, finite="all", after_inf=0.5, after_clean=1.0, skip=True):
    """GradScaler's step by hand, with one thing done otherwise."""

    def scaled_step(optimizer, loss, scale):
        if clear:
            optimizer.zero_grad()
        (loss * scale if scaled else loss).backward()
        gradients = [p.grad for p in parameters(optimizer)]
        good = {
            "all": all(g.isfinite().all() for g in gradients),
            "first": gradients[0].isfinite().all(),
            "inf": not any(g.isinf().any() for g in gradients),
            "loss": loss.isfinite(),
        }[finite]
        if not good and skip:
            return scale * after_inf
        if not good:
            for gradient in gradients:
                gradient.nan_to_num_(0.0, 0.0, 0.0)
        if divide:
            for gradient in gradients:
                gradient.div_(scale)
        optimizer.step()
        return scale * (after_clean if good else after_inf)

    return scaled_step


def by_torch(optimizer, loss, scale):
    scaler = torch.amp.GradScaler("cpu", init_scale=scale)
    optimizer.zero_grad()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    return scaler.get_scale()


def forgets_none(optimizer, loss, scale):
    (loss * scale).backward()
    for parameter in optimizer.param_groups[0]["params"]:
        parameter.grad.div_(scale)


ANSWERS = {
    "right": (step(), "right", "skipped"),
    "torch's own": (by_torch, "right", "halved"),
    "the stub": (lambda optimizer, loss, scale: ..., "not yet", "still returns"),
    "never cleared": (step(clear=False), "wrong", "old gradients"),
    "not scaled": (step(scaled=False), "wrong", "became 0"),
    "neither scaled nor divided": (step(scaled=False, divide=False), "wrong", "became 0"),
    "not divided": (step(divide=False), "wrong", "divide them"),
    "only the loss looked at": (step(finite="loss"), "wrong", "now a weight does"),
    "only the first gradient": (step(finite="first"), "wrong", "now a weight does"),
    "inf alone": (step(finite="inf"), "wrong", "held nan"),
    "zeros instead of inf": (step(skip=False), "wrong", "skip all of it"),
    "the same scale": (step(after_inf=1.0), "almost", "one half"),
    "twice the scale": (step(after_inf=2.0), "almost", "one half"),
    "always halved": (step(after_clean=0.5), "wrong", "stays 32768"),
    "no scale": (lambda *args: step()(*args) and None, "wrong", "returns None"),
    "no step": (lambda optimizer, loss, scale: scale, "wrong", "no weight moved"),
    "a parameter without gradient": (forgets_none, "wrong", "AttributeError"),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_verdicts(name):
    answer, state, words = ANSWERS[name]
    verdict = check.scaled_step(answer)
    assert (verdict.state, words in verdict.why) == (state, True), str(verdict)
