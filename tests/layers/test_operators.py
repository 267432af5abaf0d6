"""`seen.operators` against the profiler with nothing watching, and against storages."""

from typing import Any

import pytest
import torch

import torchcourse.layers as layers
from torchcourse.layers import xray

from .oracle import listed, profiled, sums_alike
from .snippets import SNIPPETS


@pytest.mark.parametrize("name", SNIPPETS)
def test_operators_are_the_profilers(name: str) -> None:
    torch.manual_seed(0)
    unwatched = SNIPPETS[name]()
    torch.manual_seed(0)
    watched = SNIPPETS[name]()
    truth = profiled(unwatched)
    with xray() as seen:
        watched()
    assert sums_alike(listed(seen)) == sums_alike(truth)
    assert truth, "the snippet runs at least one operator"


def the(seen: Any, name: str) -> layers.Operator:
    found = [o for o in seen.operators if o.name == name and o.outputs]
    assert found, [o.name for o in seen.operators]
    return found[0]


def test_a_view_shares_the_storage_of_its_input() -> None:
    x = torch.arange(12.0).reshape(3, 4)
    with xray() as seen:
        y = x.t()
    (output,) = the(seen, "aten::t").outputs
    assert y.untyped_storage().data_ptr() == x.untyped_storage().data_ptr()
    assert (output.kind, output.nbytes, output.shape, output.stride) == ("view", 0, (4, 3), (1, 4))


def test_a_copy_has_a_new_storage_of_its_own_bytes() -> None:
    x = torch.arange(12.0).reshape(3, 4)
    with xray() as seen:
        y = x.t().reshape(12)
    (output,) = the(seen, "aten::clone").outputs
    assert y.untyped_storage().data_ptr() != x.untyped_storage().data_ptr()
    assert (output.kind, output.nbytes) == ("new", y.untyped_storage().nbytes())
    assert the(seen, "aten::_unsafe_view").outputs[0].kind == "view"  # its schema does not say so
    assert seen.new_bytes == 48


@pytest.mark.parametrize("name", ["add_in_place", "set_row", "add_to_row", "out"])
def test_written_outputs_are_in_place(name: str) -> None:
    run = SNIPPETS[name]()
    with xray() as seen:
        run()
    kinds = [output.kind for operator in seen.operators for output in operator.outputs]
    assert "in-place" in kinds


def test_foreach_operators_return_nothing_and_write_their_arguments() -> None:
    a, b = torch.ones(3), torch.ones(2)
    with xray() as seen:
        torch._foreach_add_([a, b], 1.0)
    outputs = the(seen, "aten::_foreach_add_").outputs
    assert [(o.kind, o.shape) for o in outputs] == [("in-place", (3,)), ("in-place", (2,))]
    assert seen.new_bytes == 0


def test_dtype_and_device_are_the_outputs_own() -> None:
    x = torch.ones(3)
    with xray() as seen:
        y = x.to(torch.float64)
        z = torch.empty(5, device="meta") + 1
    assert the(seen, "aten::_to_copy").outputs[0].dtype == y.dtype
    assert the(seen, "aten::add").outputs[0].device == z.device
    assert the(seen, "aten::_to_copy").outputs[0].nbytes == 24


def test_peak_is_the_most_alive_at_one_time() -> None:
    with xray() as seen:
        a = torch.zeros(1000)
        del a
        b = torch.zeros(500)
        c = torch.zeros(250)
    assert (seen.new_bytes, seen.peak_bytes) == (7000, 4000)
    assert seen.trace.freed_bytes == 4000
    assert b.shape, c.shape


def test_what_only_the_graph_keeps_still_counts_as_alive() -> None:
    x = torch.zeros(1000, requires_grad=True)
    with xray() as seen:
        y = x.exp().sum()  # exp saves its result
        z = torch.zeros(1000)
    assert seen.peak_bytes >= 8000
    assert y.requires_grad and z.shape


def test_each_new_storage_counts_once() -> None:
    x = torch.arange(6.0)
    with xray() as seen:
        torch.stack([x, x]).unbind(0)
    assert seen.new_bytes == 48


def test_lines_are_those_of_the_file_with_the_with() -> None:
    x = torch.ones(3)
    here = test_lines_are_those_of_the_file_with_the_with.__code__.co_firstlineno
    with xray() as seen:
        a = x + 1
        b = torch.nn.functional.gelu(
            a * 2,
        )
    lines = {o.name: o.line - here for o in seen.operators if o.line and o.depth == 0}
    assert lines == {"aten::add": 4, "aten::mul": 6, "aten::gelu": 5}
    assert all(o.line is not None for o in seen.operators)
    assert b.shape


def test_module_is_the_path_from_the_outermost_one_called() -> None:
    model = torch.nn.Sequential(
        torch.nn.Linear(2, 2), torch.nn.Sequential(torch.nn.ReLU(), torch.nn.Linear(2, 1))
    )
    x = torch.ones(1, 2)
    with xray() as seen:
        y = model(x) + 1
    paths = [(o.name, o.module) for o in seen.operators if o.depth == 0]
    assert paths == [
        ("aten::linear", "0"),
        ("aten::relu", "1.0"),
        ("aten::linear", "1.1"),
        ("aten::add", None),
    ]
    assert y.shape


def test_the_outermost_module_itself_has_the_empty_path() -> None:
    with xray() as seen:
        torch.nn.ReLU()(torch.ones(2))
    assert {o.module for o in seen.operators if o.name == "aten::relu"} == {""}


def test_operators_of_other_libraries_are_listed_too() -> None:
    @torch.library.custom_op("torchcourse_tests::twice", mutates_args=())
    def twice(x: torch.Tensor) -> torch.Tensor:
        return x * 2

    x = torch.ones(2)
    with xray() as outer, xray() as inner:
        twice(x)
    for seen in (outer, inner):  # in 2.14 the profiler has no event of it
        assert [o.name for o in seen.operators][:2] == ["torchcourse_tests::twice", "aten::mul"]
        assert seen.operators[0].outputs[0].shape == (2,)


def test_fast_path_of_the_transformer_is_kept() -> None:
    run = SNIPPETS["transformer_fast_path"]()
    expected = run()
    with xray() as seen:
        result = run()
    assert torch.equal(result, expected)
    assert "aten::_transformer_encoder_layer_fwd" in [o.name for o in seen.operators]


def test_fast_path_of_attention_is_kept() -> None:
    attention, x = torch.nn.MultiheadAttention(8, 2, batch_first=True).eval(), torch.ones(1, 3, 8)
    with torch.no_grad(), xray() as seen:
        attention(x, x, x)
        x + 1
    names = [o.name for o in seen.operators]
    assert "aten::_native_multi_head_attention" in names
    assert [c.name for c in seen.calls] == ["torch.Tensor.add"]  # calls are noted again afterwards
