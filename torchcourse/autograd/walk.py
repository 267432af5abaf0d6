"""The walk over `next_functions`: breadth first, iterative, each node once."""

from collections.abc import Iterable
from typing import Any

from .data import Edge, maker

make_edge = maker(Edge)

# PyTorch frees a deep graph without recursion only as long as Python never looked at its nodes: a chain of 45,000
# whose nodes were looked at crashes the process when it is freed (2.13, a stack of 8 MiB).
DEEPEST = 25_000  # nodes, one behind the other
TOO_DEEP = (
    f"The graph is more than {DEEPEST:,} nodes deep. PyTorch itself can crash when a chain that Python has looked at "
    "this far is freed, so the look ends here. Look at fewer steps, or detach between them."
)


class Walk:
    """Nodes in the order of their first visit, and the edges between them.

    A C++ node's Python object lives only while somebody holds it, and its identity with it; so the walk
    holds all nodes until it is let go.
    """

    def __init__(self, starts: Iterable[Any]) -> None:
        self.nodes: list[Any] = list(dict.fromkeys(starts))
        self.ids: dict[Any, int] = {node: i for i, node in enumerate(self.nodes)}
        self.edges: list[Edge] = []
        self._go()

    def _go(self) -> None:
        nodes, ids, edges = self.nodes, self.ids, self.edges
        depth, next_level = 0, len(nodes)
        for source, node in enumerate(nodes):  # the list grows while it is read: that is the queue
            if source == next_level:
                depth, next_level = depth + 1, len(nodes)
                if depth > DEEPEST:
                    raise ValueError(TOO_DEEP)
            for slot, (after, output) in enumerate(node.next_functions):
                if after is None:
                    continue
                target = ids.setdefault(after, len(nodes))
                if target == len(nodes):
                    nodes.append(after)
                edges.append(make_edge(source, target, slot, output))
