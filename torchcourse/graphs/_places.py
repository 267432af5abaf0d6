"""Where boxes and wires stand: Graphviz's `dot` finds places, in px, for boxes whose sizes are known."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import dist
from typing import Any

import graphviz

from .look import px
from .svg import run_graphviz

PX = 72  # an inch of Graphviz is 72 points, and a point is a px here
MARGIN = 8  # around the picture: room for a ring
TIP = 7  # length of an arrow's tip
LABEL = 26  # from a wire's end to the middle of its label
Point = tuple[float, float]


@dataclass(frozen=True)
class Route:
    """A wire: its curve and its arrow's tip as SVG path data, the place of its label, and whether it runs steeply."""

    path: str
    tip: str
    label: tuple[float, float]
    side: int


@dataclass(frozen=True)
class Layout:
    """The picture's size, the left upper corner of each box, and each wire's route, in px."""

    width: int
    height: int
    spots: tuple[tuple[int, int], ...]
    routes: tuple[Route, ...]


def lay_out(
    sizes: Sequence[tuple[int, int]],
    pairs: Sequence[tuple[int, int]],
    level: Sequence[int] = (),
    direction: str = "RL",
    gap: int = 40,
    spine: Sequence[int] = (),
    beside: int | None = None,
) -> Layout:
    """Places for boxes of these sizes (width, height) and wires between them (source, target).

    level: boxes that stand in one line. direction: "RL" or "TB". gap: px between ranks.
    spine: wires that run straight where they can. beside: px between the boxes of a rank; without it, there is
    room for labels.
    """
    if not sizes:
        return Layout(0, 0, (), ())
    found = json.loads(run_graphviz(_dot(sizes, pairs, level, direction, gap, spine, beside), "json0"))
    _, _, right, top = (float(number) for number in found["bb"].split(","))
    spots = [
        (round(x - w / 2) + MARGIN, round(top - y - h / 2) + MARGIN)
        for (x, y), (w, h) in zip(_centres(found, len(sizes)), sizes, strict=True)
    ]
    curves = {int(edge["id"]): edge["pos"] for edge in found.get("edges", ())}
    routes = tuple(_route(curves[k], top, direction == "TB") for k in range(len(pairs)))
    return Layout(round(right) + 2 * MARGIN, round(top) + 2 * MARGIN, tuple(spots), routes)


def _dot(
    sizes: Sequence[tuple[int, int]],
    pairs: Sequence[tuple[int, int]],
    level: Sequence[int],
    direction: str,
    gap: int,
    spine: Sequence[int],
    beside: int | None,
) -> str:
    # Down, labels stand beside the wires.
    room = beside / PX if beside is not None else 0.45 if direction == "RL" else 0.75
    graph = graphviz.Digraph(
        graph_attr={
            "rankdir": direction,
            "ranksep": f"{gap / PX:.3f}",
            "nodesep": f"{room:.4g}",
            "nslimit": "20",
            "nslimit1": "20",
            "mclimit": "1",
        },
        node_attr={"shape": "box", "fixedsize": "true", "label": ""},
        edge_attr={"arrowsize": "0.6"},
    )
    for k, (w, h) in enumerate(sizes):
        graph.node(f"b{k}", width=f"{w / PX:.4f}", height=f"{h / PX:.4f}")
    for k, (source, target) in enumerate(pairs):
        graph.edge(f"b{source}", f"b{target}", id=str(k), weight="8" if k in spine else "1")
    if len(level) > 1:
        same = graphviz.Digraph(graph_attr={"rank": "same"})
        for k in level:
            same.node(f"b{k}")
        graph.subgraph(same)
    return str(graph.source)


def _centres(found: dict[str, Any], count: int) -> list[Point]:
    named = {item["name"]: item for item in found["objects"] if "pos" in item}
    points = (named[f"b{k}"]["pos"].split(",") for k in range(count))
    return [(float(x), float(y)) for x, y in points]


def _route(pos: str, top: float, down: bool) -> Route:
    """Graphviz writes "e,x,y x,y x,y …": the arrow's end, then the curve's points, y upwards."""
    end, *points = (_point(text, top) for text in pos.replace("e,", "").split())
    path = f"M{_pair(points[0])}C{' '.join(map(_pair, points[1:]))}"
    (ax, ay), (bx, by) = points[0], end
    beside = down or abs(by - ay) > 0.6 * abs(bx - ax)
    side = (-1 if bx < ax - 12 else 1) if beside else 0
    return Route(path, _tip(points[-1], end), _label_place(points), side)


def _point(text: str, top: float) -> Point:
    x, y = text.split(",")
    return float(x) + MARGIN, top - float(y) + MARGIN


def _tip(last: Point, end: Point) -> str:
    """A triangle that ends at the box."""
    dx, dy = end[0] - last[0], end[1] - last[1]
    long = max((dx * dx + dy * dy) ** 0.5, 0.1)
    ux, uy = dx / long, dy / long
    base = end[0] - TIP * ux, end[1] - TIP * uy
    left, right = (base[0] - 4 * uy, base[1] + 4 * ux), (base[0] + 4 * uy, base[1] - 4 * ux)
    return f"M{_pair(end)}L{_pair(left)} {_pair(right)}z"


def _label_place(points: list[Point]) -> Point:
    """The curve's middle, or, on a long one, a place near its end: there the label is clear of other boxes."""
    line = list(_walk(points))
    left = min(LABEL, sum(dist(a, b) for a, b in pairwise(line)) / 2)
    for a, b in pairwise(reversed(line)):
        if left <= dist(a, b):
            part = left / max(dist(a, b), 0.1)
            return a[0] + part * (b[0] - a[0]), a[1] + part * (b[1] - a[1])
        left -= dist(a, b)
    return line[0]


def _walk(points: list[Point], steps: int = 8) -> Iterator[Point]:
    """Points along the curve: a start, and three more for each cubic piece."""
    yield points[0]
    for k in range(0, len(points) - 1, 3):
        a, b, c, d = points[k : k + 4]
        for t in (i / steps for i in range(1, steps + 1)):
            u = 1 - t
            weights = (u**3, 3 * u * u * t, 3 * u * t * t, t**3)
            x, y = (sum(w * p[n] for w, p in zip(weights, (a, b, c, d), strict=True)) for n in (0, 1))
            yield x, y


def _pair(point: Point) -> str:
    return f"{px(point[0])},{px(point[1])}"
