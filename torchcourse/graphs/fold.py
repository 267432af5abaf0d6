"""A graph folded: modules collapse to one box, repeated blocks are one box with × N.

The boxes are a partition of the graph's nodes, so their counts add up. A fold is data, and `open` gives
the next one, with one box replaced by what is inside.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise

from torchcourse.autograd import Graph, Node

from ._order import order
from ._repeats import repeats

ENOUGH = 6  # a view with fewer boxes opens its largest one
LEAF = "AccumulateGrad"


@dataclass(frozen=True, slots=True)
class Box:
    """Several nodes drawn as one, or one node. kind: a node's kind, "module", "repeat" or "part"."""

    id: int
    name: str  # "MulBackward0", "layers.0", "layers.1 … layers.11"
    kind: str
    count: int  # nodes of the graph behind it
    times: int  # how often the block repeats
    nodes: tuple[int, ...]  # their ids
    module: str | None = None  # the module's path
    class_name: str = ""  # and class

    def __str__(self) -> str:
        times = f" × {self.times:,}" if self.times > 1 else ""
        nodes = "" if self.count == 1 else f": {self.count:,} nodes"
        return f"{self.name}{f' {self.class_name}' if self.class_name else ''}{times}{nodes}"


@dataclass(frozen=True, slots=True)
class Link:
    """The edges from one box's nodes to another's. count: how many they are."""

    source: int
    target: int
    count: int


@dataclass(frozen=True, repr=False)
class Folded:
    """What a view opens with; `str()` is the text twin."""

    graph: Graph
    boxes: tuple[Box, ...]
    edges: tuple[Link, ...]
    at_most: int = field(default=30, compare=False)

    @property
    def count(self) -> int:
        """Nodes of the graph: the sum over the boxes."""
        return sum(box.count for box in self.boxes)

    def open(self, box: int) -> "Folded":
        """This fold with box number `box` replaced by what is inside it; a single node stays.

        Raises ValueError for a number that is no box.
        """
        if not 0 <= box < len(self.boxes):
            raise ValueError(f"There is no box {box!r}; the boxes are 0 to {len(self.boxes) - 1}.")
        tree = _Tree(self.graph)
        groups = [_Group.of(one) for one in self.boxes]
        inside = tree.fit(tree.inside(groups[box]), self.at_most)
        return tree.folded([*groups[:box], *inside, *groups[box + 1 :]], self.at_most)

    def __str__(self) -> str:
        whole = f"{len(self.graph.nodes):,} nodes"
        head = f"Folded: {len(self.boxes):,} boxes stand for {whole}."
        targets: dict[int, list[int]] = defaultdict(list)
        for edge in self.edges:
            targets[edge.source].append(edge.target)
        lines = [
            f"{b.id} {b}" + (f" → {', '.join(map(str, targets[b.id]))}" if targets[b.id] else "")
            for b in self.boxes
        ]
        return "\n".join([head, *lines])

    def __repr__(self) -> str:
        return str(self).splitlines()[0]


def fold(graph: Graph, at_most: int = 30) -> Folded:
    """The graph in at most `at_most` boxes: one per node where they are so few, else modules and repeats.

    Modules are those that the forward ran in (`autograd.watch`), else those that own the parameters; a
    graph without any is cut into repeated runs, and then into parts. Raises TypeError for anything but a
    graph, ValueError for at_most below 1.
    """
    if isinstance(graph, Folded):
        graph = graph.graph
    if not isinstance(graph, Graph):
        raise TypeError(f"fold takes what autograd.graph gives, not a {type(graph).__name__}.")
    if not isinstance(at_most, int) or isinstance(at_most, bool) or at_most < 1:
        raise ValueError(f"at_most is the number of boxes, 1 or more, and got {at_most!r}.")
    tree = _Tree(graph)
    return tree.folded(tree.open_up(at_most), at_most)


@dataclass(slots=True)
class _Group:
    """A box in the making."""

    nodes: list[int]
    kind: str
    name: str = ""
    path: str | None = None
    times: int = 1
    members: int = 1  # items of its level that went into one time

    @staticmethod
    def of(box: Box) -> "_Group":
        return _Group(list(box.nodes), box.kind, box.name, box.module, box.times)


