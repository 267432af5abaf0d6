from collections import Counter

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.overrides import TorchFunctionMode

from tests.storage.strided import addresses, layouts, tensors
from torchcourse.storage import TOUCHED_LIMIT, address, facts
from torchcourse.storage._lattice import LONGEST_LINE


def matrix():
    return torch.arange(12.0).view(3, 4).clone()


@settings(max_examples=400, deadline=None)
@given(tensors())
def test_touched_elements_are_those_that_a_walk_finds(tensor):
    seen, often = facts(tensor), Counter(addresses(tensor))
    assert seen.touched == tuple(sorted(often))
    assert seen.touched_elements == len(often)
    assert seen.touched_nbytes == len(often) * 8
    assert seen.times == max(often.values(), default=0)
    assert seen.last_touched == max(often, default=-1)
    assert seen.in_bounds


@settings(max_examples=300, deadline=None)
@given(layouts(most_dims=6, most=3, storage=200))
def test_counting_holds_where_many_dimensions_overlap(layout):
    tensor = torch.empty(200, dtype=torch.uint8).as_strided(*layout)
    often = Counter(addresses(tensor))
    assert (facts(tensor).touched_elements, facts(tensor).times) == (
        len(often),
        max(often.values(), default=0),
    )


def test_metadata_is_what_torch_says():
    x = matrix()
    seen = facts(x.t()[1:])
    assert (seen.size, seen.stride, seen.storage_offset) == ((3, 3), (1, 4), 1)
    assert (seen.dtype, seen.itemsize, seen.device, seen.layout) == ("float32", 4, "cpu", "strided")
    assert (seen.numel, seen.nbytes) == (9, 36)
    assert (seen.storage_elements, seen.storage_nbytes) == (12, 48)
    assert (seen.touched_nbytes, seen.data) == (36, "present")
    assert (seen.is_view, seen.base_size, seen.contiguous) == (True, (3, 4), False)
    assert all(type(n) is int for n in (*seen.size, *seen.stride, seen.storage_offset))


def test_a_small_view_keeps_a_large_storage():
    row = torch.empty(1000, 1000)[3]
    assert (facts(row).touched_nbytes, facts(row).storage_nbytes) == (4_000, 4_000_000)


def test_memory_formats():
    images = torch.empty(2, 3, 4, 5)
    assert facts(images).memory_formats == ("contiguous_format",)
    assert facts(images.to(memory_format=torch.channels_last)).memory_formats == ("channels_last",)
    assert facts(torch.empty(2, 1, 4, 5)).memory_formats == ("contiguous_format", "channels_last")
    volume = torch.empty(2, 3, 4, 5, 6, memory_format=torch.channels_last_3d)
    assert facts(volume).memory_formats == ("channels_last_3d",)
    assert "no, but in channels_last_3d" in str(facts(volume))


def test_detach_shares_without_being_a_view_of_it():
    x = torch.empty(3, requires_grad=True)
    assert (facts(x).is_view, facts(x).requires_grad, facts(x).base_size) == (False, True, None)
    assert facts(x[1:]).base_size == (3,)
    with torch.inference_mode():
        assert facts(torch.empty(3)).version is None
    x = torch.zeros(3)
    x.add_(1)
    assert facts(x).version == 1


def test_conj_and_neg_bits():
    z = torch.ones(2, dtype=torch.complex64)
    assert (facts(z.conj()).is_conj, facts(z.conj().imag).is_neg) == (True, True)
    assert facts(z.imag).stride == (2,) and facts(z.imag).storage_elements == 4
    assert "conjugation" in str(facts(z.conj())) and "negation" in str(facts(z.conj().imag))


def test_zero_dimensions_and_no_elements():
    assert facts(torch.tensor(3.0)).touched == (0,)
    nothing = facts(torch.empty(4, 0)[1:])
    assert (nothing.touched, nothing.touched_elements, nothing.times, nothing.last_touched) == ((), 0, 0, -1)
    assert "nothing" in str(nothing)


def test_dtype_views_count_in_their_own_elements():
    x = matrix().view(torch.int16)
    assert (facts(x).storage_elements, facts(x).touched_elements, facts(x).itemsize) == (24, 24, 2)
    torn = torch.empty(5, dtype=torch.uint8)[:4].view(torch.int32)
    assert (facts(torn).storage_nbytes, facts(torn).storage_elements) == (5, 1)


def test_large_tensors_are_counted_not_listed():
    huge = torch.empty(1, device="meta").expand(10**6, 10**6)
    assert (facts(huge).touched, facts(huge).times) == ((0,), 10**12)
    long = torch.empty(TOUCHED_LIMIT + 1)
    assert facts(long).touched is None and facts(long[1:]).touched == tuple(range(1, TOUCHED_LIMIT + 1))
    windows = torch.empty(10**6, device="meta").unfold(0, 1000, 1)
    assert (facts(windows).touched_elements, facts(windows).times) == (10**6, 1000)
    picture = torch.empty(4000, 4000, device="meta").unfold(0, 3, 1).unfold(1, 3, 1)
    assert (facts(picture).touched_elements, facts(picture).times) == (16 * 10**6, 9)


