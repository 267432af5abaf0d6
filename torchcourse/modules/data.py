"""What a look at a module finds, as plain data."""

from collections.abc import Iterator
from dataclasses import dataclass

from . import text


@dataclass(frozen=True, slots=True)
class Held:
    """One entry of a module's `_parameters` or `_buffers`. nbytes: elements · bytes of one."""

    name: str  # "weight"
    path: str  # "encoder.0.weight"
    kind: str  # "parameter" | "buffer"
    shape: tuple[int, ...] | None  # None: a lazy one that has no shape yet, or an entry that holds None
    dtype: str  # "float32"; "" where the entry holds None
    device: str
    nbytes: int
    requires_grad: bool
    persistent: bool  # False: a buffer that state_dict() leaves out
    has_grad: bool
    lazy: bool  # its shape comes with the first forward
    tied: str | None  # path of the first entry that holds this very tensor
    shares: str | None  # path of another tensor object that starts at the same address
    hooks: int  # tensor hooks, post-accumulate hooks included

    @property
    def empty(self) -> bool:
        """The name is registered and holds None (`bias=False`)."""
        return self.dtype == ""


@dataclass(frozen=True, slots=True)
class Node:
    """One module, where the tree comes to it. nbytes: its own tensors; total_bytes: with all below, each once."""

    path: str  # "" for the model itself
    name: str  # the last part of the path
    kind: str  # the class's name
    depth: int
    parent: int | None  # index in Tree.nodes
    training: bool | None  # None: the module has no flag
    tensors: tuple[Held, ...]
    hooks: tuple[tuple[str, int], ...]  # (kind, how many)
    parametrized: tuple[str, ...]  # names that a parametrization computes
    again: str | None  # path at which this very module stands already; its inside is listed there
    cycle: bool  # it is one of its own ancestors
    nbytes: int
    total_bytes: int


@dataclass(frozen=True, repr=False)
class Tree:
    """What a model owns, in the order of `named_modules()`; `str()` is its text twin."""

    nodes: tuple[Node, ...]

    @property
    def tensors(self) -> tuple[Held, ...]:
        """Every entry that holds a tensor, also under its second name."""
        return tuple(held for node in self.nodes for held in node.tensors if not held.empty)

    @property
    def nbytes(self) -> int:
        """Bytes of all parameters and buffers, each tensor once."""
        return self.nodes[0].total_bytes

    def __iter__(self) -> Iterator[Node]:
        return iter(self.nodes)

    def __len__(self) -> int:
        return len(self.nodes)

    def __str__(self) -> str:
        return text.tree(self)

    def __repr__(self) -> str:
        return text.heading(self)


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that the model missed. kind: a slug; where: attribute path, or a parameter's name."""

    kind: str
    where: str
    evidence: str
    mend: str

    def __str__(self) -> str:
        return f"{self.kind} at {self.where}: {self.evidence} Mend: {self.mend}"


@dataclass(frozen=True, repr=False)
class Missed:
    """The findings, in the order of the tree; false where there is none. `str()` is the text twin."""

    findings: tuple[Finding, ...]

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    def __len__(self) -> int:
        return len(self.findings)

    def __getitem__(self, number: int) -> Finding:
        return self.findings[number]

    def __str__(self) -> str:
        return text.missed(self)

    def __repr__(self) -> str:
        return str(self)


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a walk: it comes to a module (`tensor` is None), or to one of its tensors.

    before, after: what the step changes ("float32", "float16"); equal where it leaves the thing as it was.
    """

    node: int  # index in Tree.nodes
    tensor: str | None  # "weight", "weight.grad"
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Walk:
    """What one call visits, in its real order. call: ".half()"; why: a sentence where it can't be walked."""

    call: str
    steps: tuple[Step, ...]
    why: str = ""
