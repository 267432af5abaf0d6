"""What looking at a graph costs, side by side in one run with a bare walk and with peers that are installed.

Figures are CPU time, medians of interleaved rounds; they are printed (`pytest -s`), never asserted. What is
asserted can't depend on the machine: all see the same graph.
"""

import importlib.util
import statistics
import time
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn

from torchcourse.autograd import graph, record_backward
from torchcourse.graphs import fold, svg

ROUNDS = 5


def mlp() -> tuple[nn.Module, torch.Tensor]:
    return nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 1)), torch.ones(2, 8)


def transformer(layers: int) -> tuple[nn.Module, torch.Tensor]:
    layer = nn.TransformerEncoderLayer(32, 4, 64, batch_first=True)
    return nn.TransformerEncoder(layer, layers, enable_nested_tensor=False), torch.ones(2, 5, 32)


MODELS: dict[str, Callable[[], tuple[nn.Module, torch.Tensor]]] = {
    "mlp": mlp,
    "transformer, 6 layers": lambda: transformer(6),
    "transformer, 12 layers": lambda: transformer(12),
}


def bare_walk(loss: torch.Tensor) -> int:
    found: list[Any] = [loss.grad_fn]
    seen = set(found)
    for node in found:
        for after, _ in node.next_functions:
            if after is not None and after not in seen:
                seen.add(after)
                found.append(after)
    return len(found)


def medians(ways: dict[str, Callable[[], Any]]) -> dict[str, float]:
    """CPU milliseconds of each way, the ways interleaved."""
    times: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(ROUNDS):
        for name, way in ways.items():
            start = time.process_time()
            way()
            times[name].append((time.process_time() - start) * 1e3)
    return {name: statistics.median(found) for name, found in times.items()}


@pytest.mark.parametrize("name", MODELS)
def test_graph_and_pictures(name: str) -> None:
    torch.set_num_threads(1)
    model, x = MODELS[name]()
    loss = model(x).sum()
    ways: dict[str, Callable[[], Any]] = {
        "bare walk": lambda: bare_walk(loss),
        "graph as text": lambda: str(graph(loss, names=model)),
        "default view": lambda: svg(fold(graph(loss, names=model))),
        "forward + backward": lambda: model(x).sum().backward(),
        "forward + recorded backward": lambda: record_backward(model(x).sum(), names=model),
    }
    print(f"\n{name}: {bare_walk(loss)} nodes, CPU ms", medians(ways))
    found = graph(loss, names=model)
    assert len(found.nodes) == bare_walk(loss)
    assert len(fold(found).boxes) <= 30


@pytest.mark.skipif(importlib.util.find_spec("torchviz") is None, reason="the peer torchviz is not installed")
def test_against_torchviz() -> None:
    import torchviz  # type: ignore[import-not-found]

    model, x = transformer(6)
    loss, named = model(x).sum(), dict(model.named_parameters())
    ways: dict[str, Callable[[], Any]] = {
        "torchviz": lambda: torchviz.make_dot(loss, params=named, show_attrs=True, show_saved=True),
        "graph as text": lambda: str(graph(loss, names=model)),
    }
    print("\n", medians(ways))
    assert "AddmmBackward0" in str(torchviz.make_dot(loss)) and "AddmmBackward0" in str(graph(loss))
