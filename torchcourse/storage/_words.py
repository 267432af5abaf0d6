"""The explorer's title and opening sentence, and its text twin."""

from collections.abc import Iterable, Sequence
from itertools import product
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._scene_parts import Grid, Strip

COUNTS = ("No", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight")
LETTERS = "ijkl"
GAP = "…"


def counted(n: int, noun: str) -> str:
    """ "One storage", "Two storages"."""
    return f"{COUNTS[n]} {noun}{'' if n == 1 else 's'}"


def title(grids: Sequence["Grid"], strips: Sequence["Strip"]) -> str:
    """ "One storage, two tensors"."""
    if not strips:
        return "No picture"
    return f"{counted(len(strips), 'storage')}, {counted(len(grids), 'tensor').lower()}"


def sentence(grids: Sequence["Grid"], strips: Sequence["Strip"]) -> str:
    """What the picture shows before anything is pointed at."""
    if len(grids) == 1 and strips:
        return f"{_formula(grids[0])} of a storage of `{strips[0].count:,}`."
    if not strips:
        return f"{code(grid.name for grid in grids)} can't be drawn; the reason stands below."
    shared = [s for s in strips if len(s.names) > 1]
    alone = [s for s in strips if len(s.names) == 1]
    parts = [f"{code(s.names)} read one storage of `{s.count:,}` elements" for s in shared]
    if alone:
        names = code([name for s in alone for name in s.names])
        own = "has a storage of its own" if len(alone) == 1 else "each have a storage of their own"
        parts.append(f"{names} {own}")
    return "; ".join(parts) + "."


def _formula(grid: "Grid") -> str:
    letters = LETTERS[: len(grid.size)]
    terms = [f"{grid.offset:,}", *(f"{i}·{s}" for i, s in zip(letters, grid.stride, strict=True))]
    index = f"[{', '.join(letters)}]" if letters else ""
    return f"`{grid.name}{index}` is element `{' + '.join(terms)}`"


def code(names: Iterable[str]) -> str:
    """ "`x`, `y` and `z`"."""
    quoted = [f"`{name}`" for name in names]
    return " and ".join([", ".join(quoted[:-1]), quoted[-1]] if len(quoted) > 1 else quoted)


def tuple_text(numbers: Sequence[int]) -> str:
    """(3, 4), as Python writes it."""
    return str(tuple(numbers))


def grid_lines(grid: "Grid") -> list[str]:
    """The matrices; of a tensor shown in full each twice: its values, and the element that each is."""
    rows, columns = ((0,), (0,), *grid.axes)[-2:]
    sizes = (1, 1, *grid.size)[-2:]
    values = iter(grid.values)
    lines: list[str] = []
    for outer in product(*grid.axes[:-2]):
        texts = [[next(values) for _ in columns] for _ in rows]
        at = [[f"{_address(grid, outer, r, c)}" for c in columns] for r in rows]
        block = _matrix(texts, rows, columns, sizes)
        if not grid.folded:
            block = _beside(block, "   is element   ", _matrix(at, rows, columns, sizes))
        head = [f"{grid.name}[{', '.join(map(str, outer))}]"] if outer else []
        lines += [f"  {line}".rstrip() for line in (*head, *block)]
    return lines


def _beside(left: list[str], between: str, right: list[str]) -> list[str]:
    gaps = [between, *[" " * len(between)] * (len(left) - 1)]
    return [a + gap + b for a, gap, b in zip(left, gaps, right, strict=True)]


def _address(grid: "Grid", outer: tuple[int, ...], row: int, column: int) -> int:
    return grid.address((*outer, row, column)[-len(grid.size) :] if grid.size else ())


def _matrix(
    texts: list[list[str]], rows: Sequence[int], columns: Sequence[int], sizes: tuple[int, ...]
) -> list[str]:
    width = max((len(t) for row in texts for t in row), default=1)
    lines = [" ".join(with_gap([t.rjust(width) for t in row], columns, sizes[1])) for row in texts]
    return [line.ljust(max(map(len, lines))) for line in with_gap(lines, rows, sizes[0])]


def with_gap(texts: list[str], shown: Sequence[int], size: int) -> list[str]:
    """The texts with … where indices are left out."""
    cut = next((k for k, i in enumerate(shown) if i != k), None)
    return texts if cut is None or len(shown) == size else [*texts[:cut], GAP, *texts[cut:]]


def strip_lines(strip: "Strip", most: int = 16) -> list[str]:
    """Element numbers over values, in lines of 16; what no tensor touches stands in brackets."""
    slots = [
        (e, str(e), f"({v})" if owner == "rest" else v)
        for e, v, owner in zip(strip.shown, strip.values, strip.owners, strict=True)
    ]
    slots = sorted([*slots, *((first, GAP, GAP) for first, _ in strip.gaps)])
    lines = []
    for k in range(0, len(slots), most):
        row = slots[k : k + most]
        width = max(len(text) for _, number, value in row for text in (number, value))
        lines.append("  element  " + " ".join(number.rjust(width) for _, number, _ in row))
        lines.append("  value    " + " ".join(value.rjust(width) for _, _, value in row))
    return lines
