"""The checks of chapter 04: where a request goes, settings that make a program fit, and the rebuilt allocator."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

from torchcourse.allocator import Allocator, OutOfMemoryError
from torchcourse.allocator.driver import Driver
from torchcourse.allocator.sizes import GIB, KIB, MIB
from torchcourse.exercises import Verdict, almost, check, rebuild, right, wrong

__all__ = ["compare_allocator", "crowded", "place", "settings"]

CARD = 4 * GIB  # of the exercise about settings


# --- where does a request go? ---------------------------------------------------------------------


@check
def place(answer: Any) -> Iterator[Verdict]:
    """`answer(free, size)`: sizes of free blocks, oldest first -> the place of the block taken, or None."""
    chance, agreed = Random(4), 0
    for _ in range(300):
        free = [2 * MIB * chance.randint(5, 30) for _ in range(chance.randint(0, 6))]
        size = 512 * chance.randint(8 * KIB, 100 * KIB)
        if free and chance.random() < 0.25:
            size = chance.choice(free)
        expected, given = _placed(free, size), answer(list(free), size)
        if given != expected:
            yield _misplaced(free, size, expected, given)
        agreed += 1
    yield right(f"{agreed} requests go where the allocator puts them.")


def _placed(free: list[int], size: int) -> int | None:
    """What the model does: free segments of these sizes, and one request."""
    model = Allocator(1 << 40)
    addresses = [model.malloc(nbytes) for nbytes in free]
    for address in addresses:
        model.free(address)
    before = model.memory_reserved()
    taken = model.malloc(size)
    return addresses.index(taken) if model.memory_reserved() == before else None


def _misplaced(free: list[int], size: int, expected: int | None, given: Any) -> Verdict:
    said = f"free blocks of {[_mib(n) for n in free]} MiB, asked for {_mib(size)} MiB: you said {given!r}"
    if expected is None:
        return wrong(f"{said}. None of them is large enough: a new segment, None.")
    if given is None:
        return wrong(
            f"{said}. A larger block serves too: it is split. The allocator takes number {expected}."
        )
    if isinstance(given, int) and 0 <= given < len(free) and free[given] == free[expected]:
        return almost(f"{said}. Of two equal blocks the older one is taken, number {expected}.")
    if isinstance(given, int) and 0 <= given < len(free) and free[given] >= size:
        return wrong(f"{said}. It fits, and a smaller one fits too: best fit takes number {expected}.")
    return wrong(f"{said}. The allocator takes number {expected}.")


def _mib(nbytes: int) -> float:
    return round(nbytes / MIB, 1)


# --- settings that make a program fit -------------------------------------------------------------


def crowded(model: Allocator) -> int:
    """A program that leaves half-used segments behind, and asks for 1.5 GiB at its end; the last address."""
    batches = [model.malloc(n * MIB) for n in (768, 896, 1024)]
    for address in batches:
        model.free(address)
    halves = [model.malloc(n * MIB) for n in (384, 384, 448, 448, 512, 512)]
    for address in halves[::2]:
        model.free(address)
    return model.malloc(3 * GIB // 2)


@check
def settings(answer: Any) -> Iterator[Verdict]:
    """`answer()` -> the settings under which `crowded` fits on a card of 4 GiB."""
    conf = answer()
    if not isinstance(conf, str):
        yield wrong(f"settings are a string such as 'key:value', not a {type(conf).__name__}.")
        return
    try:
        model = Allocator(CARD, conf)
    except ValueError as error:
        yield wrong(f"PyTorch would not start with them: {error}")
        return
    try:
        crowded(model)
    except OutOfMemoryError:
        free = model.memory_reserved() - model.memory_allocated()
        yield wrong(
            f"out of memory: {_mib(free)} MiB are cached and free, in pieces that are too small. "
            f"Which setting keeps the pieces from arising, or puts them together?"
        )
        return
    yield right(f"it fits, with {_mib(model.max_memory_reserved())} MiB reserved at most.")


# --- the rebuilt allocator ------------------------------------------------------------------------

SIZES = (
    1,
    512,
    513,
    100_000,
    MIB - 1,
    MIB,
    MIB + 1,
    3 * MIB,
    9 * MIB,
    10 * MIB - 512,
    10 * MIB,
    19 * MIB,
    33 * MIB,
)


@rebuild
def compare_allocator(rebuilt: Any, rng: Random, programs: int = 40) -> Verdict:
    """Run random programs on `rebuilt(driver)` and on the model: the same addresses, the same memory reserved.

    `driver.malloc(nbytes)` gives an address, or None where the card is full; `driver.release(address, nbytes)`
    takes a segment back. The rebuilt class has malloc, free and empty_cache, and raises MemoryError.
    """
    calls = failed = 0
    for _ in range(programs):
        run = _Run(rebuilt, rng.choice((60, 120, 400)) * MIB)
        for _ in range(rng.randint(5, 60)):
            if difference := run.step(rng):
                return wrong(f"{'; '.join(run.told[:1] + run.told[-6:])}: {difference}")
            calls += 1
        failed += run.model.memory_stats()["num_ooms"]
    return right(
        f"{programs} random programs, {calls} calls: every address is the model's. "
        f"Of the requests, {failed} ran out of memory."
    )


class _Run:
    """The same calls on the model and on the rebuilt allocator; `told` names them."""

    def __init__(self, rebuilt: Any, total: int) -> None:
        self.model, self.driver = Allocator(total), Driver(total)
        self.ours: Any = rebuilt(self.driver)
        self.live: list[int] = []
        self.told = [f"a card of {total // MIB} MiB"]

    def step(self, rng: Random) -> str:
        """One random call on both; how they differ, "" where they do not."""
        kind = rng.random()
        if kind < 0.03:
            self.told.append("empty_cache")
            self.model.empty_cache()
            self.ours.empty_cache()
        elif kind < 0.45 and self.live:
            address = self.live.pop(rng.randrange(len(self.live)))
            self.told.append(f"free {_place(address)}")
            self.model.free(address)
            self.ours.free(address)
        elif difference := self.malloc(rng.choice(SIZES)):
            return difference
        held, expected = self.driver.total - self.driver.free, self.model.memory_reserved()
        return "" if held == expected else f"yours holds {held} bytes of the card, the model {expected}"

    def malloc(self, size: int) -> str:
        self.told.append(f"malloc {size}")
        theirs, mine = _asked(self.model, size), _asked(self.ours, size)
        if theirs != mine:
            return f"yours is at {_place(mine)}, the model's at {_place(theirs)}"
        if theirs is not None:
            self.live.append(theirs)
        return ""


def _asked(allocator: Any, size: int) -> int | None:
    """The address, None where there was no room."""
    try:
        address = allocator.malloc(size)
    except (MemoryError, OutOfMemoryError):
        return None
    return int(address)


def _place(address: int | None) -> str:
    return "no place (out of memory)" if address is None else f"+{address - 0x7000_0000_0000}"
