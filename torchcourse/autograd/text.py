"""The text twins of this package's results."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .data import Graph, Node, Root, Saved


def nbytes(n: int) -> str:
    """1,024 bytes."""
    return f"{n:,} byte{'' if n == 1 else 's'}"


def plural(n: int, one: str) -> str:
    """3 nodes."""
    return (
        f"{n:,} {one}" if n == 1 else f"{n:,} {one.removesuffix('f') + 'ves' if one == 'leaf' else one + 's'}"
    )


def shape(size: tuple[int, ...] | None) -> str:
    """[3, 4], as PyTorch writes sizes; ? where it is not known."""
    return "?" if size is None else str(list(size))


def heading(graph: Graph) -> str:
    """One sentence on the whole graph."""
    what = " and ".join(root.name or "the output" for root in graph.roots[:3])
    more = f" and {len(graph.roots) - 3} more" if len(graph.roots) > 3 else ""
    counts = [plural(len(graph.nodes), "node"), plural(len(graph.edges), "edge")]
    counts.append(plural(len(graph.leaves), "leaf"))
    return f"Graph of {what}{more}: {', '.join(counts)}; saves {nbytes(graph.saved_bytes)}."


def graph(graph: Graph) -> str:
    """The heading, a sentence per output without gradient, then one line per node."""
    return "\n".join(_lines(graph))


def _lines(graph: Graph) -> Iterator[str]:
    if graph.nodes:
        yield heading(graph)
    for root in graph.roots:
        if root.node is None:
            yield _without(root)
    targets: list[list[int]] = [[] for _ in graph.nodes]
    for edge in graph.edges:
        targets[edge.source].append(edge.target)
    for one in graph.nodes:
        arrow = " → " + ", ".join(map(str, targets[one.id])) if targets[one.id] else ""
        yield f"{one.id} {node(one)}{arrow}"


def _without(root: Root) -> str:
    name = f"{root.name} " if root.name else ""
    return f"The output {name}({shape(root.shape)} {root.dtype}) has no graph, so it has no nodes. {root.why}"


def node(node: Node) -> str:
    """`MulBackward0 [3] float32, saves other (12 bytes)`."""
    parts = [node.name]
    if node.variable:
        parts.append(node.variable)
    if node.outputs:
        parts.append(f"{shape(node.shape)} {node.dtype or '?'}")
    head = " ".join(parts)
    notes = []
    if len(node.outputs) > 1:
        notes.append(f"{len(node.outputs)} outputs")
    if node.kind not in ("operator", "AccumulateGrad"):
        notes.append(node.kind)
    if node.saved:
        notes.append("saves " + " and ".join(saved(one) for one in node.saved))
    if node.module:
        notes.append(f"in {node.module}")
    if node.line:
        notes.append(f"at {node.line}")
    if node.stale:
        notes.append('backward will raise "modified by an inplace operation"')
    if node.freed:
        notes.append('backward will raise "a second time"')
    return ", ".join([head, *notes])


def saved(one: Saved) -> str:
    """`other (12 bytes)`, or what happened to it."""
    if one.state == "freed":
        return f"{one.name} (freed)"
    size = nbytes(one.nbytes)
    if one.state == "damaged":
        known = one.version is not None
        versions = f"at version {one.version}, saved at {one.expected}" if known else "written in place"
        return f"{one.name} ({size}, {versions})"
    return f"{one.name} (packed by {one.hook})" if one.state == "packed" else f"{one.name} ({size})"
