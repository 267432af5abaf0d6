"""What an exporter took from a model's source, line by line, as plain data."""

from dataclasses import dataclass

# kind of a line -> what a view says of it
KINDS = {
    "traced": "in the graph",
    "no trace": "ran, left no trace",
    "not taken": "not taken when exported",
    "stopped": "the export stopped here",
    "plain": "",
}


@dataclass(frozen=True, slots=True)
class Line:
    """One line of source. number: in its file or cell. kind: a key of KINDS.

    first: the first line of its statement. nodes: ids of the graph's nodes that come from the statement, also
    from inside of what it calls. rounds: of a loop's first line, how often the body ran, per run of the loop.
    note: what became of a branch, an assert, a print.
    """

    number: int
    text: str
    kind: str
    first: int
    nodes: tuple[int, ...] = ()
    rounds: tuple[int, ...] = ()
    note: str = ""

    @property
    def unrolled(self) -> bool:
        """Whether it is a loop whose rounds stand in the graph one after another."""
        return bool(self.rounds) and self.kind == "traced"


@dataclass(frozen=True, slots=True)
class Source:
    """One forward. modules: paths of the modules that run it ("" is the model). why: why there are no lines."""

    name: str
    modules: tuple[str, ...]
    lines: tuple[Line, ...] = ()
    why: str = ""


@dataclass(frozen=True, slots=True)
class GraphNode:
    """One node. kind: "input", "operator" or "output". inputs: ids of the nodes that it reads.

    op: "aten::add", or the name of an input. reads: names of parameters, buffers and stored constants.
    shape: numbers and symbols. module: path of the module that it ran in. at: (source, line) of each of the
    reader's lines that it comes from, outermost first. part: the branch or body that it stands in, or "".
    """

    id: int
    op: str
    kind: str
    inputs: tuple[int, ...] = ()
    reads: tuple[str, ...] = ()
    shape: tuple[int | str, ...] | None = None
    dtype: str = ""
    module: str | None = None
    at: tuple[tuple[int, int], ...] = ()
    part: str = ""

    @property
    def size(self) -> str:
        """ "[3, 4]", or empty."""
        return "" if self.shape is None else f"[{', '.join(map(str, self.shape))}]"

    def __str__(self) -> str:
        reads = f" reads {', '.join(self.reads)};" if self.reads else ""
        inputs = f" of {', '.join(map(str, self.inputs))};" if self.inputs else ""
        part = f" ({self.part})" if self.part else ""
        return f"{self.op}{part}{inputs}{reads} {self.size} {self.dtype}".strip()


@dataclass(frozen=True, slots=True)
class BakedIn:
    """A value that stands in the graph as a constant, though the source does not write it.

    kind: "example" (read from the example: a size, an `.item()`), "loop" (the loop's variable) or "tensor" (made
    in forward, or an attribute that is no buffer). node: id of the node that reads it. how: a sentence's end.
    """

    value: str
    kind: str
    node: int
    at: tuple[int, int] | None
    how: str

    def __str__(self) -> str:
        place = f"line {self.at[1]}: " if self.at else ""
        return f"{place}{self.value}, {self.how}"


@dataclass(frozen=True)
class Coverage:
    """The model's source beside the graph that one way made of it; `str()` is the text twin.

    refused: "", or the sentence why this way made no graph; then there are no nodes, and no line is judged but
    the one where it stopped.
    """

    model: str
    way: str
    sources: tuple[Source, ...]
    nodes: tuple[GraphNode, ...] = ()
    baked: tuple[BakedIn, ...] = ()
    refused: str = ""

    @property
    def operators(self) -> int:
        """How many operators the graph has."""
        return sum(node.kind == "operator" for node in self.nodes)

    def lines(self, kind: str) -> tuple[int, ...]:
        """The numbers of all lines of a kind, source by source."""
        return tuple(line.number for source in self.sources for line in source.lines if line.kind == kind)

    def line(self, number: int, source: int = 0) -> Line:
        """One line, by its number. Raises ValueError where there is no such source or line."""
        if not 0 <= source < len(self.sources):
            raise ValueError(f"There is no source {source!r}; the sources are 0 to {len(self.sources) - 1}.")
        found = [line for line in self.sources[source].lines if line.number == number]
        if not found:
            raise ValueError(f"{self.sources[source].name} has no line {number}.")
        return found[0]

    def __str__(self) -> str:
        from ._coverage_text import told

        return told(self)