def test_what_is_too_much_to_count_is_said_and_not_guessed():
    tangled = torch.empty(10 * LONGEST_LINE, device="meta").as_strided((9000, 9000, 9000), (7, 11, 13))
    seen = facts(tangled)
    assert (seen.touched_elements, seen.touched_nbytes, seen.touched, seen.times) == (None,) * 4
    assert f"up to element {8999 * 31:,}" in str(seen)


def test_a_storage_resized_under_its_tensor():
    x = torch.empty(3)
    x.untyped_storage().resize_(0)
    assert not facts(x).in_bounds and facts(x).storage_elements == 0
    assert "does not hold" in str(facts(x))


def test_meta_and_fake_tensors_have_metadata_and_no_data():
    assert facts(torch.empty(2, 3, device="meta")).data == "meta"
    with FakeTensorMode():
        fake = torch.empty(2, 3).t()
    assert (facts(fake).data, facts(fake).stride, facts(fake).device) == ("fake", (1, 3), "cpu")
    assert "fake: it has a size, but no data" in str(facts(fake))


@pytest.mark.filterwarnings("ignore:torch.quantize_per")
def test_quantised_tensors_have_the_storage_of_their_integers():
    q = torch.quantize_per_tensor(torch.ones(2, 3), 0.1, 0, torch.quint8)
    assert (facts(q).dtype, facts(q).storage_nbytes, facts(q).touched_elements) == ("quint8", 6, 6)


class Loud(torch.Tensor):
    """A subclass that must not notice being looked at."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        raise AssertionError(f"{func} ran")


def test_looking_runs_nothing_of_a_subclass_or_a_mode():
    class Mode(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            raise AssertionError(f"{func} ran")

    loud = matrix().as_subclass(Loud)
    with Mode():
        assert facts(loud).class_name == "Loud" and address(loud, 1, 1) == 5
    assert facts(torch.nn.Parameter(matrix())).class_name == "Parameter"


def test_the_twin_is_the_same_text_every_time():
    x = matrix()
    assert (
        str(facts(x[:, ::2]))
        == repr(facts(x[:, ::2]))
        == (
            "tensor(dtype=float32)\n"
            "  size            (3, 2)\n"
            "  stride          (4, 2)\n"
            "  storage_offset  0\n"
            "  storage         12 elements, 48 bytes\n"
            "  touches         6 elements, once each: 0, 2, 4, 6, 8, 10\n"
            "  contiguous      no\n"
            "  view            of a tensor of size (3, 4)"
        )
    )
    assert "4 elements, 5 times each: 0 to 3" in str(facts(x[:1].expand(5, 4)))
    assert "4 elements, up to 2 times each" in str(facts(x[0].unfold(0, 3, 1)))
    assert "all 12 elements, once each\n" in str(facts(x.t()))
    assert ", device='meta')" in str(facts(x.to("meta")))


def test_facts_are_values():
    x = matrix()
    assert facts(x) == facts(x) and hash(facts(x)) == hash(facts(x))
    assert facts(x) != facts(x.t())
    with pytest.raises(AttributeError):
        facts(x).size = ()


# The address of an index


@settings(max_examples=200, deadline=None)
@given(tensors())
def test_address_leads_to_the_value_at_that_index(tensor):
    numbers = torch.arange(40)  # the storage of every such tensor holds its own element numbers
    for at in np.ndindex(*tensor.size()):
        assert numbers[address(tensor, *at)] == tensor[at]
        assert address(tensor, *(i - n for i, n in zip(at, tensor.size(), strict=True))) == tensor[at]


def test_address_takes_a_tuple_too():
    assert address(matrix().t(), (2, 1)) == address(matrix().t(), 2, np.int64(1)) == 6
    assert address(torch.tensor(1.0)) == address(torch.tensor(1.0), ()) == 0


@pytest.mark.parametrize(
    ("index", "error", "sentence"),
    [
        ((3, 0), ValueError, "index 3 in dimension 0 is out of range: its size is 3, so use 0 to 2"),
        ((0, -5), ValueError, "index -5 in dimension 1"),
        ((0,), ValueError, r"takes 2 numbers as index; it got 1: \(0,\)"),
        ((0, 1.0), TypeError, "1.0, a float"),
        ((True, 0), TypeError, "True, a bool"),
        ((slice(None), 0), TypeError, "a slice"),
        (("ab",), TypeError, "'a', a str"),
        ((torch.tensor([1, 2]), 0), TypeError, "a Tensor"),
    ],
)
def test_a_wrong_index_gets_a_sentence(index, error, sentence):
    with pytest.raises(error, match=sentence):
        address(matrix(), *index)


def test_no_index_fits_an_empty_dimension():
    with pytest.raises(ValueError, match="its size is 0, so it has no index"):
        address(torch.empty(0), 0)
