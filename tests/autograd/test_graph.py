"""`graph`: nodes and edges are those of next_functions, in breadth-first order, whatever the outputs."""

import subprocess
import sys
from dataclasses import FrozenInstanceError
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from tests.autograd.programs import nodes_of, program
from torchcourse.autograd import graph, record_backward
from torchcourse.graphs import fold, svg


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**31))
def test_nodes_and_edges_are_those_of_next_functions(seed: int) -> None:
    out = program(seed)
    nodes, found = nodes_of(out), graph(out, names={})
    assert [n.name().removeprefix("torch::autograd::") for n in nodes] == [n.name for n in found.nodes]
    assert [node.id for node in found.nodes] == list(range(len(nodes)))
    rank = {id(node): i for i, node in enumerate(nodes)}
    edges = [
        (rank[id(node)], rank[id(after)], slot, output)
        for node in nodes
        for slot, (after, output) in enumerate(node.next_functions)
        if after is not None
    ]
    assert edges == [(e.source, e.target, e.slot, e.output) for e in found.edges]
    shapes = [tuple(n._input_metadata[0].shape) if n._input_metadata else None for n in nodes]
    assert all(a is None or a == b.shape for a, b in zip(shapes, found.nodes, strict=True))


def test_facts_of_a_small_graph() -> None:
    x, w, b = torch.ones(3), torch.ones(3, requires_grad=True), torch.ones(3, requires_grad=True)
    loss = ((x * w + b - 1) ** 2).sum()
    found = graph(loss)
    assert str(found) == (
        "Graph of loss: 7 nodes, 6 edges, 2 leaves; saves 24 bytes.\n"
        "0 SumBackward0 loss [] float32 → 1\n"
        "1 PowBackward0 [3] float32, saves self (12 bytes) → 2\n"
        "2 SubBackward0 [3] float32 → 3\n"
        "3 AddBackward0 [3] float32 → 4, 5\n"
        "4 MulBackward0 [3] float32, saves self (12 bytes) → 6\n"
        "5 AccumulateGrad b [3] float32\n"
        "6 AccumulateGrad w [3] float32"
    )
    assert [node.variable for node in found.leaves] == ["b", "w"]
    with pytest.raises(FrozenInstanceError):
        found.nodes = ()  # type: ignore[misc]


def test_a_tensor_saved_twice_counts_once() -> None:
    x = torch.ones(4, requires_grad=True)
    y = x.exp()
    assert graph((y * y).sum()).saved_bytes == 16


def test_kinds() -> None:
    x = torch.ones(2, 3, requires_grad=True)
    y = x.t().exp().clone()
    kinds = {node.name: node.kind for node in graph(y)}
    assert kinds == {
        "CloneBackward0": "copy",
        "ExpBackward0": "operator",
        "TBackward0": "view",
        "AccumulateGrad": "AccumulateGrad",
    }


def test_several_outputs_of_one_node() -> None:
    x = torch.ones(4, requires_grad=True)
    a, b = x.split(2)
    found = graph(a, b)
    assert len(found.nodes) == 2
    assert [(root.node, root.output) for root in found.roots] == [(0, 0), (0, 1)]
    assert len(found.nodes[0].outputs) == 2


def test_a_leaf_is_a_graph_of_one() -> None:
    w = torch.ones(3, requires_grad=True)
    with torch.no_grad():
        found = graph(w)
    assert [(node.name, node.variable) for node in found] == [("AccumulateGrad", "w")]


@pytest.mark.parametrize(
    ("output", "sentence"),
    [
        (torch.ones(3), "It needs no gradient"),
        (torch.arange(3), "Its dtype is int64"),
    ],
)
def test_an_output_without_gradient(output: torch.Tensor, sentence: str) -> None:
    found = graph(output)
    assert found.nodes == () and found.edges == ()
    assert "has no graph, so it has no nodes" in str(found) and sentence in str(found)


def test_inference_mode() -> None:
    with torch.inference_mode():
        y = torch.ones(2) * 2
        found = graph(y)
    assert "inference_mode" in str(found) and not found.nodes


@pytest.mark.parametrize("bad", [(), (None,), ("text",), ([None, 3],), ({},), (object(),), ({"a": {1, 2}},)])
def test_no_tensor_is_one_sentence(bad: tuple[Any, ...]) -> None:
    with pytest.raises(TypeError, match=r"tensor"):
        graph(*bad)


@pytest.mark.parametrize("bad", [3, "w", [torch.ones(1)], {"w": 3}])
def test_bad_names_are_one_sentence(bad: Any) -> None:
    with pytest.raises(TypeError, match="name"):
        graph(torch.ones(1, requires_grad=True), names=bad)


