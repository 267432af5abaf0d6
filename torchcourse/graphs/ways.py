"""Source and graph side by side, as a view shows them: rows on the left, boxes on the right, and what belongs
together.

A graph of more than MOST nodes is folded by the lines that its operators come from.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from torchcourse.export._coverage import KINDS, BakedIn, Coverage, GraphNode, Line, Source
from torchcourse.export._coverage_text import head, times

from ._repeats import repeats

MOST = 40  # boxes
LONGEST = 26  # characters in a box
MOST_ROWS = 400  # lines of source
NAMES = {
    "trace": "torch.jit.trace",
    "export": "torch.export",
    "dynamo_onnx": "torch.onnx.export",
    "torchscript_onnx": "torch.onnx.export, TorchScript",
}


@dataclass(frozen=True, slots=True)
class Chip:
    """A mark: a meaning of `look.PAINTS`, its glyph and its words."""

    role: str
    glyph: str
    words: str


@dataclass(frozen=True, slots=True)
class Row:
    """One line of source, or a heading over a forward (number 0). kind: of `export` lines, or "head", "note".

    boxes: numbers of the boxes that come from it. say: what pointing at it says; "" where there is nothing to.
    """

    number: int
    text: str
    kind: str
    chips: tuple[Chip, ...] = ()
    boxes: tuple[int, ...] = ()
    say: str = ""


@dataclass(frozen=True, slots=True)
class Box:
    """One node, or several that come from one line. kind: "input", "operator", "output", "fold"."""

    title: str
    kind: str
    details: tuple[str, ...] = ()
    baked: str = ""
    say: str = ""


@dataclass(frozen=True)
class Side:
    """One way's picture. wires: (source, target), numbers of boxes. folded: a sentence, or ""."""

    name: str
    sentence: str
    rows: tuple[Row, ...]
    boxes: tuple[Box, ...] = ()
    wires: tuple[tuple[int, int], ...] = ()
    folded: str = ""
    refused: str = ""


def side(found: Coverage) -> Side:
    """What the view shows of one way."""
    groups = _groups(found)
    home = {node.id: k for k, group in enumerate(groups) for node in group}
    rows = _rows(found, home)
    baked: dict[int, list[BakedIn]] = defaultdict(list)
    for one in found.baked:
        baked[home[one.node]].append(one)
    boxes = [_box(found, group, baked[k]) for k, group in enumerate(groups)]
    pairs = [(home[i], k) for k, group in enumerate(groups) for node in group for i in node.inputs]
    wires = tuple(dict.fromkeys((a, b) for a, b in pairs if a != b))
    n = len(found.nodes)
    folded = f"Folded: {len(groups):,} boxes stand for {n:,} nodes." if len(groups) < n else ""
    return Side(NAMES[found.way], head(found), rows, tuple(boxes), wires, folded, found.refused)


# --- boxes ---------------------------------------------------------------------------------------------


def _groups(found: Coverage) -> list[list[GraphNode]]:
    """One node each where they are few; else neighbours of one line, rounds of a loop, and of one outer line."""
    if len(found.nodes) <= MOST:
        return [[node] for node in found.nodes]
    groups: list[list[GraphNode]] = []
    for depth in (-1, 0):
        groups = _rounds([list(g) for _, g in groupby(found.nodes, lambda n, d=depth: _key(n, d))], depth)  # type: ignore[misc]
        if len(groups) <= MOST:
            return groups
    cut = [node for group in groups[MOST - 2 : -1] for node in group]
    return [*groups[: MOST - 2], cut, groups[-1]]


def _rounds(groups: list[list[GraphNode]], depth: int) -> list[list[GraphNode]]:
    """Runs of lines that repeat, as one group each: the rounds of a loop, layers of one class."""
    numbers: dict[object, int] = {}
    keys = [numbers.setdefault(_key(group[0], depth), len(numbers)) for group in groups]
    runs = (groups[at : at + length * times] for at, length, times in repeats(keys))
    return [[node for group in run for node in group] for run in runs]


def _key(node: GraphNode, depth: int) -> object:
    if node.kind != "operator":
        return node.id
    return node.at[depth] if node.at else (node.module or "").split(".")[0]


def _box(found: Coverage, group: list[GraphNode], baked: list[BakedIn]) -> Box:
    node = group[-1]
    constants = ", ".join(dict.fromkeys(one.value for one in baked))
    if len(group) > 1:
        names = Counter(_short(n.op) for n in group)
        title = ", ".join(f"{name} ×{n}" if n > 1 else name for name, n in names.most_common(3))
        details = (f"{len(group):,} operators",)
        return Box(_cut(title), "fold", details, _cut(constants), say=_say_fold(found, group, baked))
    reads = ", ".join(name.rpartition(".")[2] for name in node.reads)
    lines = tuple(_cut(text) for text in (node.size, reads, node.part) if text)
    return Box(_cut(_short(node.op)), node.kind, lines, _cut(constants), say=_say_node(found, node, baked))


def _short(op: str) -> str:
    return op.removeprefix("aten::")


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def _say_node(found: Coverage, node: GraphNode, baked: list[BakedIn]) -> str:
    if node.kind == "input":
        return f"`{node.op}` is an input of the graph, {_tensor(node)} for this example."
    if node.kind == "output":
        return "What the graph returns."
    gives = f" gives {_tensor(node)}" if node.size or node.dtype else ""
    reads = f" It reads {_listed(node.reads)}." if node.reads else ""
    part = f" It stands in the {node.part}." if node.part else ""
    return f"`{node.op}`{gives}. {_place(found, node)}{part}{reads}{_say_baked(baked)}"


