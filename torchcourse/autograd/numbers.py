"""What the forward computed, where it was one number and is still there to be read."""

from collections.abc import Iterator
from math import prod
from types import FrameType
from typing import Any, NamedTuple

import torch

from . import _torch
from .data import Graph, Node
from .graph import build, grad_fn
from .names import Names

# Under these names a node keeps an input of its operator (slot) or what it made (None).
_KEPT = {"self": 0, "other": 1, "result": None}


class Numbers(NamedTuple):
    """made: (node id, output number) -> what the forward computed there. saved: (node id, name) -> number."""

    made: dict[tuple[int, int], float]
    saved: dict[tuple[int, str], float]


UNKNOWN = Numbers({}, {})


def numbers(output: torch.Tensor, graph: Graph, names: Any = None, frame: FrameType | None = None) -> Numbers:
    """The numbers of the forward that are still known: the output, leaves, what nodes saved, and what has a name.

    graph: `graph(output)`. names, frame: as for `build`; what no node saved and no variable holds is gone.
    Only tensors of one element; nothing is unpacked by a hook, and nothing runs.
    Mirrors `_saved_self`, `_saved_result` … of a node
    (https://docs.pytorch.org/docs/stable/notes/autograd.html#saved-tensors).
    """
    _, walk = build((output,), {}, None)
    made: dict[tuple[int, int], float] = {}
    saved: dict[tuple[int, str], float] = {}
    inputs = {(edge.source, edge.slot): (edge.target, edge.output) for edge in graph.edges}
    with _torch.quiet():
        _note(made, (0, output.output_nr), output)
        for tensor, _ in Names(names, frame).made():
            at = walk.ids.get(grad_fn(tensor))
            if at is not None and tensor._version == 0:  # never written in place since
                _note(made, (at, tensor.output_nr), tensor)
        for node, real in zip(graph.nodes, walk.nodes, strict=True):
            if node.kind == "AccumulateGrad":
                _note(made, (node.id, 0), real.variable)
            for name, tensor in _saved(node, real):
                _note(saved, (node.id, name), tensor)
                slot = _KEPT.get(name, -1)
                place = (node.id, 0) if slot is None else inputs.get((node.id, slot))
                # The node of a double backward counts its inputs from its own grad on.
                if place and "BackwardBackward" not in node.name:
                    _note(made, place, tensor)
    return Numbers(made, saved)


def _saved(node: Node, real: Any) -> Iterator[tuple[str, Any]]:
    """What can be read as it is: not freed, not damaged, not packed by a hook; of one element."""
    for one in node.saved:
        if one.state == "ok" and one.shape is not None and prod(one.shape) == 1:
            yield one.name, getattr(real, f"_saved_{one.name}", None)


def _note(found: dict[Any, float], key: Any, tensor: Any) -> None:
    if isinstance(tensor, torch.Tensor) and tensor.numel() == 1 and not tensor.is_complex():
        found.setdefault(key, float(tensor))
