"""Where gradients come to, read from the recorded graph: for `cuts`."""

from typing import Any

from torch import Tensor

# A slope of 0 everywhere: what arrives behind is 0.
_FLAT_NODES = ("Round", "Floor", "Ceil", "Trunc", "Sign", "Sgn", "Heaviside")


def node_of(tensor: Tensor) -> Any:
    try:
        return tensor.grad_fn
    except RuntimeError:  # one of several views, written in place
        return None


def reached_from(node: Any) -> tuple[set[int], set[Any]]:
    """ids of the leaves, and the nodes, that a gradient other than 0 can come to from this node."""
    variables: set[int] = set()
    nodes: set[Any] = set()
    todo = [] if node is None else [node]
    while todo:
        node = todo.pop()
        if node in nodes or node.name().startswith(_FLAT_NODES):
            continue
        nodes.add(node)
        if (variable := getattr(node, "variable", None)) is not None:
            variables.add(id(variable))
        todo += [after for after, _ in node.next_functions if after is not None]
    return variables, nodes
