"""`seen.nodes` and `seen.ran` against grad_fn and against hooks in the engine."""

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from torchcourse.layers import xray

from .oracle import engine_of, recorded
from .snippets import cnn, mlp, transformer


def leaf() -> Tensor:
    return torch.arange(6.0).reshape(2, 3).requires_grad_()


CODES = {
    "add": lambda t: t + 1,
    "linear": lambda t: F.linear(t, t),
    "reshape": lambda t: t.t().reshape(6),
    "cross_entropy": lambda t: F.cross_entropy(t, torch.tensor([0, 1])),
    "softmax": lambda t: t.softmax(1).log(),
    "einsum": lambda t: torch.einsum("ij,kj->ik", t, t),
    "layer_norm": lambda t: F.layer_norm(t, (3,)),
    "where": lambda t: torch.where(t > 2, t, t * 2),
    "double_index": lambda t: t[0][1],
}


@pytest.mark.parametrize("name", CODES)
def test_nodes_are_those_behind_the_result(name: str) -> None:
    x = leaf()
    with xray() as seen:
        y = CODES[name](x)
    assert [node.name for node in seen.nodes] == recorded(y)


def test_a_write_to_a_row_records_copy_slices() -> None:
    x = leaf()
    with xray() as seen:
        y = x * 1
        y[0] = 0
    assert [node.name for node in seen.nodes] == ["MulBackward0", "SelectBackward0", "CopySlices"]
    assert set(recorded(y)) == {"MulBackward0", "CopySlices"}  # the row itself is gone


@pytest.mark.parametrize("make", [mlp, cnn, transformer])
def test_nodes_and_order_of_a_model(make: object) -> None:
    model, batch = make()  # type: ignore[operator]
    with xray() as seen:
        loss = model(batch).square().mean()
    assert [node.name for node in seen.nodes] == recorded(loss)
    truth = engine_of(model(batch).square().mean())
    again = model(batch).square().mean()
    with xray() as seen:
        again.backward()
    assert list(seen.ran) == truth


def test_nodes_made_before_the_block_are_not_listed() -> None:
    y = leaf() * 2
    with xray() as seen:
        z = y + 1
    assert [node.name for node in seen.nodes] == ["AddBackward0"]
    assert z.requires_grad


def test_double_backward_records_nodes() -> None:
    x = leaf()
    with xray() as seen:
        y = (x**3).sum()
        (grad,) = torch.autograd.grad(y, x, create_graph=True)
    assert set(recorded(grad)) <= {node.name for node in seen.nodes}
    assert seen.ran == ("SumBackward0", "PowBackward0")


def test_saved_bytes_count_each_tensor_once() -> None:
    a, b = leaf(), leaf()
    with xray() as seen:
        c = a * b
        d = a * a
        e = a + b
        f = a.exp()
    assert [node.saved_bytes for node in seen.nodes] == [48, 24, 0, 24]
    assert c.shape == d.shape == e.shape == f.shape


def test_saved_bytes_of_an_own_function() -> None:
    from .snippets import Double

    x = leaf()
    with xray() as seen:
        y = Double.apply(x)
    assert [(n.name, n.saved_bytes) for n in seen.nodes] == [("DoubleBackward", 24)]
    assert y.requires_grad


def test_a_checkpoint_saves_nothing_and_is_not_recomputed() -> None:
    runs: list[int] = []

    def block(t: Tensor) -> Tensor:
        runs.append(1)
        return t.exp().sin()

    x = leaf()
    with xray() as seen:
        y = torch.utils.checkpoint.checkpoint(block, x, use_reentrant=False)
    assert runs == [1]
    kept = {node.name: node.saved_bytes for node in seen.nodes}
    # In 2.9 a node of the checkpoint's own keeps its input.
    assert kept.pop("_NoopSaveInputsBackward", x.nbytes) == x.nbytes
    assert kept == {"ExpBackward0": 0, "SinBackward0": 0}
    y.sum().backward()
    assert runs == [1, 1]


@pytest.mark.parametrize(
    ("mode", "reason"),
    [(torch.no_grad, "no_grad"), (torch.inference_mode, "inference_mode")],
)
def test_why_no_node(mode: type, reason: str) -> None:
    x = leaf()
    with xray() as seen, mode():
        x * 2
    assert seen.nodes == ()
    assert [call.why_no_node for call in seen.calls] == [reason]
    with xray() as seen:
        x.detach() * 2
    assert [call.why_no_node for call in seen.calls] == [
        "detached or not differentiable",
        "no input requires grad",
    ]
    assert "Autograd recorded nothing" in str(seen)


def test_calls_have_their_public_names() -> None:
    x = leaf()
    with xray() as seen:
        F.relu(x + 1).sum()
    assert [c.name for c in seen.calls] == [
        "torch.Tensor.add",
        "torch.nn.functional.relu",
        "torch.Tensor.sum",
    ]


def test_the_operator_that_made_a_node() -> None:
    x = leaf()
    with xray() as seen:
        F.linear(x, x)
    made = [(n.name, seen.operators[n.operator].name) for n in seen.nodes if n.operator is not None]
    assert made == [("TBackward0", "aten::t"), ("MmBackward0", "aten::mm")]
