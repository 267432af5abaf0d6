"""Graphs to draw: real ones and made-up ones of any size."""

import random

import torch
from torch import nn

from torchcourse.autograd import Edge, Graph, Node, Output, Root, graph, watch


def made_up(nodes: int, edges: int, seed: int = 0) -> Graph:
    """A random connected graph without cycles."""
    chance = random.Random(seed)
    found = [Edge(chance.randrange(i), i) for i in range(1, nodes)]
    while len(found) < edges:
        a, b = sorted(chance.sample(range(nodes), 2))
        found.append(Edge(a, b))
    return Graph((Root("y", 0),), tuple(_node(i) for i in range(nodes)), tuple(found))


def _node(i: int) -> Node:
    made = (Output((3,), "float32"),)
    return Node(i, "MulBackward0", "operator", made, (), False, False, None, None, None)


def transformer(layers: int, watched: bool = True) -> Graph:
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    model = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
    x = torch.ones(1, 3, 8)
    if not watched:
        return graph(model(x).sum(), names=model)
    with watch(model):
        out = model(x)
    return graph(out.sum(), names=model)


def chain(length: int) -> Graph:
    y = x = torch.ones(1, requires_grad=True)
    for _ in range(length):
        y = y * 1.0 + x
    return graph(y, names={"x": x})
