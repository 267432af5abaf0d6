"""`lines`: which generator moved in which line of the reader's code.

Python tells a trace function before each line that runs (`sys.settrace`). Between two such moments the states are
compared. Watched are the file or cell that holds the block and its own functions; what a line calls elsewhere counts
for that line. A debugger's or a coverage tool's own trace function rests meanwhile.
"""

from __future__ import annotations

import linecache
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from types import FrameType, TracebackType
from typing import Any

from ._states import check, read
from ._watch import Move, moves

_Trace = Callable[[FrameType, str, Any], Any]
EMPTY = "No line moved a generator."
RUNNING = "The block still runs: its lines are known when it ends."


@dataclass(frozen=True)
class Line:
    """One source line that moved a generator: its number in file or cell, its text, how often it did, and what moved.

    Numbers of several turns of a loop are added; None where one of them can't be told.
    """

    number: int
    source: str
    times: int
    moves: tuple[Move, ...]


@dataclass
class _Block:
    lines: tuple[Line, ...] | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Lines:
    """What `lines` hands over: `.lines` and `.moved`, known when the block has ended. `str()` is a table."""

    _block: _Block = field(default_factory=_Block)

    @property
    def lines(self) -> tuple[Line, ...]:
        """The lines that moved a generator, in the order of the file; empty while the block runs."""
        return self._block.lines or ()

    @property
    def moved(self) -> tuple[str, ...]:
        """Names of the generators that any line moved, in the order of the lines."""
        return tuple(dict.fromkeys(move.name for line in self.lines for move in line.moves))

    def __str__(self) -> str:
        if self._block.lines is None:
            return RUNNING
        return table(self.lines) or EMPTY

    __repr__ = __str__


def table(found: tuple[Line, ...]) -> str:
    """The text twin: line number, source, how often, what moved."""
    rows = [
        (str(line.number), _short(line.source), f"×{line.times}" if line.times > 1 else "", _told(line.moves))
        for line in found
    ]
    widths = [max((len(row[k]) for row in rows), default=0) for k in range(3)]
    return "\n".join(f"{a:>{widths[0]}}  {b:<{widths[1]}}  {c:>{widths[2]}}  {d}" for a, b, c, d in rows)


def _told(found: tuple[Move, ...]) -> str:
    return ", ".join(map(str, found))


def _short(source: str, most: int = 60) -> str:
    return source if len(source) <= most else source[: most - 1] + "…"


class lines:
    """`with randomness.lines() as seen: …`; then `seen` tells line by line which generators moved, and how far.

    own: your generators by name (see `states`). Serves one block; it changes no state. It reads the states before each
    line, some 0.2 ms, so it is for looking, not for long runs.
    """

    def __init__(self, *unnamed: Any, **own: Any) -> None:
        check(own, unnamed)
        self._own, self._seen = own, Lines()
        self._found: dict[int, list[tuple[Move, ...]]] = {}
        self._stack: list[int] = []

    def __enter__(self) -> Lines:
        return self.start(sys._getframe(1))

    def start(self, home: FrameType) -> Lines:
        """As `with` does, for the block that stands in this frame."""
        if self._stack:
            raise RuntimeError(
                "This block of lines() has been used. Write `with randomness.lines() as seen:` for each."
            )
        self._home: FrameType | None = home
        self._file = home.f_code.co_filename
        self._stack = [home.f_lineno]
        self._before = sys.gettrace(), home.f_trace
        self._states = read(self._own)
        home.f_trace = self._inside
        sys.settrace(self._called)
        return self._seen

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        sys.settrace(self._before[0])
        self._settle()
        if self._home is not None:
            self._home.f_trace = self._before[1]
        self._home = None  # a frame keeps all of its variables alive
        found = sorted(self._found.items())
        self._seen._block.lines = tuple(self._line(number, turns) for number, turns in found)

    def _called(self, frame: FrameType, event: str, arg: Any) -> _Trace | None:
        """Python calls this at each call of a function."""
        outer = _of_ours(self._before[0])
        if outer is not None:
            outer(frame, event, arg)
        if frame.f_code.co_filename != self._file:
            return None
        self._settle()
        self._stack.append(frame.f_lineno)
        return self._inside

    def _inside(self, frame: FrameType, event: str, arg: Any) -> _Trace:
        """… and this in functions of the watched file: before each line, and when the function ends."""
        outer = _of_ours(self._before[1])
        if outer is not None:
            outer(frame, event, arg)
        if event == "line":
            self._settle()
            self._stack[-1] = frame.f_lineno
        elif event == "return" and len(self._stack) > 1:
            self._settle()
            self._stack.pop()
        return self._inside

    def _settle(self) -> None:
        """What moved since the last look belongs to the line that runs."""
        now = read(self._own)
        found = moves(self._states, now) if now != self._states else ()
        if found:
            self._found.setdefault(self._stack[-1], []).append(found)
        self._states = now

    def _line(self, number: int, turns: list[tuple[Move, ...]]) -> Line:
        return Line(number, linecache.getline(self._file, number).strip(), len(turns), _added(turns))


def _of_ours(trace: Any) -> _Trace | None:
    """The trace function of a `lines` block around this one; a debugger's is left alone."""
    return trace if isinstance(getattr(trace, "__self__", None), lines) else None


def _added(turns: list[tuple[Move, ...]]) -> tuple[Move, ...]:
    sums: dict[str, Move] = {}
    for move in (move for turn in turns for move in turn):
        so_far = sums.get(move.name)
        if so_far is None:
            sums[move.name] = move
        else:
            known = so_far.numbers is not None and move.numbers is not None
            numbers = so_far.numbers + move.numbers if known else None  # type: ignore[operator]
            sums[move.name] = Move(move.name, numbers, move.twister)
    return tuple(sums.values())
