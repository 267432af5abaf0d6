"""The text twin of a trace: a table by source line, and the tree of operators."""

from collections import Counter
from collections.abc import Iterator

from .events import Operator, Output, Trace
from .fold import Block, fold
from .rows import Row, rows

WIDTH = 46  # characters of a source line
LONGEST = 400  # lines of a tree
_COLUMNS = ("operators", "views", "in place", "new", "new bytes", "nodes")


def trace_text(trace: Trace) -> str:
    """One row a line; then the totals, and the notes."""
    table = rows(trace)
    width = max([6, *(min(len(row.source), WIDTH) for row in table)])
    lines = [f"line  {'source':<{width}}  {'  '.join(_COLUMNS)}  waits"]
    lines += [_row_text(row, width) for row in table]
    if not table:
        lines = ["Nothing ran: no operator, no node, no wait."]
    return "\n".join([*lines, _totals(trace), *trace.notes])


def _row_text(row: Row, width: int) -> str:
    line = "-" if row.line is None else str(row.line)
    source = row.source if len(row.source) <= width else row.source[: width - 1] + "…"
    figures = (row.operators, row.views, row.in_place, row.new, f"{row.new_bytes:,}", row.nodes)
    cells = "  ".join(f"{figure:>{len(name)}}" for figure, name in zip(figures, _COLUMNS, strict=True))
    return f"{line:>4}  {source:<{width}}  {cells}  {_counted(row.waits)}".rstrip()


def _counted(texts: tuple[str, ...]) -> str:
    counts = Counter(texts)
    return ", ".join(f"{count} × {text}" if count > 1 else text for text, count in counts.items())


def _totals(trace: Trace) -> str:
    total = (
        f"{len(trace.operators):,} operators, {trace.new_bytes:,} new bytes "
        f"(at most {trace.peak_bytes:,} alive at one time), {_count(len(trace.nodes), 'node')} recorded, "
        f"{len(trace.ran):,} ran, {_count(len(trace.waits), 'wait')}."
    )
    if not trace.nodes and trace.operators and (reasons := _reasons(trace)):
        total += f" Autograd recorded nothing: {reasons}."
    return total


def _count(number: int, word: str) -> str:
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def _reasons(trace: Trace) -> str:
    used = {operator.call for operator in trace.operators}
    reasons = (call.why_no_node for i, call in enumerate(trace.calls) if i in used)
    return ", ".join(dict.fromkeys(reason for reason in reasons if reason))


def tree_text(trace: Trace) -> str:
    """Every operator under its line, indented by depth, repeated blocks as × N."""
    nodes = _nodes_by_operator(trace)
    lines: list[str] = []
    for line in _tree(trace, fold(trace), nodes, "", None):
        if len(lines) == LONGEST:
            lines.append("… the rest is left out here; `.operators` has all.")
            break
        lines.append(line)
    return "\n".join(lines)


def _nodes_by_operator(trace: Trace) -> dict[int, list[str]]:
    nodes: dict[int, list[str]] = {}
    for node in trace.nodes:
        if node.operator is not None:
            nodes.setdefault(node.operator, []).append(f"{node.name} saves {node.saved_bytes:,} bytes")
    return nodes


def _tree(
    trace: Trace, blocks: tuple[Block, ...], nodes: dict[int, list[str]], indent: str, line: int | None
) -> Iterator[str]:
    source = dict(trace.source)
    for block in blocks:
        times = f"{block.times} × " if block.times > 1 else ""
        if block.operator is None:
            yield f"{indent}{times}({block.count // block.times} operators)"
            yield from _tree(trace, block.inside, nodes, indent + "  ", line)
            continue
        operator = trace.operators[block.operator]
        if operator.line != line and operator.depth == 0:
            line = operator.line
            yield f"{indent}line {line}: {source.get(line or 0, '')}" if line else f"{indent}no line"
        yield f"{indent}  {times}{_operator_text(operator)}{_made(nodes, block.operator)}"
        yield from _tree(trace, block.inside, nodes, indent + "  ", operator.line)


def _made(nodes: dict[int, list[str]], at: int) -> str:
    return f"  → {', '.join(nodes[at])}" if at in nodes else ""


def _operator_text(operator: Operator) -> str:
    return f"{operator.name} {_counted(tuple(_output_text(o) for o in operator.outputs))}".rstrip()


def _output_text(output: Output) -> str:
    nbytes = f" {output.nbytes:,} bytes" if output.kind == "new" else ""
    kind = {"view": "view", "in-place": "in place", "new": "new"}[output.kind]
    return f"{list(output.shape)} {str(output.dtype).removeprefix('torch.')} {kind}{nbytes}"
