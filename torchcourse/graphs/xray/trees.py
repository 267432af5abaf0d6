"""The rows of each line: its operators as a tree, repeated ones folded, what is too much left out."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from torchcourse.layers import Block, Call, Operator, Output, Row, Trace, fold
from torchcourse.layers.waits import OPERATORS as WAITING

from .items import Item
from .marks import Marks

MOST_TENSORS = 2  # results that a row spells out


@dataclass(frozen=True, slots=True)
class Line:
    """One line's operators. times: how often all of `blocks` ran; a block's `operator` is an index
    into `places`, which leads to `trace.operators`."""

    times: int
    blocks: tuple[Block, ...]
    places: tuple[int, ...]


def lines_of(trace: Trace) -> dict[int | None, Line]:
    """For each line its operators, folded."""
    groups: dict[int | None, tuple[list[Operator], list[int]]] = {}
    above: list[int | None] = []
    for i, operator in enumerate(trace.operators):
        del above[operator.depth :]
        # An operator that another line's operator called (a custom backward) stands at its own line.
        depth = above.count(operator.line)
        above.append(operator.line)
        own, places = groups.setdefault(operator.line, ([], []))
        own.append(operator if depth == operator.depth else replace(operator, depth=depth))
        places.append(i)
    return {line: _line(own, places) for line, (own, places) in groups.items()}


def _line(own: list[Operator], places: list[int]) -> Line:
    blocks = fold(Trace(operators=tuple(own)))
    if len(blocks) != 1 or blocks[0].times == 1:
        return Line(1, blocks, tuple(places))
    # All that the line did is one repeated block: the line itself is the repeated row.
    (block,) = blocks
    once = block.inside if block.operator is None else (replace(block, times=1),)
    return Line(block.times, once, tuple(places))


def count(blocks: Iterable[Block]) -> int:
    """How many rows they would take."""
    total, waiting = 0, list(blocks)
    while waiting:
        block = waiting.pop()
        total += 1
        waiting += block.inside
    return total


def _kept(blocks: tuple[Block, ...], room: int) -> set[int]:
    """The blocks that get a row (by identity): breadth first, so that outer operators stay."""
    kept: set[int] = set()
    level = list(blocks)
    while level and len(kept) < room:
        kept.update(id(block) for block in level[: room - len(kept)])
        level = [inner for block in level if id(block) in kept for inner in block.inside]
    return kept


class Trees:
    """Builds the rows of one trace; `.left_out` counts the operators that got none."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.marks = Marks(trace)
        self.left_out = 0
        self._nodes: dict[int, list[int]] = {}  # operator -> its nodes
        for k, node in enumerate(trace.nodes):
            if node.operator is not None:
                self._nodes.setdefault(node.operator, []).append(k)

    def line(self, row: Row, line: Line, room: int) -> Item:
        """The row of a source line, with at most `room` rows inside."""
        results = [o for i in line.places[-200:] for o in self.trace.operators[i].outputs]
        elsewhere = "outside of the cell's lines" if row.line is None else f"line {row.line}"
        return Item(
            level=1,
            kind="line",
            name=row.source or elsewhere,
            line=row.line,
            times=line.times,
            chips=self.marks.of_line(row, line.places),
            operators=row.operators,
            new_bytes=row.new_bytes,
            node_count=row.nodes,
            saved_bytes=row.saved_bytes,
            waits=row.waits,
            calls=row.calls,
            own=_storages(results[-1:]),
            inside=tuple(self._items(line.blocks, line, 2, _kept(line.blocks, room), line.times)),
        )

    def _items(
        self, blocks: tuple[Block, ...], line: Line, level: int, kept: set[int], times: int
    ) -> Iterator[Item]:
        for k, block in enumerate(blocks):
            if id(block) not in kept:
                rest = sum(other.count for other in blocks[k:])
                self.left_out += times * rest
                yield Item(level, "rest", f"{rest:,} more operators are left out here")
                return
            inside = tuple(self._items(block.inside, line, level + 1, kept, times * block.times))
            if block.operator is not None:
                yield self._operator(line.places[block.operator], level, block.times, inside)
            else:
                each = block.count // block.times
                yield Item(level, "block", f"{each:,} operators", times=block.times, inside=inside)

    def _operator(self, i: int, level: int, times: int, inside: tuple[Item, ...]) -> Item:
        operator = self.trace.operators[i]
        nodes = [self.trace.nodes[k] for k in self._nodes.get(i, ())]
        outputs, chips = operator.outputs, self.marks.of_operator(i)
        call = self._call(operator)
        return Item(
            level=level,
            kind="operator",
            name=operator.name,
            line=operator.line,
            times=times,
            chips=chips,
            tensor=_tensors(outputs),
            new_bytes=sum(output.nbytes for output in outputs) if outputs else None,
            nodes=tuple(node.name for node in nodes),
            node_count=len(nodes),
            saved_bytes=sum(node.saved_bytes for node in nodes),
            waits=(WAITING[operator.name],) if operator.name in WAITING else (),
            call=call.name if call else "",
            module=operator.module or "",
            why_no_node=(call.why_no_node or "") if call and not nodes else "",
            own=_storages(outputs) or operator.inputs,
            touched=tuple(dict.fromkeys((*operator.inputs, *_storages(outputs)))),
            inside=inside,
            # A composite operator does nothing by itself: what it called is the news.
            opened=not chips and any(item.chips or item.opened for item in inside),
        )

    def _call(self, operator: Operator) -> Call | None:
        """The call that an outermost operator came from."""
        if operator.depth or operator.call is None or operator.call >= len(self.trace.calls):
            return None
        return self.trace.calls[operator.call]


def _storages(outputs: Iterable[Output]) -> tuple[int, ...]:
    return tuple(dict.fromkeys(o.storage for o in outputs if o.storage is not None))


def _tensors(outputs: tuple[Output, ...]) -> str:
    shown = [f"{list(o.shape)} {str(o.dtype).removeprefix('torch.')}" for o in outputs[:MOST_TENSORS]]
    return ", ".join([*shown, "…"] if len(outputs) > MOST_TENSORS else shown)
