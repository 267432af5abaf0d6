"""What the walk over a graph finds, as plain data."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields, make_dataclass
from typing import Any, TypeVar

from . import text

T = TypeVar("T")


def maker(frozen: type[T]) -> Callable[..., T]:
    """Makes a frozen dataclass with slots from its fields in their order, four times as fast as it does itself.

    A frozen class sets each of its fields through `object.__setattr__`. An open twin of the same layout
    has no need to, and becomes a frozen one when all is set.
    """
    plan = [(one.name, one.type, field(default=one.default)) for one in fields(frozen)]  # type: ignore[arg-type]
    twin = make_dataclass(frozen.__name__, plan, slots=True, eq=False, repr=False)

    def make(*values: Any) -> T:
        one = twin(*values)
        one.__class__ = frozen
        return one

    return make


@dataclass(frozen=True, slots=True)
class Output:
    """What one output of a node's operator was in the forward. shape: None where PyTorch does not tell it."""

    shape: tuple[int, ...] | None
    dtype: str | None  # "float32"


@dataclass(frozen=True, slots=True)
class Saved:
    """One tensor that a node keeps for its backward.

    state: "ok"; "damaged": written in place since, backward will raise; "freed": a backward has let it
    go; "packed": a hook keeps it in a form of its own (offloaded, checkpointed), which nobody unpacks here.
    """

    name: str  # "self", "weight", "result": as in derivatives.yaml; "tensors[0]" in a custom Function
    state: str
    shape: tuple[int, ...] | None = None
    dtype: str | None = None
    nbytes: int = 0  # elements · bytes of one; 0 where freed, or packed into something else than tensors
    version: int | None = None  # in-place writes counted by now
    expected: int | None = None  # and when it was saved
    hook: str | None = None  # who unpacks a packed one, such as "torch.utils.checkpoint"


@dataclass(frozen=True, slots=True)
class Node:
    """One node of the graph: the backward of one operator of the forward, or a leaf's AccumulateGrad.

    kind: "AccumulateGrad", "operator", "view", "copy", "custom Function", "checkpoint", "compiled".
    """

    id: int  # rank in the breadth-first walk over next_functions, from the outputs
    name: str  # "MulBackward0"
    kind: str
    outputs: tuple[Output, ...]
    saved: tuple[Saved, ...]
    stale: bool  # its backward would raise "modified by an inplace operation"
    freed: bool  # its backward would raise "a second time"
    module: str | None  # path of the module that made it, "" for the outermost; None: none, or not known
    variable: str | None  # name of the tensor that it belongs to: a leaf's, or one of the caller's
    line: str | None  # where the forward made it, "model.py:12"; only under anomaly mode

    @property
    def shape(self) -> tuple[int, ...] | None:
        """Of the first output; a gradient that arrives here has this shape."""
        return self.outputs[0].shape if self.outputs else None

    @property
    def dtype(self) -> str | None:
        return self.outputs[0].dtype if self.outputs else None

    @property
    def saved_bytes(self) -> int:
        return sum(one.nbytes for one in self.saved)

    def __str__(self) -> str:
        return text.node(self)


@dataclass(frozen=True, slots=True)
class Edge:
    """The gradient's way from one node to the next, towards the leaves: one entry of next_functions."""

    source: int  # node ids
    target: int
    slot: int = 0  # which input of the source's operator
    output: int = 0  # which output of the target's


@dataclass(frozen=True, slots=True)
class Variable:
    """A tensor that has a name: a leaf, an output, or a variable of the caller."""

    name: str
    node: int
    output: int  # which output of the node's operator it is
    leaf: bool
    retains_grad: bool  # its .grad will be filled
    has_grad: bool  # its .grad is filled already
    hooks: int  # tensor hooks and post-accumulate hooks on it


@dataclass(frozen=True, slots=True)
class Root:
    """One output that the graph was asked for. node: None where it needs no gradient."""

    name: str
    node: int | None
    output: int = 0
    shape: tuple[int, ...] = ()
    dtype: str = ""
    why: str = ""  # without a node: the sentence that says so


@dataclass(frozen=True, repr=False)
class Graph:
    """The recorded graph, from its outputs towards its leaves; `str()` is its text twin."""

    roots: tuple[Root, ...]
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    variables: tuple[Variable, ...] = ()
    saved_bytes: int = 0  # each saved tensor once, however many nodes keep it
    # Modules seen around the nodes, for folding: path -> class name.
    classes: tuple[tuple[str, str], ...] = field(default=(), compare=False)

    @property
    def leaves(self) -> tuple[Node, ...]:
        """The AccumulateGrad nodes: where `.grad` is filled."""
        return tuple(node for node in self.nodes if node.kind == "AccumulateGrad")

    @property
    def stale(self) -> tuple[Node, ...]:
        return tuple(node for node in self.nodes if node.stale)

    @property
    def freed(self) -> tuple[Node, ...]:
        return tuple(node for node in self.nodes if node.freed)

    def __iter__(self) -> Iterator[Node]:
        return iter(self.nodes)

    def __len__(self) -> int:
        return len(self.nodes)

    def __str__(self) -> str:
        return text.graph(self)

    def __repr__(self) -> str:
        return text.heading(self)
