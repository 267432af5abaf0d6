"""The export table: which way keeps, loses or refuses each small model with a known trap, in every cell."""

import pytest
import torch

from torchcourse.export import WAYS, compare

from .models import CASES, QUICK

LETTERS = {"a": "agree", "d": "differ", "r": "refused"}


def test_there_are_enough_cases():
    assert len(CASES) >= 25
    assert all(len(case.words.split()) == len(WAYS) for case in CASES.values())


@pytest.mark.parametrize(
    "name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in CASES]
)
def test_each_cell(name):
    case = CASES[name]
    torch.manual_seed(0)
    example, *others = case.inputs
    found = compare(case.make().train(case.training), example, others, case.dynamic_shapes)

    words = dict(zip(WAYS, case.words.split(), strict=True))
    expected = {way: [LETTERS[letter] for letter in word] for way, word in words.items()}
    assert {way: [row.outcome for row in found.of(way)] for way in WAYS} == expected, str(found)
    first = {row.way: row.kind for row in reversed(found.rows) if row.reason}
    assert {way: first.get(way) for way in case.kinds} == case.kinds, str(found)
    for row in found:
        sound(row)


def sound(row):
    """What holds in every cell, whatever it says."""
    assert (row.reason == "") == (row.outcome == "agree")
    assert (row.at != "") == (row.outcome == "refused") == (row.max_error is None)
    assert row.outcome == "refused" or row.max_error >= 0
    assert "\n" not in row.reason and len(row.reason) < 400, row.reason
    assert not row.reason or (row.reason.endswith(".") and row.kind), row.reason
    assert row.kind != "error", "a text that no rule reads"
