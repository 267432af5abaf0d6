"""ModelProto -> OnnxGraph."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ._frames import frames, own
from ._onnx_file import external_file, model_of
from ._onnx_graph import Baked, Initialiser, OnnxGraph, OnnxNode
from ._onnx_values import attribute_of, dtype_of, nbytes_of, properties_of, text_of, value_of

LARGE = 64 << 20  # bytes: shapes of a larger model are not inferred, which would copy it
_STACK, _SCOPES = "pkg.torch.onnx.stack_trace", "pkg.torch.onnx.name_scopes"
_KIND, _FOLDED = "pkg.torch.export.graph_signature.InputSpec.kind", "pkg.onnxscript.optimizer.folded_from"
_KINDS = {"PARAMETER": "parameter", "BUFFER": "buffer", "CONSTANT_TENSOR": "constant"}
# What reads the example: written on a line, its results are Python numbers while exporting.
READS_EXAMPLE = re.compile(
    r"\.shape\b|\.size\(|\.numel\(|\.item\(|\.tolist\(|\.ndim\b|\.dim\(|\blen\(|\bint\(|\bfloat\(|\bbool\("
)


def onnx_graph(source: Any) -> OnnxGraph:
    """An ONNX model as plain data. source: a path, bytes, an `onnx.ModelProto` or an `ONNXProgram`.

    Nothing of it runs, and the elements of external data are not read. Where the file says no shapes between
    its nodes, ONNX's shape inference fills them in. TypeError: source is none of these. ValueError, with a
    sentence: not an ONNX file, cut off, external data that is missing or cut off.
    """
    proto, folder = model_of(source)
    opsets = tuple((entry.domain, int(entry.version)) for entry in proto.opset_import)
    reader = _Reader(folder, _signature(source), proto.producer_name == "pytorch")
    graph = _with_shapes(proto).graph
    return reader.graph(graph, opsets, f"{proto.producer_name} {proto.producer_version}".strip())


def _signature(source: Any) -> dict[str, str]:
    """Of an ONNXProgram: the stored tensors' names -> what the exported program says that they are."""
    signature = getattr(getattr(source, "exported_program", None), "graph_signature", None)
    found = {}
    for spec in getattr(signature, "input_specs", ()):
        kind = _KINDS.get(getattr(spec.kind, "name", ""))
        if kind and spec.target:
            found[spec.target] = kind
    return found


def _with_shapes(proto: Any) -> Any:
    """The model with the shapes between its nodes, where ONNX can tell them and they are not there yet."""
    import onnx

    known = {value.name for value in proto.graph.value_info} | {value.name for value in proto.graph.output}
    if all(name in known for node in proto.graph.node for name in node.output if name):
        return proto
    if proto.ByteSize() > LARGE:
        return proto
    try:
        return onnx.shape_inference.infer_shapes(proto)
    except Exception:  # inference is an extra; a model that it can't follow is shown without
        return proto


