"""Checks of chapter 10: orders that depend on nothing else, a run that leaves no trace, workers with own generators."""

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch.utils.data import DataLoader

from torchcourse import randomness
from torchcourse.checkpoints.generators import random_states, restore_random_states
from torchcourse.exercises import Raised, Verdict, almost, check, rebuild, right, wrong

__all__ = ["compare_shuffle", "compare_twister", "compare_workers", "order", "renew", "undisturbed"]


@contextmanager
def _kept() -> Iterator[None]:
    """A check must not move the reader's generators."""
    states = random_states()
    try:
        yield
    finally:
        restore_random_states(states)


# --- an order that depends on seed and epoch alone ----------------------------------------------------------


@check
def order(answer: Any) -> Iterator[Verdict]:
    """order(count, seed, epoch) -> a permutation of range(count), from these three and nothing else."""
    with _kept():
        yield _judge_order(answer)


def _judge_order(answer: Any) -> Verdict:
    def asked(seed: int, epoch: int) -> list[int]:
        return [int(index) for index in answer(40, seed, epoch)]

    with randomness.watch() as seen:
        first = asked(3, 1)
    if sorted(first) != list(range(40)):
        return wrong(f"each of the 40 indices must come once; yours starts with {first[:6]}.")
    torch.manual_seed(99), np.random.seed(99), random.seed(99)
    asked(3, 0)
    if asked(3, 1) != first:
        return wrong(
            "for one seed and one epoch it gave two orders: something else has a say, a global generator perhaps."
        )
    if asked(3, 2) == first:
        return wrong("epochs 1 and 2 have the same order.")
    if asked(4, 1) == first or asked(2**20, 1) == asked(2**21, 1):
        return almost(
            "two seeds gave the same order. (torch's CPU generator reads only the lowest 32 bits of a seed.)"
        )
    if asked(4, 0) == first:
        return almost(
            "seed 4 begins with the order that seed 3 has in epoch 1: a plain sum of both is not enough."
        )
    if seen.moved:
        return almost(f"the orders are right, but they moved a global generator: {', '.join(seen.moved)}.")
    return right("an order per seed and epoch, whatever ran before, and no global generator moved.")


# --- a run that leaves no trace -----------------------------------------------------------------------------


class _Failed(Exception):
    pass


@check
def undisturbed(answer: Any) -> Iterator[Verdict]:
    """undisturbed(function, seed) -> function()'s result, all three generators seeded, and afterwards as before."""
    with _kept():
        yield _judge_undisturbed(answer)


def _rolls() -> tuple[float, float, float]:
    return torch.rand(1).item(), np.random.rand(), random.random()


def _judge_undisturbed(answer: Any) -> Verdict:
    names = ("torch", "numpy", "python")
    with randomness.watch() as seen:
        first = answer(_rolls, 5)
    if not isinstance(first, tuple) or len(first) != 3:
        return wrong("return what function() returns.")
    _rolls()
    again, other = answer(_rolls, 5), answer(_rolls, 6)
    loose = [name for name, a, b in zip(names, first, again, strict=True) if a != b]
    if loose:
        return almost(f"with one seed twice, these did not repeat: {', '.join(loose)}.")
    if other == first:
        return wrong("seeds 5 and 6 gave the same numbers.")
    if seen.moved:
        return almost(
            f"the numbers repeat, but afterwards these are not as they were before: {', '.join(seen.moved)}."
        )
    with randomness.watch() as seen:
        told = _passes_on(answer)
    if told:
        return wrong(told)
    if seen.moved:
        return almost(
            f"function() raised, and these stayed moved: {', '.join(seen.moved)}. `finally` runs then, too."
        )
    return right("seeded for the run, and nobody outside can tell that it ran, even when it raises.")


def _passes_on(answer: Any) -> str:
    def failing() -> None:
        _rolls()
        raise _Failed

    try:
        answer(failing, 5)
    except Raised as raised:
        return (
            ""
            if isinstance(raised.error, _Failed)
            else f"function() raised, and yours raised {raised.error!r}."
        )
    return "function() raised an error, and yours swallowed it."


# --- workers with a generator of the data set's own ---------------------------------------------------------


