"""The words of this package: amounts, places, and the text twins."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .data import Recording
    from .fitting import Fit

_UNITS = ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"))


def amount(nbytes: int) -> str:
    """12.5 MiB; below 1 KiB in bytes."""
    for size, unit in _UNITS:
        if abs(nbytes) >= size:
            return f"{nbytes / size:,.1f} {unit}"
    return f"{nbytes} bytes"


def place(module: str | None) -> str:
    """Where a module path is, in words."""
    if module is None:
        return "code outside of modules"
    return module or "the model's own forward"


def recording(record: Recording) -> str:
    """The text twin of a recording."""
    made = sum(not event.frees for event in record.events if event.phase != "before")
    lines = [f"One step: {made} allocations, at most {amount(record.peak_bytes)} at one time."]
    if record.raised:
        last = record.events[-1].phase if record.events else "before"
        lines = [f"The step raised, in {last}: {record.raised}", *lines]
    lines.append("The most that each owner held, in bytes:")
    lines += [f"  {owner:15} {nbytes:>15,}" for owner, nbytes in record.by_owner.items() if nbytes]
    if record.left_bytes:
        lines.append(f"Left behind by the step, and not freed: {record.left_bytes:,} bytes.")
    return "\n".join(lines)


def fit(found: Fit) -> str:
    """The text twin of a step on a card."""
    card = amount(found.total_bytes)
    if found.failed is None:
        lines = [f"It fits on a card of {card}: {amount(found.peak_reserved)} reserved at the peak."]
    else:
        stored = found.recording.storages[found.failed.storage]
        lines = [
            f"It does not fit on a card of {card}. In {found.failed.phase}, {amount(stored.nbytes)} for "
            f"{stored.label} found no room; the whole step needs {amount(found.needed)}."
        ]
    lines.append(f"At most allocated, in bytes: {found.peak_allocated:,}. Then held:")
    lines += [f"  {owner:15} {nbytes:>15,}" for owner, nbytes in found.at_peak.items() if nbytes]
    return "\n".join([*lines, f"Not recorded: {found.not_recorded}."])
