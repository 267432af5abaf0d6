"""The text twin of a coverage: the source with a margin that says what became of each line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._coverage import Coverage, Line

from ._coverage import KINDS

MOST_NODES, MOST_VALUES = 200, 8
CALLS = {
    "trace": "torch.jit.trace(model, example)",
    "export": "torch.export.export(model, example)",
    "dynamo_onnx": "torch.onnx.export(model, example)",
    "torchscript_onnx": "torch.onnx.export(model, example, dynamo=False)",
}


def head(found: Coverage) -> str:
    """The first sentence: what stands in the graph, and what does not."""
    if found.refused:
        return f"`{CALLS[found.way]}` made no graph. {found.refused}"
    n, missed = found.operators, len(statements(found, "not taken"))
    said = [f"`{n:,}` operator{'s' * (n != 1)}"]
    said += [f"`{missed}` line{'s' * (missed != 1)} not taken"] * bool(missed)
    loops = [line for source in found.sources for line in source.lines if line.unrolled]
    said += [
        f"a loop unrolled `×{max(loops[0].rounds)}`" if len(loops) == 1 else f"`{len(loops)}` loops unrolled"
    ] * bool(loops)
    baked = len(found.baked)
    said += [f"`{baked:,}` constant{'s' * (baked != 1)} baked in"] * bool(baked)
    return f"`{CALLS[found.way]}` kept {', '.join(said)}."


def statements(found: Coverage, kind: str) -> list[tuple[int, int]]:
    """(source, first line) of each statement of a kind, once."""
    return [
        (k, line.number)
        for k, source in enumerate(found.sources)
        for line in source.lines
        if line.kind == kind and line.number == line.first
    ]


def told(found: Coverage) -> str:
    """The whole twin."""
    return "\n".join([f"{found.model}: {head(found)}".replace("`", ""), *_sources(found), *_graph(found)])


def _sources(found: Coverage) -> Iterator[str]:
    baked: dict[tuple[int, int], list[str]] = {}
    for one in found.baked:
        if one.at:
            baked.setdefault(one.at, []).append(one.value)
    for k, source in enumerate(found.sources):
        if source.why:
            yield source.why
            continue
        where = ", ".join(path or "the model" for path in source.modules[:4])
        yield f"{source.name} ({where}{', …' if len(source.modules) > 4 else ''})"
        for line in source.lines:
            values = baked.get((k, line.number))
            words = [*marks(line), *([f"baked in: {listed(values)}"] if values else [])]
            yield f"{line.number:>4} {line.text}{'   # ' + '; '.join(words) if words else ''}".rstrip()


def listed(values: list[str]) -> str:
    """Few as they are; of many the first, how many are left out, and the last."""
    if len(values) <= MOST_VALUES:
        return ", ".join(values)
    return f"{', '.join(values[:3])}, … {len(values) - 4:,} more …, {values[-1]}"


def marks(line: Line) -> Iterator[str]:
    """What stands beside a line."""
    if line.number != line.first and line.kind != "not taken":
        return
    if line.kind == "traced":
        n = len(line.nodes)
        yield f"{n} operator{'s' * (n != 1)}"
        if line.rounds:
            yield f"unrolled {times(line.rounds)}"
    elif KINDS[line.kind]:
        yield KINDS[line.kind]
    if line.note:
        yield line.note


def times(rounds: tuple[int, ...]) -> str:
    """ "×3", or "×3, ×5"."""
    shown = [f"×{n:,}" for n in dict.fromkeys(rounds)]
    return ", ".join(shown[:3]) + (", …" if len(shown) > 3 else "")


def _graph(found: Coverage) -> Iterator[str]:
    if found.refused:
        return
    yield "Graph:"
    for node in found.nodes[:MOST_NODES]:
        place = f"  # line {node.at[-1][1]}" if node.at else ""
        yield f"{node.id:>4} {node}{place}"
    if len(found.nodes) > MOST_NODES:
        yield f"     … {len(found.nodes) - MOST_NODES:,} more nodes"
    for one in found.baked[:MOST_NODES]:
        yield f"Baked in, {one}."
    if len(found.baked) > MOST_NODES:
        yield f"     … {len(found.baked) - MOST_NODES:,} more constants"
