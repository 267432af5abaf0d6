"""The profiler's event tree, with our marks and the modes' own events taken out again.

Under a mode an operator appears as `aten::add > PythonDispatchMode > mark > aten::add > …`: the
outer event is the call, the inner one is the mode passing it on. The two become one. A mark under
an operator of another name is a call that exists only because a mode watches (the `detach` with
which autograd wraps a saved output): it is dropped.

Since 2.14 a custom operator written in Python leaves no event of its own, neither outside nor inside
(`OpOverload._enable_pyobj_dispatch`): there the mode's note alone tells its name.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ._torch import MARK
from .nodes import plain_name

ENGINE = "autograd::engine::evaluate_function: "
PASSED_ON = "PythonDispatchMode"
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
    silent: bool = False  # directly in an operator that has no event


def flatten(roots: list[Any], number: int, names: list[str]) -> Flat:
    """The operators between this xray's begin and end marks, in order of start.

    names: of the operators that its dispatch mode noted, in order.
    """
    walk = _Walk(number, names)
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
    def __init__(self, number: int, names: list[str]) -> None:
        self.flat = Flat()
        self._names = names
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
        below = self._listed(name, event.extra_fields.sequence_number, place)
        return ((child, below) for child in event.children)

    def _listed(self, name: str, number: int, place: _Place, record: int | None = None) -> _Place:
        """Add an operator to the list; where what runs in it stands."""
        at = place.operator
        if self.inside and not place.dropped:
            depth = place.depth - self.base
            self.flat.operators.append(
                FlatOperator(name, depth, at, place.call, number, record, place.inner, place.node)
            )
            at = len(self.flat.operators) - 1
        deeper = place.depth + name.startswith("aten::")
        return _Place(deeper, at, name, place.call, place.inner, place.dropped, place.node)

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
        children = list(event.children)
        first = children[0].name if children else ""
        if own:
            self._operators += 1
            if self._names[self._operators] not in (place.name, first):
                return self._silent(children, place)
        elif place.silent or first == PASSED_ON:  # another xray's, around such an operator
            return ((child, place) for child in children)
        same = bool(children) and first == place.name
        if same and not place.dropped and place.operator is not None and own:
            self.flat.operators[place.operator].record = self._operators
        return self._again(children, place, same)

    def _silent(self, children: list[Any], place: _Place) -> Iterator[tuple[Any, _Place]]:
        """An operator without an event: the note's name stands for it."""
        below = self._listed(self._names[self._operators], -1, place, self._operators)
        return ((child, below._replace(inner=True, silent=True)) for child in children)

    def _again(self, children: list[Any], place: _Place, same: bool) -> Iterator[tuple[Any, _Place]]:
        dropped, kernel = place._replace(inner=True, dropped=True), place._replace(inner=True)
        for position, child in enumerate(children):
            if position == 0 and same:
                yield from ((inner, kernel) for inner in child.children)
            else:
                yield child, dropped
