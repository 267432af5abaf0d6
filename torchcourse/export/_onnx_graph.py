"""An ONNX file as plain data: nodes, shapes, opsets, initialisers, and where each node comes from.

The format is ONNX's own (https://onnx.ai/onnx/repo-docs/IR.html). The links back to modules and lines are
metadata that PyTorch's exporters write: `pkg.torch.onnx.…` by the default one, `doc_string` and scope names
by the TorchScript-based one, the former with `verbose=True` only.
"""

from dataclasses import dataclass

from ._frames import Frame

Dim = int | str | None  # a number, a symbol, or not known


@dataclass(frozen=True, slots=True)
class OnnxValue:
    """A tensor on a wire. shape: each size a number, a symbol's name or None; None as a whole: not known."""

    name: str
    dtype: str = ""
    shape: tuple[Dim, ...] | None = None

    @property
    def dynamic(self) -> bool:
        """Whether a size is left open."""
        return self.shape is None or any(not isinstance(size, int) for size in self.shape)

    def __str__(self) -> str:
        sizes = "?" if self.shape is None else ", ".join("?" if s is None else str(s) for s in self.shape)
        return f"{self.name} {self.dtype or '?'} [{sizes}]"


@dataclass(frozen=True, slots=True)
class Initialiser:
    """A tensor that is stored with the graph.

    nbytes: of its elements. external: the file beside the model that holds them, or None. origin: "parameter",
    "buffer", "constant" (a tensor that forward made, or a plain attribute), "folded" (computed while exporting),
    "stored" (the file does not say). value: its elements as text where they are few, else "".
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    nbytes: int
    external: str | None = None
    origin: str = "stored"
    value: str = ""

    def __str__(self) -> str:
        where = f", in {self.external}" if self.external else ""
        told = self.value and self.origin in (
            "constant",
            "folded",
        )  # weights are random; constants say something
        value = f" = {self.value}" if told else ""
        return f"{self.name} {self.dtype} {list(self.shape)}{value} ({self.origin}, {self.nbytes:,} bytes{where})"


@dataclass(frozen=True, slots=True)
class Baked:
    """A constant that is neither parameter nor buffer. node: the first node that reads it, or None.

    how: what is known of its way into the file.
    """

    name: str
    value: str
    node: int | None
    line: int | None
    how: str

    def __str__(self) -> str:
        place = "" if self.line is None else f" at line {self.line}"
        return f"{self.name} = {self.value or '…'}{place}: {self.how}"


@dataclass(frozen=True, slots=True)
class OnnxNode:
    """One node. domain: "" is ONNX's own. attributes: (name, text).

    frames: the reader's lines that it comes from, outermost first; module: the path of the module that it ran in
    ("" is the model itself). Empty and None where the file does not say. subgraphs: (attribute, graph) of If,
    Loop and Scan.
    """

    id: int
    op: str
    name: str
    domain: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: tuple[tuple[str, str], ...] = ()
    module: str | None = None
    frames: tuple[Frame, ...] = ()
    subgraphs: tuple[tuple[str, "OnnxGraph"], ...] = ()

    @property
    def line(self) -> int | None:
        """The innermost line of the reader's code."""
        return self.frames[-1].line if self.frames else None

    @property
    def file(self) -> str | None:
        """Where that line stands."""
        return self.frames[-1].file if self.frames else None

    @property
    def source(self) -> str:
        """The text of that line."""
        return self.frames[-1].text if self.frames else ""

    def __str__(self) -> str:
        kind = f"{self.domain}::{self.op}" if self.domain else self.op
        text = f"{', '.join(filter(None, self.outputs))} = {kind}({', '.join(self.inputs)})"
        where = [f"module {self.module or 'the model'}"] if self.module is not None else []
        where += [str(self.frames[-1])] if self.frames else []
        return text + (f"  # {'; '.join(where)}" if where else "")


@dataclass(frozen=True)
class OnnxGraph:
    """A graph; `str()` is its text twin.

    opsets: (domain, version); subgraphs have none of their own. values: every tensor on a wire, in the order of
    the nodes, where a shape or a dtype is known. baked: constants that are neither parameter nor buffer.
    """

    name: str
    opsets: tuple[tuple[str, int], ...]
    inputs: tuple[OnnxValue, ...]
    outputs: tuple[OnnxValue, ...]
    nodes: tuple[OnnxNode, ...]
    initialisers: tuple[Initialiser, ...]
    values: tuple[OnnxValue, ...] = ()
    baked: tuple[Baked, ...] = ()
    producer: str = ""

    @property
    def opset(self) -> int | None:
        """The version of ONNX's own operators."""
        return dict(self.opsets).get("")

    @property
    def nbytes(self) -> int:
        """Bytes of all initialisers."""
        return sum(one.nbytes for one in self.initialisers)

    def value(self, name: str) -> OnnxValue | None:
        """What is known of a tensor, by its name."""
        every = (*self.inputs, *self.outputs, *self.values)
        return next((value for value in every if value.name == name), None)

    def __str__(self) -> str:
        return "\n".join([self._head(), *self._lines("")])

    def _head(self) -> str:
        opsets = ", ".join(f"{domain or 'ai.onnx'} {version}" for domain, version in self.opsets)
        n = len(self.nodes)
        nodes = f"{n:,} node{'s' * (n != 1)}"
        return f"ONNX graph {self.name}: {nodes}, {self.nbytes:,} bytes of initialisers, opset {opsets}"

    def _lines(self, indent: str) -> list[str]:
        lines = [f"{indent}in    {value}" for value in self.inputs]
        lines += [f"{indent}store {one}" for one in self.initialisers]
        for node in self.nodes:
            lines.append(f"{indent}{node.id:<5} {node}")
            for attribute, graph in node.subgraphs:
                lines += [f"{indent}      {attribute}:", *graph._lines(f"{indent}        ")]
        lines += [f"{indent}out   {value}" for value in self.outputs]
        return lines + [f"{indent}baked {one}" for one in self.baked]
