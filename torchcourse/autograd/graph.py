"""`graph(output)`: the graph that autograd recorded, as plain data."""

import os
import re
import sys
from collections.abc import Iterable, Sequence
from itertools import chain
from types import FrameType
from typing import Any

import torch

from . import _torch, watch
from .data import Graph, Node, Output, Root, Variable, maker
from .kinds import ACCUMULATE, kinds_of
from .names import Asked, Names, outputs, place
from .saved import NOTHING, Look, Sizes, dtype_name, look, look_in_copy
from .walk import Walk

_PYTORCH = os.path.dirname(torch.__file__)
make_node, make_variable, make_output = maker(Node), maker(Variable), maker(Output)
_FRAME = re.compile(r'File "([^"]+)", line (\d+)')


def graph(*outputs: Any, names: Any = None) -> Graph:
    """The recorded graph behind these outputs, from them towards the leaves. Nothing runs.

    outputs: tensors, or tuples, lists, dicts, dataclasses of tensors; None among them is passed over.
    names: a module, or a dict name -> tensor (or module); without it, the variables of the caller.

    Ids are breadth-first ranks over `next_functions`. No hook runs, so a checkpoint is not recomputed.
    An output without gradient has no nodes, and `str()` says why. TypeError: no tensor among the outputs.
    Mirrors torch.autograd.graph.Node (https://docs.pytorch.org/docs/stable/autograd.html#autograd-graph).
    """
    return build(outputs, names, sys._getframe(1))[0]


def build(given: tuple[Any, ...], names: Any, frame: FrameType | None) -> tuple[Graph, Walk]:
    """The graph as data, and the walk that holds its nodes."""
    with _torch.quiet():
        builder = _Builder(outputs(given), Names(names, frame))
        if not builder.copies:
            return builder.graph(), builder.walk
    builder.look_in_copies()  # with a mode of its own, which quiet() would switch off
    with _torch.quiet():
        return builder.graph(), builder.walk