def test_an_output_that_holds_itself() -> None:
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(ValueError, match="contains itself"):
        graph(loop)


def test_retain_grad_hooks_and_grads_are_told() -> None:
    w = torch.ones(2, requires_grad=True)
    y = w * 2
    y.retain_grad()
    y.register_hook(lambda grad: grad)
    loss = y.sum()
    loss.backward()
    known = {one.name: one for one in graph(loss).variables}
    assert known["y"].retains_grad and known["y"].hooks == 1 and known["y"].has_grad
    assert known["w"].leaf and known["w"].has_grad and not known["loss"].has_grad


def test_source_lines_under_anomaly_mode() -> None:
    x = torch.ones(2, requires_grad=True)
    with torch.autograd.set_detect_anomaly(True, check_nan=False):
        y = x.exp()
    assert graph(y).nodes[0].line.startswith("test_graph.py:")  # type: ignore[union-attr]


def test_double_backward() -> None:
    x = torch.ones(3, requires_grad=True)
    (grad,) = torch.autograd.grad((x**3).sum(), x, create_graph=True)
    names = [node.name for node in graph(grad)]
    assert "PowBackward0" in names and names.count("AccumulateGrad") == 1


@pytest.mark.parametrize("length", [100, 10_000])
def test_a_long_chain_needs_no_recursion(length: int) -> None:
    x = torch.ones(1, requires_grad=True)
    y = x
    for _ in range(length):
        y = y * 1.0
    found = graph(y)
    assert len(found.nodes) == length + 1 and len(found.edges) == length
    assert len(str(found).splitlines()) == length + 2


def test_no_mode_of_the_reader_sees_it() -> None:
    from torch.utils._python_dispatch import TorchDispatchMode

    seen: list[str] = []

    class Mode(TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            seen.append(str(func))
            return func(*args, **(kwargs or {}))

    x = torch.ones(3, requires_grad=True)
    base = x.exp() * 1
    base[:2].mul_(2)
    loss = base.sum()
    with Mode():
        graph(loss)
    assert seen == []


SCRIPT = """
import torch
from torch import nn
from torchcourse.autograd import graph, watch
from torchcourse.graphs import dot, svg, fold
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))
with watch(model):
    loss = model(torch.ones(2, 3)).sum()
found = graph(loss, names=model)
print(found, dot(found), svg(found), fold(found, 3), svg(fold(found, 3)))
"""


def test_the_same_bytes_in_every_process() -> None:
    runs = [
        subprocess.run(
            [sys.executable, "-c", SCRIPT], env={"PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("0", "1")
    ]
    assert runs[0] == runs[1] and b"AddmmBackward0" in runs[0]


def test_names_of_a_module_and_of_the_caller() -> None:
    model = nn.Linear(2, 1)
    loss = model(torch.ones(1, 2)).sum()
    assert {n.variable for n in graph(loss, names=model).leaves} == {"weight", "bias"}
    assert {n.variable for n in graph(loss).leaves} == {"model.weight", "model.bias"}
    assert {n.variable for n in graph(loss, names={"net": model}).leaves} == {"net.weight", "net.bias"}
    assert {n.variable for n in graph(loss, names={}).leaves} == {None}


def test_names_in_lists_and_dicts_of_the_caller() -> None:
    weights = [torch.ones(2, requires_grad=True)]
    table = {"b": torch.ones(2, requires_grad=True)}
    loss = (weights[0] * table["b"]).sum()
    assert {n.variable for n in graph(loss).leaves} == {"weights[0]", "table['b']"}


def chain(length: int) -> torch.Tensor:
    y = torch.ones(1, requires_grad=True)
    for _ in range(length):
        y = y * 1.0
    return y


@pytest.mark.slow
def test_a_graph_of_hundreds_of_thousands_of_nodes_folds_and_breaks_no_limit() -> None:
    y = torch.cat([chain(20_000) for _ in range(12)])
    found = graph(y)
    assert len(found.nodes) == 12 * 20_001 + 1 and fold(found).count == len(found.nodes)
    assert len(svg(found)) < 200_000


def test_a_graph_that_pytorch_could_not_free_afterwards_gets_a_sentence() -> None:
    y = chain(60_000)
    with pytest.raises(ValueError, match=r"more than 25,000 nodes deep\. PyTorch itself can crash"):
        graph(y)
    with pytest.raises(ValueError, match="more than 25,000 nodes deep"):
        record_backward(y)
    assert len(graph(chain(20_000)).nodes) == 20_001
