"""`lines` attributes each move to the line that made it, and leaves no trace function behind."""

import random
import sys
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from torchcourse.randomness import Lines, lines


def helper() -> None:
    np.random.rand(2)


def told(seen: Lines) -> list[tuple[str, int, str]]:
    return [(line.source, line.times, ", ".join(map(str, line.moves))) for line in seen.lines]


def test_one_line_each() -> None:
    with lines() as seen:
        nn.Linear(4, 3)
        ones = torch.ones(3)
        random.random()
        ones + 1
    assert told(seen) == [
        ("nn.Linear(4, 3)", 1, "torch 15 numbers"),
        ("random.random()", 1, "python 2 numbers"),
    ]
    assert seen.moved == ("torch", "python")


def test_a_loop_adds_up_and_own_functions_have_their_own_lines() -> None:
    with lines() as seen:
        for _ in range(3):
            helper()
            torch.rand(1)
    assert told(seen) == [
        ("np.random.rand(2)", 3, "numpy 12 numbers"),
        ("torch.rand(1)", 3, "torch 3 numbers"),
    ]


def test_after_a_call_the_rest_of_the_line_counts_for_the_caller() -> None:
    with lines() as seen:
        [helper(), random.random()]
    assert [source for source, _, _ in told(seen)] == ["np.random.rand(2)", "[helper(), random.random()]"]


def test_own_generators() -> None:
    mine = torch.Generator()
    with lines(mine=mine) as seen:
        torch.randperm(5, generator=mine)
    assert told(seen) == [("torch.randperm(5, generator=mine)", 1, "mine 4 numbers")]


def test_what_a_seed_does() -> None:
    with lines() as seen:
        torch.manual_seed(0)
        torch.rand(3)
    assert [move for _, _, move in told(seen)] == ["torch set anew", "torch 3 numbers"]


def test_a_state_put_back_within_the_block_shows() -> None:
    with lines() as seen:
        state = torch.get_rng_state()
        torch.rand(3)
        torch.set_rng_state(state)
    assert len(seen.lines) == 2


def test_nested() -> None:
    with lines() as outer:
        torch.rand(1)
        with lines() as inner:
            torch.rand(2)
            helper()
        torch.rand(3)
    assert [move for _, _, move in told(inner)] == ["numpy 4 numbers", "torch 2 numbers"]
    assert [move for _, _, move in told(outer)] == [
        "numpy 4 numbers",
        "torch 1 number",
        "torch 2 numbers",
        "torch 3 numbers",
    ]


def test_it_leaves_no_trace_function_behind() -> None:
    before = sys.gettrace(), sys._getframe().f_trace
    with lines():
        torch.rand(1)
    assert (sys.gettrace(), sys._getframe().f_trace) == before
    with pytest.raises(ZeroDivisionError), lines() as seen:
        torch.rand(1)
        1 / 0
    assert (sys.gettrace(), sys._getframe().f_trace) == before
    assert told(seen) == [("torch.rand(1)", 1, "torch 1 number")]


def test_anothers_trace_function_comes_back() -> None:
    def mine(frame: Any, event: str, arg: Any) -> None:
        return None

    before = sys.gettrace()
    sys.settrace(mine)
    try:
        with lines():
            torch.rand(1)
        assert sys.gettrace() is mine
    finally:
        sys.settrace(before)


def test_it_changes_no_state() -> None:
    torch.manual_seed(0)
    plain = torch.rand(2), torch.rand(2)
    torch.manual_seed(0)
    with lines():
        first = torch.rand(2)
        second = torch.rand(2)
    assert torch.equal(first, plain[0]) and torch.equal(second, plain[1])


def test_an_error_in_a_function_of_the_file_is_followed_out() -> None:
    def raising() -> None:
        random.random()
        raise KeyError

    with lines() as seen:
        try:
            raising()
        except KeyError:
            torch.rand(1)
    assert [move for _, _, move in told(seen)] == ["python 2 numbers", "torch 1 number"]


def test_a_generator_function_goes_on_where_it_stood() -> None:
    def numbers() -> Any:
        yield torch.rand(1)
        yield torch.rand(2)

    with lines() as seen:
        for _ in numbers():
            random.random()
    assert told(seen) == [
        ("yield torch.rand(1)", 1, "torch 1 number"),
        ("yield torch.rand(2)", 1, "torch 2 numbers"),
        ("random.random()", 2, "python 4 numbers"),
    ]


def test_bad_calls_and_one_block_only() -> None:
    with pytest.raises(TypeError, match="not a generator"):
        lines(mine=3)
    with pytest.raises(TypeError, match="name"):
        lines(torch.Generator())
    once = lines()
    with once as seen:
        assert "still runs" in str(seen)
    assert str(seen) == "No line moved a generator."
    with pytest.raises(RuntimeError, match="has been used"), once:
        pass
