"""The one sentence that an xray opens with: what a reader should see first, from the figures alone."""

from collections import Counter
from collections.abc import Iterator

from torchcourse.layers import Row, Trace

COPIES = {  # a method that may copy -> why it did
    "aten::reshape": "`reshape` could not make a view",
    "aten::contiguous": "`contiguous` was asked for elements in order",
}
OFTEN = 10  # times that a line runs

Telling = tuple[str, int | None]  # a sentence, and the line that it is about


def sentence_and_line(trace: Trace, table: tuple[Row, ...], rounds: dict[int | None, int]) -> Telling:
    """The two most telling sentences, and the line that the first is about (None: no one line).

    rounds: how often each line ran all of its operators.
    """
    found = [*_copy(trace), *_wait(table), *_loop(trace, table, rounds), *_in_place(table), *_backward(trace),
             *_heaviest(trace, table), *_views(trace, table), *_no_nodes(trace)]  # fmt: skip
    if not found:
        return ("Nothing ran: no operator, no node, no wait.", None)
    return " ".join(text for text, _ in found[:2]), found[0][1]


def _line(line: int | None) -> str:
    return "Code outside of the cell" if line is None else f"Line {line}"


def _copy(trace: Trace) -> Iterator[Telling]:
    """The line on which most bytes were copied by a method that may give a view."""
    nbytes: Counter[tuple[int | None, str]] = Counter()
    times: Counter[tuple[int | None, str]] = Counter()
    above: list[str] = []
    for operator in trace.operators:
        del above[operator.depth :]
        above.append(operator.name)
        if operator.name == "aten::clone" and len(above) > 1 and above[-2] in COPIES:
            key = (operator.line, above[-2])
            nbytes[key] += sum(output.nbytes for output in operator.outputs)
            times[key] += 1
    if nbytes:
        (line, name), most = nbytes.most_common(1)[0]
        often = f" in `{times[line, name]:,}` copies" if times[line, name] > 1 else ""
        yield f"{_line(line)} copies `{most:,}` bytes{often}: {COPIES[name]}.", line


def _wait(table: tuple[Row, ...]) -> Iterator[Telling]:
    """The line that waits most."""
    row = max(table, key=lambda row: len(row.waits), default=None)
    if row is None or not row.waits:
        return
    cause = Counter(row.waits).most_common(1)[0][0]
    often = f" `{len(row.waits):,}` times" if len(row.waits) > 1 else ""
    each = "each value" if often else "the value"
    yield f"{_line(row.line)} waits{often}: `{cause}` needs {each} in Python.", row.line


def _loop(trace: Trace, table: tuple[Row, ...], rounds: dict[int | None, int]) -> Iterator[Telling]:
    """A line that runs the same few operators again and again."""
    row = max(table, key=lambda row: rounds.get(row.line, 1), default=None)
    if row is None:
        return
    times = rounds.get(row.line, 1)
    if times >= OFTEN and row.operators * 2 > len(trace.operators):
        each = row.operators // times
        yield (
            f"{_line(row.line)} runs the same `{each:,}` operators `{times:,}` times: `{row.operators:,}` in all.",
            row.line,
        )


def _in_place(table: tuple[Row, ...]) -> Iterator[Telling]:
    writing = [row for row in table if row.in_place and not row.new]
    if len(writing) == 1:
        yield f"{_line(writing[0].line)} writes in place and makes no new storage.", writing[0].line


def _backward(trace: Trace) -> Iterator[Telling]:
    if trace.ran:
        what = "node" if len(trace.ran) == 1 else "nodes"
        yield f"Backward ran `{len(trace.ran):,}` {what}, `{trace.ran[0]}` first.", None


def _heaviest(trace: Trace, table: tuple[Row, ...]) -> Iterator[Telling]:
    row = max(table, key=lambda row: row.operators, default=None)
    if row and len(table) > 1 and row.operators * 2 > len(trace.operators):
        yield (
            (
                f"Most happens on line {row.line}: `{row.operators:,}` of `{len(trace.operators):,}` operators."
                if row.line
                else f"Most happens outside of the cell's lines: `{row.operators:,}` operators."
            ),
            row.line,
        )


def _views(trace: Trace, table: tuple[Row, ...]) -> Iterator[Telling]:
    views = sum(row.views for row in table)
    if views and not any(row.new or row.in_place for row in table):
        results = "The one result is a view" if views == 1 else f"All `{views:,}` results are views"
        yield f"{results}: no element was copied.", None
    elif trace.new_bytes:
        yield f"`{trace.new_bytes:,}` new bytes, at most `{trace.peak_bytes:,}` alive at one time.", None


def _no_nodes(trace: Trace) -> Iterator[Telling]:
    reasons = dict.fromkeys(call.why_no_node for call in trace.calls if call.why_no_node)
    if trace.operators and not trace.nodes and reasons:
        yield f"Autograd recorded nothing: {', '.join(map(str, reasons))}.", None
