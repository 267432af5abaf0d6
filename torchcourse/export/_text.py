"""The text twin of a comparison: a table, then each reason once."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._data import Comparison, Row


def cell(row: Row) -> str:
    """'agree', 'differ by 2', 'refused'."""
    if row.outcome != "differ" or row.max_error is None or not math.isfinite(row.max_error):
        return row.outcome
    if row.kind == "random numbers":
        return row.outcome  # the size of the error is another one in every process
    return f"differ by {row.max_error:.2g}" if row.max_error else "differ"


def table(found: Comparison) -> str:
    """One line an input, one column a way; below it every reason, once, with the inputs it holds for."""
    ways = list(dict.fromkeys(row.way for row in found.rows))
    lines = [["input", *ways]]
    for number, described in enumerate(found.inputs):
        name = f"{number} {'example' if number == 0 else ''}".strip()
        lines.append([f"{name}  {described}", *(cell(found.row(way, number)) for way in ways)])
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    rows = [
        "  ".join(part.ljust(width) for part, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    ]
    return "\n".join([found.model, *rows, *_reasons(found), *(f"Note: {note}" for note in found.notes)])


def _reasons(found: Comparison) -> list[str]:
    inputs: dict[tuple[str, str], list[int]] = {}
    for row in found.rows:
        if row.reason:
            inputs.setdefault((row.reason, row.way), []).append(row.input)
    ways: dict[tuple[str, tuple[int, ...]], list[str]] = {}
    for (reason, way), numbers in inputs.items():
        ways.setdefault((reason, tuple(numbers)), []).append(way)
    return [
        f"{', '.join(names)}, {_which(numbers, len(found.inputs))}: {reason}"
        for (reason, numbers), names in ways.items()
    ]


def _which(numbers: tuple[int, ...], total: int) -> str:
    if len(numbers) == total > 1:
        return "every input"
    return f"input{'s' if len(numbers) > 1 else ''} {', '.join(map(str, numbers))}"
