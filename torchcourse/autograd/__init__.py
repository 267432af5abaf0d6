"""Autograd: the graph that a forward records, and the engine's run over it.

`graph` shows what was recorded: nodes, edges, saved tensors, and which of them backward would refuse.
`watch` notes which module made which node. `record_backward` runs the real backward and tells each step;
`rule` says in words what a node does with the gradient.
"""

from .data import Edge, Graph, Node, Output, Root, Saved, Variable
from .graph import graph
from .record import NoGraph, record_backward
from .rules import rule
from .run import Accumulation, BackwardRecord, NotFinite, Step
from .stats import Stats
from .watch import watch

__all__ = [
    "Accumulation",
    "BackwardRecord",
    "Edge",
    "Graph",
    "NoGraph",
    "Node",
    "NotFinite",
    "Output",
    "Root",
    "Saved",
    "Stats",
    "Step",
    "Variable",
    "graph",
    "record_backward",
    "rule",
    "watch",
]