class _Tree:
    """The graph's nodes by module path, each level in the order of the backward."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.rank = order(graph)
        self.home = _homes(graph, self.rank)
        self.classes = dict(graph.classes)
        self.looks: dict[str, int] = {}

    def open_up(self, at_most: int) -> list[_Group]:
        """From one box on: open the largest while there are few, and all of it where that fits."""
        nodes = sorted((node.id for node in self.graph.nodes), key=self.rank.__getitem__)
        if len(nodes) <= at_most:
            return [self._single(i) for i in nodes]
        groups = self.fit(self._level(nodes, ""), at_most)
        closed: set[int] = set()
        while len(groups) < min(ENOUGH, at_most):
            at = self._largest(groups, closed)
            if at is None:
                break
            inside = self.inside(groups[at])
            if len(groups) - 1 + len(inside) <= at_most:
                groups[at : at + 1] = inside
            else:
                closed.add(groups[at].nodes[0])
        return groups

    def _largest(self, groups: list[_Group], closed: set[int]) -> int | None:
        can = [
            i
            for i, g in enumerate(groups)
            if g.kind == "module" and g.times == 1 and g.nodes[0] not in closed
        ]
        return max(can, key=lambda i: len(groups[i].nodes), default=None)

    def inside(self, group: _Group) -> list[_Group]:
        """One level down: the times of a repeat, the inner modules and own nodes of a module."""
        if len(group.nodes) == 1:
            return [group]
        if group.kind == "module" and group.times == 1 and group.path is not None:
            inside = self._level(group.nodes, group.path)
            return inside if len(inside) > 1 else [self._single(i) for i in group.nodes]
        path = (group.path or "").rpartition(".")[0]
        inside = self._items(group.nodes, path)
        return inside if len(inside) > 1 else [self._single(i) for i in group.nodes]

    def _level(self, nodes: list[int], path: str) -> list[_Group]:
        """The items of a level, repeats merged; a level with one item only gives way to the next."""
        items = self._items(nodes, path)
        while len(items) == 1 and items[0].kind == "module" and items[0].path != path:
            path = items[0].path or ""
            items = self._items(nodes, path)
        return self._merge(items)

    def _items(self, nodes: list[int], path: str) -> list[_Group]:
        prefix = f"{path}." if path else ""
        groups: dict[str | int, _Group] = {}
        for i in nodes:
            home = self.home[i]
            if home is None or home == path or not home.startswith(prefix):
                groups[i] = self._single(i)
                continue
            child = prefix + home[len(prefix) :].partition(".")[0]
            group = groups.setdefault(child, _Group([], "module", child, child))
            group.nodes.append(i)
        return list(groups.values())

    def _single(self, i: int) -> _Group:
        node = self.graph.nodes[i]
        return _Group([i], node.kind, node.variable if node.kind == LEAF and node.variable else node.name)

    def _merge(self, items: list[_Group]) -> list[_Group]:
        """Neighbours that look alike become one box with × N: modules, not single nodes."""
        keys = [self._look(item) if item.kind == "module" else -1 - k for k, item in enumerate(items)]
        return [_merged(items[a : a + n * t], n, t) for a, n, t in repeats(keys)]

    def _look(self, group: _Group) -> int:
        """A number for groups whose nodes have the same names and shapes in the same order."""
        key = str(tuple((n.name, n.shape) for n in map(self.graph.nodes.__getitem__, group.nodes)))
        return self.looks.setdefault(key, len(self.looks))

    def fit(self, items: list[_Group], at_most: int) -> list[_Group]:
        """At most so many: first repeated runs of single nodes, then neighbours in parts."""
        if len(items) <= at_most:
            return items
        keys = [self._look(item) for item in items]
        items = [_merged(items[a : a + n * t], n, t) for a, n, t in repeats(keys)]
        if len(items) <= at_most:
            return items
        cuts = [len(items) * k // at_most for k in range(at_most + 1)]
        parts = [items[a:b] for a, b in pairwise(cuts)]
        return [part[0] if len(part) == 1 else _part(part) for part in parts]

    def folded(self, groups: list[_Group], at_most: int) -> Folded:
        boxes = tuple(self._box(i, group) for i, group in enumerate(groups))
        where = {node: box.id for box in boxes for node in box.nodes}
        links = Counter((where[e.source], where[e.target]) for e in self.graph.edges)
        edges = tuple(Link(a, b, n) for (a, b), n in sorted(links.items()) if a != b)
        return Folded(self.graph, boxes, edges, at_most)

    def _box(self, i: int, group: _Group) -> Box:
        named = group.kind == "module" and group.times == 1
        name = self.classes.get(group.path or "", "") if named else ""
        return Box(
            i, group.name, group.kind, len(group.nodes), group.times, tuple(group.nodes), group.path, name
        )


def _merged(items: list[_Group], length: int, times: int) -> _Group:
    """`times` runs of `length` neighbours as one group."""
    if times == 1 and length == 1:
        return items[0]
    nodes = [i for item in items for i in item.nodes]
    if length == 1:
        first, last = items[0], items[-1]
        name = first.name if first.name == last.name else f"{last.name} … {first.name}"
        kind = "module" if first.kind == "module" else "repeat"
        return _Group(nodes, kind, name, first.path, times)
    names = [item.name for item in items[:length]]
    short = ", ".join(names[:3]) + (" …" if length > 3 else "")
    return _Group(nodes, "repeat", short, items[0].path, times)


def _part(items: list[_Group]) -> _Group:
    """Neighbours that have nothing in common but their place."""
    names = Counter(item.name for item in items)
    often = ", ".join(name for name, _ in names.most_common(2))
    return _Group([i for item in items for i in item.nodes], "part", f"{often} …")


def _homes(graph: Graph, rank: list[int]) -> list[str | None]:
    """Each node's module; a node without one joins the module that all its users are in."""
    homes = [node.module for node in graph.nodes]
    users: dict[int, list[int]] = defaultdict(list)
    for edge in graph.edges:
        users[edge.target].append(edge.source)
    if not any(homes):
        return homes
    for node in sorted(graph.nodes, key=lambda node: rank[node.id]):
        if homes[node.id] is None and node.kind != LEAF:
            homes[node.id] = _shared(homes[i] for i in users[node.id])
    return homes


def _shared(homes: Iterable[str | None]) -> str | None:
    """The innermost module that holds all of these."""
    parts = [home.split(".") if home else [] for home in homes]
    shared = []
    for step in zip(*parts, strict=False):
        if len(set(step)) > 1:
            break
        shared.append(step[0])
    return ".".join(shared) or None


def node_of(folded: Folded, box: Box) -> Node | None:
    """The node behind a box of one."""
    return folded.graph.nodes[box.nodes[0]] if box.count == 1 else None
