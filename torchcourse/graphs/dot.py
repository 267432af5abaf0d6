"""A graph or a fold as DOT, the text that Graphviz reads; the same bytes for the same input.

From the outputs at the top to the leaves at the bottom: along the gradient's way.
"""

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import graphviz

from torchcourse.autograd import Graph, Node
from torchcourse.export import OnnxGraph

from ._order import levels
from .fold import Box, Folded, node_of
from .look import INKS, PAINTS
from .onnx import Shape
from .onnx import caption as onnx_caption
from .onnx import parts as onnx_parts

# Lines of a middle grey stand out on a white and on a black page.
LINE = PAINTS["rest"].line
# Up to here dot's own layout is quick: nodes, and the ranks that all edges span together.
HARD_NODES, HARD_SPAN, HARD_EDGES = 500, 1500, 700
ACROSS, DOWN = 1.9, 0.8  # inches between nodes that are placed here


def dot(graph: Graph | Folded | OnnxGraph) -> str:
    """DOT of a graph (each node), of a fold (each box) or of an ONNX graph. It draws what it is given, however large.

    A graph that dot's layout would take long for carries places (levels from the outputs) and asks for
    straight lines. Raises TypeError, with a sentence, for anything else.
    """
    return write(graph)


def write(graph: Graph | Folded | OnnxGraph, most_edges: int | None = None) -> str:
    """The DOT with at most so many edges, and a caption that says how many are left out."""
    shapes, edges = drawn(graph)
    note = caption(graph)
    if most_edges is not None and len(edges) > most_edges:
        note = f"{note} Of {len(edges):,} edges, the first {most_edges:,} are drawn.".strip()
        edges = edges[:most_edges]
    places = _places(len(shapes), edges) if is_hard(len(shapes), edges) else None
    picture = graphviz.Digraph(
        "graph", graph_attr=_page(note, bool(places)), node_attr=_BOX, edge_attr=_ARROW
    )
    picture.body += [_line(shape, places[i] if places else {}) for i, shape in enumerate(shapes)]
    for source, target, label in edges:
        more = f" [label={_quoted(label)}]" if label else ""
        picture.body.append(f"\t{shapes[source].key} -> {shapes[target].key}{more}\n")
    return str(picture.source)


# What many nodes have in common is quoted once: a fifth of a drawing's time would go there.
_quoted = lru_cache(4096, typed=True)(graphviz.quoting.quote)


def _line(shape: Shape, place: dict[str, str]) -> str:
    """A node as `Digraph.node` writes it."""
    look = _look(shape) | place
    listed = " ".join([f"{name}={_quoted(look[name])}" for name in sorted(look)])
    return f"\t{shape.key} [label={_quoted(graphviz.escape(shape.label))} {listed}]\n"


def drawn(graph: Graph | Folded | OnnxGraph) -> tuple[list[Shape], list[tuple[int, int, str]]]:
    """The nodes to draw, and the edges between them by position, with labels."""
    if isinstance(graph, Graph):
        return [_node(node) for node in graph.nodes], [(e.source, e.target, "") for e in graph.edges]
    if isinstance(graph, Folded):
        boxes = [_box(graph, box) for box in graph.boxes]
        return boxes, [(e.source, e.target, f"{e.count:,}" if e.count > 1 else "") for e in graph.edges]
    if isinstance(graph, OnnxGraph):
        return onnx_parts(graph)
    raise TypeError(
        f"A drawing is made of autograd.graph(…), fold(…) or export.onnx_graph(…), not of a {type(graph).__name__}."
    )


def is_hard(nodes: int, edges: Iterable[tuple[int, int, str]]) -> bool:
    """Whether dot's own layout could take long: told from the sizes alone, so the same everywhere."""
    pairs = [(a, b) for a, b, _ in edges]
    if nodes > HARD_NODES or len(pairs) > HARD_EDGES:
        return True
    level = levels(nodes, pairs)
    return sum(abs(level[b] - level[a]) for a, b in pairs) > HARD_SPAN


