"""What would help: the largest batch that fits, and what each change of a step saves."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from .data import OWNERS, Recording
from .record import record_step
from .text import amount

# A step, alone or with the model and the optimizer that it uses.
Setup = Callable[[], Any] | tuple[Callable[[], Any], nn.Module | None, torch.optim.Optimizer | None]
_BIG = 1 << 50  # bytes of a card on which everything fits


@dataclass(frozen=True, slots=True)
class Row:
    """One way to do the step: its name, its peak (bytes), and the most that each owner held (bytes)."""

    name: str
    peak_allocated: int
    peak_reserved: int
    by_owner: dict[str, int]


@dataclass(frozen=True)
class Comparison:
    """The same step in several ways; the first is what the others are measured against."""

    rows: tuple[Row, ...]

    def saved(self, name: str) -> int:
        """How many bytes less than the first this way has at its peak."""
        return self.rows[0].peak_allocated - next(r for r in self.rows if r.name == name).peak_allocated

    def __str__(self) -> str:
        shown = [owner for owner in OWNERS if any(row.by_owner[owner] for row in self.rows)]
        width = max(len(row.name) for row in self.rows)
        head = " ".join([" " * width, f"{'peak':>10}", *(f"{owner:>{_column(owner)}}" for owner in shown)])
        lines = [
            " ".join(
                [
                    f"{row.name:{width}}",
                    f"{amount(row.peak_allocated):>10}",
                    *(f"{amount(row.by_owner[owner]):>{_column(owner)}}" for owner in shown),
                ]
            )
            for row in self.rows
        ]
        return "\n".join([head, *lines])


def _column(owner: str) -> int:
    return max(len(owner), 10)


def compare(ways: Mapping[str, Setup | Recording], warm_up: int = 1) -> Comparison:
    """Record the same step done in several ways: name -> step, or (step, model, optimizer), or a recording.

    warm_up: how often each step runs before it is recorded. The peak of a training comes with its second step,
    when the optimizer's state is there. TypeError, ValueError: no ways, or one that is no step.
    """
    if not isinstance(ways, Mapping) or not ways:
        raise TypeError("compare takes a dictionary name -> step, or name -> (step, model, optimizer).")
    return Comparison(tuple(_row(name, _recorded(way, warm_up)) for name, way in ways.items()))


def _row(name: str, recording: Recording) -> Row:
    played = recording.fit(_BIG)
    return Row(str(name), played.peak_allocated, played.peak_reserved, recording.by_owner)


def _recorded(way: Setup | Recording, warm_up: int) -> Recording:
    if isinstance(way, Recording):
        return way
    setup = way if isinstance(way, tuple) else (way, None, None)
    if len(setup) != 3:
        raise ValueError(f"A way is a step or (step, model, optimizer), not a tuple of {len(setup)}.")
    if callable(setup[0]):
        for _ in range(warm_up):
            setup[0]()
    return record_step(*setup)


@dataclass(frozen=True)
class BatchLimit:
    """The largest batch that fits, 0 where none does.

    tried: (batch, bytes that the recorded part needs, whether it fits), by batch. at_most: where the search ended
    although the step still fitted, else None.
    """

    largest: int
    total_bytes: int
    spare: int
    tried: tuple[tuple[int, int, bool], ...]
    at_most: int | None = None

    def __str__(self) -> str:
        card = amount(self.total_bytes) + (f" with {amount(self.spare)} left free" if self.spare else "")
        if not self.largest:
            return f"Not even a batch of 1 fits on a card of {card}: it needs {amount(self.tried[0][1])}."
        if self.at_most is not None:
            return f"A batch of {self.largest} fits on a card of {card}. Larger ones were not tried."
        needed = {batch: nbytes for batch, nbytes, _ in self.tried}
        return (
            f"On a card of {card} a batch of {self.largest} fits ({amount(needed[self.largest])}), and "
            f"{self.largest + 1} does not ({amount(needed[self.largest + 1])})."
        )


def largest_batch(
    make_step: Callable[[int], Setup],
    total_bytes: int,
    conf: str = "",
    at_most: int = 65_536,
    spare: int = 0,
    warm_up: int = 1,
) -> BatchLimit:
    """The batch size at which a step stops fitting on a card of `total_bytes` bytes, by strides of four and halving.

    make_step(batch): a step for this batch size, or (step, model, optimizer). Each one tried runs `warm_up` + 1
    times; on "meta" tensors that takes no memory and little time. spare: bytes to leave for what is not recorded.
    """
    _check_search(make_step, at_most, spare)
    room = max(total_bytes - spare, 1)
    tried: dict[int, tuple[int, bool]] = {}

    def fits(batch: int) -> bool:
        if batch not in tried:
            played = _recorded(make_step(batch), warm_up).fit(room, conf)
            tried[batch] = (played.needed, played.fits)
        return tried[batch][1]

    largest = _search(fits, at_most)
    rows = tuple((batch, *tried[batch]) for batch in sorted(tried))
    return BatchLimit(largest, total_bytes, spare, rows, at_most if largest == at_most else None)


def _search(fits: Callable[[int], bool], at_most: int) -> int:
    """The largest batch that fits: in strides of four to the first that does not, then by halves."""
    low, high = 0, 1
    while high < at_most and fits(high):
        low, high = high, min(4 * high, at_most)
    if fits(high):
        return high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def _check_search(make_step: object, at_most: object, spare: object) -> None:
    if not callable(make_step):
        raise TypeError(
            f"make_step is a function that takes a batch size and returns a step, not a "
            f"{type(make_step).__name__}."
        )
    for name, value, least in (("at_most", at_most, 1), ("spare", spare, 0)):
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise ValueError(f"{name} is a whole number, {least} or more, not {value!r}.")
