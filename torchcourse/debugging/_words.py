"""The sentences of the NaN finder."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .data import Birth, Operand

SOURCE = 100  # signs of a source line
KINDS = {"nan": "NaN", "inf": "Inf", "zeros": "zero", "negatives": "negative"}


def plural(count: int, one: str) -> str:
    return f"{count:,} {one}" if count == 1 else f"{count:,} {one}s"


def operand(one: Operand) -> str:
    if one.value:
        return f"{one.name} = {one.value}"
    parts = [f"{one.name} {one.dtype}{list(one.shape)}"]
    if one.min is not None:
        parts.append(f"from {one.min:.4g} to {one.max:.4g}")
    counts = [f"{getattr(one, field):,} {word}" for field, word in KINDS.items() if getattr(one, field)]
    if counts:
        parts.append(f"{', '.join(counts)} of {one.count:,}")
    return ", ".join(parts)


def birth(found: Birth) -> str:
    lines = [_heading(found)]
    if found.line is not None:
        source = found.source if len(found.source) <= SOURCE else found.source[:SOURCE] + "…"
        lines.append(f"  line {found.line}" + (f": {source}" if source else ""))
    lines += [f"  {one}" for one in found.inputs]
    if found.node and not found.backward:
        lines.append(f"  The forward swallowed it; in backward it came back at {found.node}.")
    elif not found.reached and not found.error:
        lines.append("  It is not in the result: something on the way swallowed it.")
    if found.error:
        lines.append(f"  Afterwards the model raised {found.error}")
    return "\n".join(lines)


def _heading(found: Birth) -> str:
    if found.given:
        return f"{found.what} was there before: {found.where}. The first operator to read it is {found.operator}."
    run = "backward" if found.backward else "forward"
    return f"{found.what} was born in {run}: {found.operator}, module {found.where}, out of"
