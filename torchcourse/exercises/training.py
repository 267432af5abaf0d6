"""Checks of chapters 07c and 07e: gradient accumulation, SGD with momentum, a training step, a validation."""

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from torchcourse.exercises import Verdict, almost, check, rebuild, right, wrong
from torchcourse.exercises._training import (
    Batches,
    data,
    gradient,
    leave_gradients,
    near,
    network,
    told,
    weights,
)

__all__ = ["accumulate", "compare_sgd", "evaluate", "train_step"]

SETTINGS: tuple[dict[str, Any], ...] = (
    {"lr": 0.1},
    {"lr": 0.1, "momentum": 0.9},
    {"lr": 0.05, "momentum": 0.9, "weight_decay": 0.01},
)


@check
def train_step(answer: Any) -> Iterator[Verdict]:
    """train_step(model, optimizer, x, y, max_norm) -> (loss, norm before clipping), as numbers."""
    model, ((x, y),), max_norm = network(), data(8), 0.1
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    start, wanted = weights(model), gradient(model, [(x, y)])
    norm, loss = float(wanted.norm()), F.cross_entropy(model(x), y).item()
    leave_gradients(model)
    given = answer(model, optimizer, x, y, max_norm)
    if not (isinstance(given, tuple) and len(given) == 2):
        yield wrong(f"return two values, (loss, norm); got {given!r:.80}.")
        return
    moved = (start - weights(model)) / 0.5
    yield from _judge_move(moved, wanted, max_norm)
    if not near(given[0], loss):
        yield wrong(f"the loss of this batch is {loss:.4f}; your function returns {told(given[0])}.")
    if not near(given[1], norm):
        yield wrong(
            f"the gradient's norm before clipping is {norm:.4f}; your function returns {told(given[1])}."
        )
    if any(isinstance(value, Tensor) for value in given):
        yield almost("right values, but as tensors: .item() makes numbers, which keep no graph alive.")
    if any(p.grad is not None and p.grad.any() for p in model.parameters()):
        yield almost("the step is right; but gradients are left behind for the next caller.")
    yield right("cleared, clipped by norm, stepped; two plain numbers, and no gradient left.")


def _judge_move(moved: Tensor, unclipped: Tensor, max_norm: float) -> Iterator[Verdict]:
    clipped = unclipped * (max_norm / unclipped.norm())
    if torch.allclose(moved, clipped, rtol=1e-4):
        return
    if not moved.any():
        yield wrong("no weight moved: are the gradients still there when step() runs?")
    elif torch.allclose(moved, unclipped):
        yield wrong("the step was not clipped: clip between backward() and step().")
    elif torch.allclose(moved, unclipped.clamp(-max_norm, max_norm)):
        yield wrong("each element was clipped by itself; clip_grad_norm_ keeps the direction.")
    else:
        yield wrong(
            "the weights moved, but not by the clipped gradient of this batch. Old gradients were there "
            "when your function was called: were they cleared before backward()?"
        )


@check
def evaluate(answer: Any) -> Iterator[Verdict]:
    """evaluate(model, batches) -> mean cross-entropy per sample, as a number; the mode is as before."""
    model, batches = nn.Sequential(network(), nn.Dropout(0.5)), data(8, 8, 3)
    expected = _mean_loss(model.eval(), batches)
    of_means = sum(_mean_loss(model, [batch]) for batch in batches) / len(batches)
    built: list[int] = []
    with torch.autograd.graph.saved_tensors_hooks(_counter(built), lambda t: t):
        given = answer(model.train(), batches)
    was_train = model.training
    if near(given, of_means):
        yield almost("a mean of means: the last batch has 3 samples, and counts like one of 8.")
        return
    if not near(given, expected):
        how = "is dropout off?" if not near(answer(model.eval(), batches), expected) else "was eval() called?"
        yield wrong(f"the loss per sample is {expected:.4f}; your function returns {told(given)}. {how}")
        return
    answer(model.eval(), batches)
    if not was_train or model.training:
        yield almost("right number; but the model is left in another mode than it came in.")
    if built:
        yield almost("right number; but graphs were built for a backward that never comes: torch.no_grad().")
    if isinstance(given, Tensor):
        yield almost("right value, but as a tensor: return a number.")
    yield right("dropout off, no graph, each sample counts once, and the mode is as before.")


def _mean_loss(model: nn.Module, batches: Batches) -> float:
    x, y = (torch.cat(part) for part in zip(*batches, strict=True))
    with torch.no_grad():
        return float(F.cross_entropy(model(x), y))


def _counter(built: list[int]) -> Callable[[Tensor], Tensor]:
    def count(tensor: Tensor) -> Tensor:
        built.append(tensor.numel())
        return tensor

    return count


@check
def accumulate(answer: Any) -> Iterator[Verdict]:
    """accumulate(model, optimizer, micro_batches): one step, as if all samples had been one batch."""
    for sizes, what in (((8, 8), "two of 8"), ((8, 8, 3), "8, 8 and 3")):
        model, batches = network(), data(*sizes)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
        start, wanted = weights(model), gradient(model, batches)
        leave_gradients(model)
        answer(model, optimizer, batches)
        moved = (start - weights(model)) / 0.5
        if torch.allclose(moved, wanted):
            continue
        if not moved.any():
            yield wrong("no weight moved: was step() called, with the gradients still there?")
        elif len(sizes) == 3:
            yield almost(f"right for equal batches; for {what} samples the last one weighs too much.")
        elif torch.allclose(moved, 2 * wanted):
            yield wrong("twice the gradient of the large batch: divide each loss, so that the sum is a mean.")
        else:
            yield wrong(
                "not the step of the large batch. One step() after all backwards, and old gradients cleared before?"
            )
        return
    yield right("one step, equal to the large batch, also when the last one is smaller.")


@rebuild
def compare_sgd(sgd: Any, steps: int = 20) -> Verdict:
    """sgd(parameters, lr, momentum, weight_decay) with zero_grad() and step(), against torch.optim.SGD, bit for bit."""
    for settings in SETTINGS:
        ours, theirs = network(), network()
        full = {"momentum": 0.0, "weight_decay": 0.0, **settings}
        pairs = [
            (ours, sgd(list(ours.parameters()), **full)),
            (theirs, torch.optim.SGD(theirs.parameters(), foreach=False, **full)),
        ]
        for step, (x, y) in enumerate(data(*[8] * steps)):
            for model, optimizer in pairs:
                optimizer.zero_grad()
                F.cross_entropy(model(x), y).backward()
                optimizer.step()
            if not torch.equal(weights(ours), weights(theirs)):
                gap = (weights(ours) - weights(theirs)).abs().max().item()
                return wrong(f"{settings}: after step {step} the weights differ by {gap:.2g} at most.")
    return right(
        f"{len(SETTINGS)} settings, {steps} steps each: the same weights as torch.optim.SGD, to the last bit."
    )
