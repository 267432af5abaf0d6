"""Right facts or one clear sentence, and the reader's state as it was."""

import threading
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.overrides import BaseTorchFunctionMode
from torch.profiler import ProfilerActivity, profile
from torch.utils._python_dispatch import TorchDispatchMode

import torchcourse.layers.record as record
from torchcourse.layers import xray

from .oracle import listed, profiled
from .test_leaves_nothing import CLEAN, modes


def names(seen: Any) -> list[str]:
    return [o.name for o in seen.operators if o.depth == 0]


def test_an_empty_block() -> None:
    with xray() as seen:
        pass
    assert (seen.operators, seen.nodes, seen.ran, seen.waits, seen.new_bytes) == ((), (), (), (), 0)
    assert "Nothing ran" in str(seen)


@pytest.mark.parametrize("given", [(3,), ("x + 1",), (None,)])
def test_what_is_no_function(given: tuple[Any]) -> None:
    with pytest.raises(TypeError, match=r"xray watches a block .* or calls a function"):
        xray(*given)
    with pytest.raises(TypeError, match="keyword arguments only"):
        xray(x=1)


def test_one_xray_inside_another() -> None:
    x = torch.ones(3, requires_grad=True)
    with xray() as outer:
        a = x + 1
        with xray() as inner:
            b = a.sqrt()
            assert names(inner) == ["aten::sqrt"]  # already inside
        assert names(inner) == ["aten::sqrt"]
        c = b * 2
    assert names(outer) == ["aten::add", "aten::sqrt", "aten::mul"]
    assert names(inner) == ["aten::sqrt"]
    assert [n.name for n in outer.nodes] == ["AddBackward0", "SqrtBackward0", "MulBackward0"]
    assert [n.name for n in inner.nodes] == ["SqrtBackward0"]
    assert (inner.new_bytes, outer.new_bytes) == (12, 36)
    assert c.shape and modes() == CLEAN and inner.notes == outer.notes == ()


def test_an_xray_inside_a_hook_of_the_outer_one() -> None:
    x = torch.ones(3, requires_grad=True)
    inside: list[Any] = []

    def hook(grad: Tensor) -> Tensor:
        with xray() as seen:
            grad = grad * 2
        inside.append(seen)
        return grad

    x.register_hook(hook)
    with xray() as outer:
        (x * 3).sum().backward()
    assert names(inside[0]) == ["aten::mul"]
    truth = profiled(lambda: torch.ones(3) * 2)[2:]
    assert listed(inside[0]) == [(d, n) for d, n in truth if n not in ("aten::ones", "aten::fill_")]
    assert "aten::mul" in names(outer)


def test_under_the_readers_own_profiler() -> None:
    x = torch.ones(3)
    with profile(activities=[ProfilerActivity.CPU]) as run:
        with xray() as seen:
            x.add(1)
        x.mul(2)
    assert {"aten::add", "aten::mul"} <= {event.name for event in run.events()}
    assert names(seen) == ["aten::add"]
    assert seen.notes and "another profiler was running" in str(seen)


def test_the_readers_own_profiler_inside() -> None:
    x = torch.ones(3)
    with xray() as seen:
        with profile(activities=[ProfilerActivity.CPU]) as run:
            x.add(1)
        x.mul(2)
    assert "aten::add" in {event.name for event in run.events()}
    assert names(seen) == ["aten::add", "aten::mul"]
    assert "another profiler started inside the block" in str(seen)
    with xray() as seen:
        x.t()
    assert seen.notes == ()


def test_a_generator_has_not_run_yet() -> None:
    def batches() -> Iterator[Tensor]:
        yield torch.ones(2) + 1

    seen = xray(batches)
    assert seen.operators == ()
    assert "returned a generator, and none of its body has run yet" in str(seen)


def test_other_threads_are_not_watched() -> None:
    with xray() as seen:
        thread = threading.Thread(target=lambda: torch.ones(5) * 3)
        thread.start()
        thread.join()
        torch.ones(2)
    assert names(seen) == ["aten::ones"]
    assert "an xray lists its own thread only" in str(seen)


