"""What the tools of this chapter find, as plain data."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

from . import _words

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Operand:
    """One input of an operator in numbers. min, max: over what is no NaN; None where there is nothing to compare.

    nan, inf, zeros, negatives count elements of `count`. value: the text of a number that was given as it is.
    """

    name: str  # as the operator's schema calls it; with the parameter's name where it is one
    shape: tuple[int, ...] = ()
    dtype: str = ""
    min: float | None = None  # of complex numbers: of the absolute values
    max: float | None = None
    nan: int = 0
    inf: int = 0
    zeros: int = 0
    negatives: int = 0
    count: int = 0
    value: str = ""

    @property
    def finite(self) -> bool:
        return not self.nan and not self.inf

    def __str__(self) -> str:
        return _words.operand(self)


@dataclass(frozen=True, repr=False)
class Birth:
    """Where a NaN or an infinity came into being. `str()` is the text twin."""

    kind: str  # slug: "not-finite" | "nan-in-backward"
    what: str  # "NaN" | "Inf"
    where: str  # the module's path ("(model)" for the outermost), or "parameter 0.weight", "input 0", or the node
    operator: str  # "aten::log", "SqrtBackward0"; with "not-finite": the first operator that read it
    inputs: tuple[Operand, ...]  # what the operator was given; of a node: the gradient and what it had saved
    backward: bool
    line: int | None = None  # the innermost line of code that is not PyTorch's
    source: str = ""  # the text of that line
    node: str = ""  # of a swallowed NaN: the node at which its gradient came back
    reached: bool = True  # it is in what the model or loss_fn returned, or in a gradient
    given: bool = False  # it was there before the run: `where` names the parameter, buffer or input
    error: str = ""  # the first line of what the model raised afterwards
    index: int = -1  # number of the operator or node in the run

    @property
    def module(self) -> str:
        """The same as `where`."""
        return self.where

    def __str__(self) -> str:
        return _words.birth(self)

    def __repr__(self) -> str:
        return str(self)


@dataclass(frozen=True, slots=True)
class Leak:
    """Tensors that outlive their step, and who holds them.

    nbytes_per_step: what memory grows by with each step; 0 where only the nodes of a graph pile up.
    """

    kind: str  # a slug
    where: str  # who holds it, in the words of the code
    nbytes_per_step: int
    mend: str
    tensors_per_step: float = 0.0
    nodes_per_step: float = 0.0  # autograd nodes
    shape: tuple[int, ...] = ()  # of the largest tensor
    evidence: str = ""

    def __str__(self) -> str:
        return f"{self.kind} at {self.where}: {self.evidence} Mend: {self.mend}"


@dataclass(frozen=True, repr=False)
class Findings(Generic[T]):
    """Findings in order of weight; false where there is none. `str()` is the text twin."""

    findings: tuple[T, ...]
    none: str = "nothing found"
    note: str = ""

    def __iter__(self) -> Iterator[T]:
        return iter(self.findings)

    def __len__(self) -> int:
        return len(self.findings)

    def __getitem__(self, number: int) -> T:
        return self.findings[number]

    def __str__(self) -> str:
        lines = [str(one) for one in self.findings] or [self.none]
        return "\n".join([*lines, self.note] if self.note else lines)

    def __repr__(self) -> str:
        return str(self)
