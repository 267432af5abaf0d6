"""The parts of a scene, as plain data: a grid for each tensor, a strip for each storage."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, product

from . import _words
from ._reach import reaches


@dataclass(frozen=True)
class Grid:
    """One tensor. Sizes, strides and offset in elements of `itemsize` bytes."""

    name: str
    role: str  # "base" | "view"
    note: str  # "view of x", "same storage as x", or ""
    dtype: str
    itemsize: int
    size: tuple[int, ...]
    stride: tuple[int, ...]
    offset: int
    start: int  # bytes from the strip's first byte to this tensor's storage
    strip: int  # position in Scene.strips, -1 where there is no picture
    axes: tuple[tuple[int, ...], ...]  # the indices shown, per dimension
    values: tuple[str, ...]  # of the cells shown, last dimension fastest
    refusal: str  # why there is no picture, or ""

    @property
    def label(self) -> str:
        """Name, size, stride, offset and role in one line."""
        facts = f"size {self.size} · stride {self.stride} · offset {self.offset:,}"
        return " · ".join([self.name, facts, *([self.note] if self.note else [])])

    @property
    def folded(self) -> str:
        """What is left out: "folded: 8 of 1,000 × 10 of 400 are shown", or ""."""
        if all(len(axis) == n for axis, n in zip(self.axes, self.size, strict=True)):
            return ""
        pairs = zip(self.axes, self.size, strict=True)
        parts = [f"{n:,}" if len(axis) == n else f"{len(axis)} of {n:,}" for axis, n in pairs]
        return f"folded: {' × '.join(parts)} are shown"

    def address(self, index: Sequence[int]) -> int:
        """The element of the storage that this index stands for: offset + Σ index·stride."""
        return self.offset + sum(i * s for i, s in zip(index, self.stride, strict=True))

    def cells(self) -> Iterator[tuple[tuple[int, ...], str]]:
        """(index, value as text) of every cell shown, last dimension fastest."""
        return zip(product(*self.axes), self.values, strict=True)

    def touches(self, first: int, nbytes: int) -> bool:
        """Whether any element, shown or not, lies on these bytes of the strip."""
        if self.refusal:
            return False
        low, high = (first - self.start) // self.itemsize, (first + nbytes - 1 - self.start) // self.itemsize
        return any(reaches(a, self.size, self.stride, self.offset) for a in range(low, high + 1))

    def __str__(self) -> str:
        if self.refusal:
            return f"{self.name}: {self.refusal}"
        folded = [f"  {self.folded}"] if self.folded else []
        lines = _words.grid_lines(self) if self.values else ["  no elements"]
        return "\n".join([f"{self.label} · {self.dtype}", *folded, *lines])


@dataclass(frozen=True)
class Strip:
    """One storage, in elements of its first tensor's dtype. `nbytes` is the storage's size."""

    names: tuple[str, ...]  # the tensors over it
    dtype: str
    itemsize: int
    nbytes: int
    count: int  # elements in all
    storages: int  # 1; more where several storages lie over the same memory (from_numpy)
    shown: tuple[int, ...]  # element numbers, ascending
    values: tuple[str, ...]
    owners: tuple[str, ...]  # who touches it: "base" | "view" | "both" | "rest" (none of them)

    @property
    def label(self) -> str:
        """ "storage" with its size in elements and bytes."""
        what = "storage" if self.storages == 1 else f"one memory under {self.storages} storages"
        elements = f"{self.count:,} {self.dtype} element{'' if self.count == 1 else 's'}"
        return f"{what} · {elements} · {self.nbytes:,} byte{'' if self.nbytes == 1 else 's'}"

    @property
    def folded(self) -> str:
        """How many elements are left out, or ""."""
        return "" if not self.gaps else f"folded: {len(self.shown)} of {self.count:,} are shown"

    @property
    def gaps(self) -> tuple[tuple[int, int], ...]:
        """(first element, how many) of every stretch left out."""
        edges = (-1, *self.shown, self.count)
        return tuple((a + 1, b - a - 1) for a, b in pairwise(edges) if b - a > 1)

    def __str__(self) -> str:
        folded = [f"  {self.folded}"] if self.folded else []
        head = f"{self.label} · read by {', '.join(self.names)}"
        return "\n".join([head, *folded, *_words.strip_lines(self)])


@dataclass(frozen=True)
class Scene:
    """Several tensors over their storages. `str()` says in text what the picture shows."""

    title: str
    sentence: str  # `code` stands between backticks
    grids: tuple[Grid, ...]
    strips: tuple[Strip, ...]

    def characters(self, strip: int) -> int:
        """The longest value shown of one storage, in characters: all its cells are drawn this wide."""
        values = [grid.values for grid in self.grids if grid.strip == strip]
        return max((len(v) for held in (self.strips[strip].values, *values) for v in held), default=1)

    def __str__(self) -> str:
        head = f"{self.title}\n{self.sentence.replace('`', '')}"
        return "\n\n".join([head, *map(str, self.grids), *map(str, self.strips)])
