"""The rows of the module tree's view: modules, their tensors, what was missed, and four walks over them."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from torchcourse.modules import Finding, Held, Missed, Node, Step, Tree, Walk
from torchcourse.modules.text import count, heading

MOST_ROWS = 3000
SMALL = 26  # rows that a view opens with
COLUMNS = ("bytes", "dtype", "device", "mode")
NO_ROW = -1  # a step whose row was left out

# slug -> what the chip says; those that a walk never comes to
CHIPS = {
    "tensor-not-registered": "not registered",
    "tensor-in-container": "not registered",
    "parameter-in-container": "not registered",
    "module-in-container": "not registered",
    "parameter-replaced": "replaced",
    "parameter-as-buffer": "a buffer that learns",
    "buffer-not-moved": "stays behind",
    "super-init-missing": "no Module.__init__",
    "module-cycle": "contains itself",
    "optimizer-misses-parameter": "not in the optimizer",
    "optimizer-foreign-parameter": "not the model's",
    "gradient-missing": "no gradient",
    "frozen-but-stepped": "frozen, still stepped",
}


@dataclass(frozen=True, slots=True)
class Mark:
    """A chip: role (a meaning of `graphs.look`), words, and whether it says that something is wrong."""

    role: str
    words: str
    wrong: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """level 1 is the model. kind: "module", "tensor", "missed" (nobody registered it), "rest" (left out).

    note: the class's name, or shape and dtype; say: what is wrong, and its mend ("" where nothing is).
    """

    level: int
    kind: str
    name: str
    path: str
    note: str = ""
    marks: tuple[Mark, ...] = ()
    nbytes: int | None = None
    dtype: str = ""
    device: str = ""
    mode: str = ""
    say: str = ""
    opened: bool = False


@dataclass(frozen=True, slots=True)
class Stop:
    """One step of a walk. row: index in `Scene.rows`; column: 1 dtype, 2 device, 3 mode, 0 none."""

    row: int
    column: int
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Route:
    """A walk, as rows."""

    call: str
    stops: tuple[Stop, ...]
    why: str


@dataclass(frozen=True)
class Scene:
    """What the view shows. left_out: rows that it has no room for."""

    title: str
    sentence: str
    rows: tuple[Row, ...]
    routes: tuple[Route, ...]
    left_out: int = 0


def scene(tree: Tree, missed: Missed, walks: Iterable[Walk]) -> Scene:
    """Rows in the order of the fully open tree."""
    found, stray = _placed(tree, missed)
    kept = _kept(tree)
    rows, numbers = _rows(tree, found, kept)
    rows += [_missed_row(1, "", one) for one in stray]
    left_out = sum(1 + len(node.tensors) for at, node in enumerate(tree.nodes) if at not in kept)
    return Scene(
        title=" · ".join(heading(tree).replace(":", ",", 1).split(", ")),
        sentence=_sentence(tree, missed),
        rows=tuple(_opened(rows)),
        routes=tuple(_route(walk, numbers) for walk in walks),
        left_out=left_out,
    )


Placed = dict[int | str, list[Finding]]  # node's index, or a tensor's path -> findings


def _placed(tree: Tree, missed: Missed) -> tuple[Placed, list[Finding]]:
    """Where each finding's row or chip goes, and those that belong to no module."""
    tensors = {held.path for held in tree.tensors}
    nodes = {node.path: at for at, node in enumerate(tree.nodes)}
    found: Placed = {}
    stray = []
    for one in missed:
        if one.kind == "optimizer-foreign-parameter":
            stray.append(one)
        elif one.where in tensors:
            found.setdefault(one.where, []).append(one)
        else:
            found.setdefault(_owner(one.where, nodes), []).append(one)
    return found, stray


def _owner(where: str, nodes: dict[str, int]) -> int:
    """The innermost module whose path begins the place's."""
    while where and where not in nodes:
        where = where.rpartition(".")[0]
    return nodes.get(where, 0)


def _kept(tree: Tree) -> set[int]:
    """The modules that get rows: breadth first, so that outer ones stay."""
    room, kept = MOST_ROWS, set()
    for at in sorted(range(len(tree.nodes)), key=lambda at: tree.nodes[at].depth):
        node = tree.nodes[at]
        room -= 1 + len(node.tensors)
        if room < 0 and at:
            break
        kept.add(at)
    return kept


Numbers = dict[tuple[int, str | None], int]  # (node, tensor's name) -> row


def _rows(tree: Tree, found: Placed, kept: set[int]) -> tuple[list[Row], Numbers]:
    below = _below(tree)
    rows: list[Row] = []
    numbers: Numbers = {}
    cut: set[int | None] = set()
    for at, node in enumerate(tree.nodes):
        if at in kept:
            numbers[at, None] = len(rows)
            rows += _of_node(node, at, len(rows), found, below[at], numbers)
        elif node.parent in kept and node.parent not in cut:
            cut.add(node.parent)
            rows.append(Row(node.depth + 1, "rest", "more modules are left out here", node.path))
    return rows, numbers


def _below(tree: Tree) -> list[tuple[dict[str, None], dict[str, None]]]:
    """For each module the dtypes and the devices of all tensors in it, in order."""
    found: list[tuple[dict[str, None], dict[str, None]]] = [({}, {}) for _ in tree.nodes]
    for at in range(len(tree.nodes) - 1, -1, -1):
        node = tree.nodes[at]
        own = [held for held in node.tensors if not held.empty]
        found[at] = (
            {**{held.dtype: None for held in own}, **found[at][0]},
            {**{held.device: None for held in own}, **found[at][1]},
        )
        if node.parent is not None:  # the last child comes first here, so it goes behind
            outer = found[node.parent]
            found[node.parent] = ({**found[at][0], **outer[0]}, {**found[at][1], **outer[1]})
    return found


