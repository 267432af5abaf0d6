"""Source and graph held side by side: what became of each line."""

import ast
from collections import defaultdict
from collections.abc import Iterator

from ._coverage import GraphNode, Line, Source
from ._fx_graph import Drawn
from ._reading import Forward, rounds
from ._statements import Statement

_PARTS = {"true branch": 1, "false branch": 2}  # argument of torch.cond that the branch is made of
Places = dict[tuple[int, int], list[int]]  # (source, first line of a statement) -> nodes


def placed(drawn: list[Drawn], found: list[Forward]) -> tuple[GraphNode, ...]:
    """The nodes with their places in these sources."""
    return tuple(node.node(i, tuple(_places(node, found))) for i, node in enumerate(drawn))


def _places(node: Drawn, found: list[Forward]) -> Iterator[tuple[int, int]]:
    for frame in node.frames:
        for k, one in enumerate(found):
            if one.holds(frame.file, frame.line):
                yield k, frame.line
    yield from _branch(node, found)


def _branch(node: Drawn, found: list[Forward]) -> Iterator[tuple[int, int]]:
    """A branch of torch.cond is exported without lines of its own: take those of the function that was given."""
    if node.part not in _PARTS or not node.frames:
        return
    frame = node.frames[-1]
    for k, one in enumerate(found):
        step = one.at(frame.line) if one.holds(frame.file, frame.line) else None
        name = _given(step, _PARTS[node.part]) if step else ""
        yield from ((k, inner.first) for inner in one.steps if name and inner.owner == name and inner.node)


def _given(step: Statement, number: int) -> str:
    for call in ast.walk(step.node or ast.Pass()):
        if isinstance(call, ast.Call) and ast.unparse(call.func).endswith("cond") and len(call.args) > number:
            return ast.unparse(call.args[number])
    return ""


def judged(
    found: list[Forward], nodes: tuple[GraphNode, ...], stop: tuple[str, int] | None = None
) -> tuple[Source, ...]:
    """The sources, each line with its kind. stop: file and line where the export stopped; then only that line."""
    places: Places = defaultdict(list)
    for node in nodes:
        for k, line in node.at:
            step = found[k].at(line)
            if step and node.id not in places[k, step.first]:
                places[k, step.first].append(node.id)
    return tuple(_source(k, one, places, stop) for k, one in enumerate(found))


def _source(k: int, one: Forward, places: Places, stop: tuple[str, int] | None) -> Source:
    lines = []
    for i, text in enumerate(one.text):
        number = one.start + i
        if stop is not None:
            here = one.holds(*stop) and number == stop[1]
            lines.append(Line(number, text, "stopped" if here else "plain", number))
        else:
            lines.append(_line(k, one, number, text, places))
    return Source(one.name, tuple(one.modules), tuple(lines), one.why)


def _line(k: int, one: Forward, number: int, text: str, places: Places) -> Line:
    step = one.at(number)
    if step is None:
        return Line(number, text, "plain", number)
    nodes = tuple(places.get((k, step.first), ()))
    kind = _kind(one, step, nodes)
    counts: tuple[int, ...] = ()
    if step.loop and kind != "not taken":
        counts = rounds(one, step)
        inside = {
            node
            for s in one.steps
            if step.first <= s.first <= step.last_inside
            for node in places.get((k, s.first), ())
        }
        nodes, kind = tuple(sorted(inside)), "traced" if inside else kind
    return Line(number, text, kind, step.first, nodes, counts, _note(one, step, kind))


def _kind(one: Forward, step: Statement, nodes: tuple[int, ...]) -> str:
    if nodes:
        return "traced"
    if step.follows:
        after = one.at(step.follows)
        return "plain" if after is None or _did_run(one, after) else "not taken"
    if not _did_run(one, step):
        return "plain" if step.plain and not isinstance(step.node, ast.Return | ast.Pass) else "not taken"
    return "plain" if step.plain else "no trace"


def _did_run(one: Forward, step: Statement) -> bool:
    return any(line in one.ran for line in range(step.first, step.last + 1))


def _note(one: Forward, step: Statement, kind: str) -> str:
    """What a line without a trace did once, for this example."""
    if kind == "not taken":
        return ""
    if isinstance(step.node, ast.For) and one.values and one.values.reads(step.node.iter):
        return "the example decides how often"
    if isinstance(step.node, ast.If):
        return "decided for this example" if kind == "no trace" else ""
    if isinstance(step.node, ast.Assert):
        return "checked once" if kind == "no trace" else ""
    printed = isinstance(step.node, ast.Expr) and isinstance(step.node.value, ast.Call)
    if printed and kind == "no trace" and ast.unparse(step.node.value.func) == "print":  # type: ignore[union-attr]
        return "printed once"
    return ""
