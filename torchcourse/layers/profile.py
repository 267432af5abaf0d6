"""The profiler's event tree, with our marks and the modes' own events taken out again.

Under a mode an operator appears as `aten::add > PythonDispatchMode > mark > aten::add > …`: the
outer event is the call, the inner one is the mode passing it on. The two become one. A mark under
an operator of another name is a call that exists only because a mode watches (the `detach` with
which autograd wraps a saved output): it is dropped.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ._torch import MARK
from .nodes import plain_name

ENGINE = "autograd::engine::evaluate_function: "
_NOT_OPERATORS = ("autograd", "torch", "ProfilerStep", "profiler")


@dataclass(slots=True)
class FlatOperator:
    """An operator of the tree; indices are None where nothing was noted for it."""

    name: str
    depth: int
    parent: int | None
    call: int | None
    number: int  # autograd's count of nodes when it started, -1 below autograd
    record: int | None = None  # index of the dispatch mode's note
    inner: bool = False  # called by a kernel, below the dispatch mode
    node: str = ""  # the autograd node that runs it
    written: bool = False  # unwatched it writes into its input (`spelling.py`)


@dataclass(slots=True)
class Flat:
    operators: list[FlatOperator] = field(default_factory=list)
    ran: list[str] = field(default_factory=list)


class _Place(NamedTuple):
    """Where the walk stands."""

    depth: int = 0
    operator: int | None = None  # the enclosing operator in the list
    name: str = ""  # its name, also outside the window
    call: int | None = None
    inner: bool = False
    dropped: bool = False
    node: str = ""


def flatten(roots: list[Any], number: int) -> Flat:
    """The operators between this xray's begin and end marks, in order of start."""
    walk = _Walk(number)
    todo = [(event, _Place()) for event in reversed(roots)]
    while todo:
        event, place = todo.pop()
        todo.extend(reversed(list(walk.visit(event, place))))
    return walk.flat


def _is_operator(event: Any, name: str) -> bool:
    """`library::operator`, but no note of autograd's or the reader's, and no kernel's C++ name."""
    namespace, separator, rest = name.partition("::")
    if not (separator and rest.isidentifier() and namespace.isidentifier()):
        return False
    return namespace not in _NOT_OPERATORS and event.tag.name == "TorchOp"


class _Walk:
    def __init__(self, number: int) -> None:
        self.flat = Flat()
        self.inside = False
        self.base = 0
        self._number = str(number)
        self._calls = self._operators = -1

    def visit(self, event: Any, place: _Place) -> Iterator[tuple[Any, _Place]]:
        name: str = event.name
        if name.startswith(MARK):
            return self._mark(event, name, place)
        if name.startswith(ENGINE):
            return self._engine(event, name, place)
        if name.startswith("aten::") or _is_operator(event, name):
            return self._operator(event, name, place)
        return ((child, place) for child in event.children)

    def _operator(self, event: Any, name: str, place: _Place) -> Iterator[tuple[Any, _Place]]:
        at = place.operator
        if self.inside and not place.dropped:
            number = event.extra_fields.sequence_number
            depth = place.depth - self.base
            self.flat.operators.append(
                FlatOperator(name, depth, at, place.call, number, None, place.inner, place.node)
            )
            at = len(self.flat.operators) - 1
        deeper = place.depth + name.startswith("aten::")
        below = _Place(deeper, at, name, place.call, place.inner, place.dropped, place.node)
        return ((child, below) for child in event.children)

    def _engine(self, event: Any, name: str, place: _Place) -> Iterator[tuple[Any, _Place]]:
        node = name.removeprefix(ENGINE)
        if self.inside and not place.dropped and any(child.name == node for child in event.children):
            self.flat.ran.append(plain_name(node))
            place = place._replace(node=plain_name(node))
        return ((child, place) for child in event.children)

    def _mark(self, event: Any, name: str, place: _Place) -> Iterator[tuple[Any, _Place]]:
        what, number = name.removeprefix(MARK).split(".")
        own = number == self._number
        if what == "operator":
            return self._passed_on(event, place, own)
        if own and what == "call":
            self._calls += 1
            place = place._replace(call=self._calls)
        elif what == "own":
            return iter(())
        elif own:
            self.inside, self.base = what == "begin", place.depth
        return ((child, place) for child in event.children)

    def _passed_on(self, event: Any, place: _Place, own: bool) -> Iterator[tuple[Any, _Place]]:
        """The mode's own event: its first child is the operator again, the rest is our looking."""
        record = None
        if own:
            self._operators += 1
            record = self._operators
        children = list(event.children)
        same = bool(children) and children[0].name == place.name
        if same and not place.dropped and place.operator is not None and own:
            self.flat.operators[place.operator].record = record
        dropped, kernel = place._replace(inner=True, dropped=True), place._replace(inner=True)
        for position, child in enumerate(children):
            if position == 0 and same:
                yield from ((inner, kernel) for inner in child.children)
            else:
                yield child, dropped
