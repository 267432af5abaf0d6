"""`draws`: line by line, which random generators moved, by how many numbers, and through which operators.

`randomness.lines` tells the first two for all generators; the operators of torch's are xray's.
"""

import sys
from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from types import TracebackType
from typing import Any

import torch

from torchcourse.randomness import Line, Lines, lines

from .events import Operator
from .seen import Seen, Xray

RUNNING = "The block still runs: what it drew is known when it ends."
NONE = "No line drew a random number."
LONGEST = 52  # characters of a source line in the table


@dataclass(frozen=True)
class Drawn:
    """One line that moved a generator. `.line.moves`: which, and how far. operators: (name, how often) of torch's."""

    line: Line
    operators: tuple[tuple[str, int], ...] = ()

    @property
    def told(self) -> str:
        """The operators in words."""
        return ", ".join(name + (f" ×{times}" if times > 1 else "") for name, times in self.operators)


@dataclass
class _Block:
    lines: tuple[Drawn, ...] | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Draws:
    """What `draws` hands over: `.lines`, known when the block has ended, also when it raised. `str()` is a table."""

    _block: _Block = field(default_factory=_Block)

    @property
    def lines(self) -> tuple[Drawn, ...]:
        """The lines that moved a generator, in the order of the file; empty while the block runs."""
        return self._block.lines or ()

    @property
    def moved(self) -> tuple[str, ...]:
        """Names of the generators that any line moved, in the order of the lines."""
        return tuple(dict.fromkeys(move.name for drawn in self.lines for move in drawn.line.moves))

    def __str__(self) -> str:
        return RUNNING if self._block.lines is None else _table(self.lines) if self.lines else NONE

    __repr__ = __str__


class draws:
    """`with tc.draws() as seen: …`, then `seen`: which line moved which random generator, how far, by which operators.

    own: your generators by name, watched beside torch's, NumPy's and Python's global ones (see `randomness.states`,
    also for what is raised). Serves one block. It changes no state.
    """

    def __init__(self, *unnamed: Any, **own: Any) -> None:
        self._lines, self._draws = lines(*unnamed, **own), Draws()

    def __enter__(self) -> Draws:
        home = sys._getframe(1)
        file = home.f_code.co_filename
        self._xray = Xray({file}, file)
        self._seen = self._xray.__enter__()
        self._moved = self._lines.start(home)
        return self._draws

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._lines.__exit__(kind, error, trace)
        self._xray.__exit__(kind, error, trace)
        self._draws._block.lines = joined(self._moved, self._seen)


def joined(moved: Lines, seen: Seen) -> tuple[Drawn, ...]:
    """The lines that moved a generator, with the drawing operators that an xray of the same block found there."""
    by_line: dict[int | None, Counter[str]] = {}
    for operator in drawing(seen.operators):
        by_line.setdefault(operator.line, Counter())[operator.name.removeprefix("aten::")] += 1
    return tuple(Drawn(line, tuple(by_line.get(line.number, Counter()).items())) for line in moved.lines)


def drawing(operators: tuple[Operator, ...]) -> tuple[Operator, ...]:
    """Those that take random numbers themselves: `aten::bernoulli_`, not the `aten::dropout` around it."""
    found: list[Operator] = []
    drew: set[int] = (
        set()
    )  # depths of operators that drew, whose caller is still to come: we go from last to first
    for operator in reversed(operators):
        inside = {depth for depth in drew if depth > operator.depth}
        if inside or is_random(operator.name):
            drew = drew - inside | {operator.depth}
            found += [] if inside else [operator]
    return tuple(reversed(found))


@cache
def is_random(name: str) -> bool:
    """Whether PyTorch marks an overload of this operator as one that draws from a generator."""
    packet = getattr(torch.ops.aten, name.removeprefix("aten::"), None)
    overloads = packet.overloads() if packet is not None else []
    return any(torch.Tag.nondeterministic_seeded in getattr(packet, overload).tags for overload in overloads)


def _table(found: tuple[Drawn, ...]) -> str:
    rows = [("line", "source", "", "moved", "operators")]
    for drawn in found:
        line = drawn.line
        source = line.source if len(line.source) <= LONGEST else line.source[: LONGEST - 1] + "…"
        moved = ", ".join(map(str, line.moves))
        rows.append((str(line.number), source, f"×{line.times}" if line.times > 1 else "", moved, drawn.told))
    wide = [max(len(row[k]) for row in rows) for k in range(4)]
    return "\n".join(
        f"{a:>{wide[0]}}  {b:<{wide[1]}}  {c:>{wide[2]}}  {d:<{wide[3]}}  {e}".rstrip()
        for a, b, c, d, e in rows
    )
