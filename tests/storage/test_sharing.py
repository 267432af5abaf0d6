import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch._subclasses.fake_tensor import FakeTensorMode

from tests.storage.strided import STORAGE, layouts, touched_bytes
from torchcourse.storage import relation, sharing

DTYPES = st.sampled_from([torch.int64, torch.int32, torch.int16, torch.uint8])


def view(storage, dtype, layout):
    """A tensor over the first STORAGE elements of `dtype` in this storage."""
    return storage.view(dtype)[:STORAGE].as_strided(*layout)


@settings(max_examples=600, deadline=None)
@given(layouts(), layouts(), DTYPES, DTYPES)
def test_overlap_is_a_byte_touched_by_both(one, other, dtype, other_dtype):
    storage = torch.zeros(STORAGE * 8, dtype=torch.uint8)
    a, b = view(storage, dtype, one), view(storage, other_dtype, other)
    expected = "overlap" if touched_bytes(a) & touched_bytes(b) else "same storage"
    assert relation(a, b) == relation(b, a) == expected


@settings(max_examples=300, deadline=None)
@given(layouts(), layouts(), st.integers(0, STORAGE), st.integers(0, STORAGE))
def test_two_storages_over_one_memory(one, other, start, other_start):
    array = np.zeros(2 * STORAGE, dtype=np.int32)
    a = torch.from_numpy(array[start : start + STORAGE]).as_strided(*one)
    b = torch.from_numpy(array[other_start : other_start + STORAGE]).as_strided(*other)
    meet = abs(start - other_start) < STORAGE
    expected = "overlap" if touched_bytes(a) & touched_bytes(b) else "same storage" if meet else "separate"
    assert relation(a, b) == relation(b, a) == expected


@settings(max_examples=200, deadline=None)
@given(layouts(), layouts())
def test_meta_tensors_are_told_apart_by_storage_and_offset(one, other):
    real, meta = torch.zeros(STORAGE), torch.zeros(STORAGE, device="meta")
    a, b = meta.as_strided(*one), meta.as_strided(*other)
    assert relation(a, b) == relation(real.as_strided(*one), real.as_strided(*other))
    assert relation(a, torch.zeros(STORAGE, device="meta").as_strided(*other)) == "separate"


def test_everyday_pairs():
    x = torch.zeros(3, 4)
    assert relation(x, x) == relation(x, x.t()) == relation(x, x.detach()) == relation(x, x[1]) == "overlap"
    assert relation(x, x.clone()) == relation(x, torch.zeros(3, 4)) == "separate"
    assert relation(x[:, :2], x[:, 2:]) == relation(x[::2], x[1]) == "same storage"
    assert relation(x[:, 0], x[:, 1]) == relation(x[0], x[1]) == "same storage"
    assert relation(x.t()[1], x[2]) == "overlap"
    assert relation(x[0].expand(5, 4), x[:1]) == "overlap"


def test_empty_tensors_touch_nothing():
    x = torch.zeros(3)
    assert relation(x, x[:0]) == relation(x[:0], x[:0]) == "same storage"
    assert relation(torch.empty(0), torch.empty(0)) == relation(x, torch.empty(0)) == "separate"


def test_zero_dimensions():
    x = torch.zeros(3)
    assert relation(x[0], x[0]) == "overlap" and relation(x[0], x[1]) == "same storage"


def test_numpy_and_dlpack_share():
    array = np.zeros(6, dtype=np.float32)
    x = torch.from_numpy(array)
    assert relation(x, torch.from_numpy(array)) == "overlap"
    assert relation(x, torch.from_numpy(x.numpy()[::2].copy())) == "separate"
    assert (
        relation(x, torch.from_dlpack(array)) == relation(x, torch.utils.dlpack.from_dlpack(x)) == "overlap"
    )
    assert relation(torch.from_numpy(array[::2]), torch.from_numpy(array[1::2])) == "same storage"
    assert relation(torch.from_numpy(array[:3]), torch.from_numpy(array[3:])) == "separate"
    assert relation(x, torch.tensor(array)) == "separate"


def test_dtype_views_meet_byte_by_byte():
    z = torch.zeros(4, dtype=torch.complex64)
    assert relation(z.real, z.imag) == "same storage"
    assert relation(z, z.imag) == relation(z.conj(), z) == relation(z.conj().imag, z) == "overlap"
    x = torch.zeros(4)
    halves = x.view(torch.int16)
    assert relation(x, halves) == "overlap" and relation(halves[::2], halves[1::2]) == "same storage"
    assert relation(x[0], halves[1]) == "overlap" and relation(x[0], halves[2]) == "same storage"


def test_huge_tensors_are_not_walked():
    x = torch.empty(1, device="meta").expand(10**9, 10**9)
    assert relation(x, x[5:]) == "overlap"
    grid = torch.empty(10**5, 10**5, device="meta")
    assert relation(grid[:, ::2], grid[:, 1::2]) == relation(grid[:, 7], grid[:, 8]) == "same storage"
    assert relation(grid[:, 7], grid.t()[7:8]) == relation(grid.diagonal(), grid[10**5 - 1]) == "overlap"
    assert relation(grid.diagonal(), grid.diagonal(1)) == "same storage"
    windows = grid[0].unfold(0, 10**4, 1).unfold(0, 10**3, 1)
    assert relation(windows, windows[1]) == "overlap"


def test_the_careful_answer_where_the_search_is_cut(monkeypatch):
    memory = torch.zeros(10_000, dtype=torch.uint8)
    a = memory.as_strided((4, 4), (1166, 130), 16)
    b = memory.as_strided((4, 4), (242, 1015), 48)
    assert not touched_bytes(a) & touched_bytes(b)
    assert relation(a, b) == "same storage"
    monkeypatch.setattr(sharing, "MOST_WORK", 1)
    assert relation(a, b) == "overlap"


def test_more_dimensions_than_numpy_takes():
    deep = torch.zeros(2, 2, 2, 2).expand(*[1] * 60, 2, 2, 2, 2)
    assert relation(deep, deep) == "overlap"
    assert relation(deep[..., 0], deep[..., 1]) == "same storage"


def test_other_devices_and_tensors_without_data():
    x, meta = torch.zeros(3), torch.zeros(3, device="meta")
    assert relation(x, meta) == relation(meta, torch.zeros(3, device="meta")) == "separate"
    with FakeTensorMode() as mode:
        fake = torch.zeros(3, 4)
        assert relation(fake, fake.t()) == "overlap" and relation(fake[0], fake[1]) == "same storage"
        assert relation(fake, torch.zeros(3, 4)) == "separate"
    assert relation(x, mode.from_tensor(x)) == "separate"


def test_a_storage_resized_to_nothing_keeps_its_offsets():
    x = torch.zeros(4)
    head, tail = x[:2], x[2:]
    x.untyped_storage().resize_(0)
    assert relation(x, tail) == "overlap" and relation(head, tail) == "same storage"


def test_it_changes_and_runs_nothing():
    class Loud(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            raise AssertionError(f"{func} ran")

    x = torch.zeros(3, requires_grad=True)
    assert relation(x.as_subclass(Loud), x) == "overlap"
    assert x._version == 0 and x.grad_fn is None


@pytest.mark.cuda
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA GPU")
def test_on_a_gpu():
    x = torch.zeros(3, 4, device="cuda")
    assert relation(x, x.t()) == "overlap" and relation(x[0], x[1]) == "same storage"
    assert relation(x, x.cpu()) == relation(x, x.clone()) == "separate"
    assert relation(x, torch.from_dlpack(x)) == "overlap"
