import re

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch._subclasses.fake_tensor import FakeTensorMode

from tests.storage.strided import folded, shapes, tensors
from torchcourse.storage import why_no_view


def torch_refuses(tensor, shape):
    try:
        tensor.view(shape)
    except (RuntimeError, ValueError, TypeError):  # of a fake tensor; of a size that is no int64
        return True
    return False


@settings(max_examples=600, deadline=None)
@given(folded())
def test_it_agrees_with_torch_on_what_readers_make(case):
    tensor, shape = case
    assert (why_no_view(tensor, shape) is not None) == torch_refuses(tensor, shape)


@settings(max_examples=600, deadline=None)
@given(st.data())
def test_it_agrees_with_torch_on_any_strides(data):
    tensor = data.draw(tensors())
    shape = data.draw(shapes(tensor.numel()))
    assert (why_no_view(tensor, shape) is not None) == torch_refuses(tensor, shape)


@settings(max_examples=400, deadline=None)
@given(folded())
def test_each_named_pair_is_one_that_torch_will_not_flatten(case):
    tensor, shape = case
    why = why_no_view(tensor, shape)
    for p, q in why.dimensions if why else ():
        assert p < q and tensor.size(p) > 1 < tensor.size(q)
        with pytest.raises(RuntimeError, match="view size is not compatible"):
            # Only this pair is asked to be one walk; every other dimension stays as it is.
            size = tensor.size()
            tensor.view(*size[:p], size[p : q + 1].numel(), *size[q + 1 :])


def test_the_sentence_names_the_dimensions_with_their_numbers():
    why = why_no_view(torch.empty(3, 4).t(), (12,))
    assert why.dimensions == ((0, 1),) and why.shape == (12,)
    assert (why.size, why.stride) == ((4, 3), (1, 4))
    assert (
        str(why)
        == repr(why)
        == (
            "view((12,)) must walk dimensions 0 and 1 (size 4, 3; stride 1, 4) with one step, "
            "but stride[0] = 1 is not size[1]·stride[1] = 12."
        )
    )


def test_every_pair_is_named():
    why = why_no_view(torch.empty(2, 3, 4).permute(2, 1, 0), -1)
    assert why.dimensions == (
        (0, 1),
        (1, 2),
    ) and "; dimensions 1 and 2 can't be walked as one either." in str(why)
    assert why_no_view(torch.empty(2, 3, 4).permute(2, 1, 0), 4, 6).dimensions == ((1, 2),)


def test_a_size_of_one_is_stepped_over():
    assert why_no_view(torch.empty(4, 3).t().unsqueeze(1), 12).dimensions == ((0, 2),)
    assert why_no_view(torch.empty(3, 1).as_strided((3, 1), (1, 7)), 3) is None


def test_every_spelling_of_a_shape():
    x = torch.empty(3, 4)
    for shape in [
        (12,),
        ((12,),),
        ([12],),
        (torch.Size([12]),),
        (2, -1),
        (np.int64(12),),
        (torch.tensor(12),),
    ]:
        assert why_no_view(x, *shape) is None
        x.view(*shape)
    assert why_no_view(torch.empty(1), ()) is None


@pytest.mark.parametrize(
    ("shape", "sentence"),
    [
        ((5,), r"view\(\(5,\)\) asks for 5 elements; the tensor has 12."),
        ((), r"asks for 1 element; the tensor has 12."),
        ((5, -1), r"12 elements can't be shared out evenly among 5."),
        ((-1, -1), "only one size can be -1"),
        ((-2, 6), "a size can't be -2"),
        ((0, -1), "with any size in place of -1 there are 0 elements"),
        ((2**80,), "more elements than an int64 can count; the tensor has 12"),
    ],
)
def test_a_count_that_does_not_fit_is_said_with_its_numbers(shape, sentence):
    why = why_no_view(torch.empty(3, 4), shape)
    assert why.dimensions == ()
    assert re.search(sentence, str(why))
    with pytest.raises((RuntimeError, TypeError)):  # TypeError: 2**80 is no int64
        torch.empty(3, 4).view(shape)


@pytest.mark.parametrize("shape", [(0,), (5, 0), (0, 1, 3), (-1,), (-1, 3)])
def test_without_elements_any_stride_will_do(shape):
    x = torch.empty(3, 4).t()[:0]
    assert why_no_view(x, shape) is None
    x.view(shape)


@pytest.mark.parametrize(
    "shape",
    [(2**62, 8, 0), (0, 2**62, 8), (2**63 - 1, 0), (-1, 2**62, 8), (2**62, 0, 8), (2**62, 4), (0, 2**63)],
)
def test_sizes_beyond_int64_are_refused_where_torch_refuses_them(shape):
    x = torch.empty(0, 3)
    assert (why_no_view(x, shape) is not None) == torch_refuses(x, shape)


def test_without_elements_a_rest_cannot_be_inferred():
    assert torch_refuses(torch.empty(0), (-1, 0))
    assert "none can be inferred" in str(why_no_view(torch.empty(0), (-1, 0)))


@pytest.mark.parametrize(
    ("shape", "sentence"),
    [
        ((), "tensor and a shape"),
        ((torch.int32,), r"view\(torch.int32\) keeps the bytes"),
        ((2.0, 6), "2.0, a float"),
        ((True,), "True, a bool"),
        ((None,), "None, a NoneType"),
        (("12",), "'1', a str"),
        (((3,), 4), r"\(3,\), a tuple"),
        ((np.array([3, 4]),), "a ndarray"),
        ((torch.tensor([3, 4]),), "a Tensor"),
    ],
)
def test_what_is_no_shape_gets_a_sentence(shape, sentence):
    with pytest.raises(TypeError, match=f"^why_no_view takes a .*{sentence}"):
        why_no_view(torch.empty(3, 4), *shape)


@pytest.mark.filterwarnings("ignore:torch.quantize_per")
def test_meta_fake_and_quantised_tensors_follow_the_same_rule():
    with FakeTensorMode():
        fake = torch.empty(3, 4).t()
    quantised = torch.quantize_per_tensor(torch.ones(3, 4), 0.1, 0, torch.qint8).t()
    for x in (torch.empty(3, 4, device="meta").t(), fake, quantised):
        assert why_no_view(x, 12).dimensions == ((0, 1),) and why_no_view(x, 4, 3) is None
        assert torch_refuses(x, (12,)) and not torch_refuses(x, (4, 3))
