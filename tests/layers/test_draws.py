"""`draws` joins what moved in a line with the operators that drew there."""

import random
import sys

import pytest
import torch
from torch import nn

import torchcourse as tc
from torchcourse.layers import Draws


def told(seen: Draws) -> list[tuple[str, str, str]]:
    return [(d.line.source, ", ".join(map(str, d.line.moves)), d.told) for d in seen.lines]


def test_lines_with_their_operators() -> None:
    order = torch.Generator()
    with tc.draws(order=order) as seen:
        nn.Linear(4, 3)
        random.shuffle([1, 2])
        torch.randperm(5, generator=order)
        torch.ones(3) * 2
    assert [told for told in told(seen) if "shuffle" not in told[0]] == [
        ("nn.Linear(4, 3)", "torch 15 numbers", "uniform_ ×2"),
        ("torch.randperm(5, generator=order)", "order 4 numbers", "randperm"),
    ]
    assert seen.moved == ("torch", "python", "order")


def test_the_operator_that_draws_not_the_one_around_it() -> None:
    dropout = nn.Dropout(0.5)
    with tc.draws() as seen:
        dropout(torch.ones(4))
        dropout.eval()(torch.ones(4))
    assert [(source, operators) for source, _, operators in told(seen)] == [
        ("dropout(torch.ones(4))", "bernoulli_")
    ]


def test_it_changes_no_state_and_leaves_nothing() -> None:
    torch.manual_seed(0)
    plain = torch.rand(2)
    torch.manual_seed(0)
    trace = sys.gettrace()
    with tc.draws():
        watched = torch.rand(2)
    assert torch.equal(plain, watched)
    assert sys.gettrace() is trace and torch._C._len_torch_function_stack() == 0


def test_a_block_that_raises() -> None:
    with pytest.raises(KeyError), tc.draws() as seen:
        torch.rand(2)
        raise KeyError
    assert told(seen) == [("torch.rand(2)", "torch 2 numbers", "uniform_")]


def test_inside_an_xray_and_around_one() -> None:
    with tc.xray() as outer, tc.draws() as seen, tc.xray() as inner:
        torch.rand(2)
    assert seen.moved == ("torch",)
    assert [o.name for o in outer.operators] == [o.name for o in inner.operators]


def test_the_text() -> None:
    with tc.draws() as seen:
        assert "still runs" in str(seen)
    assert str(seen) == "No line drew a random number."
    with tc.draws() as seen:
        for _ in range(2):
            torch.rand(2)
    head, row = str(seen).splitlines()
    assert head.split() == ["line", "source", "moved", "operators"]
    assert row.split()[1:] == ["torch.rand(2)", "×2", "torch", "4", "numbers", "uniform_", "×2"]
    with pytest.raises(TypeError, match="not a generator"):
        tc.draws(mine=3)
