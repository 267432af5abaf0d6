"""What a check-up costs, side by side in one run with one plain training step of the same set-up.

Plain step: zero_grad, forward, loss, backward, optimizer.step. CPU time is the least disturbed of interleaved
rounds; memory is what the process took on top while it ran: the peak of the live tensors' bytes, counted where
they are allocated. Figures are printed (`pytest -s`), never asserted; what is asserted can't depend on the machine.
"""

import time
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.profiler import ProfilerActivity, profile

from torchcourse.faults import check_up

from .nets import basic, resnet
from .test_training import MODELS

ROUNDS = 5
Setup = tuple[nn.Module, Any, Any, torch.optim.Optimizer]


def classifier(made: tuple[nn.Module, torch.Tensor], count: int = 10) -> Setup:
    model, x = made
    return (
        model,
        (x, torch.arange(len(x)) % count),
        F.cross_entropy,
        torch.optim.AdamW(model.parameters(), 1e-3),
    )


def small_mlp() -> tuple[nn.Module, torch.Tensor]:
    layers = [nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 10)]
    return nn.Sequential(*layers), torch.randn(128, 64)


def wide_mlp() -> tuple[nn.Module, torch.Tensor]:
    layers = [nn.Linear(1024, 2048), nn.ReLU(), nn.Linear(2048, 2048), nn.ReLU(), nn.Linear(2048, 10)]
    return nn.Sequential(*layers), torch.randn(64, 1024)


SETUPS: dict[str, Callable[[], Setup]] = {
    "MLP, 85,000 weights": lambda: classifier(small_mlp()),
    "MLP, 6 million weights": lambda: classifier(wide_mlp()),
    "CNN, 28 × 28, batch 64": lambda: classifier(MODELS["cnn"]()),
    "transformer, 2 layers of 128": lambda: classifier(MODELS["transformer"]()),
    "ResNet-18, 64 × 64, batch 8": lambda: classifier(
        (resnet(basic, 1, (2, 2, 2, 2))[0], torch.randn(8, 3, 64, 64)), 1000
    ),
}


def plain(model: nn.Module, batch: Any, loss_fn: Any, optimizer: torch.optim.Optimizer) -> None:
    optimizer.zero_grad()
    loss_fn(model(batch[0]), batch[1]).backward()
    optimizer.step()


def peak(run: Callable[[], object]) -> int:
    """The most bytes of tensors alive at one time, above what was alive before."""
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as seen:
        run()
    now = highest = 0
    for event in sorted(
        (e for e in seen.profiler.kineto_results.events() if e.name() == "[memory]"),  # type: ignore[union-attr]
        key=lambda e: e.start_ns(),
    ):
        now += event.nbytes()
        highest = max(highest, now)
    return highest


@pytest.mark.parametrize("name", SETUPS)
def test_a_check_up_beside_a_plain_step(name: str) -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    setup = SETUPS[name]()
    ways = {"plain": lambda: plain(*setup), "check_up": lambda: check_up(*setup)}
    seconds: dict[str, list[float]] = {way: [] for way in ways}
    for _ in range(ROUNDS):
        for way, run in ways.items():
            start = time.process_time()
            run()
            seconds[way].append(time.process_time() - start)
    best = {way: min(times) for way, times in seconds.items()}
    held = sum(p.numel() * p.element_size() for p in setup[0].parameters())
    held *= 3  # Adam's two averages lie beside the weights
    memory = {way: held + peak(run) for way, run in ways.items()}
    print(
        f"\n{name}: plain step {best['plain'] * 1e3:.1f} ms, check_up {best['check_up'] * 1e3:.1f} ms: "
        f"× {best['check_up'] / best['plain']:.2f}; peak memory × {memory['check_up'] / memory['plain']:.2f}"
    )
    assert not check_up(*setup)
