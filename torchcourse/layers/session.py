"""Who runs the profiler: the outermost xray of a thread; those inside read the same events."""

import threading
from dataclasses import dataclass, field
from typing import Any, Protocol

from . import _torch
from .record import Watch

ANOTHER_PROFILER = "another profiler was running"
TAKEN = "another profiler started inside the block"
STILL_RUNNING = "the xray around it is still running"


class Waiting(Protocol):
    """An xray that has ended, or must end, when the profiler's events are there."""

    def finish(self, roots: list[Any] | None, why: str, kernels: tuple[str, ...]) -> None: ...


@dataclass
class Session:
    """One run of the profiler, and the xrays that wait for its events."""

    profiler: _torch.Profiler | None
    waiting: list[Waiting] = field(default_factory=list)
    _events: list[Any] | None = None
    _stopped: bool = False

    def stop(self) -> list[Any] | None:
        """The profiler's events; stops it the first time. A record that is full stops it early."""
        if not self._stopped and self.profiler is not None:
            self._events = self.profiler.stop()
        self._stopped = True
        return self._events


class _Local(threading.local):
    session: Session | None = None


_local = _Local()


def enter(watch: Watch) -> Session | None:
    """Start the profiler where none runs. Returns the session when it is ours to end."""
    opened = None
    if _local.session is None:
        opened = _local.session = Session(_start())
        watch.when_full = opened.stop  # kineto would go on to fill the memory
    _point("begin", watch)
    return opened


def leave(watch: Watch) -> None:
    _point("end", watch)


def wait(seen: Waiting) -> None:
    if _local.session is not None:
        _local.session.waiting.append(seen)


def close(opened: Session, last: Waiting) -> None:
    """Stop the profiler and hand its events to all that wait."""
    _local.session = None
    profiler = opened.profiler
    roots = opened.stop()
    why = TAKEN if profiler else ANOTHER_PROFILER
    kernels = profiler.kernels() if profiler and roots is not None else ()
    for seen in (*opened.waiting, last):
        seen.finish(roots, why, kernels)


def _start() -> _torch.Profiler | None:
    if not _torch.Profiler.possible():
        return None
    profiler = _torch.Profiler()
    try:
        profiler.start()
    except RuntimeError:  # kineto refuses: another thread's profiler
        return None
    return profiler


def _point(what: str, watch: Watch) -> None:
    with _torch.mark(what, watch.id):
        pass


__all__ = ["STILL_RUNNING", "Session", "close", "enter", "leave", "wait"]
