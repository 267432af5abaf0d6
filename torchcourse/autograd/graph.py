"""`graph(output)`: the graph that autograd recorded, as plain data."""

import os
import re
import sys
from types import FrameType
from typing import Any

import torch

from . import _torch, watch
from .data import Graph, Node, Output, Root, Variable
from .kinds import ACCUMULATE, kind_of, plain_name
from .names import Asked, Names, outputs, place
from .saved import Look, Sizes, dtype_name, look, look_in_copy
from .walk import Walk

_PYTORCH = os.path.dirname(torch.__file__)
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
    builder.look_in_copies()  # with a mode of its own, which quiet() would switch off
    with _torch.quiet():
        return builder.graph(), builder.walk


class _Builder:
    def __init__(self, asked: list[Asked], names: Names) -> None:
        self.asked, self.names, self.sizes = asked, names, Sizes()
        self.places = [one.edge or place(one.tensor) for one in asked]  # type: ignore[arg-type]
        self.walk = Walk(at[0] for at in self.places if at)
        self.variables: dict[tuple[int, int], Variable] = {}
        self.metas: dict[tuple[Any, Any], Output] = {}
        self.copies: dict[int, Look] = {}
        self.watched = watch.watched()

    def look_in_copies(self) -> None:
        for i, node in enumerate(self.walk.nodes):
            if type(node).__name__ == "CopySlices":
                self.copies[i] = look_in_copy(node, self.sizes)

    def graph(self) -> Graph:
        self._name_tensors()
        nodes = [self._node(i, node) for i, node in enumerate(self.walk.nodes)]
        modules = self._guess_modules(nodes)
        nodes = [self._with_module(node, modules) for node in nodes] if modules else nodes
        roots = tuple(self._root(*pair) for pair in zip(self.asked, self.places, strict=True))
        variables = tuple(self.variables[key] for key in sorted(self.variables))
        classes = self.names.classes or watch.classes()
        here = _with_owners({node.module for node in nodes if node.module})
        seen = sorted((path, name) for path, name in classes.items() if path in here)
        return Graph(roots, tuple(nodes), tuple(self.walk.edges), variables, self.sizes.total(), tuple(seen))

    def _name_tensors(self) -> None:
        """The tensors of the caller's that are outputs of a node; leaves are named on the way."""
        named = [(one.tensor, one.name) for one in self.names.all()]
        outputs = [(a.tensor, a.label) for a in self.asked if a.tensor is not None]
        for tensor, name in named + outputs:
            if tensor.requires_grad and not tensor.is_leaf:
                at = self.walk.ids.get(_grad_fn(tensor))
                if at is not None and name:
                    key = at, tensor.output_nr
                    self.variables.setdefault(key, _variable(tensor, name, *key))

    def _node(self, i: int, node: Any) -> Node:
        name = plain_name(node)
        if name == ACCUMULATE:
            return self._leaf(i, node.variable)
        kind = kind_of(node, name)
        saved, stale, freed = self.copies.get(i) or look(node, self.sizes)
        module = watch.module_of(_torch.created(node)) if self.watched else None
        variable = self.variables.get((i, 0))
        line = _line(node)
        made = tuple([self._output(meta) for meta in _torch.made(node)])
        called = variable.name if variable else None
        return Node(i, name, kind, made, saved, stale, freed, module, called, line)

    def _leaf(self, i: int, tensor: torch.Tensor) -> Node:
        named = self.names.get(tensor)
        owner = named.owner if named and named.owner is not None else watch.owner_of(tensor)
        if named:
            self.variables[i, 0] = _variable(tensor, named.name, i, 0)
        made = (self._output(tensor),)
        return Node(
            i, ACCUMULATE, ACCUMULATE, made, (), False, False, owner, named.name if named else None, None
        )

    def _output(self, meta: Any) -> Output:
        try:
            key = tuple(meta.shape), meta.dtype
            found = self.metas.get(key)
        except (RuntimeError, TypeError):  # nested: no one shape; a symbolic one: no number
            return Output(None, None)
        if found is None:
            shape = tuple(int(size) for size in key[0])
            found = self.metas[key] = Output(shape, dtype_name(key[1]))
        return found

    def _guess_modules(self, nodes: list[Node]) -> dict[int, str]:
        """Where no module was watched: a node that takes parameters of one module is that module's."""
        if self.watched and any(node.module is not None and node.kind != ACCUMULATE for node in nodes):
            return {}
        owners = {node.id: node.module for node in nodes if node.module is not None}
        guessed: dict[int, str] = {}
        for edge in reversed(self.walk.edges):
            owner = owners.get(edge.target)
            if owner is None and nodes[edge.target].kind == "view":
                owner = guessed.get(edge.target)
            if owner is not None:
                guessed[edge.source] = owner
        return guessed

    def _with_module(self, node: Node, modules: dict[int, str]) -> Node:
        module = modules.get(node.id)
        if module is None:
            return node
        return Node(
            node.id, node.name, node.kind, node.outputs, node.saved, node.stale, node.freed,
            module, node.variable, node.line,
        )  # fmt: skip

    def _root(self, asked: Asked, at: tuple[Any, int] | None) -> Root:
        node = None if at is None else self.walk.ids[at[0]]
        if asked.tensor is None:
            return Root(asked.label or "the node", node, at[1] if at else 0)
        named = self.names.get(asked.tensor)
        name = asked.label or (named.name if named else "")
        shape = () if asked.tensor.is_nested else tuple(asked.tensor.shape)
        dtype = dtype_name(asked.tensor.dtype)
        return Root(name, node, at[1] if at else 0, shape, dtype, "" if at else why_none(asked.tensor))


def _with_owners(paths: set[str]) -> set[str]:
    """These module paths and those of the modules around them."""
    steps = [path.split(".") for path in paths]
    return {".".join(step[: n + 1]) for step in steps for n in range(len(step))}


def _grad_fn(tensor: torch.Tensor) -> Any:
    try:
        return tensor.grad_fn
    except RuntimeError:  # a view of several, written in place
        return None


def _variable(tensor: torch.Tensor, name: str, node: int, output: int) -> Variable:
    hooks = len(getattr(tensor, "_backward_hooks", None) or ())
    hooks += len(getattr(tensor, "_post_accumulate_grad_hooks", None) or ())
    leaf = tensor.is_leaf
    has_grad = (leaf or tensor.retains_grad) and tensor.grad is not None
    return Variable(name, node, output, leaf, leaf or tensor.retains_grad, has_grad, hooks)


def why_none(tensor: torch.Tensor) -> str:
    """One sentence: why this tensor has no graph."""
    if tensor.is_inference():
        return "It was made in inference_mode, so nothing was recorded."
    if not (tensor.is_floating_point() or tensor.is_complex()):
        return (
            f"Its dtype is {dtype_name(tensor.dtype)}, and only floating and complex tensors have gradients."
        )
    return "It needs no gradient: no input asked for one, or it was made under no_grad or detached."


def _line(node: Any) -> str | None:
    """Where anomaly mode saw the node being made: the last frame outside PyTorch."""
    trace = node.metadata.get("traceback_") if torch.is_anomaly_enabled() or _noted(node) else None
    if not trace:
        return None
    frames = [_FRAME.search(one) for one in trace]
    outside = [f for f in frames if f and not f[1].startswith(_PYTORCH)]
    if not outside:
        return None
    file, line = outside[-1].groups()
    # A cell's file name holds the kernel's process number.
    return f"{'cell' if 'ipykernel_' in file else os.path.basename(file)}:{line}"


def _noted(node: Any) -> bool:
    return bool(node.metadata)
