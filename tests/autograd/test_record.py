"""`record_backward`: the real run, bit for bit, in the engine's order, and nothing stays behind."""

import copy
import gc
import weakref
from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from tests.autograd.cases import Raises
from tests.autograd.programs import nodes_of, program
from torchcourse.autograd import NoGraph, graph, record_backward, rule
from torchcourse.autograd.rules import known


def leaves(loss: Tensor) -> list[Tensor]:
    return [n.variable for n in nodes_of(loss) if n.name() == "torch::autograd::AccumulateGrad"]


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**31))
def test_the_same_bits_and_the_same_order_as_a_plain_backward(seed: int) -> None:
    plain, watched = program(seed), program(seed)
    order: list[int] = []
    for i, node in enumerate(nodes_of(plain)):
        node.register_prehook(lambda grads, i=i: order.append(i))  # an independent record
    failed = _error(plain.backward)
    seen: list[Any] = []
    again = _error(lambda: seen.append(record_backward(watched)))
    assert type(failed) is type(again)
    record = again.record if again is not None else seen[0]  # type: ignore[attr-defined]
    assert list(record.order) == order
    for a, b in zip(leaves(plain), leaves(watched), strict=True):
        assert (a.grad is None) == (b.grad is None)
        assert a.grad is None or torch.equal(a.grad, b.grad)


def _error(call: Callable[[], Any]) -> BaseException | None:
    try:
        call()
    except RuntimeError as error:
        return error
    return None


@pytest.mark.parametrize("kwargs", [{}, {"retain_graph": True}, {"create_graph": True}])
def test_a_model(kwargs: dict[str, Any]) -> None:
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    one = nn.Sequential(nn.TransformerEncoder(layer, 2, enable_nested_tensor=False), nn.Linear(8, 1))
    two, x = copy.deepcopy(one), torch.randn(2, 5, 8)
    state = torch.get_rng_state()
    one(x).sum().backward(**kwargs)
    after = torch.get_rng_state()
    torch.set_rng_state(state)
    loss = two(x).sum()
    record = record_backward(loss, **kwargs)
    assert torch.equal(torch.get_rng_state(), after)
    for a, b in zip(one.parameters(), two.parameters(), strict=True):
        assert torch.equal(a.grad, b.grad) and a.grad.stride() == b.grad.stride()  # type: ignore[union-attr]
    assert len(record.steps) == len(record.graph.nodes) == len({step.node for step in record.steps})
    assert record.kept == bool(kwargs) and (record.freed_bytes == 0) == record.kept
    assert bool(graph(loss).freed) != record.kept


def test_the_gradient_is_taken_not_cloned() -> None:
    """A reference that a hook keeps would make AccumulateGrad clone; the memory would then differ."""
    taken: list[int] = []

    def backward_of(run: Callable[[Tensor], Any]) -> bool:
        w = torch.ones(50, requires_grad=True)
        y = w * 2
        y.grad_fn.register_hook(lambda out, _: taken.append(out[0].data_ptr()))  # type: ignore[union-attr]
        run(y.sum())
        return w.grad.data_ptr() == taken.pop()  # type: ignore[union-attr]

    assert backward_of(lambda loss: loss.backward()) and backward_of(record_backward)


def test_statistics_and_accumulation() -> None:
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    record_backward((w * w).sum())
    record = record_backward((w * w).sum())
    last = record.steps[-1]
    assert (last.name, last.norm) == ("AccumulateGrad", pytest.approx(20**0.5))
    done = last.accumulated
    assert done is not None and done.variable == "w"
    found = [one.values for one in (done.before, done.added, done.after) if one is not None]
    assert found == [(2.0, 4.0), (2.0, 4.0), (4.0, 8.0)]
    product = record.steps[1]
    assert [one.values for one in product.left if one] == [(1.0, 2.0), (1.0, 2.0)]
    assert product.freed_bytes == 16 and product.rule == "grad · other to self, grad · self to other"
    assert "w.grad: [2, 4] [2] + [2, 4] [2] = [4, 8] [2]" in str(record)


def test_statistics_of_a_large_gradient() -> None:
    torch.manual_seed(0)
    w = torch.randn(1000, requires_grad=True)
    step = record_backward((w**3).sum()).steps[-1]
    added = step.accumulated.added  # type: ignore[union-attr]
    assert added is not None and added.values is None
    assert added.norm == pytest.approx(float(w.grad.norm()))  # type: ignore[union-attr]
    assert (added.min, added.max) == (float(w.grad.min()), float(w.grad.max()))  # type: ignore[union-attr]