@check
def renew(answer: Any) -> Iterator[Verdict]:
    """renew(dataset, worker_seed) puts a new NumPy generator into dataset.rng: another for each worker and epoch."""

    with _kept():
        yield _judge_renew(answer)


def _judge_renew(answer: Any) -> Verdict:
    base, next_base = 937055941807507096, 4611686018427387904
    first, second, next_epoch = (_renewed(answer, seed) for seed in (base, base + 1, next_base))
    if first is None:
        return wrong("`dataset.rng` is still the generator that came with the copy. Set the attribute.")
    if first == second == next_epoch:
        return wrong(
            "every worker has the same seed now: workers 0 and 1 roll the same numbers, in every epoch. "
            "Use `worker_seed`, not a constant."
        )
    if first == second:
        return wrong(
            "workers 0 and 1 roll the same numbers: their seeds differ by 1, and yours must not forget it."
        )
    if first == next_epoch:
        return wrong("the next epoch rolls the same numbers: use the whole of the worker's seed.")
    if _renewed(answer, base) != first:
        return wrong("the same worker seed gave other numbers: a second run would not repeat.")
    return right("another stream for each worker and each epoch, and the same again in the next run.")


def _renewed(answer: Any, worker_seed: int) -> list[float] | None:
    """What the data set's generator rolls in a worker with that seed; None: it came with the copy, untouched."""
    came = np.random.default_rng(0)
    dataset = randomness.Rolls(4, rng=came)
    answer(dataset, worker_seed)
    given: Any = dataset.rng
    numbers = [float(number) for number in given.random(4)]
    untouched = given is came and numbers == np.random.default_rng(0).random(4).tolist()
    return None if untouched else numbers


# --- what a reader rebuilds ---------------------------------------------------------------------------------


@rebuild
def compare_twister(twister: Any, count: int = 1500) -> Verdict:
    """twister(seed).number() -> the next 32-bit number; against NumPy's legacy generator, and against torch.rand."""
    for seed in (0, 1, 5489, 2**32 - 1):
        ours = twister(seed)
        numbers = [ours.number() for _ in range(count)]
        theirs = np.random.RandomState(seed).randint(0, 2**32, count, dtype=np.uint32).tolist()
        if numbers != theirs:
            place = next(k for k, pair in enumerate(zip(numbers, theirs, strict=True)) if pair[0] != pair[1])
            return wrong(f"seed {seed}: number {place} is {numbers[place]}, and {theirs[place]} in NumPy.")
        drawn = torch.rand(count, generator=torch.Generator().manual_seed(seed)).tolist()
        if [number % 2**24 / 2**24 for number in numbers] != drawn:
            return wrong(f"seed {seed}: torch.rand gives other numbers.")
    return right(f"{count:,} numbers for each of four seeds, as NumPy and torch draw them, to the last bit.")


@rebuild
def compare_shuffle(shuffled: Callable[[int, int], list[int]]) -> Verdict:
    """shuffled(seed, count) -> the order of DataLoader(range(count), shuffle=True) after torch.manual_seed(seed)."""
    with _kept():
        for seed in range(5):
            for count in (1, 2, 7, 100):
                torch.manual_seed(seed)
                theirs = [int(one) for one in DataLoader(range(count), batch_size=None, shuffle=True)]  # type: ignore[arg-type]
                if list(shuffled(seed, count)) != theirs:
                    return wrong(f"seed {seed}, {count} samples: torch's order starts with {theirs[:5]}.")
    return right("20 orders agree with torch's DataLoader.")


@rebuild
def compare_workers(predicted: Callable[[int, int], list[list[float]]], workers: int = 2) -> Verdict:
    """predicted(seed, workers) -> each worker's first rolls (torch's, NumPy's, Python's) after manual_seed(seed)."""
    with _kept():
        for seed in (0, 3):
            torch.manual_seed(seed)
            loader = DataLoader(randomness.Rolls(workers), batch_size=None, num_workers=workers)
            theirs = [rolls.tolist() for rolls in loader]
            for worker, (ours, their) in enumerate(zip(predicted(seed, workers), theirs, strict=True)):
                if list(ours) != their:
                    return wrong(f"seed {seed}, worker {worker} rolled {their}; you predicted {list(ours)}.")
    return right(f"{2 * workers * 3} numbers of {workers} workers, foretold to the last bit.")