def test_code_that_leaves_modes_behind() -> None:
    class OwnDispatch(TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return func(*args, **(kwargs or {}))

    own, dispatch = BaseTorchFunctionMode(), OwnDispatch()
    with xray() as seen:
        own.__enter__()
        dispatch.__enter__()
        torch.ones(2) + 1
    assert torch._C._len_torch_function_stack() == 1
    assert modes()[1] == [dispatch]
    dispatch.__exit__(None, None, None)
    own.__exit__(None, None, None)
    assert modes() == CLEAN
    assert "aten::add" in [o.name for o in seen.operators]


def test_a_mode_of_the_readers_around_and_inside() -> None:
    from torch.utils.flop_counter import FlopCounterMode

    a = torch.ones(4, 4)
    with FlopCounterMode(display=False) as around, xray() as seen:
        a @ a
    with xray(), FlopCounterMode(display=False) as inside:
        a @ a
    assert around.get_total_flops() == inside.get_total_flops() == 128
    assert names(seen) == ["aten::matmul"]


def test_when_the_record_is_full_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record, "LIMIT", 20)
    with xray() as seen:
        for _ in range(100):
            torch.ones(2)
    assert len(names(seen)) == 10
    assert seen.notes and "90 more ran unrecorded" in str(seen)
    assert modes() == CLEAN


SPARSE = torch.sparse_coo_tensor(torch.tensor([[0, 1], [1, 0]]), torch.tensor([1.0, 2.0]), (2, 2))


def test_sparse_tensors() -> None:
    with xray() as seen:
        SPARSE * 2
        SPARSE.to_dense()
        torch.eye(3).to_sparse()
    truth = profiled(lambda: (SPARSE * 2, SPARSE.to_dense(), torch.eye(3).to_sparse()))
    assert listed(seen) == truth
    (product,) = next(o.outputs for o in seen.operators if o.name == "aten::mul" and o.outputs)
    assert (product.kind, product.storage, product.nbytes) == ("new", None, 2 * 4 + 2 * 2 * 8)


def test_meta_and_fake_tensors() -> None:
    from torch._subclasses import FakeTensorMode

    with xray() as seen:
        torch.empty(3, device="meta") * 2
        with FakeTensorMode():
            torch.empty(4) * 2
    outputs = [o.outputs[0] for o in seen.operators if o.name == "aten::mul" and o.outputs]
    assert outputs[0].device.type == "meta"
    assert modes() == CLEAN


def test_quantised_tensors() -> None:
    with xray() as seen:
        quantised = torch.quantize_per_tensor(torch.ones(4), 0.1, 0, torch.qint8)
        quantised.dequantize()
    outputs = {o.name: o.outputs[0] for o in seen.operators if o.outputs}
    assert outputs["aten::quantize_per_tensor"].nbytes == 4
    assert outputs["aten::dequantize"].nbytes == 16


def test_tensor_subclasses() -> None:
    class Named(torch.Tensor):
        pass

    named = torch.ones(3).as_subclass(Named)
    with xray() as seen:
        result = named + 1
    assert type(result) is Named
    assert listed(seen) == profiled(lambda: named + 1)
    assert modes() == CLEAN


def test_wrapper_subclasses() -> None:
    from torch.testing._internal.two_tensor import TwoTensor

    both = TwoTensor(torch.ones(3), torch.zeros(3))
    with xray() as seen:
        result = both + 1
    assert torch.equal(result.a, torch.full((3,), 2.0))
    assert "aten::add" in names(seen) and modes() == CLEAN


def test_nested_tensors() -> None:
    with xray() as seen:
        nested = torch.nested.nested_tensor([torch.ones(2), torch.ones(3)])
        nested * 2
    assert "aten::mul" in names(seen)


def test_compiled_code_says_so() -> None:
    compiled = torch.compile(lambda t: t.sin().cos(), backend="eager")
    x = torch.ones(3)
    with xray() as seen:
        compiled(x)
    assert "torch.compile'd function was called" in str(seen)
    assert names(seen) == ["aten::sin", "aten::cos"]
    with xray() as seen:
        torch.utils.checkpoint.checkpoint(torch.sin, x, use_reentrant=False)
    assert seen.notes == ()


def test_an_xray_serves_one_block() -> None:
    watch = xray()
    with watch:
        pass
    with pytest.raises(RuntimeError, match="This xray has been used"), watch:
        pass
    assert modes() == CLEAN


def test_workers_of_a_data_loader() -> None:
    loader = torch.utils.data.DataLoader(
        torch.utils.data.TensorDataset(torch.arange(6.0)), batch_size=3, num_workers=1
    )
    with xray() as seen:
        batches = [batch for (batch,) in loader]
    assert [b.tolist() for b in batches] == [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]
    assert modes() == CLEAN and seen.operators is not None


def test_inside_vmap_a_number_stays_a_number() -> None:
    x = torch.ones(3)
    with xray() as seen:
        result = torch.func.vmap(lambda v: v * 2)(x)
    assert torch.equal(result, x * 2) and "aten::mul" in [o.name for o in seen.operators]
    assert modes() == CLEAN