class _Builder:
    """The graph's fields, each of all nodes in one go: so little is done per node that a function call counts."""

    def __init__(self, asked: list[Asked], names: Names) -> None:
        self.asked, self.names, self.sizes = asked, names, Sizes()
        self.places = [one.edge or place(one.tensor) for one in asked]  # type: ignore[arg-type]
        self.walk = Walk(at[0] for at in self.places if at)
        self.kinds = kinds_of(self.walk.nodes)
        self.leaves = {i: self.walk.nodes[i].variable for i, kind in enumerate(self.kinds) if kind.leaf}
        self.named = {i: names.get(tensor) for i, tensor in self.leaves.items()}
        self.made: dict[Any, tuple[Output]] = {}
        copies = [i for i, kind in enumerate(self.kinds) if kind.name == "CopySlices"]
        self.copies: dict[int, Look] = dict.fromkeys(copies, NOTHING)

    def look_in_copies(self) -> None:
        for i in self.copies:
            self.copies[i] = look_in_copy(self.walk.nodes[i], self.sizes)

    def graph(self) -> Graph:
        modules, variables = self._modules(), self._variables()
        nodes = self._nodes(modules, variables)
        roots = tuple(self._root(*pair) for pair in zip(self.asked, self.places, strict=True))
        classes = self.names.classes or watch.classes()
        here = _with_owners(modules)
        seen = sorted([(path, name) for path, name in classes.items() if path in here])
        return Graph(roots, nodes, tuple(self.walk.edges), variables, self.sizes.total(), tuple(seen))

    def _variables(self) -> tuple[Variable, ...]:
        """The tensors that have a name, in the order of their nodes: leaves, and those that an operator made."""
        found = {(i, 0): _variable(self.leaves[i], one.name, i, 0) for i, one in self.named.items() if one}
        outputs = [(one.tensor, one.label) for one in self.asked if one.tensor is not None]
        for tensor, name in [*self.names.made(), *outputs]:
            at = None if tensor.is_leaf else self.walk.ids.get(grad_fn(tensor))
            if at is not None and name:
                key = at, tensor.output_nr
                found.setdefault(key, _variable(tensor, name, *key))
        return tuple([found[key] for key in sorted(found)])

    def _modules(self) -> list[str | None]:
        """Per node: of a leaf the module that has it, of others the one that was seen to make it."""
        modules = watch.makers(self.walk.nodes)
        guess = not any(module is not None for module in modules)
        for i, named in self.named.items():
            owner = named.owner if named else None
            modules[i] = watch.owner_of(self.leaves[i]) if owner is None else owner
        return self._guessed(modules) if guess else modules

    def _guessed(self, modules: list[str | None]) -> list[str | None]:
        """Where no module was watched: a node that takes parameters of one module is that module's."""
        passing = [kind.word in (ACCUMULATE, "view") for kind in self.kinds]
        for edge in reversed(self.walk.edges):
            owner = modules[edge.target]
            if owner is not None and passing[edge.target]:
                modules[edge.source] = owner
        return modules

    def _nodes(self, modules: list[str | None], variables: tuple[Variable, ...]) -> tuple[Node, ...]:
        names: list[str | None] = [None] * len(modules)
        for one in variables:
            if one.output == 0:
                names[one.node] = one.name
        kinds = [kind.name for kind in self.kinds], [kind.word for kind in self.kinds]
        fields = *kinds, self._outputs(), *self._looks(), modules, names, self._lines()
        return tuple(map(make_node, range(len(modules)), *fields))

    def _looks(self) -> Iterable[Sequence[Any]]:
        """What nodes save, which are stale, and which are freed."""
        sizes, copies = self.sizes, self.copies
        looks = [
            look(node, kind, sizes) if kind.saves or kind.function else copies.get(i, NOTHING)
            for i, (node, kind) in enumerate(zip(self.walk.nodes, self.kinds, strict=True))
        ]
        return zip(*looks, strict=True) if looks else ((), (), ())

    def _lines(self) -> list[str | None]:
        pairs = zip(self.walk.nodes, self.kinds, strict=True)
        return [None if kind.leaf else _line(node.metadata) for node, kind in pairs]

    def _outputs(self) -> list[tuple[Output, ...]]:
        """What nodes' operators made; of a leaf, what it is itself."""
        one, leaves, found = self._output, self.leaves, []
        for i, node in enumerate(self.walk.nodes):
            made = (leaves[i],) if i in leaves else _torch.made(node)
            found.append(one(made[0]) if len(made) == 1 else tuple(chain(*map(one, made))))
        return found

    def _output(self, made: Any) -> tuple[Output]:
        """One output of an operator, as a tuple; the same tuple for the same shape and dtype."""
        try:
            key = (*made.shape, made.dtype)
            found = self.made.get(key)
        except (RuntimeError, TypeError):  # nested: no one shape; a symbolic one: no number
            return (Output(None, None),)
        if found is None:
            shape = tuple(int(size) for size in key[:-1])
            found = self.made[key] = (make_output(shape, dtype_name(made.dtype)),)
        return found

    def _root(self, asked: Asked, at: tuple[Any, int] | None) -> Root:
        node = None if at is None else self.walk.ids[at[0]]
        if asked.tensor is None:
            return Root(asked.label or "the node", node, at[1] if at else 0)
        named = self.names.get(asked.tensor)
        name = asked.label or (named.name if named else "")
        shape = () if asked.tensor.is_nested else tuple(asked.tensor.shape)
        dtype = dtype_name(asked.tensor.dtype)
        return Root(name, node, at[1] if at else 0, shape, dtype, "" if at else why_none(asked.tensor))


def _with_owners(paths: Iterable[str | None]) -> set[str]:
    """These module paths and those of the modules around them."""
    found: set[str] = set()
    for path in paths:
        while path and path not in found:
            found.add(path)
            path = path.rpartition(".")[0]
    return found


def grad_fn(tensor: torch.Tensor) -> Any:
    """The tensor's node; None where it can't be told."""
    try:
        return tensor.grad_fn
    except RuntimeError:  # a view of several, written in place
        return None


def _variable(tensor: torch.Tensor, name: str, node: int, output: int) -> Variable:
    hooks = len(tensor._backward_hooks or ()) + len(tensor._post_accumulate_grad_hooks or ())
    leaf = tensor.is_leaf
    retains = leaf or tensor.retains_grad
    return make_variable(name, node, output, leaf, retains, retains and tensor.grad is not None, hooks)


def why_none(tensor: torch.Tensor) -> str:
    """One sentence: why this tensor has no graph."""
    if tensor.is_inference():
        return "It was made in inference_mode, so nothing was recorded."
    if not (tensor.is_floating_point() or tensor.is_complex()):
        return (
            f"Its dtype is {dtype_name(tensor.dtype)}, and only floating and complex tensors have gradients."
        )
    return "It needs no gradient: no input asked for one, or it was made under no_grad or detached."


def _line(metadata: dict[str, Any]) -> str | None:
    """Where anomaly mode saw the node being made: the last frame outside PyTorch."""
    trace = metadata.get("traceback_") if metadata else None
    if not trace:
        return None
    frames = [_FRAME.search(one) for one in trace]
    outside = [f for f in frames if f and not f[1].startswith(_PYTORCH)]
    if not outside:
        return None
    file, line = outside[-1].groups()
    # A cell's file name holds the kernel's process number.
    return f"{'cell' if 'ipykernel_' in file else os.path.basename(file)}:{line}"
