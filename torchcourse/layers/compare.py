"""Two spellings of one thing, side by side: what does the one trigger that the other does not?"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .events import Trace


@dataclass(frozen=True, slots=True)
class Difference:
    """One count that both spellings have: what is counted, and how many each."""

    what: str
    a: int
    b: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """totals: operators, views, … of both; operators: those whose number differs, by name.

    `.differs` holds the totals that differ. Bytes where the name says so, else counts.
    """

    names: tuple[str, str]
    a: Trace
    b: Trace
    totals: tuple[Difference, ...]
    operators: tuple[Difference, ...]

    @property
    def differs(self) -> tuple[Difference, ...]:
        return tuple(total for total in self.totals if total.a != total.b)

    @property
    def same(self) -> bool:
        """Both ran the same operators, recorded the same nodes and waited alike."""
        return not self.differs and not self.operators

    def __str__(self) -> str:
        return _text(self)


def compare(a: Any, b: Any, names: tuple[str, str] = ("a", "b")) -> Comparison:
    """Xray two functions without arguments (each is called once), or take two xrays.

    TypeError: neither a function nor an xray.
    """
    left, right = _trace(a, names[0]), _trace(b, names[1])
    totals = zip(_totals(left).items(), _totals(right).values(), strict=True)
    return Comparison(
        names,
        left,
        right,
        tuple(Difference(what, one, other) for (what, one), other in totals),
        _operators(left, right),
    )


def _trace(spelling: Callable[[], Any] | Any, name: str) -> Trace:
    if isinstance(trace := getattr(spelling, "trace", spelling), Trace):
        return trace
    if not callable(spelling):
        raise TypeError(
            f"compare calls two functions without arguments, or takes two xrays; {name} is "
            f"a {type(spelling).__name__}. Write `lambda: …` around the code."
        )
    from .seen import xray

    seen: Trace = xray(spelling).trace
    return seen


def _totals(trace: Trace) -> dict[str, int]:
    kinds = Counter(output.kind for operator in trace.operators for output in operator.outputs)
    return {
        "operators": len(trace.operators),
        "views": kinds["view"],
        "in place": kinds["in-place"],
        "new tensors": kinds["new"],
        "new bytes": trace.new_bytes,
        "peak bytes": trace.peak_bytes,
        "nodes": len(trace.nodes),
        "saved bytes": sum(node.saved_bytes for node in trace.nodes),
        "nodes that ran": len(trace.ran),
        "waits": len(trace.waits),
    }


def _operators(left: Trace, right: Trace) -> tuple[Difference, ...]:
    one = Counter(operator.name for operator in left.operators)
    other = Counter(operator.name for operator in right.operators)
    names = [name for name in dict.fromkeys((*one, *other)) if one[name] != other[name]]
    return tuple(Difference(name, one[name], other[name]) for name in names)


def _text(comparison: Comparison) -> str:
    if comparison.same:
        return "No difference: the same operators, bytes, nodes and waits."
    shown = (*comparison.differs, *comparison.operators)
    width = max(len(difference.what) for difference in shown)
    left, right = (max(9, len(name)) for name in comparison.names)
    head = f"{'':<{width}}  {comparison.names[0]:>{left}}  {comparison.names[1]:>{right}}"
    body = [f"{d.what:<{width}}  {d.a:>{left},}  {d.b:>{right},}" for d in shown]
    return "\n".join([head, *body, *comparison.a.notes, *comparison.b.notes])
