"""Tensors that have no strides into a storage, and things that are no tensors: one sentence each."""

import numpy as np
import pytest
import torch
from torch.func import functionalize, grad, vmap

from torchcourse.storage import address, facts, relation, why_no_view

ONES = torch.ones(2, 4)


class Wrapper(torch.Tensor):
    @staticmethod
    def __new__(cls, inner):
        return torch.Tensor._make_wrapper_subclass(cls, inner.size(), dtype=inner.dtype)

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        raise AssertionError(f"{func} ran")


OTHER_KINDS = {
    "coo": (lambda: ONES.to_sparse(), "layout sparse_coo has no strides .*values()"),
    "csr": (lambda: ONES.to_sparse_csr(), "layout sparse_csr .*t.crow_indices()"),
    "csc": (lambda: ONES.to_sparse_csc(), "layout sparse_csc .*t.ccol_indices()"),
    "bsr": (lambda: ONES.to_sparse_bsr((2, 2)), "layout sparse_bsr"),
    "bsc": (lambda: ONES.to_sparse_bsc((2, 2)), "layout sparse_bsc"),
    "mkldnn": (lambda: ONES.to_mkldnn(), "layout _mkldnn .*to_dense()"),
    "nested": (lambda: torch.nested.nested_tensor([ONES, ONES[:1]]), "rows differ in size"),
    "jagged": (
        lambda: torch.nested.nested_tensor([ONES, ONES[:1]], layout=torch.jagged),
        "rows differ in size",
    ),
    "wrapper": (lambda: Wrapper(ONES), "this Wrapper stands for other tensors"),
    "lazy": (lambda: torch.nn.LazyLinear(3).weight, "UninitializedParameter has no size"),
    "packed": (
        lambda: torch.quantize_per_channel(ONES, torch.ones(2), torch.zeros(2), 0, torch.quint4x2),
        r"packs several elements into one byte.*int_repr",
    ),
}
CALLS = {
    "facts": facts,
    "address": lambda t: address(t, 0, 0),
    "relation": lambda t: relation(ONES, t),
    "why_no_view": lambda t: why_no_view(t, (8,)),
}


@pytest.mark.filterwarnings("ignore")  # torch calls some of these layouts beta
@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("kind", OTHER_KINDS)
def test_a_tensor_without_strides_gets_a_sentence(kind, call):
    make, sentence = OTHER_KINDS[kind]
    with pytest.raises(ValueError, match=f"^{call}: .*{sentence}") as caught:
        CALLS[call](make())
    assert str(caught.value).endswith(".") or "()" in str(caught.value)


@pytest.mark.parametrize("inside", [vmap, lambda f: grad(lambda x: f(x).sum()), functionalize])
def test_a_tensor_inside_a_transform_stands_for_another(inside):
    def look(x):
        with pytest.raises(ValueError, match="no storage of its own"):
            facts(x)
        with pytest.raises(ValueError, match="no storage of its own"):
            why_no_view(x, (-1,))
        return x

    inside(look)(ONES)


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize(
    ("thing", "sentence"),
    [
        (np.ones(3), "a NumPy array. torch.from_numpy"),
        ([1.0], r"list \[1.0\]. torch.tensor"),
        (3, "int 3. torch.tensor"),
        (None, "'NoneType'"),
        (torch.nn.Linear(1, 1), "'Linear'. Ask about a tensor in it"),
        (ONES.untyped_storage(), "a storage. A storage has no size"),
    ],
)
def test_what_is_no_tensor_gets_a_sentence(call, thing, sentence):
    with pytest.raises(TypeError, match=f"^{call} takes a tensor; it got .*{sentence}"):
        CALLS[call](thing)


def test_numbers_that_python_refuses_to_print_get_a_sentence():
    huge = 10**5000
    with pytest.raises(ValueError, match="out of range: its size is 2, so use 0 to 1"):
        address(ONES, -huge, 0)
    with pytest.raises(TypeError, match="facts takes a tensor; it got int"):
        facts(huge)
    assert "more elements than an int64 can count" in str(why_no_view(ONES, -huge))
