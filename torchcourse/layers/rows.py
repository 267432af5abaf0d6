"""One row a line of the reader's code, with its sums: what the folding table shows."""

from collections import defaultdict
from dataclasses import dataclass

from .events import Trace


@dataclass(frozen=True, slots=True)
class Row:
    """Sums of one source line; line None gathers what no line of the file led to.

    calls of the Python front; operators (all, with those that composite ones and kernels call);
    new, views, in_place: outputs of that kind; new_bytes and saved_bytes in bytes; nodes
    recorded; waits. first: index of the line's first operator, or None.
    """

    line: int | None
    source: str
    calls: int = 0
    operators: int = 0
    new: int = 0
    views: int = 0
    in_place: int = 0
    new_bytes: int = 0
    nodes: int = 0
    saved_bytes: int = 0
    waits: tuple[str, ...] = ()
    first: int | None = None


_KINDS = {"new": "new", "view": "views", "in-place": "in_place"}


class _Sums:
    def __init__(self) -> None:
        self.counts: dict[str, int] = defaultdict(int)
        self.waits: list[str] = []
        self.first: int | None = None


def rows(trace: Trace) -> tuple[Row, ...]:
    """The lines that triggered something, in the order of the file; None last."""
    sums: dict[int | None, _Sums] = defaultdict(_Sums)
    for i, operator in enumerate(trace.operators):
        at = sums[operator.line]
        at.first = i if at.first is None else at.first
        at.counts["operators"] += 1
        for output in operator.outputs:
            at.counts[_KINDS[output.kind]] += 1
            at.counts["new_bytes"] += output.nbytes
    for node in trace.nodes:
        sums[node.line].counts["nodes"] += 1
        sums[node.line].counts["saved_bytes"] += node.saved_bytes
    for wait in trace.waits:
        sums[wait.line].waits.append(wait.cause)
    for line in [call.line for call in trace.calls if call.line in sums]:
        sums[line].counts["calls"] += 1
    source = dict(trace.source)
    order = sorted(sums, key=lambda line: (line is None, line or 0))
    return tuple(_row(line, source.get(line or 0, ""), sums[line]) for line in order)


def _row(line: int | None, source: str, sums: _Sums) -> Row:
    return Row(line, source, **sums.counts, waits=tuple(sums.waits), first=sums.first)
