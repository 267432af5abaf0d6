"""Where a step's time goes: waiting for data, forward, backward, step."""

import time
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import TypeVar

import torch

T = TypeVar("T")

PARTS = ("data", "forward", "backward", "step")


@dataclass(frozen=True)
class TimeSplit:
    """Seconds per part, summed over `steps` batches. other: what the loop does outside the parts."""

    steps: int
    data: float
    forward: float
    backward: float
    step: float
    other: float

    @property
    def total(self) -> float:
        return self.data + self.forward + self.backward + self.step + self.other

    def share(self, part: str) -> float:
        """The part's share of the whole, 0 to 1."""
        if part not in (*PARTS, "other"):
            raise KeyError(f"no part {part!r}; there are {', '.join((*PARTS, 'other'))}")
        return float(getattr(self, part)) / self.total if self.total else 0.0

    @property
    def waits_for_data(self) -> bool:
        """More than a third of the time goes into waiting for batches."""
        return self.share("data") > 1 / 3

    def __str__(self) -> str:
        if not self.steps:
            return "no step yet"
        per_step = self.total / self.steps * 1e3
        shares = ", ".join(f"{part} {self.share(part):.0%}" for part in (*PARTS, "other"))
        return f"{self.steps} steps of {per_step:.3g} ms: {shares}"


class StepTimes:
    """A clock for the reader's own loop. It measures, and touches neither model nor data.

    `for x, y in times.data(loader):`, and inside `with times.forward: …`, `with times.backward: …`,
    `with times.step: …`; then `times.seen`, a TimeSplit. synchronize: wait for the GPU at each border. Without
    that, a GPU's work is counted where Python first waits for it; with it, the loop itself is a little slower.
    """

    def __init__(self, synchronize: bool = True) -> None:
        self._seconds = dict.fromkeys(PARTS, 0.0)
        self._whole = 0.0
        self._steps = 0
        self._synchronize = synchronize

    def data(self, batches: Iterable[T]) -> Iterator[T]:
        """The same batches, one by one; the time until each arrives is counted as waiting for data."""
        start = self._now()
        try:
            source = iter(batches)
            while True:
                with self._part("data"):
                    try:
                        batch = next(source)
                    except StopIteration:
                        return
                self._steps += 1
                yield batch
        finally:
            self._whole += self._now() - start

    @property
    def forward(self) -> AbstractContextManager[None]:
        return self._part("forward")

    @property
    def backward(self) -> AbstractContextManager[None]:
        return self._part("backward")

    @property
    def step(self) -> AbstractContextManager[None]:
        return self._part("step")

    @contextmanager
    def _part(self, name: str) -> Iterator[None]:
        start = self._now()
        try:
            yield
        finally:
            self._seconds[name] += self._now() - start

    def _now(self) -> float:
        if self._synchronize and torch.cuda.is_initialized():
            torch.cuda.synchronize()
        return time.perf_counter()

    @property
    def seen(self) -> TimeSplit:
        """The times so far; `other` is known when the loop has ended."""
        rest = max(0.0, self._whole - sum(self._seconds.values()))
        return TimeSplit(self._steps, other=rest, **self._seconds)
