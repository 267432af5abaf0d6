"""The lines of a program, as the queue sees them: what each costs the host, and what it puts into a stream.

All times are microseconds. `stream` is the name of a lane; "default" is PyTorch's default stream.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite

LAUNCH = 10.0  # µs of host time to launch a kernel or a copy through Python and PyTorch: the order, not a measurement
CALL = 2.0  # µs of host time for a call that only touches the queue: record an event, let a stream wait
READ = 5.0  # µs on the stream for the few bytes that .item() fetches

KINDS = ("python", "kernel", "copy", "wait", "record", "stream waits", "event wait", "clock")


@dataclass(frozen=True)
class Step:
    """One line of a program. Made by the functions below, which say what the fields mean."""

    kind: str
    code: str
    label: str
    host: float = 0.0
    gpu: float = 0.0
    stream: str | None = "default"
    event: str = ""
    since: str = ""
    waits: bool = False
    fails: str = ""
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"Step.kind is {self.kind!r}; expected one of {', '.join(KINDS)}.")
        if not isinstance(self.code, str) or not self.code:
            raise TypeError(
                f"a step begins with its line of code, a text such as 'y = x @ w'; got {self.code!r}."
            )
        for name, us in (("host", self.host), ("gpu", self.gpu)):
            if not isinstance(us, int | float) or isinstance(us, bool):
                raise TypeError(f"{self.code}: {name} is a time in microseconds, a number; got {us!r}.")
            if not (isfinite(us) and us >= 0):
                raise ValueError(f"{self.code}: {name} is a time in microseconds, 0 or more; got {us!r}.")


def python(code: str, us: float, *, reads: str = "", writes: str = "") -> Step:
    """Work of Python itself, `us` long; reads, writes: names of host memory that it touches ("batch, out")."""
    return Step(
        "python", code, _label(code), host=us, stream=None, reads=_names(reads), writes=_names(writes)
    )


def kernel(
    code: str,
    us: float,
    *,
    stream: str = "default",
    launch: float = LAUNCH,
    reads: str = "",
    writes: str = "",
    fails: str = "",
) -> Step:
    """An operator: the host launches it (`launch`), and it runs on its stream for `us`.

    fails: the message of an error that the kernel meets; nothing runs on the GPU after it.
    """
    return Step(
        "kernel",
        code,
        _label(code),
        launch,
        us,
        stream,
        fails=fails,
        reads=_names(reads),
        writes=_names(writes),
    )


def copy(
    code: str,
    us: float,
    *,
    stream: str = "default",
    pinned: bool = False,
    non_blocking: bool = False,
    reads: str = "",
    writes: str = "",
) -> Step:
    """A transfer between host and device.

    The host goes on at once only from (or to) pinned memory *and* with non_blocking=True. Else it waits:
    `Tensor.to` synchronises the stream after a blocking copy (`aten/src/ATen/native/cuda/Copy.cu`), and
    pageable memory goes through a staging buffer of the driver, piece by piece (CUDA runtime API, "API
    synchronization behavior"). The model lets the host wait to the copy's end in all these cases.
    """
    waits = not (pinned and non_blocking)
    return Step(
        "copy",
        code,
        _label(code),
        LAUNCH,
        us,
        stream,
        waits=waits,
        reads=_names(reads),
        writes=_names(writes),
    )


def item(code: str, *, stream: str = "default", reads: str = "") -> Step:
    """A value is wanted in Python: a tiny copy to the host, and a wait for it and for all that stands before."""
    return Step("copy", code, _label(code), LAUNCH, READ, stream, waits=True, reads=_names(reads))


def synchronize(code: str = "torch.cuda.synchronize()", *, stream: str | None = None) -> Step:
    """The host waits until every stream is empty, or the one given."""
    return Step("wait", code, _label(code), stream=stream)


def record(event: str, *, stream: str = "default", since: str = "", code: str = "") -> Step:
    """Put a marker into the stream. since: an earlier event; the stream's time between the two is reported."""
    code = code or f"{event}.record()"
    return Step("record", code, event, CALL, stream=stream, event=event, since=since)


def stream_waits(event: str, *, stream: str, code: str = "") -> Step:
    """The *stream* waits for the event; the host doesn't."""
    code = code or f"{stream}.wait_event({event})"
    return Step("stream waits", code, event, CALL, stream=stream, event=event)


def wait_for(event: str, *, code: str = "") -> Step:
    """The *host* waits for the event."""
    code = code or f"{event}.synchronize()"
    return Step("event wait", code, event, stream=None, event=event)


def clock(name: str, *, since: str = "", code: str = "") -> Step:
    """Python reads its clock. since: an earlier reading; the difference is reported beside the GPU's own time."""
    code = code or f"{name} = perf_counter()"
    return Step("clock", code, name, stream=None, event=name, since=since)


def _label(code: str) -> str:
    """What stands to the right of an assignment, without a comment: short enough for a box."""
    if not isinstance(code, str):
        return ""  # Step tells it in a sentence
    return code.split("#")[0].split(" = ")[-1].strip()


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())
