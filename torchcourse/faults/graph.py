"""What the graph behind a loss tells before backward runs: its leaves, its age, who stands before a ReLU."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor

# These only move or copy numbers: the activation behind them is still what the loss sees.
SHAPES = {
    "AliasBackward0", "CloneBackward0", "ExpandBackward0", "IndexBackward0", "PermuteBackward0", "SelectBackward0",
    "SliceBackward0", "SqueezeBackward0", "SqueezeBackward1", "SqueezeBackward2", "TBackward0", "ToCopyBackward0",
    "TransposeBackward0", "UnsafeViewBackward0", "UnsqueezeBackward0", "ViewBackward0", "ReshapeAliasBackward0",
}  # fmt: skip
LAYERS = SHAPES | {
    "AddmmBackward0", "MmBackward0", "LinearBackward0", "ConvolutionBackward0", "MkldnnConvolutionBackward0",
    "NativeBatchNormBackward0", "CudnnBatchNormBackward0",
}  # fmt: skip
RELUS = {"ReluBackward0", "ThresholdBackward0", "HardtanhBackward0"}
CLIMB = 8  # nodes between a weight and its activation


@dataclass(eq=False)
class Graph:
    """The nodes behind one tensor. above: node -> those that use its value."""

    nodes: list[Any] = field(default_factory=list)
    above: dict[Any, list[Any]] = field(default_factory=dict)

    @property
    def leaves(self) -> Iterator[Tensor]:
        for node in self.nodes:
            if (variable := getattr(node, "variable", None)) is not None:
                yield variable

    def older_than(self, number: int) -> int:
        """How many nodes were made before this number was given out; leaves have none."""
        numbers = (_number(node) for node in self.nodes if not hasattr(node, "variable"))
        return sum(0 <= one < number for one in numbers)

    def before_relu(self) -> set[int]:
        """The ids of the weights whose layer feeds a ReLU and nothing else."""
        leaves = [node for node in self.nodes if hasattr(node, "variable") and node.variable.ndim > 1]
        return {id(leaf.variable) for leaf in leaves if self._activation(leaf) in RELUS}

    def _activation(self, node: Any) -> str:
        for _ in range(CLIMB):
            users = self.above.get(node, ())
            if len(users) != 1:
                return ""
            node = users[0]
            if (name := node.name()) not in LAYERS:
                return str(name)
        return ""


def graph(*tensors: Tensor) -> Graph:
    """Every node that a backward from these would come to."""
    found = Graph()
    waiting = [tensor.grad_fn for tensor in tensors if tensor.grad_fn is not None]
    met = set(waiting)
    while waiting:
        node = waiting.pop()
        found.nodes.append(node)
        for below, _ in node.next_functions:
            if below is not None:
                found.above.setdefault(below, []).append(node)
                if below not in met:
                    met.add(below)
                    waiting.append(below)
    return found


def _number(node: Any) -> int:
    """A node's number; of a PyTorch that doesn't tell, -1."""
    numbered = getattr(node, "_sequence_nr", None)
    return -1 if numbered is None else int(numbered())


def source(tensor: Tensor) -> Any:
    """The node that made these numbers, behind everything that only moved them; None for a leaf."""
    node: Any = tensor.grad_fn
    while node is not None and node.name() in SHAPES and node.next_functions:
        node = node.next_functions[0][0]
    return node


def source_name(tensor: Tensor) -> str:
    node = source(tensor)
    return "" if node is None else str(node.name())
