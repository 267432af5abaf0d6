"""`watch` names the generators that moved, counts their numbers, and changes no state."""

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import torchcourse as tc
from torchcourse import randomness
from torchcourse.randomness import watch
from torchcourse.randomness._states import fresh_accelerator

DRAWS: dict[str, Callable[[], Any]] = {
    "torch": lambda: torch.rand(3),
    "numpy": lambda: np.random.rand(),
    "python": lambda: random.random(),
}


def all_states() -> tuple[Any, ...]:
    numpy_state = np.random.get_state(legacy=True)
    return torch.get_rng_state().tolist(), str(numpy_state[1].tolist()), numpy_state[2:], random.getstate()


@pytest.mark.parametrize("name", DRAWS)
def test_each_global_generator_alone(name: str) -> None:
    with watch() as seen:
        DRAWS[name]()
    assert seen.moved == (name,)


def test_nothing_moved() -> None:
    with watch() as seen:
        torch.ones(3).sum()
        np.random.default_rng(3).random()
        torch.rand(3, generator=torch.Generator())
    assert seen.moved == ()
    assert str(seen) == "No generator moved: the block drew no random number."


def test_it_looks_and_changes_nothing() -> None:
    before = all_states()
    with watch(mine=torch.Generator(), other=np.random.default_rng(0)):
        inside = all_states()
    assert before == inside == all_states()
    assert not torch.cuda.is_initialized()  # asking must not wake a GPU


def test_the_same_numbers_come_with_and_without_a_watch() -> None:
    torch.manual_seed(3)
    plain = [torch.rand(1).item() for _ in range(4)]
    torch.manual_seed(3)
    watched = []
    for _ in range(4):
        with watch():
            watched.append(torch.rand(1).item())
    assert plain == watched


def test_own_generators_by_name() -> None:
    own: dict[str, Any] = {
        "torch_one": torch.Generator(),
        "pcg": np.random.default_rng(0),
        "twister": np.random.Generator(np.random.MT19937(0)),
        "state": np.random.RandomState(0),
        "bits": np.random.Philox(0),
        "py": random.Random(0),
    }
    with watch(**own) as seen:
        torch.rand(2, generator=own["torch_one"])
        own["pcg"].random(), own["twister"].random(), own["state"].rand(), own["py"].random()
        own["bits"].random_raw()
    assert seen.moved == tuple(own)
    told = {move.name: move.numbers for move in seen.moves}
    assert told == {"torch_one": 2, "pcg": None, "twister": 2, "state": 2, "bits": None, "py": 2}


def test_those_that_rest_are_not_named() -> None:
    used, idle = torch.Generator(), torch.Generator()
    with watch(used=used, idle=idle) as seen:
        torch.randperm(4, generator=used)
    assert seen.moved == ("used",)


def test_nested_and_reused() -> None:
    one = watch()
    with one as outer:
        torch.rand(1)
        with one as inner:
            random.random()
        with watch() as third:
            pass
    assert (outer.moved, inner.moved, third.moved) == (("torch", "python"), ("python",), ())


def test_a_body_that_raises_is_reported_and_its_error_goes_on() -> None:
    with pytest.raises(KeyError, match="mine"), watch() as seen:
        np.random.rand()
        raise KeyError("mine")
    assert seen.moved == ("numpy",)


def test_while_it_runs_it_says_so() -> None:
    with watch() as seen:
        torch.rand(1)
        assert seen.moved == ()
        assert "still runs" in str(seen)
    assert str(seen) == "torch 1 number"


def test_what_was_put_back_has_not_moved() -> None:
    with watch() as seen:
        state = torch.get_rng_state()
        torch.rand(10)
        torch.set_rng_state(state)
    assert seen.moved == ()


def test_seeding_moves_too() -> None:
    torch.manual_seed(1)
    torch.rand(5)
    with watch() as seen:
        torch.manual_seed(1)
    assert str(seen) == "torch set anew"


def test_a_kept_normal_number() -> None:
    torch.manual_seed(7)
    torch.randn(1)
    with watch() as seen:
        torch.randn(1)
    assert seen.moves[0].numbers == 0
    assert str(seen) == "torch a kept number"


@pytest.mark.parametrize("generator", [3, "torch", None, random.SystemRandom(), torch.rand, torch.ones(2)])
def test_what_is_no_generator(generator: Any) -> None:
    with pytest.raises(TypeError, match=r"mine is a .*, not a generator with a state"):
        watch(mine=generator)


def test_names() -> None:
    with pytest.raises(TypeError, match="name"):
        watch(torch.Generator())
    for name in ("torch", "numpy", "python", "cuda:0"):
        with pytest.raises(ValueError, match="another name"):
            watch(**{name: torch.Generator()})


def test_an_xray_around_it_lists_none_of_its_looking() -> None:
    def plain() -> None:
        torch.rand(3) * 2

    def watched() -> None:
        with watch():
            torch.rand(3) * 2

    one, other = tc.xray(plain), tc.xray(watched)
    assert [o.name for o in one.operators] == [o.name for o in other.operators]
    assert len(one.calls) == len(other.calls)


def test_under_another_default_device() -> None:
    with torch.device("meta"), watch() as seen:
        torch.rand(3, device="cpu")
    assert seen.moved == ("torch",)


def test_the_order_is_fixed() -> None:
    with watch(z=torch.Generator(), a=torch.Generator()) as seen:
        for draw in reversed(DRAWS.values()):
            draw()
    assert seen.moved == ("torch", "numpy", "python")


def test_an_accelerator_that_woke_has_moved_only_if_it_drew() -> None:
    assert fresh_accelerator(bytes([7] + [0] * 15))
    assert not fresh_accelerator(bytes([7] + [0] * 7 + [4] + [0] * 7))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA GPU")
@pytest.mark.cuda
def test_cuda() -> None:
    with watch() as seen:
        torch.rand(3, device="cuda:0")
    assert seen.moved == ("cuda:0",)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), first=st.integers(0, 2000), count=st.integers(0, 5000))
def test_the_count_for_all_three_twisters(seed: int, first: int, count: int) -> None:
    torch_one, numpy_one, python_one = torch.Generator(), np.random.RandomState(seed), random.Random(seed)
    torch_one.manual_seed(seed)

    def draw(numbers: int) -> None:
        torch.rand(numbers, generator=torch_one)
        if numbers:  # bytes(0) takes one
            numpy_one.bytes(4 * numbers)
        for _ in range(numbers):
            python_one.getrandbits(32)

    draw(first)
    with watch(t=torch_one, n=numpy_one, p=python_one) as seen:
        draw(count)
    assert [move.numbers for move in seen.moves] == [count] * (3 if count else 0)


def test_states_are_plain_and_equal_when_nothing_happened() -> None:
    assert randomness.states() == randomness.states()
    before = randomness.states()
    np.random.rand()
    assert [move.name for move in randomness.moves(before, randomness.states())] == ["numpy"]
