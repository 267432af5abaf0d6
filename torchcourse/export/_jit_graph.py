"""A graph of torch.jit.trace as plain nodes, and the constants in it."""

from collections.abc import Iterator
from typing import Any

import torch

from ._frames import frames, own
from ._fx_graph import NO_VALUES, Drawn

# Plumbing of TorchScript's graphs: values pass through, and nothing is computed.
_THROUGH = {
    "prim::ListConstruct",
    "prim::TupleConstruct",
    "prim::ListUnpack",
    "prim::TupleUnpack",
    "prim::DictConstruct",
}
_THROUGH |= {"prim::NumToTensor", "aten::Int", "aten::Float", "aten::Bool", "prim::dtype"}


def read(traced: Any) -> list[Drawn]:
    """The nodes of a traced module with its submodules inlined, in the order of the trace."""
    return _Reader(traced.inlined_graph).found


class _Reader:
    def __init__(self, graph: Any) -> None:
        self.found: list[Drawn] = []
        # value's name -> ids that it comes from, stored names, constants
        self.ids: dict[str, list[int]] = {}
        self.stored: dict[str, str] = {}
        self.constants: dict[str, list[Any]] = {}
        self._inputs(graph)
        for node in graph.nodes():
            self._node(node)
        outputs = [i for value in graph.outputs() for i in self.ids.get(value.debugName(), [])]
        self.found.append(Drawn("output", "output", outputs))

    def _inputs(self, graph: Any) -> None:
        for value in graph.inputs():
            if value.debugName().startswith("self"):
                self.stored[value.debugName()] = ""
            else:
                drawn = Drawn(value.debugName().partition(".")[0], "input")
                drawn.shape, drawn.dtype = _value(value)
                self._add(drawn, [value])

    def _node(self, node: Any) -> None:
        kind = node.kind()
        if kind == "prim::GetAttr":
            of = self.stored.get(node.input().debugName(), "")
            self.stored[node.output().debugName()] = f"{of}.{node.s('name')}".lstrip(".")
        elif kind == "prim::Constant":
            self.constants[node.output().debugName()] = list(_flat(node.output().toIValue()))
        elif kind in _THROUGH:
            self._pass(node)
        else:
            self._operator(node)

    def _pass(self, node: Any) -> None:
        names = [value.debugName() for value in node.inputs()]
        for out in node.outputs():
            self.ids[out.debugName()] = [i for name in names for i in self.ids.get(name, [])]
            self.constants[out.debugName()] = [c for name in names for c in self.constants.get(name, [])]

    def _operator(self, node: Any) -> None:
        drawn = Drawn(node.kind(), "operator")
        defaults = _defaults(node)
        for k, value in enumerate(node.inputs()):
            name = value.debugName()
            drawn.inputs += self.ids.get(name, [])
            drawn.reads += [self.stored[name]] if name in self.stored else []
            constants = self.constants.get(name, [])
            if k < len(defaults) and (defaults[k][0] in NO_VALUES or _same(constants, defaults[k][1])):
                continue
            for constant in constants:
                self._constant(drawn, constant)
        drawn.frames = own(frames(node.sourceRange()))
        drawn.module = node.scopeName().rpartition("/")[2].removeprefix("__module").lstrip(".")
        outputs = list(node.outputs())
        if outputs:
            drawn.shape, drawn.dtype = _value(outputs[0])
        self._add(drawn, outputs)

    def _constant(self, drawn: Drawn, constant: Any) -> None:
        if isinstance(constant, torch.Tensor):
            if constant.dim() == 0:
                drawn.numbers.append(constant.item())
            else:
                drawn.tensors.append(("", constant))
        elif isinstance(constant, int | float) and not isinstance(constant, bool):
            drawn.numbers.append(constant)

    def _add(self, drawn: Drawn, outputs: list[Any]) -> None:
        self.found.append(drawn)
        for value in outputs:
            self.ids[value.debugName()] = [len(self.found) - 1]


def _same(constants: list[Any], default: list[Any]) -> bool:
    plain = not any(isinstance(one, torch.Tensor) for one in constants)
    return plain and constants == default


def _defaults(node: Any) -> list[tuple[str, list[Any]]]:
    """Name and default of each of the operator's arguments."""
    try:
        schema = torch._C.parse_schema(node.schema())
    except RuntimeError:  # an operator without a schema, prim::If
        return []
    return [(argument.name, list(_flat(argument.default_value))) for argument in schema.arguments]


def _flat(value: Any) -> Iterator[Any]:
    if isinstance(value, tuple | list):
        for one in value:
            yield from _flat(one)
    elif value is not None:
        yield value


def _value(value: Any) -> tuple[tuple[int | str, ...] | None, str]:
    kind = value.type()
    if kind.kind() != "TensorType":
        return None, ""
    sizes = kind.sizes() if hasattr(kind, "sizes") else None
    shape = None if sizes is None else tuple("?" if size is None else int(size) for size in sizes)
    return shape, str(kind.dtype() or "").removeprefix("torch.") if hasattr(kind, "dtype") else ""
