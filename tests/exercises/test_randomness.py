"""The checks of chapter 10: right answers are green, the wrong ones that people really give stay red."""

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader

from torchcourse import randomness
from torchcourse.exercises import randomness as checks


@pytest.fixture(autouse=True)
def no_global_generator_moves() -> Any:
    before = randomness.states()
    yield
    assert [move.name for move in randomness.moves(before, randomness.states())] == []


def by_sequence(count: int, seed: int, epoch: int) -> Any:
    return np.random.default_rng([seed, epoch]).permutation(count)


def by_torch(count: int, seed: int, epoch: int) -> Any:
    generator = torch.Generator().manual_seed(1_000_003 * seed + epoch)
    return torch.randperm(count, generator=generator).tolist()


def by_sum(count: int, seed: int, epoch: int) -> Any:
    return torch.randperm(count, generator=torch.Generator().manual_seed(seed + epoch))


def by_high_bits(count: int, seed: int, epoch: int) -> Any:
    return torch.randperm(count, generator=torch.Generator().manual_seed(2**32 * seed + epoch))


def by_manual_seed(count: int, seed: int, epoch: int) -> Any:
    torch.manual_seed(1_000_003 * seed + epoch)
    return torch.randperm(count)


def without_epoch(count: int, seed: int, epoch: int) -> Any:
    return torch.randperm(count, generator=torch.Generator().manual_seed(seed))


def unseeded(count: int, seed: int, epoch: int) -> Any:
    return torch.randperm(count)


_running = torch.Generator()


def one_that_goes_on(count: int, seed: int, epoch: int) -> Any:
    return torch.randperm(count, generator=_running)


def with_repeats(count: int, seed: int, epoch: int) -> Any:
    return np.random.default_rng([seed, epoch]).integers(0, count, count)


@pytest.mark.parametrize(
    ("answer", "state", "why"),
    [
        (by_sequence, "right", "whatever ran before"),
        (by_torch, "right", "whatever ran before"),
        (by_sum, "almost", "a plain sum"),
        (by_high_bits, "almost", "lowest 32 bits"),
        (by_manual_seed, "almost", "moved a global generator: torch"),
        (without_epoch, "wrong", "epochs 1 and 2"),
        (unseeded, "wrong", "something else has a say"),
        (one_that_goes_on, "wrong", "something else has a say"),
        (with_repeats, "wrong", "once"),
        (lambda count, seed, epoch: ..., "not yet", "still returns"),
    ],
)
def test_order(answer: Callable[..., Any], state: str, why: str) -> None:
    verdict = checks.order(answer)
    assert verdict.state == state and why in verdict.why


def seed_all(seed: int) -> None:
    torch.manual_seed(seed), np.random.seed(seed), random.seed(seed)


def complete(function: Callable[[], Any], seed: int) -> Any:
    states = torch.get_rng_state(), np.random.get_state(), random.getstate()
    seed_all(seed)
    try:
        return function()
    finally:
        torch.set_rng_state(states[0]), np.random.set_state(states[1]), random.setstate(states[2])


def without_finally(function: Callable[[], Any], seed: int) -> Any:
    states = torch.get_rng_state(), np.random.get_state(), random.getstate()
    seed_all(seed)
    result = function()
    torch.set_rng_state(states[0]), np.random.set_state(states[1]), random.setstate(states[2])
    return result


def without_return(function: Callable[[], Any], seed: int) -> None:
    complete(function, seed)


def seeds_only(function: Callable[[], Any], seed: int) -> Any:
    seed_all(seed)
    return function()


def torch_only(function: Callable[[], Any], seed: int) -> Any:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return function()


def constant(function: Callable[[], Any], seed: int) -> Any:
    return complete(function, 0)


def swallows(function: Callable[[], Any], seed: int) -> Any:
    try:
        return complete(function, seed)
    except Exception:
        return None


@pytest.mark.parametrize(
    ("answer", "state", "why"),
    [
        (complete, "right", "even when it raises"),
        (without_finally, "almost", "stayed moved: torch, numpy, python"),
        (without_return, "wrong", "return what function() returns"),
        (seeds_only, "almost", "not as they were before: torch, numpy, python"),
        (torch_only, "almost", "did not repeat: numpy, python"),
        (constant, "wrong", "seeds 5 and 6"),
        (swallows, "wrong", "swallowed"),
        (lambda function, seed: ..., "not yet", "still returns"),
    ],
)
def test_undisturbed(answer: Callable[..., Any], state: str, why: str) -> None:
    verdict = checks.undisturbed(answer)
    assert verdict.state == state and why in verdict.why


