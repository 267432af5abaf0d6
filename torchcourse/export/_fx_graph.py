"""A graph of torch.export as plain nodes, and the constants in it.

See https://docs.pytorch.org/docs/stable/export.html for what an ExportedProgram holds.
"""

import operator
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import torch

from ._coverage import GraphNode
from ._frames import Frame, frames, own

# Arguments whose numbers name a thing: an axis, a dtype.
NO_VALUES = {
    "dim",
    "dims",
    "dim0",
    "dim1",
    "step",
    "dtype",
    "layout",
    "device",
    "memory_format",
    "pin_memory",
}


@dataclass(slots=True)
class Drawn:
    """One node in the making. numbers: constants among its arguments; made: names and values of stored tensors."""

    op: str
    kind: str
    inputs: list[int] = field(default_factory=list)
    reads: list[str] = field(default_factory=list)
    numbers: list[Any] = field(default_factory=list)
    tensors: list[tuple[str, Any]] = field(default_factory=list)
    shape: tuple[int | str, ...] | None = None
    dtype: str = ""
    module: str | None = None
    frames: tuple[Frame, ...] = ()
    part: str = ""

    def node(self, i: int, at: tuple[tuple[int, int], ...]) -> GraphNode:
        inputs = tuple(dict.fromkeys(self.inputs))
        reads = tuple(dict.fromkeys(self.reads))
        return GraphNode(
            i, self.op, self.kind, inputs, reads, self.shape, self.dtype, self.module, at, self.part
        )


def read(program: Any) -> list[Drawn]:
    """The nodes of an ExportedProgram, in its order: inputs, operators, outputs."""
    reader = _Reader(program)
    outputs = reader.graph(program.graph_module)
    reader.found.append(Drawn("output", "output", outputs))
    return reader.found


@dataclass(slots=True)
class _Scope:
    """What the nodes of one graph stand for: ids, names of stored tensors, or the outputs of an inner graph."""

    ids: dict[Any, int] = field(default_factory=dict)
    names: dict[Any, str] = field(default_factory=dict)
    several: dict[Any, list[int]] = field(default_factory=dict)


class _Reader:
    def __init__(self, program: Any) -> None:
        self.found: list[Drawn] = []
        specs = program.graph_signature.input_specs
        self.stored = {s.arg.name: str(s.target) for s in specs if s.target}
        self.constants = {s.target: program.constants.get(s.target) for s in specs if _is_constant(s)}

    def graph(
        self, module: Any, outer: _Scope | None = None, operands: Iterable[Any] = (), part: str = ""
    ) -> list[int]:
        """Adds a graph's nodes; operands: nodes of the outer one that are its inputs. Gives what its outputs read."""
        scope, given = _Scope(), iter(operands)
        for node in module.graph.nodes:
            if node.op == "placeholder":
                self._placeholder(node, scope, outer, next(given, None))
            elif node.op == "call_function":
                self._call(module, node, scope, part)
            elif node.op == "output":
                return [scope.ids[n] for n in _flat(node.args) if n in scope.ids]
        return []

    def _placeholder(self, node: Any, scope: _Scope, outer: _Scope | None, operand: Any) -> None:
        if outer is None and node.name in self.stored:
            scope.names[node] = self.stored[node.name]
        elif outer is None:
            scope.ids[node] = self._add(Drawn(node.name, "input"), node)
        elif operand in outer.ids:
            scope.ids[node] = outer.ids[operand]
        elif operand in outer.names:
            scope.names[node] = outer.names[operand]

    def _call(self, module: Any, node: Any, scope: _Scope, part: str) -> None:
        if node.target is operator.getitem and self._item(node, scope):
            return
        inner = list(self._inner(module, node, scope, part))
        if inner and _name(node.target).startswith("wrap"):  # a no_grad block: its operators, and no more
            scope.several[node] = inner[0]
            return
        drawn = Drawn(_name(node.target), "operator", part=part)
        # What a branch takes flows into it, not into the cond around it.
        direct = [arg for arg in node.args if isinstance(arg, torch.fx.Node)]
        for source in direct if inner else node.all_input_nodes:
            self._reads(drawn, source, scope)
        drawn.inputs += [out for outputs in inner for out in outputs]
        drawn.numbers = list(_numbers(node))
        stack = node.meta.get("nn_module_stack") or {}
        drawn.module = list(stack.values())[-1][0] if stack else None
        scope.ids[node] = self._add(drawn, node)

    def _item(self, node: Any, scope: _Scope) -> bool:
        """Which of several outputs: no operator."""
        of, number = node.args
        if of in scope.several and number < len(scope.several[of]):
            scope.ids[node] = scope.several[of][number]
        elif of in scope.ids:
            scope.ids[node] = scope.ids[of]
        return node in scope.ids

    def _reads(self, drawn: Drawn, source: Any, scope: _Scope) -> None:
        if source in scope.ids:
            drawn.inputs.append(scope.ids[source])
        elif source in scope.names:
            name = scope.names[source]
            drawn.reads.append(name)
            drawn.tensors += [(name, self.constants[name])] if name in self.constants else []

    def _inner(self, module: Any, node: Any, scope: _Scope, part: str) -> Iterator[list[int]]:
        """The graphs that a `cond` or another higher-order operator holds, drawn in front of it."""
        arguments = [arg for arg in node.args if isinstance(arg, torch.fx.Node)]
        held = [arg for arg in arguments if arg.op == "get_attr"]
        listed = [one for arg in node.args if isinstance(arg, tuple | list) for one in arg]
        operands = listed or [arg for arg in arguments if arg not in held]
        for k, one in enumerate(held):
            graph = getattr(module, str(one.target), None)
            if isinstance(graph, torch.fx.GraphModule):
                yield self.graph(
                    graph, scope, operands, _part(_name(node.target), k, str(one.target)) or part
                )

    def _add(self, drawn: Drawn, node: Any) -> int:
        drawn.frames = own(frames(node.meta.get("stack_trace") or ""))
        drawn.shape, drawn.dtype = _value(node.meta.get("val"))
        self.found.append(drawn)
        return len(self.found) - 1


