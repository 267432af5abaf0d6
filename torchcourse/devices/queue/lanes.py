"""What ran when: the plain data that the model gives and that a profile is read into. Times: microseconds."""

from __future__ import annotations

from dataclasses import dataclass

HOST = "host"
# Of an interval: "python", "launch" and "wait" stand on the host's lane, "kernel" and "copy" on a stream's.
KINDS = ("python", "launch", "wait", "kernel", "copy")


@dataclass(frozen=True)
class Interval:
    """One stretch of one lane.

    step: number of the line that caused it (-1: none). queued: when the host had handed it over (None on the
    host's lane). cause: number of the interval that it waited for, where it waited.
    """

    lane: str
    kind: str
    label: str
    start: float
    end: float
    step: int = -1
    queued: float | None = None
    cause: int | None = None

    @property
    def us(self) -> float:
        return self.end - self.start


@dataclass(frozen=True)
class Timing:
    """Two readings, and what they enclose.

    by: "clock" (Python's) or "events" (the stream's). start, end: when they were taken; gpu_us: how long the
    work of the lines between them really ran.
    """

    by: str
    first: str
    last: str
    start: float
    end: float
    step: int
    gpu_us: float

    @property
    def us(self) -> float:
        """What the reader of the clock believes."""
        return self.end - self.start


@dataclass(frozen=True)
class Failure:
    """An error of the GPU. step: the line whose kernel failed; at: when.

    raised_step, raised_at: the line in which Python heard of it, and when; None: the program ended before.
    """

    message: str
    step: int
    at: float
    raised_step: int | None = None
    raised_at: float | None = None


@dataclass(frozen=True)
class Hazard:
    """A line touched memory while an earlier line's work on it was not done: the numbers may be wrong.

    step: the line that came too early, at: when; until: when the work of `other` (a line) on it ends.
    """

    buffer: str
    step: int
    at: float
    other: int
    until: float


@dataclass(frozen=True)
class Lanes:
    """A program or a profile as lanes of intervals. `str()` is the text twin.

    source: "model" or "profile". lines: the code, or the operators. cut: what was left out, as a sentence.
    """

    title: str
    source: str
    lines: tuple[str, ...]
    intervals: tuple[Interval, ...]
    timings: tuple[Timing, ...] = ()
    hazards: tuple[Hazard, ...] = ()
    failure: Failure | None = None
    cut: str = ""

    @property
    def streams(self) -> tuple[str, ...]:
        """The lanes that are no host's, in order of first use."""
        return tuple(dict.fromkeys(i.lane for i in self.intervals if i.kind in ("kernel", "copy")))

    @property
    def hosts(self) -> tuple[str, ...]:
        """The host's lanes: one for each thread, at least one."""
        threads = dict.fromkeys(i.lane for i in self.intervals if i.kind not in ("kernel", "copy"))
        return tuple(threads) or (HOST,)

    @property
    def end(self) -> float:
        """When the last lane is done."""
        return max((i.end for i in self.intervals), default=0.0)

    @property
    def host_end(self) -> float:
        """When Python is done."""
        return max((i.end for i in self.intervals if i.lane in self.hosts), default=0.0)

    @property
    def failure_lane(self) -> str:
        """The stream in which the error happened."""
        step = self.failure.step if self.failure else -1
        return next((i.lane for i in self.intervals if i.step == step and i.kind == "kernel"), "")

    def busy(self, lane: str) -> float:
        """How long a stream works, in all."""
        return sum(i.us for i in self.intervals if i.lane == lane and i.kind in ("kernel", "copy"))

    @property
    def waited(self) -> float:
        """How long the host waits, in all."""
        return sum(i.us for i in self.intervals if i.kind == "wait")

    def __str__(self) -> str:
        rows = [f"{self.title} ({self.source}; times in µs)", *map(self._row, self.ordered)]
        return "\n".join([*rows, *self.notes])

    @property
    def ordered(self) -> tuple[Interval, ...]:
        """The intervals by their start."""
        return tuple(sorted(self.intervals, key=lambda i: (i.start, i.end)))

    def _row(self, i: Interval) -> str:
        return f"{i.start:>8g} to {i.end:<8g} {i.lane:10} {i.kind:7} {i.label}"

    @property
    def notes(self) -> tuple[str, ...]:
        """What was measured, what came too early, what failed, what was left out: a sentence each."""
        said = [self.say_timing(t) for t in self.timings] + [self.say_hazard(h) for h in self.hazards]
        said += [self.say_failure()] if self.failure else []
        return tuple(said + ([self.cut] if self.cut else []))

    def say_timing(self, t: Timing) -> str:
        """ "Python's clock, t0 to t1: 10 µs. The GPU's work in between: 80 µs." """
        reader = "Python's clock" if t.by == "clock" else "Events"
        return (
            f"{reader}, {t.first} to {t.last}: {t.us:g} µs. The GPU's work of these lines: {t.gpu_us:g} µs."
        )

    def say_hazard(self, h: Hazard) -> str:
        """Who came too early, and for what."""
        return (
            f"Unsafe: `{self.lines[h.step]}` touches {h.buffer} at {h.at:g} µs, and "
            f"`{self.lines[h.other]}` is done with it only at {h.until:g} µs."
        )

    def say_failure(self) -> str:
        """Where the error happened, and where Python heard of it."""
        f = self.failure
        if f is None:
            return ""
        told = f"`{self.lines[f.step]}` failed on the GPU at {f.at:g} µs ({f.message})"
        if f.raised_step is None:
            return f"{told}; the program ended before anyone noticed."
        return f"{told}; Python raised it at {f.raised_at:g} µs, in `{self.lines[f.raised_step]}`."
