"""The independent truth: what torch.profiler lists with nothing watching."""

import os
from collections.abc import Callable
from typing import Any

import torch
from torch.profiler import ProfilerActivity, profile

os.environ.setdefault("KINETO_LOG_LEVEL", "99")


def profiled(function: Callable[[], Any]) -> list[tuple[int, str]]:
    """(depth, name) of every aten operator, in order of start."""
    with profile(activities=[ProfilerActivity.CPU]) as run:
        function()
    results = run.profiler.kineto_results
    assert results is not None
    found: list[tuple[int, str]] = []
    todo = [(event, 0) for event in reversed(results.experimental_event_tree())]
    while todo:
        event, depth = todo.pop()
        if event.name.startswith("aten::"):
            found.append((depth, event.name))
            depth += 1
        todo += [(child, depth) for child in reversed(event.children)]
    return found


def listed(seen: Any) -> list[tuple[int, str]]:
    return [(o.depth, o.name) for o in seen.operators if o.name.startswith("aten::")]


def sums_alike(operators: list[tuple[int, str]]) -> list[tuple[int, str]]:
    """Where the engine sums two gradients, add may stand for add_."""
    return [(depth, "aten::add" if name == "aten::add_" else name) for depth, name in operators]


def engine_of(loss: torch.Tensor) -> list[str]:
    """Names of the nodes in the order in which a backward runs them, by hooks on each node."""
    order: list[str] = []
    todo, met = [loss.grad_fn], set()
    while todo:
        node = todo.pop()
        if node is None or node in met:
            continue
        met.add(node)
        name = node.name().removeprefix("torch::autograd::")
        node.register_prehook(lambda *_, name=name: order.append(name))
        todo += [after for after, _ in node.next_functions]
    loss.backward()
    return list(order)  # the hooks on AccumulateGrad stay with the leaves


def recorded(*outputs: torch.Tensor) -> list[str]:
    """Names of the nodes behind these tensors, in order of creation, by walking the graph."""
    met: dict[int, str] = {}
    todo = [output.grad_fn for output in outputs]
    while todo:
        node = todo.pop()
        if node is None or node._sequence_nr() in met:
            continue
        if not node.name().endswith("AccumulateGrad"):
            met[node._sequence_nr()] = node.name().removeprefix("torch::autograd::")
        todo += [after for after, _ in node.next_functions]
    return [met[number] for number in sorted(met)]
