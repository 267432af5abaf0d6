"""The model: one host, any number of streams, and the rule when each of them may go on.

- The host runs line after line. A launch costs it a moment; then it goes on.
- A stream runs what was put into it, in order: an item starts when the host has handed it over, the stream's
  item before it is done, and the events that the stream waits for have happened.
- The host waits only where a line says so: `.item()`, a blocking copy, `synchronize`.

It is a model of order and of waiting. It leaves out that kernels of two streams share one GPU, that the queue
holds about a thousand launches, and what else the machine does.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from .lanes import HOST, Failure, Hazard, Interval, Lanes, Timing
from .steps import Step

MOST = 2_000  # lines: more can't be looked at, and a notebook's picture must stay small


def run(program: Iterable[Step], *, title: str = "The queue", launch_blocking: bool = False) -> Lanes:
    """What each lane does, and when.

    launch_blocking: as with CUDA_LAUNCH_BLOCKING=1, the host waits after each launch. TypeError: something in
    the program is no step; ValueError: an event or a clock is used before it was made, or the program is longer
    than 2,000 lines.
    """
    steps = tuple(_checked(program))
    machine = _Machine(launch_blocking)
    for number, step in enumerate(steps):
        if not machine.do(number, step):
            break
    return machine.lanes(title, steps)


def _checked(program: Iterable[Step]) -> list[Step]:
    if isinstance(program, Step) or not isinstance(program, Iterable):
        raise TypeError(
            f"a program is a list of steps, such as [kernel('y = x @ w', 80)]; got {program!r:.80}."
        )
    steps = list(program)
    if len(steps) > MOST:
        raise ValueError(f"a program may have {MOST:,} lines; this one has {len(steps):,}.")
    for number, step in enumerate(steps, 1):
        if not isinstance(step, Step):
            raise TypeError(
                f"line {number} of the program is no step (kernel, copy, item, python …): {step!r:.80}."
            )
    return steps


@dataclass
class _Machine:
    """The state while a program runs. `now` is the host's time."""

    blocking: bool
    now: float = 0.0
    ready: dict[str, float] = field(default_factory=dict)  # stream -> when it is free
    last: dict[str, int] = field(default_factory=dict)  # stream -> its last interval
    marks: dict[str, float] = field(default_factory=dict)  # event or clock -> when it happened
    placed: dict[str, int] = field(default_factory=dict)  # event or clock -> its line
    causes: dict[str, int | None] = field(default_factory=dict)  # event -> the interval before it
    readings: list[tuple[Step, int]] = field(default_factory=list)
    intervals: list[Interval] = field(default_factory=list)
    uses: list[tuple[int, float, float, set[str], set[str]]] = field(default_factory=list)
    hazards: list[Hazard] = field(default_factory=list)
    failure: Failure | None = None

    def do(self, number: int, step: Step) -> bool:
        """Run one line; False where it raised."""
        if step.kind not in ("python", "clock") and self._raises(number, self.now):
            return False
        handlers = {
            "python": self._python,
            "kernel": self._launch,
            "copy": self._launch,
            "wait": self._wait,
            "record": self._record,
            "stream waits": self._stream_waits,
            "event wait": self._event_wait,
            "clock": self._clock,
        }
        handlers[step.kind](number, step)
        return self.failure is None or self.failure.raised_step is None

    def _python(self, number: int, step: Step) -> None:
        self._touch(number, step, self.now, self.now + step.host)
        self._host("python", step.label, self.now + step.host, number)

    def _launch(self, number: int, step: Step) -> None:
        self._host("launch", step.label, self.now + step.host, number)
        stream = str(step.stream)
        start = max(self.now, self.ready.get(stream, 0.0))
        cause = self.last.get(stream) if start > self.now else None
        end = start + step.gpu
        kind = "kernel" if step.kind == "kernel" else "copy"
        if self._dead(start):  # it never runs; who waits for it hears of the error
            if step.waits or self.blocking:
                self._until(start, None, step, number)
            return
        self.intervals.append(Interval(stream, kind, step.label, start, end, number, self.now, cause))
        self.ready[stream], self.last[stream] = end, len(self.intervals) - 1
        self._touch(number, step, start, end)
        if step.fails:
            self.failure = Failure(step.fails, number, end)
        if step.waits or self.blocking:
            self._until(end, self.last[stream], step, number)

    def _dead(self, start: float) -> bool:
        return self.failure is not None and start >= self.failure.at

    def _wait(self, number: int, step: Step) -> None:
        streams = list(self.ready) if step.stream is None else [step.stream]
        busiest = max(streams, key=lambda name: self.ready.get(name, 0.0), default="")
        self._until(self.ready.get(busiest, 0.0), self.last.get(busiest), step, number)

    def _event_wait(self, number: int, step: Step) -> None:
        self._known(step.event, number)
        self._until(self.marks[step.event], self.causes[step.event], step, number)

    def _until(self, end: float, cause: int | None, step: Step, number: int) -> None:
        """The host waits to `end`, or to the error that ends all waiting."""
        if self.failure is not None:
            end = min(end, self.failure.at)
        if end > self.now:
            self._host("wait", "wait", end, number, cause)
        self._raises(number, self.now)

    def _raises(self, number: int, now: float) -> bool:
        f = self.failure
        if f is None or f.at > now:
            return False
        self.failure = Failure(f.message, f.step, f.at, number, now)
        return True

    def _record(self, number: int, step: Step) -> None:
        self._host("launch", f"record {step.event}", self.now + step.host, number)
        stream = str(step.stream)
        self._mark(step, number, max(self.now, self.ready.get(stream, 0.0)))
        self.causes[step.event] = self.last.get(stream)

    def _stream_waits(self, number: int, step: Step) -> None:
        self._known(step.event, number)
        self._host("launch", f"wait for {step.event}", self.now + step.host, number)
        stream, at = str(step.stream), self.marks[step.event]
        if at > self.ready.get(stream, 0.0):
            self.ready[stream] = at
            cause = self.causes[step.event]
            if cause is not None:
                self.last[stream] = cause

    def _clock(self, number: int, step: Step) -> None:
        self._mark(step, number, self.now)

    def _mark(self, step: Step, number: int, at: float) -> None:
        if step.since:
            self._known(step.since, number)
            self.readings.append((step, number))
        self.marks[step.event], self.placed[step.event] = at, number

    def _known(self, name: str, number: int) -> None:
        if name not in self.marks:
            there = ", ".join(self.marks) or "none"
            raise ValueError(
                f"line {number + 1} needs {name!r}, which no earlier line has made; there is {there}."
            )

    def _host(self, kind: str, label: str, end: float, number: int, cause: int | None = None) -> None:
        self.intervals.append(Interval(HOST, kind, label, self.now, end, number, None, cause))
        self.now = end

    def _touch(self, number: int, step: Step, start: float, end: float) -> None:
        """Two accesses of one memory, one of them a write, must not meet."""
        reads, writes = set(step.reads), set(step.writes)
        for other, _, until, read, wrote in self.uses:
            for name in sorted((writes & (read | wrote)) | (reads & wrote)):
                if start < until:
                    self.hazards.append(Hazard(name, number, start, other, until))
        if reads or writes:
            self.uses.append((number, start, end, reads, writes))

    def lanes(self, title: str, steps: tuple[Step, ...]) -> Lanes:
        kept = tuple(self.intervals)
        return Lanes(
            title,
            "model",
            tuple(step.code for step in steps),
            kept,
            tuple(self._timing(step, number) for step, number in self.readings),
            tuple(self.hazards),
            self.failure,
        )

    def _timing(self, step: Step, number: int) -> Timing:
        between = range(self.placed[step.since], number)
        gpu = sum(i.us for i in self.intervals if i.queued is not None and i.step in between)
        by = "clock" if step.kind == "clock" else "events"
        start, end = self.marks[step.since], self.marks[step.event]
        return Timing(by, step.since, step.event, start, end, number, gpu)