def _of_node(
    node: Node,
    at: int,
    first: int,
    found: Placed,
    below: tuple[dict[str, None], dict[str, None]],
    numbers: Numbers,
) -> Iterator[Row]:
    here = [one for one in found.get(at, ()) if one.kind in ("super-init-missing", "module-cycle")]
    yield Row(
        level=node.depth + 1,
        kind="module",
        name=node.name or node.kind,
        path=node.path,
        note=node.kind if node.name else "",
        marks=(*_node_marks(node), *map(_wrong, here)),
        nbytes=node.total_bytes,
        dtype=_few(below[0]),
        device=_few(below[1]),
        mode={True: "train", False: "eval", None: "–"}[node.training],
        say=" ".join(map(_told, here)),
    )
    for k, held in enumerate(node.tensors, 1):
        numbers[at, held.name] = first + k
        yield _tensor_row(node.depth + 2, held, found.get(held.path, []))
    yield from (_missed_row(node.depth + 2, node.path, one) for one in found.get(at, ()) if one not in here)


def _few(words: dict[str, None]) -> str:
    """'float32', 'float32 +1'."""
    first, *more = [*words] or [""]
    return f"{first} +{len(more)}" if more else first


def _node_marks(node: Node) -> Iterator[Mark]:
    if node.again is not None and not node.cycle:
        yield Mark("view", f"the same as {node.again or 'the model'}")
    if node.parametrized:
        yield Mark("rest", f"{', '.join(node.parametrized)} computed")
    hooks = sum(n for _, n in node.hooks)
    if hooks:
        yield Mark("rest", count(hooks, "hook"))


def _tensor_row(level: int, held: Held, found: list[Finding]) -> Row:
    marks = [*_tensor_marks(held), *map(_wrong, found)]
    shape = "None" if held.empty else "no shape yet" if held.shape is None else str(list(held.shape))
    return Row(
        level,
        "tensor",
        held.name,
        held.path,
        note=shape,
        marks=tuple(marks),
        nbytes=None if held.empty else held.nbytes if held.tied is None else 0,
        dtype=held.dtype,
        device=held.device,
        say=" ".join(map(_told, found)),
    )


def _tensor_marks(held: Held) -> Iterator[Mark]:
    yield Mark("base" if held.kind == "parameter" else "run", held.kind)
    if held.kind == "parameter" and not held.requires_grad and not held.empty:
        yield Mark("rest", "frozen")
    if not held.persistent:
        yield Mark("rest", "not saved")
    if held.tied or held.shares:
        yield Mark("view", f"tied to {held.tied}" if held.tied else f"on the memory of {held.shares}")


def _wrong(one: Finding) -> Mark:
    return Mark("now", CHIPS.get(one.kind, one.kind), wrong=True)


def _told(one: Finding) -> str:
    return f"{one.evidence[0].upper()}{one.evidence[1:]} Mend: {one.mend}"


def _missed_row(level: int, path: str, one: Finding) -> Row:
    name = one.where.removeprefix(f"{path}.") if path else one.where
    return Row(level, "missed", name, one.where, marks=(_wrong(one),), say=_told(one))


def _opened(rows: list[Row]) -> Iterator[Row]:
    """A small tree is open; of a large one the model and what leads to something missed."""
    small = len(rows) <= SMALL
    wrong: set[int] = set()
    above: list[int] = []
    for i, row in enumerate(rows):
        del above[row.level - 1 :]
        if row.say and len(wrong) < SMALL:
            wrong.update(above)
        above.append(i)
    for i, row in enumerate(rows):
        yield replace(row, opened=True) if small or i == 0 or i in wrong else row


def _sentence(tree: Tree, missed: Missed) -> str:
    if len(missed):
        first, more = missed[0], len(missed) - 1
        rest = f" And {count(more, 'more finding')}, marked ✕." if more else ""
        return f"`{first.where}`: {first.evidence}{rest}"
    unsaved = sum(not held.persistent for held in tree.tensors)
    saved = f"all but `{unsaved}` stand in `state_dict()`" if unsaved else "`state_dict()` saves them"
    if not tree.tensors:
        return "This model holds no tensor of its own, and nothing was missed."
    entries = count(len(tree.tensors), "entry").replace("entrys", "entries")
    return f"`{entries}`, `{tree.nbytes:,}` bytes: `.to()` reaches each of them, and {saved}. Nothing was missed."


def _route(walk: Walk, numbers: Numbers) -> Route:
    return Route(walk.call, tuple(_stop(walk.call, step, numbers) for step in walk.steps), walk.why)


def _stop(call: str, step: Step, numbers: Numbers) -> Stop:
    grad = bool(step.tensor and step.tensor.endswith(".grad"))
    name = step.tensor.removesuffix(".grad") if step.tensor and grad else step.tensor
    row = numbers.get((step.node, name), NO_ROW)
    if call in (".eval()", ".train()"):
        return Stop(row, 3, step.before, step.after)
    if step.tensor is None:
        return Stop(row, 0, "", "")
    if call == ".to(device)":
        return Stop(row, 2, ".grad" if grad else "", "moved")
    return Stop(row, 1, ".grad" if grad else step.before, step.after)
