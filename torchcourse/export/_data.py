"""What a comparison of the ways out of Python finds, as plain data."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from . import _text

Way = Literal["trace", "torchscript_onnx", "export", "dynamo_onnx"]
Outcome = Literal["agree", "differ", "refused"]

# The call behind each way, in the order of the table.
WAYS: dict[Way, str] = {
    "trace": "torch.jit.trace(model, example)",
    "torchscript_onnx": "torch.onnx.export(model, example, dynamo=False), run by onnxruntime",
    "export": "torch.export.export(model, example)",
    "dynamo_onnx": "torch.onnx.export(model, example, dynamo=True), run by onnxruntime",
}


@dataclass(frozen=True, slots=True)
class Row:
    """One way, held to the eager model on one input.

    max_error: the largest |way - eager| over all elements of all outputs; `inf` where the outputs can't be
    subtracted (another shape, another number of outputs, a number against NaN); None where nothing came.
    reason: "" where the way agrees, else "<kind>: <what happened>." in one sentence.
    at: where a refusal came, "export" (then for every input) or "run"; "" for no refusal.
    """

    way: Way
    input: int  # 0 is the example, then the others
    outcome: Outcome
    max_error: float | None
    reason: str = ""
    at: Literal["", "export", "run"] = ""

    @property
    def kind(self) -> str:
        """The first words of the reason: "data-dependent branch", "unsupported operator", …; "" for none."""
        return self.reason.partition(":")[0]

    def __str__(self) -> str:
        return f"{self.way}, input {self.input}: {_text.cell(self)}" + (
            f". {self.reason}" if self.reason else ""
        )


@dataclass(frozen=True, slots=True)
class Warned:
    """One thing that an exporter warned of while it ran the model.

    line, code: where in the model's source, and that line; 0 and "" where the exporter does not say.
    """

    kind: str  # "data-dependent branch", "loop unrolled", "constant baked in", …
    line: int
    code: str
    sentence: str
    file: str = field(default="", repr=False)

    def __str__(self) -> str:
        place = f"line {self.line} `{self.code}`: " if self.line else ""
        return f"{place}{self.kind}: {self.sentence}"


@dataclass(frozen=True, slots=True)
class Made:
    """What one way made of the model; `program` and `onnx` are for looking at, and for running elsewhere.

    program: a ScriptModule ("trace"), an ExportedProgram ("export", "dynamo_onnx"), else None.
    onnx: the bytes of the .onnx file for the two ONNX ways, else None.
    refused: "" or the sentence why the way made nothing.
    """

    way: Way
    program: Any = field(default=None, repr=False)
    onnx: bytes | None = field(default=None, repr=False)
    warnings: tuple[Warned, ...] = ()
    refused: str = ""


@dataclass(frozen=True, repr=False)
class Comparison:
    """Every way on every input, way by way; `str()` is the table that a reader looks at.

    inputs: one description each ("x [3, 4] float32"); eager: "" or what the eager model raised on that input.
    notes: sentences on what no output shows (buffers that a call changes, random numbers, the mode).
    """

    model: str
    inputs: tuple[str, ...]
    rows: tuple[Row, ...]
    made: tuple[Made, ...]
    eager: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def of(self, way: str) -> tuple[Row, ...]:
        """The rows of one way, input by input. Raises ValueError for a way that is not one of the four."""
        return tuple(row for row in self.rows if row.way == _known(way))

    def row(self, way: str, input: int) -> Row:
        """One cell of the table. Raises ValueError for an unknown way or input."""
        rows = self.of(way)
        if not 0 <= input < len(rows):
            raise ValueError(
                f"There is no input {input!r}: 0 is the example, and the last one is {len(rows) - 1}."
            )
        return rows[input]

    def outcome(self, way: str, input: int) -> Outcome:
        """ "agree" | "differ" | "refused"."""
        return self.row(way, input).outcome

    def program(self, way: str) -> Made:
        """What that way made: `.program`, `.onnx`, `.warnings`, `.refused`."""
        return next(made for made in self.made if made.way == _known(way))

    @property
    def warnings(self) -> tuple[Warned, ...]:
        """What torch.jit.trace warned of."""
        return self.program("trace").warnings

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, number: int) -> Row:
        return self.rows[number]

    def __str__(self) -> str:
        return _text.table(self)

    def __repr__(self) -> str:
        return str(self)


def _known(way: str) -> str:
    if way not in WAYS:
        raise ValueError(f"There is no way {way!r}. There are: {', '.join(WAYS)}.")
    return way
