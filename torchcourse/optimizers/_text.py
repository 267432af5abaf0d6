"""The text twin of a record: one line per update."""

from typing import TYPE_CHECKING

from torch import Tensor

if TYPE_CHECKING:
    from .data import Record, Update

MOST_LINES, MOST_NUMBERS = 24, 3
COLUMNS = ("step", "parameter", "gradient", "decay", "momentum", "v", "update", "value")


def table(record: "Record") -> str:
    """The updates as a table; a long record shows its first and last lines."""
    lines = [_cells(update) for update in record.steps]
    widths = [max(map(len, column)) for column in zip(COLUMNS, *lines, strict=True)]
    rows = ["  ".join(map(str.ljust, line, widths)).rstrip() for line in [COLUMNS, *lines]]
    if len(rows) > MOST_LINES:
        half = MOST_LINES // 2
        rows = [*rows[:half], f"… {len(rows) - 2 * half} more …", *rows[-half:]]
    return "\n".join([record.optimizer, *rows, *([record.stopped] if record.stopped else [])])


def _cells(update: "Update") -> tuple[str, ...]:
    terms = (update.gradient, update.decay, update.momentum, update.v, update.update, update.value)
    return str(update.step), update.parameter, *map(_numbers, terms)


def _numbers(tensor: Tensor | None) -> str:
    if tensor is None:
        return "-"
    numbers = [f"{number:.4g}" for number in tensor.flatten()[:MOST_NUMBERS].tolist()]
    more = ["…"] if tensor.numel() > MOST_NUMBERS else []
    return numbers[0] if tensor.ndim == 0 else f"[{', '.join(numbers + more)}]"