_BOX = {
    "shape": "box",
    "style": "rounded,filled",
    "fontname": "Helvetica",
    "fontsize": "11",
    "fontcolor": INKS["ink"][0],
    "margin": "0.12,0.05",
    "height": "0.35",
}
_ARROW = {"color": LINE, "fontcolor": LINE, "fontname": "Helvetica", "fontsize": "10", "arrowsize": "0.6"}


def _page(note: str, placed: bool) -> dict[str, str]:
    page = {"bgcolor": "transparent", "fontname": "Helvetica", "fontsize": "11", "fontcolor": LINE}
    page |= {"nodesep": "0.2", "ranksep": "0.3", "labelloc": "t", "label": graphviz.escape(note)}
    if placed:
        return page | {"layout": "neato", "splines": "line"}
    # Limits on the steps of dot's network simplex and crossing minimisation.
    return page | {"nslimit": "2", "nslimit1": "2", "mclimit": "0.5", "splines": "spline"}


def caption(graph: Graph | Folded | OnnxGraph) -> str:
    """The sentence above a drawing that does not show each node, or none; else empty."""
    if isinstance(graph, OnnxGraph):
        return onnx_caption(graph)
    if isinstance(graph, Folded):
        if len(graph.boxes) == len(graph.graph.nodes):
            return caption(graph.graph)
        return f"Folded: {len(graph.boxes):,} boxes stand for {len(graph.graph.nodes):,} nodes."
    if graph.nodes:
        return ""
    return "This output has no graph, so there are no nodes."


def _node(node: Node) -> Shape:
    leaf = node.kind == "AccumulateGrad"
    title = node.variable if leaf and node.variable else node.name
    size = "" if node.shape is None else str(list(node.shape))
    mark = "✕ " if node.stale else ("· " if node.freed else "")
    label = "\n".join(line for line in (mark + title, size) if line)
    return Shape(f"n{node.id}", label, _paint(node), node.kind.replace(" ", "-"), str(node), node.freed)


def _paint(node: Node) -> str:
    if node.stale:
        return "now"
    if node.freed:
        return "rest"
    if node.kind == "AccumulateGrad":
        return "base"
    return "view" if node.kind in ("view", "copy") else "run"


def _box(folded: Folded, box: Box) -> Shape:
    node = node_of(folded, box)
    if node is not None:
        one = _node(node)
        return Shape(f"b{box.id}", one.label, one.paint, one.css, one.tooltip, one.dashed)
    nodes = [folded.graph.nodes[i] for i in box.nodes]
    times = f"  ×{box.times:,}" if box.times > 1 else ""
    lines = [f"{box.name}{times}", box.class_name, f"{box.count:,} nodes"]
    saved = sum(one.saved_bytes for one in nodes)
    tooltip = f"{box}; saves {saved:,} bytes" if saved else str(box)
    paint = "now" if any(one.stale for one in nodes) else "wait"
    return Shape(f"b{box.id}", "\n".join(filter(None, lines)), paint, f"fold {box.kind}", tooltip)


def _look(shape: Shape) -> dict[str, Any]:
    paint = PAINTS[shape.paint]
    more = {"style": "rounded,filled,dashed"} if shape.dashed else {}
    return {
        "id": shape.key,
        "class": f"{shape.css} tc-{shape.paint}",
        "fillcolor": paint.fill,
        "color": paint.line,
        "tooltip": graphviz.escape(shape.tooltip),
        **more,
    }


def _places(count: int, edges: list[tuple[int, int, str]]) -> list[dict[str, str]]:
    """Each node's place by its level, side by side in the order of ids."""
    level = levels(count, [(a, b) for a, b, _ in edges])
    filled: dict[int, int] = {}
    places = []
    for i in range(count):
        across = filled.setdefault(level[i], 0)
        filled[level[i]] += 1
        places.append({"pos": f"{across * ACROSS:.2f},{-level[i] * DOWN:.2f}!"})
    return places
