"""The text twins of this package's results."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .data import Graph, Node, Output, Root, Saved


@lru_cache(1024)
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
    targets = [""] * len(graph.nodes)
    for edge in graph.edges:
        targets[edge.source] += f", {edge.target}"
    said: dict[int, str] = {}
    for one, onward in zip(graph.nodes, targets, strict=True):
        yield f"{one.id} {node(one, said)} →{onward[1:]}" if onward else f"{one.id} {node(one, said)}"


def _without(root: Root) -> str:
    name = f"{root.name} " if root.name else ""
    return f"The output {name}({shape(root.shape)} {root.dtype}) has no graph, so it has no nodes. {root.why}"


def node(node: Node, said: dict[int, str] | None = None) -> str:
    """`MulBackward0 [3] float32, saves other (12 bytes)`.

    said: texts of parts by id; nodes share their parts, so a graph says each once.
    """
    said = {} if said is None else said
    text = f"{node.name} {node.variable}" if node.variable else node.name
    if node.outputs:
        text += said.get(id(node.outputs)) or said.setdefault(id(node.outputs), outputs(node.outputs))
    if node.kind not in ("operator", "AccumulateGrad"):
        text += f", {node.kind}"
    if node.saved:
        parts = [said.get(id(one)) or said.setdefault(id(one), saved(one)) for one in node.saved]
        text += f", saves {' and '.join(parts)}"
    if node.module:
        text += f", in {node.module}"
    if node.line:
        text += f", at {node.line}"
    if node.stale:
        text += ', backward will raise "modified by an inplace operation"'
    return f'{text}, backward will raise "a second time"' if node.freed else text


@lru_cache(1024)
def output(size: tuple[int, ...] | None, dtype: str | None) -> str:
    """` [3] float32`."""
    return f" {shape(size)} {dtype or '?'}"


def outputs(made: tuple[Output, ...]) -> str:
    """` [3] float32`, and how many there are."""
    first = output(made[0].shape, made[0].dtype)
    return first if len(made) == 1 else f"{first}, {len(made)} outputs"


def saved(one: Saved) -> str:
    """`other (12 bytes)`, or what happened to it."""
    if one.state == "ok":
        return f"{one.name} ({nbytes(one.nbytes)})"
    if one.state == "freed":
        return f"{one.name} (freed)"
    size = nbytes(one.nbytes)
    if one.state == "damaged":
        known = one.version is not None
        versions = f"at version {one.version}, saved at {one.expected}" if known else "written in place"
        return f"{one.name} ({size}, {versions})"
    return f"{one.name} (packed by {one.hook})"