def test_the_first_nan_is_found() -> None:
    x = torch.zeros(20, requires_grad=True)
    record = record_backward((x.sqrt() * 0).sum())
    bad = record.first_bad
    assert bad is not None and (bad.name, bad.when) == ("SqrtBackward0", "left")
    last = record.steps[-1].entered[0]
    assert last is not None and last.nan == 20 and not record.steps[-1].finite
    assert record_backward((torch.ones(2, requires_grad=True) * 2).sum()).first_bad is None


def test_what_raises_is_reported_up_to_there() -> None:
    x = torch.ones(2, requires_grad=True)
    with pytest.raises(ArithmeticError, match="planted") as caught:
        record_backward(Raises.apply(x * 2).sum())
    record = caught.value.record  # type: ignore[attr-defined]
    assert [(s.name, s.finished) for s in record.steps] == [("SumBackward0", True), ("RaisesBackward", False)]
    assert "planted" in str(record)


def test_a_freed_graph() -> None:
    loss = (torch.ones(2, requires_grad=True) ** 2).sum()
    loss.backward()
    with pytest.raises(RuntimeError, match="a second time") as caught:
        record_backward(loss)
    assert caught.value.record.steps[-1].name == "PowBackward0"  # type: ignore[attr-defined]


def test_inputs_and_gradient() -> None:
    a, b = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    record = record_backward(a * b, gradient=torch.tensor([1.0, 2.0]), inputs=[a])
    assert b.grad is None and a.grad is not None and a.grad.tolist() == [1, 2]
    assert [step.name for step in record.steps] == ["MulBackward0", "AccumulateGrad"]


def test_sparse_and_complex_and_half_gradients() -> None:
    table = nn.Embedding(5, 3, sparse=True)
    record = record_backward(table(torch.tensor([1, 1, 2])).sum())
    added = record.steps[-1].accumulated.added  # type: ignore[union-attr]
    assert added is not None and added.values == (2.0, 2.0, 2.0, 1.0, 1.0, 1.0)
    z = torch.ones(20, dtype=torch.complex64, requires_grad=True)
    assert record_backward((z * z).abs().sum()).steps[-1].norm == pytest.approx(2 * 20**0.5)
    h = torch.ones(100, dtype=torch.float16, requires_grad=True)
    assert record_backward((h * 300).sum()).steps[-1].norm == pytest.approx(3000)


def test_nothing_stays_behind() -> None:
    x = torch.ones(30, requires_grad=True)
    y = x.exp()
    loss = (y * y).sum()
    calls = len(record_backward(loss, retain_graph=True).steps)
    first = x.grad.clone()  # type: ignore[union-attr]
    loss.backward(retain_graph=True)
    assert torch.equal(x.grad, 2 * first) and calls == 4  # type: ignore[arg-type]
    assert not x._backward_hooks and not getattr(x, "_post_accumulate_grad_hooks", None)
    dead = weakref.ref(y)
    record = record_backward(loss)
    del y, loss
    gc.collect()
    assert dead() is None and record.steps


@pytest.mark.parametrize("bad", [None, 3.0, [torch.ones(1, requires_grad=True)]])
def test_no_tensor_is_one_sentence(bad: Any) -> None:
    with pytest.raises(TypeError, match="record_backward takes the tensor"):
        record_backward(bad)


def test_no_graph_is_one_sentence() -> None:
    with pytest.raises(NoGraph, match="has no graph"):
        record_backward(torch.ones(1))
    with pytest.raises(ValueError):
        record_backward(torch.ones(1))
    with pytest.raises(RuntimeError):
        record_backward(torch.ones(1))


def test_not_a_scalar_raises_as_torch_does() -> None:
    with pytest.raises(RuntimeError, match="only for scalar outputs"):
        record_backward(torch.ones(2, requires_grad=True) * 2)


def test_reentrant_checkpoint_and_anomaly_mode() -> None:
    w = torch.ones(3, requires_grad=True)
    x = torch.ones(3, requires_grad=True)
    out = torch.utils.checkpoint.checkpoint(lambda t: t * w, x * 1, use_reentrant=True)
    with torch.autograd.set_detect_anomaly(True):
        record = record_backward(out.sum())
    assert [s.name for s in record.steps][:2] == ["SumBackward0", "CheckpointFunctionBackward"]
    assert w.grad is not None and x.grad is not None


def test_every_rule_is_said() -> None:
    assert rule("MulBackward0") == "grad · other to self, grad · self to other"
    assert known("TBackward0") and not known("FrobnicateBackward7")
    assert rule("FrobnicateBackward7") == "grad times the derivative of Frobnicate"
    names = {
        n.name for seed in range(60) for n in graph(program(seed), names={}) if n.kind != "custom Function"
    }
    assert {name for name in names if not known(name)} <= {"ZeroBackward0"}
