"""The strided tensor of chapter 01's "Rebuild it", as it stands in the notebook, held to torch's own."""

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from torchcourse.exercises.strided import compare_strided

from .rebuilt import rebuilt, rebuilt_lines

OURS = rebuilt("01b_views_and_reshape")
PARTS = [OURS[name] for name in ("Strided", "swap", "cut", "expand", "view")]


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 2**32))
def test_random_programs_agree_with_torch(seed):
    verdict = compare_strided(*PARTS, Random(seed), programs=5)
    assert verdict.state == "right", verdict


def test_some_views_are_refused_by_both():
    assert "0 times" not in compare_strided(*PARTS, Random(1), programs=300).why


def refusing(t, new):
    raise ValueError


@pytest.mark.parametrize(
    ("part", "fault", "words"),
    [
        ("view", lambda t, new: t.change(new, OURS["row_major"](new)), "PyTorch refuses"),
        ("view", lambda t, new: OURS["view"](t, t.size), "size is"),
        ("view", refusing, "yours refuses"),
        ("swap", lambda t, *pair: t, "is"),
        ("cut", lambda t, dim, *_: OURS["cut"](t, dim, 0, t.size[dim]), "is"),
        ("expand", lambda t, dim, n: t, "size is"),
    ],
)
def test_a_fault_in_any_part_is_found(part, fault, words):
    parts = dict(zip(("Strided", "swap", "cut", "expand", "view"), PARTS, strict=True)) | {part: fault}
    verdict = compare_strided(*parts.values(), Random(0), programs=500)
    assert verdict.state == "wrong" and words in verdict.why


def test_it_stays_short_enough_to_read_in_class():
    assert 20 < rebuilt_lines("01b_views_and_reshape") <= 60
