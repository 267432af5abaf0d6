"""The rows of the xray's table, as plain data."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Chip:
    """A mark: one of the meanings of `graphs.look`, and its words."""

    role: str
    words: str


@dataclass(frozen=True, slots=True)
class Item:
    """One row. level: 1 is a source line, deeper ones its operators.

    kind: "line", "operator", "block" (repeated neighbours, without a name of its own) or "rest"
    (what was left out). times: how often it ran in a row; the figures of a line are sums over all of
    them, those of other rows are for one time. own: numbers of the storages that its result lies in;
    touched: those that it read or wrote. operators, new_bytes (bytes): None where a cell stays empty.
    calls: of the Python front, on this line; call, module, why_no_node: of an outermost operator, the
    public name that was called, the module's path, and why autograd recorded nothing ("" if not so).
    """

    level: int
    kind: str
    name: str
    line: int | None = None
    times: int = 1
    chips: tuple[Chip, ...] = ()
    tensor: str = ""
    operators: int | None = None
    new_bytes: int | None = None
    nodes: tuple[str, ...] = ()
    node_count: int = 0
    saved_bytes: int = 0
    waits: tuple[str, ...] = ()
    calls: int = 0
    call: str = ""
    module: str = ""
    why_no_node: str = ""
    own: tuple[int, ...] = ()
    touched: tuple[int, ...] = ()
    inside: tuple["Item", ...] = ()
    opened: bool = False

    @property
    def shown(self) -> int:
        """Rows that show while this one does, itself included."""
        return 1 + (sum(item.shown for item in self.inside) if self.opened else 0)


@dataclass(frozen=True, slots=True)
class Scene:
    """What the view shows. storages: (number, name) of those that the code names.

    left_out counts the operators that no row stands for.
    """

    title: str
    sentence: str
    lines: tuple[Item, ...]
    storages: tuple[tuple[int, str], ...] = ()
    notes: tuple[str, ...] = ()
    left_out: int = 0
