"""Lanes, told moment by moment: what has changed at each time, in a sentence, and what each box is then.

A moment is a time at which something begins, ends, is handed over or read. `Story` is plain data; its `str()` is
the text twin of the view.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from torchcourse.devices.queue import Interval, Lanes

GPU_KINDS = ("kernel", "copy")


@dataclass(frozen=True)
class Moment:
    """A time (µs), the line that Python stands in (-1: none), and what is to be said."""

    at: float
    line: int
    say: str


@dataclass(frozen=True)
class Span:
    """Numbers of the moments (from 1) at which an interval begins, ends, and was queued (0: never)."""

    first: int
    last: int
    queued: int


@dataclass(frozen=True)
class Story:
    """Lanes and their moments.

    readings: for each of `lanes.timings`, the moment at which it is known. raised: the moment at which Python hears
    of an error (0: none).
    """

    lanes: Lanes
    moments: tuple[Moment, ...]
    spans: tuple[Span, ...]
    readings: tuple[int, ...]
    raised: int = 0

    @property
    def heading(self) -> str:
        """ "Timing (model), 8 moments"."""
        n = len(self.moments)
        return f"{self.lanes.title} ({self.lanes.source}), {n:,} {'moment' if n == 1 else 'moments'}"

    @property
    def sentence(self) -> str:
        """What is said before the first moment, and of the whole."""
        lanes = self.lanes
        if not lanes.streams:
            return "No GPU work in here: on a CPU each operator runs inside the call, and nothing is queued."
        work = ", ".join(f"{name(s)} `{us(lanes.busy(s))}`" for s in lanes.streams)
        ends = "is stopped by an error" if self.raised else "is done"
        return (
            f"Python {ends} at `{us(lanes.host_end)}`, the last lane is done at `{us(lanes.end)}`. "
            f"Python waits `{us(lanes.waited)}` of it. Work on the GPU: {work}."
        )

    def __str__(self) -> str:
        lines = [f"{k:>3}  {line}" for k, line in enumerate(self.lanes.lines, 1)]
        told = [f"{us(moment.at):>9}: {moment.say}" for moment in self.moments]
        parts = [self.heading, self.sentence, *lines, *told, *self.lanes.notes]
        return "\n".join(parts).replace("`", "")


def us(value: float) -> str:
    """ "12 µs", "3.25 ms": three digits after the point at most."""
    if abs(value) >= 10_000:
        return f"{value / 1000:,.2f}".rstrip("0").rstrip(".") + " ms"
    return f"{value:,.1f}".removesuffix(".0") + " µs"


def name(lane: str) -> str:
    """What a lane is called in a picture."""
    return lane if lane.startswith(("host", "stream")) else f"{lane} stream"


def tell(lanes: Lanes) -> Story:
    """The story of these lanes."""
    said = sorted(_changes(lanes), key=lambda change: change[:2])
    times = sorted({at for at, *_ in said})
    moments = []
    for at in times:
        words = dict.fromkeys(text for when, _, text in said if when == at and text)
        moments.append(Moment(at, _line(lanes, at), " ".join(words)))
    number = {at: k for k, at in enumerate(times, 1)}
    spans = tuple(
        Span(number[i.start], number[i.end], 0 if i.queued is None else number[i.queued])
        for i in lanes.intervals
    )
    readings = tuple(number[t.end] for t in lanes.timings)
    raised = lanes.failure.raised_at if lanes.failure else None
    return Story(lanes, tuple(moments), spans, readings, 0 if raised is None else number[raised])


def _changes(lanes: Lanes) -> Iterator[tuple[float, int, str]]:
    """(time, rank, sentence): at one time, ends come before beginnings, and the GPU before Python."""
    nested = lanes.source == "profile"
    for i in lanes.intervals:
        yield from _on_gpu(lanes, i) if i.kind in GPU_KINDS else _on_host(lanes, i, nested)
    if any(i.lane in lanes.hosts for i in lanes.intervals):
        raised = lanes.failure is not None and lanes.failure.raised_at is not None
        yield lanes.host_end, 9, "" if raised else "Python is done."
    for t in lanes.timings:
        yield t.start, 6, ""
        yield t.end, 6, _reading(lanes, t.by, t.first, t.last, t.us, t.gpu_us)
    for hazard in lanes.hazards:
        yield hazard.at, 7, lanes.say_hazard(hazard)
    if lanes.failure:
        yield lanes.failure.at, 1, f"`{_label(lanes, lanes.failure.step)}` fails: {lanes.failure.message}."
        if lanes.failure.raised_at is not None and lanes.failure.raised_step is not None:
            line = lanes.lines[lanes.failure.raised_step]
            yield (
                lanes.failure.raised_at,
                8,
                f"Python raises the error now, in `{line}`, and the program ends.",
            )


def _label(lanes: Lanes, step: int) -> str:
    return next(
        (i.label for i in lanes.intervals if i.step == step and i.kind in GPU_KINDS), lanes.lines[step]
    )


def _on_gpu(lanes: Lanes, i: Interval) -> Iterator[tuple[float, int, str]]:
    runs = "copies" if i.kind == "copy" else "runs"
    failed = lanes.failure is not None and lanes.failure.step == i.step and i.kind == "kernel"
    yield i.end, 0, "" if failed else f"`{i.label}` is done."
    yield i.start, 2, f"`{i.label}` {runs} on the {name(i.lane)}."
    if i.queued is not None and i.queued < i.start:
        waits = any(other.kind == "wait" and other.step == i.step for other in lanes.intervals)
        yield i.queued, 3, f"`{i.label}` is queued{'' if waits else ', and Python goes on'}."


def _on_host(lanes: Lanes, i: Interval, nested: bool) -> Iterator[tuple[float, int, str]]:
    if i.kind == "wait":
        yield i.end, 4, "Python goes on."
        yield i.start, 5, "Python waits."
    elif i.kind == "python":
        yield i.end, 4, f"`{i.label}` returns." if nested else ""
        yield i.start, 5, f"Python calls `{i.label}`." if nested else f"Python runs `{i.label}`."
    else:
        yield i.end, 4, ""
        yield i.start, 5, "" if nested else _launching(lanes, i)


def _launching(lanes: Lanes, i: Interval) -> str:
    if any(other.step == i.step and other.kind in GPU_KINDS for other in lanes.intervals):
        return f"Python launches `{i.label}`."
    return f"Python puts `{lanes.lines[i.step]}` into the queue."


def _reading(lanes: Lanes, by: str, first: str, last: str, measured: float, gpu: float) -> str:
    reader = "Python's clock says" if by == "clock" else "The events say"
    return (
        f"{reader} `{us(measured)}` from {first} to {last}; the GPU's work of these lines takes `{us(gpu)}`."
    )


def _line(lanes: Lanes, at: float) -> int:
    """The line that the host is in at a time, or the last one that it began."""
    f = lanes.failure
    if f and f.raised_step is not None and f.raised_at is not None and at >= f.raised_at:
        return f.raised_step
    began = [i for i in lanes.intervals if i.kind not in GPU_KINDS and i.start <= at and i.step >= 0]
    return max(began, key=lambda i: i.start).step if began else -1