def from_worker_seed(dataset: Any, worker_seed: int) -> None:
    dataset.rng = np.random.default_rng(worker_seed)


def from_constant(dataset: Any, worker_seed: int) -> None:
    dataset.rng = np.random.default_rng(42)


def from_the_seed_of_the_copy(dataset: Any, worker_seed: int) -> None:
    dataset.rng = np.random.default_rng(0)


def set_in_place(dataset: Any, worker_seed: int) -> None:
    dataset.rng.bit_generator.state = np.random.default_rng(worker_seed).bit_generator.state


def from_the_last_bit(dataset: Any, worker_seed: int) -> None:
    dataset.rng = np.random.default_rng(worker_seed % 2)


def from_high_bits_only(dataset: Any, worker_seed: int) -> None:
    dataset.rng = np.random.default_rng(worker_seed // 1000)


def from_nothing(dataset: Any, worker_seed: int) -> None:
    dataset.rng = np.random.default_rng()


def seeds_the_global_one(dataset: Any, worker_seed: int) -> None:
    np.random.seed(worker_seed % 2**32)


@pytest.mark.parametrize(
    ("answer", "state", "why"),
    [
        (from_worker_seed, "right", "each epoch"),
        (set_in_place, "right", "each epoch"),
        (from_constant, "wrong", "every worker has the same seed"),
        (from_the_seed_of_the_copy, "wrong", "every worker has the same seed"),
        (from_the_last_bit, "wrong", "the next epoch rolls the same"),
        (from_high_bits_only, "wrong", "workers 0 and 1"),
        (from_nothing, "wrong", "would not repeat"),
        (seeds_the_global_one, "wrong", "still the generator that came with the copy"),
        (lambda dataset, worker_seed: ..., "not yet", "still returns"),
    ],
)
def test_renew(answer: Callable[..., Any], state: str, why: str) -> None:
    verdict = checks.renew(answer)
    assert verdict.state == state and why in verdict.why


class FromNumPy:
    def __init__(self, seed: int) -> None:
        self.rng = np.random.RandomState(seed)

    def number(self) -> int:
        return int(self.rng.randint(0, 2**32, dtype=np.uint32))


class FromPython(FromNumPy):
    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)  # type: ignore[assignment]

    def number(self) -> int:
        return self.rng.getrandbits(32)  # type: ignore[attr-defined]


def test_compare_twister() -> None:
    assert checks.compare_twister(FromNumPy, 700).state == "right"
    assert "number 0" in checks.compare_twister(FromPython, 700).why
    assert checks.compare_twister(object, 700).state == "wrong"


def test_compare_shuffle() -> None:
    def shuffled(seed: int, count: int) -> list[int]:
        generator = torch.Generator().manual_seed(seed)
        torch.empty((), dtype=torch.int64).random_(generator=generator)
        own = torch.empty((), dtype=torch.int64).random_(generator=generator).item()
        return torch.randperm(count, generator=torch.Generator().manual_seed(int(own))).tolist()

    def without_base_seed(seed: int, count: int) -> list[int]:
        generator = torch.Generator().manual_seed(seed)
        return [
            int(one) for one in DataLoader(range(count), batch_size=None, shuffle=True, generator=generator)
        ]  # type: ignore[arg-type]

    assert checks.compare_shuffle(shuffled).state == "right"
    assert checks.compare_shuffle(without_base_seed).state == "wrong"


def test_compare_workers() -> None:
    def predicted(seed: int, workers: int) -> list[list[float]]:
        base = int(torch.empty((), dtype=torch.int64).random_(generator=torch.Generator().manual_seed(seed)))
        rolls = []
        for worker in range(workers):
            entropy = [worker, base % 2**32, base >> 32, 0]
            rolls.append(
                [
                    torch.rand(1, generator=torch.Generator().manual_seed(base + worker)).item(),
                    np.random.RandomState(np.random.SeedSequence(entropy).generate_state(4)).rand(),
                    random.Random(base + worker).random(),
                ]
            )
        return rolls

    assert checks.compare_workers(predicted).state == "right"
    verdict = checks.compare_workers(lambda seed, workers: [[0.0] * 3] * workers)
    assert verdict.state == "wrong" and "worker 0 rolled" in verdict.why