def _tensor(node: GraphNode) -> str:
    return f"`{f'{node.size} {node.dtype}'.strip() or 'a value'}`"


def _place(found: Coverage, node: GraphNode) -> str:
    module = f" in module `{node.module}`" if node.module else ""
    if not node.at:
        return f"It comes from PyTorch's own code{module}."
    source, line = node.at[-1]
    return f"It comes from line `{line}` of `{found.sources[source].name}`{module}."


def _say_fold(found: Coverage, group: list[GraphNode], baked: list[BakedIn]) -> str:
    names = Counter(node.op for node in group)
    what = ", ".join(f"`{name}` ×{n}" for name, n in names.most_common(4))
    same = {node.at[-1] for node in group if node.at}
    place = f" {_place(found, group[0])}" if len(same) == 1 else " They come from several lines."
    return f"`{len(group):,}` operators: {what}.{place}{_say_baked(baked)}"


def _say_baked(baked: list[BakedIn]) -> str:
    if not baked:
        return ""
    values = _listed(tuple(dict.fromkeys(one.value for one in baked)))
    return f" Baked in: {values}, {baked[0].how}."


def _listed(names: tuple[str, ...]) -> str:
    shown = [f"`{name}`" for name in names[:4]]
    return ", ".join(shown) + (f" and {len(names) - 4} more" if len(names) > 4 else "")


# --- rows ----------------------------------------------------------------------------------------------


def _rows(found: Coverage, home: dict[int, int]) -> tuple[Row, ...]:
    baked: dict[tuple[int, int], list[BakedIn]] = defaultdict(list)
    for one in found.baked:
        if one.at:
            baked[one.at].append(one)
    rows: list[Row] = []
    for k, source in enumerate(found.sources):
        rows.append(_heading(source))
        before = ""
        for line in source.lines:
            at = [
                one for spot, found_at in baked.items() if _within(spot, k, line, source) for one in found_at
            ]
            rows.append(_row(line, found, home, at, before))
            before = line.kind if line.text.strip() else before
    if len(rows) > MOST_ROWS:
        left = len(rows) - MOST_ROWS
        rows = [*rows[:MOST_ROWS], Row(0, f"… {left:,} more lines; str() has all.", "note")]
    return tuple(rows)


def _within(spot: tuple[int, int], k: int, line: Line, source: Source) -> bool:
    """Whether a constant's place lies in the statement that begins on this line."""
    inside = next((one for one in source.lines if spot == (k, one.number)), None)
    return inside is not None and line.number == line.first == inside.first


def _heading(source: Source) -> Row:
    if source.why:
        return Row(0, source.why, "note")
    paths = [path or "the model" for path in source.modules]
    more = f" and {len(paths) - 3} more" if len(paths) > 3 else ""
    return Row(0, f"{source.name} · {', '.join(paths[:3])}{more}", "head")


def _row(line: Line, found: Coverage, home: dict[int, int], baked: list[BakedIn], before: str) -> Row:
    boxes = tuple(dict.fromkeys(home[i] for i in line.nodes))
    chips = tuple(_chips(line, baked, before))
    return Row(line.number, line.text, line.kind, chips, boxes, _say_line(line, found, baked))


def _chips(line: Line, baked: list[BakedIn], before: str) -> Iterator[Chip]:
    if line.kind == "not taken" and before != "not taken":
        yield Chip("rest", "✕", KINDS["not taken"])
    if line.number != line.first:
        return
    if line.kind == "stopped":
        yield Chip("now", "✕", KINDS["stopped"])
    elif line.kind == "no trace":
        yield Chip("rest", "·", line.note or "no trace")
    if line.unrolled:
        yield Chip("view", "↻", f"unrolled {times(line.rounds)}")
    if baked:
        values = list(dict.fromkeys(one.value for one in baked))
        yield Chip("now", "✎", f"baked in {', '.join(values[:3])}{', …' if len(values) > 3 else ''}")


def _say_line(line: Line, found: Coverage, baked: list[BakedIn]) -> str:
    name = f"Line `{line.number}`"
    n = len(line.nodes)
    operators = f"`{n:,}` operator{'s' * (n != 1)}"
    if line.kind == "stopped":
        return f"{name}: the export stopped here. {found.refused}"
    if line.kind == "not taken":
        return f"{name} did not run for this example, so nothing of it is in the graph: no other input will take it."
    if line.kind == "no trace":
        return f"{name} ran while exporting and left no trace in the graph{f': {line.note}' if line.note else ''}."
    if line.kind != "traced":
        return ""
    if line.rounds:
        ran = f"`{max(line.rounds):,}` time{'s' * (max(line.rounds) != 1)}"
        why = f"; {line.note}" if line.note else ""
        return f"{name} is no loop in the graph: its body ran {ran}{why}, and left {operators} one after another."
    names = Counter(found.nodes[i].op for i in line.nodes)
    what = ", ".join(f"`{op}`{f' ×{k}' if k > 1 else ''}" for op, k in names.most_common(3))
    return (
        f"{name} left {operators} in the graph: {what}{', …' if len(names) > 3 else ''}.{_say_baked(baked)}"
    )
