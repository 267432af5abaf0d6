"""What a run of the class says: the table of its learners, and what more seats need."""

import math
from dataclasses import asdict, dataclass
from typing import Any

from .killed import Killed
from .learner import Slowest
from .memory import Memory

MIB, GIB = 2**20, 2**30
OPEN = 2  # notebooks that a learner has open at a time: the last one is rarely closed
HEADROOM = 1.25  # a learner tries things
TOGETHER = 120.0  # seconds within which all have a server, a kernel, and torch imported
MARGIN = 3.0  # what a class runs in its busy minutes, as a multiple of its average
STEP = 0.25 * GIB


@dataclass(frozen=True)
class Seat:
    """One learner's run. Seconds; Memory at its highest, `end` for server and kernel after the last cell.

    start_cpu and cpu: seconds of one core until the kernel answered, and until the end.
    """

    name: str
    notebook: str
    minutes: int
    server_start: float
    kernel_start: float
    cells: int
    seconds: float
    slowest: Slowest
    received: int
    server: Memory
    kernel: Memory
    end: Memory
    start_cpu: float
    cpu: float


@dataclass(frozen=True)
class Report:
    """The whole run. together: the most that all processes held, each page counted once, in bytes."""

    seats: tuple[Seat, ...]
    hub: Memory
    together: int
    cores: int
    cpu: float
    killed: Killed
    failures: tuple[str, ...]
    versions: tuple[str, ...] = ()

    def __str__(self) -> str:
        plans = "\n\n".join(str(plan(self, seats)) for seats in (30, 300))
        return f"{_table(self)}\n\n{_notes(self)}\n\n{plans}"

    def json(self) -> dict[str, Any]:
        return asdict(self) | {"plans": [asdict(plan(self, seats)) for seats in (30, 300)]}

    @classmethod
    def read(cls, figures: dict[str, Any]) -> "Report":
        """The report that `json()` gave these figures; its plans are computed anew."""
        parts = {"slowest": Slowest, "server": Memory, "kernel": Memory, "end": Memory}
        seats = (
            Seat(**{key: parts[key](**value) if key in parts else value for key, value in seat.items()})
            for seat in figures["seats"]
        )
        plain = {key: figures[key] for key in ("together", "cores", "cpu")}
        words = {key: tuple(figures[key]) for key in ("failures", "versions")}
        hub, killed = Memory(**figures["hub"]), Killed(**figures["killed"])
        return cls(seats=tuple(seats), hub=hub, killed=killed, **plain, **words)


@dataclass(frozen=True)
class Plan:
    """What so many seats need: bytes, cores. per_seat is a guarantee, limit what one learner may reach."""

    seats: int
    per_seat: int
    limit: int
    memory: int
    cores: int
    start_cores: int
    work_cores: int

    def __str__(self) -> str:
        return (
            f"{self.seats} seats: {_gib(self.memory)} of memory and {self.cores} cores, on one machine or several.\n"
            f"  Memory: {_gib(self.per_seat)} guaranteed per learner (a server and {OPEN} kernels of the hungriest "
            f"chapter, their own memory, and {HEADROOM - 1:.0%} more), the hub, and what all share, once a machine.\n"
            f"  Limit per learner: {_gib(self.limit)} (the same with all resident pages, since a container pays for "
            f"shared ones too).\n"
            f"  Cores: {self.start_cores} so that all have started within {TOGETHER:.0f} s; {self.work_cores} for "
            f"the work ({MARGIN:.0f} times the average of a class that reads each chapter in its minutes)."
        )


def plan(report: Report, seats: int) -> Plan:
    """The arithmetic: the hungriest of the measured chapters stands for the chapter that the class is in."""
    server = max(seat.server.own for seat in report.seats)
    kernel = max(seat.kernel.own for seat in report.seats)
    resident = max(seat.server.resident + OPEN * seat.kernel.resident for seat in report.seats)
    per_seat = _up(HEADROOM * (server + OPEN * kernel))
    shared = report.hub.shared + sum(seat.server.shared + seat.kernel.shared for seat in report.seats)
    start = max(seat.start_cpu for seat in report.seats)
    work = max(seat.cpu / (60 * seat.minutes) for seat in report.seats)
    start_cores, work_cores = math.ceil(seats * start / TOGETHER), math.ceil(seats * work * MARGIN)
    return Plan(
        seats,
        per_seat,
        limit=max(_up(HEADROOM * resident), per_seat),
        memory=_up(seats * per_seat + report.hub.own + shared),
        cores=max(start_cores, work_cores, 2),
        start_cores=start_cores,
        work_cores=work_cores,
    )


WIDTHS = (10, 22, 6, 6, 4, 6, 14, 5, 5, 5, 5, 5, 5, 4)
GROUPS = ("", "", "", "start", "", "cells", "", "", "serv.", "", "kern.", "", "both", "got")
NAMES = ("learner", "notebook", "server", "kernel", "run", "s", "slowest (cell)")
SIZES = ("own", "share", "own", "share", "most", "end", "MiB")


def _table(report: Report) -> str:
    """Times in seconds, sizes in MiB; the last column is what the browser got."""
    rows = [GROUPS, (*NAMES, *SIZES), *map(_row, report.seats)]
    return "\n".join(" ".join(map(_cell, row, WIDTHS, range(len(WIDTHS)))).rstrip() for row in rows)


def _cell(text: str, width: int, column: int) -> str:
    return text.ljust(width) if column < 2 else text.rjust(width)


def _row(seat: Seat) -> list[str]:
    slowest = f"{seat.slowest.seconds:.1f} ({seat.slowest.number})"
    times = (
        f"{seat.server_start:.1f}",
        f"{seat.kernel_start:.1f}",
        str(seat.cells),
        f"{seat.seconds:.1f}",
        slowest,
    )
    sizes = (seat.server.own, seat.server.shared, seat.kernel.own, seat.kernel.shared, seat.kernel.resident)
    return [
        seat.name,
        seat.notebook,
        *times,
        *map(_mib, (*sizes, seat.end.own)),
        f"{seat.received / MIB:.1f}",
    ]


def _notes(report: Report) -> str:
    slow = max(report.seats, key=lambda seat: seat.slowest.seconds)
    lines = [
        f"Slowest cell: {slow.notebook}, code cell {slow.slowest.number} ({slow.slowest.line}): "
        f"{slow.slowest.seconds:.1f} s.",
        f"All together: {_gib(report.together)} at the highest, {_mib(report.hub.own)} MiB of it hub and proxy; "
        f"the learners took {report.cpu:.0f} seconds of a core, on {report.cores} cores.",
        _of_killed(report.killed),
        f"Failures: {len(report.failures)}.",
        *(f"  {failure}" for failure in report.failures),
        *([f"Measured with {', '.join(report.versions)}."] if report.versions else []),
    ]
    return "\n".join(lines)


def _of_killed(killed: Killed) -> str:
    if killed.failure:
        return "A killed kernel: see the failures."
    return (
        f"A killed kernel: the browser hears of it after {killed.noticed:.1f} s, a fresh one answers after "
        f"{killed.fresh:.1f} s, the first cells ran again, and the learner reads:\n  {killed.said}"
    )


def _mib(size: float) -> str:
    return f"{size / MIB:.0f}"


def _gib(size: float) -> str:
    return f"{size / GIB:.4g} GiB"


def _up(size: float) -> int:
    """Rounded up to a quarter of a GiB: nobody sets a finer limit."""
    return int(math.ceil(size / STEP) * STEP)
