"""An ONNX graph as the shapes and edges that `dot` and `svg` draw, from the inputs at the top to the outputs.

Stored tensors are lines in the box that reads them; the nodes of a branch or body stand before their If or Loop.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from torchcourse.export import OnnxGraph, OnnxNode

MOST = 300  # boxes; beyond that, neighbours of one module share a box
LONGEST = 40  # characters of a line


@dataclass(frozen=True, slots=True)
class Shape:
    """One drawn node. paint: a meaning of `look.PAINTS`."""

    key: str
    label: str
    paint: str
    css: str
    tooltip: str
    dashed: bool = False


Edge = tuple[int, int, str]


@dataclass(frozen=True, slots=True)
class _Part:
    """A node, or an end of the graph. graph: the one that it stands in; feeds: names of what it gives."""

    graph: OnnxGraph
    node: OnnxNode | None
    name: str
    reads: tuple[str, ...]
    feeds: tuple[str, ...]
    branch: str = ""  # of the If or Loop that it stands in
    inside: tuple[tuple[int, str], ...] = ()  # the last nodes of its own branches


def parts(graph: OnnxGraph) -> tuple[list[Shape], list[Edge]]:
    """What to draw. Up to MOST nodes are drawn each."""
    found = _found(graph)
    groups = _groups(found)
    home = {i: k for k, group in enumerate(groups) for i in group}
    shapes = [_shape(k, [found[i] for i in group]) for k, group in enumerate(groups)]
    edges = dict.fromkeys((home[a], home[b], label) for a, b, label in _edges(found) if home[a] != home[b])
    return shapes, list(edges)


def caption(graph: OnnxGraph) -> str:
    """The sentence above a drawing that folds; else empty."""
    found = _found(graph)
    groups = _groups(found)
    if len(groups) == len(found):
        return ""
    return f"Folded: {len(groups):,} boxes stand for {len(found):,} nodes, inputs and outputs."


def _found(graph: OnnxGraph) -> list[_Part]:
    found = [_Part(graph, None, value.name, (), (value.name,)) for value in graph.inputs]
    _inner(graph, found, "")
    return found + [_Part(graph, None, value.name, (value.name,), ()) for value in graph.outputs]


def _inner(graph: OnnxGraph, found: list[_Part], branch: str) -> None:
    """The nodes in their order, each after those of its branches; constants stand in the boxes that read them."""
    for node in graph.nodes:
        if node.op == "Constant":
            continue
        inside = []
        for attribute, inner in node.subgraphs:
            before = len(found)
            _inner(inner, found, f"{attribute.replace('_', ' ')} of {node.op}")
            ends = {value.name for value in inner.outputs}
            last = [i for i in range(before, len(found)) if ends & set(found[i].feeds)]
            inside += [(i, attribute.removesuffix("_branch")) for i in last]
        found.append(_Part(graph, node, node.op, node.inputs, node.outputs, branch, tuple(inside)))


def _edges(found: list[_Part]) -> Iterator[Edge]:
    maker: dict[str, int] = {}
    for k, part in enumerate(found):
        yield from ((maker[name], k, "") for name in part.reads if name in maker)
        yield from ((i, k, label) for i, label in part.inside)
        maker |= dict.fromkeys(part.feeds, k)


def _groups(found: list[_Part]) -> list[list[int]]:
    """One each where they are few; else neighbours of one module, from the innermost outwards; then runs."""
    numbers = list(range(len(found)))
    if len(found) <= MOST:
        return [[i] for i in numbers]
    deepest = max((_module(part).count(".") + 1 for part in found), default=1)
    for depth in range(deepest, 0, -1):
        groups = [list(group) for _, group in groupby(numbers, lambda i, d=depth: _key(found[i], i, d))]  # type: ignore[misc]
        if len(groups) <= MOST:
            return groups
    run = -(-len(numbers) // MOST)
    return [numbers[i : i + run] for i in range(0, len(numbers), run)]


def _module(part: _Part) -> str:
    return (part.node.module or "") if part.node else ""


def _key(part: _Part, i: int, depth: int) -> object:
    return ".".join(_module(part).split(".")[:depth]) if part.node else i


def _shape(k: int, group: list[_Part]) -> Shape:
    part = group[0]
    if len(group) > 1:
        name = _module(part) or "the model"
        return Shape(
            f"n{k}", f"{_cut(name)}\n{len(group):,} nodes", "wait", "fold", f"{name}: {len(group):,} nodes"
        )
    if part.node is None:
        value = part.graph.value(part.name)
        return Shape(f"n{k}", _cut(str(value or part.name)), "base", "value", str(value or part.name))
    lines = [part.node.op, *_details(part, part.node)]
    return Shape(f"n{k}", "\n".join(map(_cut, lines)), "run", "operator", str(part.node), bool(part.branch))


def _details(part: _Part, node: OnnxNode) -> Iterator[str]:
    """The lines below the operator's name: what it gives, what it reads of what is stored, its branch."""
    value = part.graph.value(node.outputs[0]) if node.outputs else None
    if value is not None and value.shape is not None:
        yield str(value).removeprefix(value.name).strip()
    stored = {one.name: one for one in part.graph.initialisers}
    constants = {one.name: one.value for one in part.graph.baked}
    for name in node.inputs:
        if name in constants:
            yield f"✎ {constants[name] or name}"
        elif name in stored:
            yield f"{name} {list(stored[name].shape)}"
    if part.branch:
        yield part.branch


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
