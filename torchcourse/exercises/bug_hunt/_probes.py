"""One probe per fault: does this behave as the sound one, judged on small stand-ins and never on the text?

A probe gets the reader's names and says True where its fault is mended. It also asks whether the function still
does its work, so that deleting the work mends nothing. What it needs beside the function under test is its own.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from torchcourse.layers import xray
from torchcourse.modules import missed

Names = Mapping[str, Any]
Probe = Callable[[Names], bool]

PROBES: dict[str, Probe] = {}


def _probe(slug: str) -> Callable[[Probe], Probe]:
    def enter(probe: Probe) -> Probe:
        PROBES[slug] = probe
        return probe

    return enter


class _Watched(nn.Module):
    """A linear model that remembers how it was called: in which mode, and with a graph or without."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.layer = nn.Linear(64, 10)
        self.modes: list[bool] = []
        self.graphs: list[bool] = []

    def forward(self, images: Tensor) -> Tensor:
        scores: Tensor = self.layer(images)
        self.modes.append(self.training)
        self.graphs.append(scores.requires_grad)
        return scores


def _images(count: int) -> Tensor:
    return torch.rand(count, 64, generator=torch.Generator().manual_seed(count))


def _labels(count: int) -> Tensor:
    return torch.arange(count) % 10


@_probe("counted-one-by-one")
def _counted(names: Names) -> bool:
    return _operators(names, 20) + 10 >= _operators(names, 60) and _reads_right(names)


def _operators(names: Names, count: int) -> int:
    model, images, labels = _Watched(), _images(count), _labels(count)
    return len(xray(names["evaluate"], model, images, labels).operators)


def _reads_right(names: Names) -> bool:
    model, images, labels = _Watched(), _images(150), _labels(150)
    expected = (model(images).argmax(dim=1) == labels).float().mean().item()
    return math.isclose(float(names["evaluate"](model, images, labels)), expected, abs_tol=1e-5)


@_probe("noise-in-place")
def _noise(names: Names) -> bool:
    images = _images(8)
    before = images.clone()
    noisy = names["noisy"](images)
    return torch.equal(images, before) and noisy.shape == images.shape and not torch.equal(noisy, before)


@_probe("one-row-ten-times")
def _rows(names: Names) -> bool:
    guesses, labels = torch.tensor([1, 1, 2, 0, 9]), torch.tensor([1, 3, 2, 0, 9])
    expected = torch.zeros(10, 10)
    for guess, label in zip(guesses, labels, strict=True):
        expected[label, guess] += 1
    counts = names["confusion"](guesses, labels)
    counts = torch.stack(list(counts)) if isinstance(counts, list | tuple) else torch.as_tensor(counts)
    return torch.equal(counts.float(), expected)


@_probe("grey-levels-lost")
def _grey(names: Names) -> bool:
    (images, _), (test_images, _) = names["load_data"]()
    return images.is_floating_point() and len(images.unique()) > 10 and len(test_images.unique()) > 10


@_probe("gradient-cut")
def _cut(names: Names) -> bool:
    images = _images(8).requires_grad_()
    (names["Net"]()(images) ** 2).sum().backward()
    return images.grad is not None and bool(images.grad.any())


@_probe("gradients-add-up")
def _adds_up(names: Names) -> bool:
    model = _Watched()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.0)
    seen: list[Tensor] = []
    optimizer.register_step_pre_hook(lambda *_: seen.append(_gradient(model)))
    names["train_epoch"](model, [(_images(16), _labels(16))] * 2, optimizer)
    return len(seen) == 2 and bool(seen[0].any()) and torch.allclose(seen[0], seen[1])


def _gradient(model: _Watched) -> Tensor:
    gradient = model.layer.weight.grad
    return torch.zeros(1) if gradient is None else gradient.clone()


@_probe("made-on-the-cpu")
def _on_the_cpu(names: Names) -> bool:
    with torch.device("cpu"):
        scores, labels = torch.zeros(4, 10, device="meta"), torch.zeros(4, dtype=torch.int64, device="meta")
    return bool(names["smoothed_loss"](scores, labels).device.type == "meta")


@_probe("graph-in-evaluation")
def _graph(names: Names) -> bool:
    model = _Watched()
    names["evaluate"](model, _images(80), _labels(80))
    trainable = all(p.requires_grad for p in model.parameters())
    return trainable and bool(model.graphs) and not any(model.graphs)


@_probe("layer-in-a-list")
def _in_a_list(names: Names) -> bool:
    net = names["Net"]()
    matrices = sum(p.dim() > 1 for p in net.parameters())
    return matrices >= 2 and not any(finding.kind == "module-in-container" for finding in missed(net))


@_probe("tensor-not-registered")
def _registered(names: Names) -> bool:
    kinds = {finding.kind for finding in missed(names["Net"]())}
    return not kinds & {"tensor-not-registered", "tensor-in-container", "buffer-not-moved"}


@_probe("evaluated-in-train-mode")
def _mode(names: Names) -> bool:
    model = _Watched().train()
    names["evaluate"](model, _images(80), _labels(80))
    return bool(model.modes) and not any(model.modes)


@_probe("best-is-an-alias")
def _alias(names: Names) -> bool:
    model, keep_best = _Watched(), names["keep_best"]
    before = model.layer.weight.detach().clone()
    best = keep_best(None, model, 0.5)
    with torch.no_grad():
        model.layer.weight.add_(1)
    worse, better = keep_best(best, model, 0.4), keep_best(best, model, 0.6)
    kept = [_kept(state) for state in (best, worse, better)]
    return all(torch.equal(*pair) for pair in zip(kept, (before, before, before + 1), strict=True))


def _kept(best: Any) -> Tensor:
    weight = best[1]["layer.weight"]
    return torch.as_tensor(weight).detach()


