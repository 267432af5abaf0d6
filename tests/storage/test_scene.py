"""The scene holds the right elements, whatever the tensors, and reads no more than it shows."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from torchcourse.storage._memory import number
from torchcourse.storage._reach import reaches
from torchcourse.storage.scene import scene

from .strided import tensors as any_strides


def test_base_and_view_over_one_storage():
    x = torch.arange(12.0).reshape(3, 4)
    shown = scene([x, x.t()], ["x", "y"])
    assert shown.title == "One storage, two tensors"
    assert [g.role for g in shown.grids] == ["base", "view"]
    assert shown.grids[1].note == "view of x"
    assert shown.grids[1].address((2, 1)) == 6
    assert shown.strips[0].owners == ("both",) * 12
    assert dict(shown.grids[1].cells())[(2, 1)] == "6"
    assert "48 bytes" in str(shown)


def test_the_base_is_found_behind_its_view():
    x = torch.arange(6)
    shown = scene([x[::2], x], ["v", "x"])
    assert [g.role for g in shown.grids] == ["view", "base"]


def test_untouched_elements_are_told_apart():
    x = torch.arange(6)
    (strip,) = scene([x[1::2]], ["v"]).strips
    assert strip.owners == ("rest", "view") * 3
    assert "(0)" in str(strip)


def test_a_copy_has_a_strip_of_its_own():
    x = torch.arange(6)
    shown = scene([x, x.clone()], ["x", "c"])
    assert len(shown.strips) == 2 and [g.role for g in shown.grids] == ["base", "base"]


def test_expand_shares_each_element():
    e = torch.arange(3).expand(4, 3)
    (grid,) = scene([e], ["e"]).grids
    assert {grid.address(i) for i, _ in grid.cells()} == {0, 1, 2} and len(grid.values) == 12


def test_numpy_storages_over_one_memory_are_one_strip():
    array = np.arange(6)
    shown = scene([torch.from_numpy(array), torch.from_numpy(array[2:])], ["a", "b"])
    (strip,) = shown.strips
    assert strip.storages == 2 and shown.grids[1].start == 2 * array.itemsize
    assert strip.values == tuple("012345") and dict(shown.grids[1].cells())[(0,)] == "2"


def test_other_dtypes_over_the_same_bytes():
    x = torch.tensor([1.0, 2.0])
    shown = scene([x, x.view(torch.int16)], ["x", "h"])
    assert shown.strips[0].dtype == "float32" and shown.grids[1].itemsize == 2
    assert shown.strips[0].values == ("1", "2")


@pytest.mark.parametrize("size", [(), (0,), (3, 0), (1,), (2, 3, 4), (2, 2, 2, 2), (1, 1, 1, 1)])
def test_every_size_up_to_four_dimensions(size):
    shown = scene([torch.zeros(size)], ["x"])
    assert len(shown.grids[0].values) == torch.zeros(size).numel()
    assert str(shown)


def refused():
    offset = torch.zeros(2, dtype=torch.float32)
    return {
        "5 dimensions": torch.zeros(1, 1, 1, 1, 1),
        "meta": offset.to("meta"),
        "sparse": offset.to_sparse(),
        "quantised": torch.quantize_per_tensor(offset, 0.1, 0, torch.quint8),
        "parameter": torch.nn.UninitializedParameter(),
        "rows differ": torch.nested.nested_tensor([torch.zeros(2), torch.zeros(3)]),
    }


@pytest.mark.parametrize("word", ["5 dimensions", "meta", "sparse", "quantised", "rows differ"])
@pytest.mark.filterwarnings("ignore")
def test_what_has_no_picture_keeps_a_sentence(word):
    shown = scene([refused()[word], torch.zeros(2)], ["odd", "x"])
    assert word in shown.grids[0].refusal and shown.grids[1].values
    assert f"odd: {shown.grids[0].refusal}" in str(shown)


def test_a_storage_resized_under_its_tensor_is_told_and_not_read():
    x = torch.zeros(3, 4)
    turned = x.t()
    x.untyped_storage().resize_(20)
    shown = scene([turned], ["t"])
    assert "lead to element 11, and its storage was resized to 5" in shown.grids[0].refusal


def test_a_mode_neither_sees_nor_hinders_the_reading():
    from torch._subclasses import FakeTensorMode

    x = torch.arange(3)
    with FakeTensorMode():
        assert scene([x], ["x"]).grids[0].values == ("0", "1", "2")


def test_values_that_torch_cannot_read_are_left_out():
    pairs = torch.zeros(2, dtype=torch.uint8).view(torch.float4_e2m1fn_x2)  # no kernel turns it into numbers
    assert scene([pairs], ["p"]).grids[0].values == ("?", "?")


def test_fake_tensors_are_told():
    from torch._subclasses import FakeTensorMode

    fake = FakeTensorMode().from_tensor(torch.zeros(2))
    assert scene([fake], ["f"]).grids[0].refusal


@pytest.mark.parametrize(
    ("tensors", "names", "error", "sentence"),
    [
        ([], [], ValueError, "at least one"),
        ([[1, 2]], ["x"], TypeError, "explore\\(\\*that_list\\)"),
        ([np.zeros(2)], ["x"], TypeError, "from_numpy"),
        ([3], ["x"], TypeError, "takes tensors"),
        ([torch.zeros(1)] * 9, ["x"] * 9, ValueError, "at most 8"),
        ([torch.zeros(1)], ["x", "y"], ValueError, "1 tensors and 2 names"),
        ([torch.zeros(1)], "x", TypeError, "names is a list"),
        ([torch.zeros(1)], [3], TypeError, "names is a list"),
        ([torch.zeros(1)], 3, TypeError, "names is a list"),
        ([torch.zeros(1)], (name for name in "x"), TypeError, "names is a list"),
        ([torch.zeros(1)], ["x" * 99], ValueError, "characters"),
        ([torch.zeros(1)], ["a\nb"], ValueError, "one line"),
    ],
)
def test_bad_calls_are_told(tensors, names, error, sentence):
    with pytest.raises(error, match=sentence):
        scene(tensors, names)


def test_a_hundred_million_elements_are_folded_and_hardly_read(monkeypatch):
    # Memory that was never written stays unmapped, so a full read would be seen in the counts below.
    big = torch.empty(100_000_000, dtype=torch.uint8).view(10_000, 10_000)
    read = []
    monkeypatch.setattr("torchcourse.storage._memory._plain", lambda v: read.append(len(v)) or ["0"] * len(v))
    shown = scene([big, big.t()], ["big", "turned"])
    assert sum(read) < 500
    assert "of 10,000" in shown.grids[0].folded and "of 100,000,000" in shown.strips[0].folded
    assert "folded" in str(shown)


@settings(max_examples=150, deadline=None)
@given(any_strides())
def test_a_scene_of_any_strides_shows_every_value_at_its_address(tensor):
    shown = scene([tensor], ["x"])
    (grid,), (strip,) = shown.grids, shown.strips
    at = dict(zip(strip.shown, strip.values, strict=True))
    touched = {grid.address(i) for i in np.ndindex(*tensor.shape)} if tensor.numel() < 10**4 else set()
    for index, value in grid.cells():
        assert value == number(tensor[index].item()) == at.get(grid.address(index), value)
    if touched:
        for element, owner in zip(strip.shown, strip.owners, strict=True):
            assert (owner != "rest") == (element in touched)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 5), st.integers(0, 9)), max_size=4), st.integers(0, 5))
def test_reaches_is_what_walking_finds(dims, offset):
    size, stride = [n for n, _ in dims], [s for _, s in dims]
    walked = {offset + sum(i * s for i, s in zip(index, stride, strict=True)) for index in np.ndindex(*size)}
    assert {a for a in range(-3, 200) if reaches(a, size, stride, offset)} == walked


@pytest.mark.parametrize(
    "dtype",
    [
        *(torch.uint8, torch.int8, torch.uint16, torch.int64, torch.uint64, torch.bool),
        *(torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.float8_e4m3fn),
        *(torch.complex64, torch.complex128),
    ],
)
def test_every_dtype_is_shown(dtype):
    (grid,) = scene([torch.tensor([1, 0]).to(dtype)], ["x"]).grids
    expected = {"bool": ("True", "False"), "complex64": ("1+0j", "0+0j"), "complex128": ("1+0j", "0+0j")}
    assert grid.values == expected.get(grid.dtype, ("1", "0"))


def test_conjugate_and_negative_views_show_their_own_values():
    z = torch.tensor([1 + 2j])
    shown = scene([z, z.conj(), z.conj().imag], ["z", "c", "i"])
    assert [g.values for g in shown.grids] == [("1+2j",), ("1-2j",), ("-2",)]
    assert shown.strips[0].values == ("1+2j",)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.0, "1"),
        (0.12345, "0.123"),
        (-0.007571, "-0.0076"),
        (1e-12, "1e-12"),
        (123456789, "1.2e8"),
        (float("nan"), "nan"),
        (float("-inf"), "-inf"),
        (True, "True"),
        (-1234567.8, "-1.23e6"),
    ],
)
def test_values_are_short(value, text):
    assert number(value) == text


def test_looking_changes_nothing():
    x = torch.ones(2, 2, requires_grad=True)
    version, state = x._version, torch.get_rng_state()
    scene([x, x.t()], ["x", "y"])
    assert x._version == version and x.grad is None and torch.equal(state, torch.get_rng_state())
