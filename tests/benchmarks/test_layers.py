"""What xray costs, side by side in one run with torch.profiler and DebugMode on the same steps.

Figures are printed (`pytest -s`), never asserted; what is asserted can't depend on the machine:
all three see the same step, and time and memory per operator do not grow with the trace by an order.
"""

import os
import statistics
import time
from collections.abc import Callable
from typing import Any

import psutil
import pytest
import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile

from torchcourse.layers import fold, rows, xray

os.environ.setdefault("KINETO_LOG_LEVEL", "99")
ROUNDS = 7
Step = Callable[[], Any]


def _step(model: nn.Module, batch: torch.Tensor) -> Step:
    optimizer = torch.optim.SGD(model.parameters(), 1e-3)

    def step() -> None:
        optimizer.zero_grad()
        model(batch).square().mean().backward()
        optimizer.step()

    return step


def mlp() -> Step:
    layers = [nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10)]
    return _step(nn.Sequential(*layers), torch.ones(16, 32))


def cnn() -> Step:
    layers = [
        nn.Conv2d(3, 8, 3),
        nn.BatchNorm2d(8),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(8, 8, 3),
        nn.ReLU(),
    ]
    return _step(nn.Sequential(*layers, nn.Flatten(), nn.Linear(200, 10)), torch.ones(4, 3, 16, 16))


def transformer() -> Step:
    layer = nn.TransformerEncoderLayer(32, 4, 64, batch_first=True)
    return _step(nn.TransformerEncoder(layer, 2), torch.ones(4, 8, 32))


def with_xray(step: Step) -> set[str]:
    with xray() as seen:
        step()
    return {o.name for o in seen.operators if o.dispatched}


def with_profiler(step: Step) -> set[str]:
    with profile(activities=[ProfilerActivity.CPU], record_shapes=True, with_stack=True) as run:
        step()
    return {event.name for event in run.events()}


def with_debug_mode(step: Step) -> set[str]:
    from torch.utils._debug_mode import DebugMode

    with DebugMode() as mode:
        step()
    return {word.partition(".")[0] for word in mode.debug_string().replace("(", " ").split()}


WAYS = {
    "nothing": lambda step: step(),
    "xray": with_xray,
    "profiler": with_profiler,
    "DebugMode": with_debug_mode,
}


@pytest.mark.parametrize("make", [mlp, cnn, transformer])
def test_slowdown_side_by_side(make: Callable[[], Step]) -> None:
    torch.set_num_threads(1)
    step = make()
    seconds: dict[str, list[float]] = {way: [] for way in WAYS}
    seen: dict[str, Any] = {}
    for _ in range(ROUNDS):
        for way, watch in WAYS.items():
            start = time.process_time()
            seen[way] = watch(step)
            seconds[way].append(time.process_time() - start)
    median = {way: statistics.median(times) for way, times in seconds.items()}
    slower = {way: f"× {time / median['nothing']:.1f}" for way, time in median.items()}
    print(f"\n{make.__name__}: {slower}; xray / profiler {median['xray'] / median['profiler']:.2f}")
    # Where the engine sums two gradients, add may stand for add_.
    assert seen["xray"] - {"aten::add"} <= seen["profiler"]
    assert {"aten::" + name.removeprefix("aten::") for name in seen["DebugMode"]} >= {"aten::mean"}


@pytest.mark.parametrize("operators", [100, 1_000, 10_000, 100_000])
def test_growth(operators: int) -> None:
    torch.set_num_threads(1)
    x = torch.ones(4)
    before, start = psutil.Process().memory_info().rss, time.process_time()
    with xray() as seen:
        for _ in range(operators // 5):
            x + 1  # five operators: add, to, _to_copy, empty_strided, copy_
    ran = time.process_time() - start
    grown = (psutil.Process().memory_info().rss - before) / 1e6
    start = time.process_time()
    blocks, table, text = fold(seen), rows(seen.trace), str(seen)
    shown = time.process_time() - start
    print(
        f"\n{operators:,}: {ran / operators * 1e6:.0f} µs an operator, {grown:.0f} MB, shown in {shown:.2f} s"
    )
    assert len(seen.operators) == operators and seen.notes == ()
    assert [block.times for block in blocks] == [operators // 5]
    assert len(table) == 1 and len(text) < 1_000