@_probe("optimizer-not-restored")
def _restored(names: Names) -> bool:
    first, second = _trained(steps=2), _trained(steps=0)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "state.pt"
        names["save"](path, *first, 3)
        epoch = names["resume"](path, *second)
    for model, optimizer, _ in (first, second):
        _step(model, optimizer)
    same = torch.allclose(first[0].layer.weight, second[0].layer.weight)
    return same and epoch == 4 and first[2].state_dict() == second[2].state_dict()


def _trained(steps: int) -> tuple[_Watched, torch.optim.Optimizer, torch.optim.lr_scheduler.StepLR]:
    model = _Watched()
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1, 0.5)
    for _ in range(steps):
        _step(model, optimizer)
        scheduler.step()
    return model, optimizer, scheduler


def _step(model: _Watched, optimizer: torch.optim.Optimizer) -> None:
    optimizer.zero_grad()
    (model(_images(16)) ** 2).mean().backward()
    optimizer.step()


@_probe("softmax-twice")
def _softmax(names: Names) -> bool:
    """Scores that are no probabilities; or, the other mend, a loss that takes what they are."""
    scores = names["Net"]().eval()(_images(8)).detach()
    if not _probabilities(scores):
        return scores.shape == (8, 10)
    labels, sure = _labels(8), (5 * torch.eye(10)[:8]).softmax(dim=1)  # a new model's are all near 1/10
    targets = torch.full((8, 10), 0.01).scatter_(1, labels[:, None], 0.91)
    once = -(targets * sure.log()).sum(dim=1).mean()
    return torch.allclose(names["smoothed_loss"](sure, labels), once, rtol=1e-3)


def _probabilities(scores: Tensor) -> bool:
    return bool((scores >= 0).all()) and torch.allclose(scores.sum(dim=1), torch.ones(len(scores)), atol=1e-4)


def _optimizer(names: Names, epochs: int = 5) -> tuple[nn.Sequential, Any, Any]:
    """A small model with all parameters at 1 or 2, their gradients at 0, and the reader's optimizer for it."""
    model = nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(torch.arange(1.0, parameter.numel() + 1).view_as(parameter))
            parameter.grad = torch.zeros_like(parameter)
    optimizer, scheduler = names["make_optimizer"](model, epochs)
    return model, optimizer, scheduler


@_probe("rate-never-falls")
def _falls(names: Names) -> bool:
    _, optimizer, scheduler = _optimizer(names)
    rates = [optimizer.param_groups[0]["lr"]]
    for _ in range(5):
        optimizer.step()
        scheduler.step()
        rates.append(optimizer.param_groups[0]["lr"])
    return bool(rates[2] > rates[0] / 4 and rates[5] < rates[0] / 20)


@_probe("decay-through-the-gradient")
def _decoupled(names: Names) -> bool:
    model, optimizer, _ = _optimizer(names)
    weight: Any = model[0].weight
    before = weight.detach().clone()
    optimizer.step()
    shares = (before - weight.detach()) / before
    return bool(shares.min() > 0) and torch.allclose(shares, shares[0, 0].expand(3, 4), rtol=1e-2)


@_probe("decay-for-all")
def _decays(names: Names) -> bool:
    model, optimizer, _ = _optimizer(names)
    before = {name: p.detach().clone() for name, p in model.named_parameters()}
    optimizer.step()
    moved = {name for name, p in model.named_parameters() if not torch.equal(p, before[name])}
    return moved == {"0.weight"}


def _exported(names: Names) -> tuple[Tensor, Callable[[Tensor], Tensor]]:
    """What the model answers in eval mode, and the program. The model is back in training: no program minds."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(64, 8), nn.BatchNorm1d(8), nn.Dropout(0.5), nn.Linear(8, 10))
    with torch.no_grad():
        expected = model.eval()(_images(8))
    program = names["export"](model.train(), _images(8))
    model.train()
    return expected, program.module() if isinstance(program, torch.export.ExportedProgram) else program


@_probe("exported-in-train-mode")
def _export_mode(names: Names) -> bool:
    expected, program = _exported(names)
    with torch.no_grad():
        return torch.allclose(program(_images(8)), expected, atol=1e-5)


@_probe("batch-size-frozen")
def _frozen(names: Names) -> bool:
    _, program = _exported(names)
    with torch.no_grad():
        return program(_images(11)).shape == (11, 10)


@_probe("numpy-not-seeded")
def _seeded(names: Names) -> bool:
    drawn = []
    for _ in range(2):
        names["set_seed"](3)
        drawn.append(names["noisy"](_images(8)))
    return torch.equal(*drawn)


@_probe("order-from-the-global-generator")
def _order(names: Names) -> bool:
    orders = []
    for seed in (1, 2):
        torch.manual_seed(seed)
        loader = names["make_loader"](_images(90), torch.arange(90), torch.Generator().manual_seed(5))
        orders.append([torch.cat([labels for _, labels in loader]).tolist() for _ in range(2)])
    first, second = orders
    return first == second and first[0] != first[1] and sorted(first[0]) == list(range(90))


@_probe("history-with-graphs")
def _history(names: Names) -> bool:
    model = _Watched()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    losses = list(names["train_epoch"](model, [(_images(16), _labels(16))] * 2, optimizer))
    return len(losses) == 2 and not any(isinstance(one, Tensor) and one.requires_grad for one in losses)


@_probe("logarithm-of-zero")
def _logarithm(names: Names) -> bool:
    scores = torch.zeros(2, 10)
    scores[:, 0] = 200.0
    scores.requires_grad_()
    loss = names["smoothed_loss"](scores, torch.tensor([0, 1]))
    loss.backward()
    return bool(loss.isfinite()) and scores.grad is not None and bool(scores.grad.isfinite().all())
