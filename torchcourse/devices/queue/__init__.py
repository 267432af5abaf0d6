"""The queue between Python and a GPU: a small model of it, and the same data read from a profile.

A program is a list of steps; `run` gives what each lane (the host, and each stream) does and when.

    program = [clock("t0"), kernel("y = x @ w", 80), clock("t1", since="t0"), synchronize()]
    print(run(program))

Times are microseconds. The model's own numbers are round ones, chosen to be read, and no measurement.
"""

from .lanes import Failure, Hazard, Interval, Lanes, Timing
from .model import run
from .profile import read_profile
from .steps import (
    CALL,
    LAUNCH,
    READ,
    Step,
    clock,
    copy,
    item,
    kernel,
    python,
    record,
    stream_waits,
    synchronize,
    wait_for,
)

__all__ = [
    "CALL",
    "LAUNCH",
    "READ",
    "Failure",
    "Hazard",
    "Interval",
    "Lanes",
    "Step",
    "Timing",
    "clock",
    "copy",
    "item",
    "kernel",
    "python",
    "read_profile",
    "record",
    "run",
    "stream_waits",
    "synchronize",
    "wait_for",
]