class _Reader:
    """Reads one model's graphs. known: stored tensors whose origin is certain."""

    def __init__(self, folder: Path | None, known: dict[str, str], torch_made: bool) -> None:
        self.folder, self.known, self.torch_made = folder, known, torch_made

    def graph(self, graph: Any, opsets: tuple[tuple[str, int], ...] = (), producer: str = "") -> OnnxGraph:
        notes = {value.name: properties_of(value) for value in graph.value_info}
        stored = tuple(self._stored(tensor, notes.get(tensor.name, {})) for tensor in graph.initializer)
        names = {one.name for one in stored}
        nodes = tuple(self._node(i, node) for i, node in enumerate(graph.node))
        inputs = tuple(value_of(value) for value in graph.input if value.name not in names)
        return OnnxGraph(
            graph.name,
            opsets,
            inputs,
            tuple(map(value_of, graph.output)),
            nodes,
            stored,
            tuple(value_of(value) for value in graph.value_info if value.name not in names),
            tuple(_baked(stored, nodes, graph)),
            producer,
        )

    def _stored(self, tensor: Any, notes: dict[str, str]) -> Initialiser:
        kind = self.known.get(tensor.name) or _KINDS.get(notes.get(_KIND, "")) or self._guess(tensor, notes)
        outside = external_file(tensor, self.folder)
        if tensor.raw_data and len(tensor.raw_data) != nbytes_of(tensor):
            raise ValueError(
                f"Tensor {tensor.name} has {len(tensor.raw_data):,} bytes and its shape needs "
                f"{nbytes_of(tensor):,}: the file is damaged. Export it again."
            )
        shape = tuple(int(size) for size in tensor.dims)
        return Initialiser(
            tensor.name, dtype_of(tensor.data_type), shape, nbytes_of(tensor), outside, kind, text_of(tensor)
        )

    def _guess(self, tensor: Any, notes: dict[str, str]) -> str:
        """Where no signature says it: what the exporters' own names and notes say."""
        if _FOLDED in notes:
            return "folded"
        if self.known:
            return "folded"  # the program lists all that it was given; this came later
        if tensor.name.startswith("onnx::"):
            return "stored"  # a weight that the exporter turned, or a constant
        return "parameter" if "." in tensor.name or tensor.name in ("weight", "bias") else "stored"

    def _node(self, i: int, node: Any) -> OnnxNode:
        notes = properties_of(node)
        stack = notes.get(_STACK) or node.doc_string
        graphs = [(a.name, g) for a in node.attribute for g in ([a.g] if a.HasField("g") else a.graphs)]
        plain = tuple((a.name, attribute_of(a)) for a in node.attribute if not (a.HasField("g") or a.graphs))
        return OnnxNode(
            i,
            node.op_type,
            node.name,
            "" if node.domain == "ai.onnx" else node.domain,
            tuple(node.input),
            tuple(node.output),
            plain,
            self._module(node, notes),
            own(frames(stack)),
            tuple((name, self.graph(inner)) for name, inner in graphs),
        )

    def _module(self, node: Any, notes: dict[str, str]) -> str | None:
        """The module's path: from the exporter's scopes, else from the scope names of TorchScript."""
        if _SCOPES in notes:
            try:
                scopes = ast.literal_eval(notes[_SCOPES])
            except (ValueError, SyntaxError):
                return None
            return str(scopes[-2]) if isinstance(scopes, list) and len(scopes) > 1 else None
        if self.torch_made and node.name.startswith("/"):
            return _dotted(node.name.split("/")[1:-1])
        return None


def _dotted(scopes: list[str]) -> str:
    """["sub", "lin"] -> "sub.lin"; in a container, TorchScript's scopes repeat the path: ["a", "a.0"] -> "a.0"."""
    path = ""
    for scope in scopes:
        path = scope if not path or scope.startswith(f"{path}.") else f"{path}.{scope}"
    return path


def _baked(stored: tuple[Initialiser, ...], nodes: tuple[OnnxNode, ...], graph: Any) -> Iterator[Baked]:
    """Constants that are neither parameter nor buffer, with the line of the first node that reads them."""
    constants = [(one.name, one.value) for one in stored if one.origin in ("constant", "folded")]
    for node in graph.node:
        if node.op_type == "Constant" and node.output:
            texts = [text_of(a.t) if a.HasField("t") else attribute_of(a) for a in node.attribute]
            constants.append((node.output[0], texts[0] if texts else ""))
    origins = {one.name: one.origin for one in stored}
    for name, value in constants:
        user = next((node for node in nodes if name in node.inputs), None)
        yield Baked(
            name, value, user.id if user else None, user.line if user else None, _how(user, origins.get(name))
        )


def _how(user: OnnxNode | None, origin: str | None) -> str:
    if user is not None and READS_EXAMPLE.search(user.source):
        return "its line reads a size or a value of the example, and this may be it"
    if origin == "constant":
        return "a tensor that forward made, or an attribute that is no buffer"
    if origin == "folded":
        return "computed while exporting"
    return "a constant; whether it is the example's, the file does not say"
