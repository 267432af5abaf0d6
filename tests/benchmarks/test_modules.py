"""The tree of a network of 1,000 modules, side by side in one run with torchinfo on the same network.

Figures are printed (`pytest -s`), never asserted; what is asserted can't depend on the machine: both see the
same modules and parameters.
"""

import statistics
import time
from collections.abc import Callable
from typing import Any

import torch
import torchinfo
from torch import nn

from torchcourse.modules import missed, tree, walks
from torchcourse.widgets import tree as view

ROUNDS = 9


def network(blocks: int = 250) -> nn.Module:
    """1,001 modules, 1,750 tensors."""
    inner = (nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.BatchNorm1d(4)) for _ in range(blocks))
    return nn.Sequential(*inner)


WAYS: dict[str, Callable[[nn.Module], Any]] = {
    "torchinfo": lambda net: torchinfo.summary(net, verbose=0, depth=9),
    "torchinfo, as text": lambda net: str(torchinfo.summary(net, verbose=0, depth=9)),
    "tree": tree,
    "tree, as text": lambda net: str(tree(net)),
    "missed": missed,
    "walks": walks,
    "the whole view": view,
}


def test_1000_modules_side_by_side() -> None:
    torch.set_num_threads(1)
    net = network()
    seconds: dict[str, list[float]] = {way: [] for way in WAYS}
    seen: dict[str, Any] = {}
    for _ in range(ROUNDS):
        for way, look in WAYS.items():
            start = time.process_time()
            seen[way] = look(net)
            seconds[way].append(time.process_time() - start)
    median = {way: statistics.median(times) for way, times in seconds.items()}
    print("\n" + ", ".join(f"{way} {1000 * time:.0f} ms" for way, time in median.items()))
    print(f"tree / torchinfo: {median['tree'] / median['torchinfo']:.2f}")
    assert len(seen["tree"]) == 1001 == sum(1 for _ in net.modules())
    parameters = sum(p.numel() for p in net.parameters())
    assert seen["torchinfo"].total_params == parameters
    assert not seen["missed"] and len(seen["walks"]) == 4