def _is_constant(spec: Any) -> bool:
    return getattr(spec.kind, "name", "") == "CONSTANT_TENSOR"


def _part(op: str, k: int, name: str) -> str:
    if op == "cond" and k < 2:
        return ("true branch", "false branch")[k]
    return "" if op.startswith("wrap") else name.replace("_", " ")


def _name(target: Any) -> str:
    """torch.ops.aten.add.Tensor -> "aten::add"; a higher-order operator by its own name."""
    schema = getattr(target, "_schema", None)
    if schema is not None:
        return str(schema.name)
    return str(getattr(target, "__name__", target))


def _numbers(node: Any) -> Iterator[Any]:
    """The numbers among a node's arguments that are not the operator's own defaults."""
    schema = getattr(node.target, "_schema", None)
    defaults = {a.name: a.default_value for a in schema.arguments} if schema is not None else {}
    names = list(defaults)
    named = [(names[i] if i < len(names) else "", arg) for i, arg in enumerate(node.args)]
    for name, arg in [*named, *node.kwargs.items()]:
        if name not in NO_VALUES and not _default(arg, defaults, name):
            yield from (
                one for one in _flat(arg) if isinstance(one, int | float) and not isinstance(one, bool)
            )


def _default(arg: Any, defaults: dict[str, Any], name: str) -> bool:
    return name in defaults and type(arg) is type(defaults[name]) and arg == defaults[name]


def _flat(arg: Any) -> Iterator[Any]:
    if isinstance(arg, tuple | list):
        for one in arg:
            yield from _flat(one)
    else:
        yield arg


def _value(value: Any) -> tuple[tuple[int | str, ...] | None, str]:
    """Shape (symbols by name) and dtype of what a node gives; of several outputs, the first one's."""
    if isinstance(value, tuple | list):
        value = value[0] if value else None
    if not isinstance(value, torch.Tensor):
        return None, type(value).__name__.removeprefix("Sym").lower() if isinstance(
            value, torch.SymInt
        ) else ""
    shape = tuple(size if isinstance(size, int) else str(size) for size in value.shape)
    return shape, str(value.dtype).removeprefix("torch.")
