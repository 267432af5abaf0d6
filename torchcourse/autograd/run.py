"""What the engine's run was, as plain data."""

from dataclasses import dataclass, field

from .data import Graph
from .stats import Stats
from .text import nbytes, plural


@dataclass(frozen=True, slots=True)
class Accumulation:
    """What AccumulateGrad did to a leaf's `.grad`. before: None where there was no `.grad` yet."""

    variable: str | None
    before: Stats | None
    added: Stats | None
    after: Stats | None

    def __str__(self) -> str:
        start = "None" if self.before is None else str(self.before)
        return f"{self.variable or 'the leaf'}.grad: {start} + {self.added} = {self.after}"


@dataclass(frozen=True, slots=True)
class Step:
    """One node's turn. The gradients are those of the real run; an entry is None where none flowed."""

    index: int
    node: int  # id in graph(loss)
    name: str
    rule: str  # the local rule in words
    entered: tuple[Stats | None, ...]  # per output of the forward operator, summed over its users
    left: tuple[Stats | None, ...]  # per input of the forward operator: along its slots
    accumulated: Accumulation | None  # for AccumulateGrad
    freed_bytes: int  # what the node's saved tensors gave back afterwards
    finished: bool = True  # False: it raised
    seconds: float = field(default=0.0, compare=False)

    @property
    def norm(self) -> float | None:
        """The 2-norm of the gradient that entered (the first one, with several)."""
        return next((one.norm for one in self.entered if one is not None), None)

    @property
    def finite(self) -> bool:
        return all(one is None or one.finite for one in (*self.entered, *self.left))

    def __str__(self) -> str:
        parts = [f"{self.index} {self.name} (node {self.node}): {_all(self.entered)}"]
        if self.accumulated is not None:
            parts.append(str(self.accumulated))
        elif self.finished:
            parts[0] += f" → {_all(self.left)}"
        else:
            parts.append("it raised")
        if self.freed_bytes:
            parts.append(f"frees {nbytes(self.freed_bytes)}")
        return "; ".join(parts)


def _all(found: tuple[Stats | None, ...]) -> str:
    return " and ".join("none" if one is None else str(one) for one in found) or "nothing"


@dataclass(frozen=True, slots=True)
class NotFinite:
    """Where a NaN or an infinity was first seen. when: "entered" or "left"."""

    step: int
    node: int
    name: str
    when: str

    def __str__(self) -> str:
        verb = "arrived at" if self.when == "entered" else "came out of"
        return f"The first NaN or Inf {verb} {self.name} (node {self.node}), in step {self.step}."


@dataclass(frozen=True, repr=False)
class BackwardRecord:
    """The engine's real run: its steps in order. `graph` is the graph as it was before."""

    graph: Graph
    steps: tuple[Step, ...]
    kept: bool  # the graph's saved tensors are still there (retain_graph, create_graph)
    error: str | None = None  # the first line of what the run raised

    @property
    def order(self) -> tuple[int, ...]:
        """The ids of the nodes, in the order in which they ran."""
        return tuple(step.node for step in self.steps)

    @property
    def first_bad(self) -> NotFinite | None:
        """Where NaN or Inf was first seen, or None."""
        for step in self.steps:
            for when, found in (("entered", step.entered), ("left", step.left)):
                if any(one is not None and not one.finite for one in found):
                    return NotFinite(step.index, step.node, step.name, when)
        return None

    @property
    def freed_bytes(self) -> int:
        return sum(step.freed_bytes for step in self.steps)

    def _heading(self) -> str:
        ran = f"{len(self.steps):,} of {plural(len(self.graph.nodes), 'node')} ran"
        end = "; the graph is kept" if self.kept else ""
        return f"Backward: {ran}{end}." + (f" It raised: {self.error}" if self.error else "")

    def __str__(self) -> str:
        bad = self.first_bad
        lines = [self._heading(), *map(str, self.steps), *([str(bad)] if bad else [])]
        return "\n".join(lines)

    def __repr__(self) -> str:
        return self._heading()
