"""An ONNX graph as the nodes of a coverage."""

import ast
from typing import Any

import torch

from ._fx_graph import Drawn
from ._onnx_graph import OnnxGraph
from ._onnx_read import onnx_graph


def read(program: Any) -> list[Drawn]:
    """The nodes of an ONNXProgram: inputs, operators (those of a branch before its If), outputs."""
    graph = onnx_graph(program)
    found: list[Drawn] = []
    ids: dict[str, int] = {}
    for value in graph.inputs:
        ids[value.name] = len(found)
        shape = None if value.shape is None else tuple("?" if s is None else s for s in value.shape)
        found.append(Drawn(value.name, "input", shape=shape, dtype=value.dtype))
    _nodes(graph, found, ids, "")
    outputs = [ids[value.name] for value in graph.outputs if value.name in ids]
    return [*found, Drawn("output", "output", outputs)]


def _nodes(graph: OnnxGraph, found: list[Drawn], ids: dict[str, int], part: str) -> list[int]:
    stored = {one.name: one for one in graph.initialisers}
    constants = {one.name: one.value for one in graph.baked}
    for node in graph.nodes:
        if node.op == "Constant":
            continue
        drawn = Drawn(node.op, "operator", part=part, module=node.module, frames=node.frames)
        for attribute, inner in node.subgraphs:
            drawn.inputs += _nodes(
                inner,
                found,
                dict(ids),
                attribute.replace("_", " ").replace("then", "true").replace("else", "false"),
            )
        drawn.inputs += [ids[name] for name in node.inputs if name in ids]
        drawn.reads = [name for name in node.inputs if name in stored]
        for name in node.inputs:
            _constant(drawn, name, _numbers(constants.get(name, "")))
        value = graph.value(node.outputs[0]) if node.outputs else None
        if value and value.shape is not None:
            drawn.shape, drawn.dtype = tuple("?" if s is None else s for s in value.shape), value.dtype
        found.append(drawn)
        for name in node.outputs:
            ids[name] = len(found) - 1
    return [ids[value.name] for value in graph.outputs if value.name in ids]


def _constant(drawn: Drawn, name: str, numbers: list[Any]) -> None:
    if len(numbers) > 1:
        drawn.tensors.append((name, torch.tensor(numbers)))
    else:
        drawn.numbers += numbers


def _numbers(text: str) -> list[Any]:
    try:
        value = ast.literal_eval(text) if text else []
    except (ValueError, SyntaxError):
        return []
    flat = value if isinstance(value, list) else [value]
    return [n for n in flat if isinstance(n, int | float) and not isinstance(n, bool)]
