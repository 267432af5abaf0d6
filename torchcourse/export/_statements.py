"""The statements of one function, as ranges of lines, and what the lines say about values."""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_PLAIN = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Pass, ast.Global, ast.Nonlocal)
_LOOPS = (ast.For, ast.While, ast.AsyncFor)


@dataclass(frozen=True, slots=True)
class Statement:
    """Its own lines, without those of a block inside it. last_inside: the block's last line. body: first line of
    its block. owner: the inner function that it stands in, or "". follows: for an `else:`, the first line below.
    """

    node: ast.stmt | None
    first: int
    last: int
    last_inside: int
    body: int = 0
    owner: str = ""
    follows: int = 0

    @property
    def plain(self) -> bool:
        """Nothing to say of it: a `def`, a docstring, an `else:`, a `return` of what is there."""
        doc = isinstance(self.node, ast.Expr) and isinstance(self.node.value, ast.Constant)
        return self.node is None or doc or isinstance(self.node, (*_PLAIN, ast.Return))

    @property
    def loop(self) -> bool:
        return isinstance(self.node, _LOOPS)

    def __contains__(self, line: int) -> bool:
        return self.first <= line <= self.last


def statements(function: ast.AST) -> list[Statement]:
    """Every statement in a function's body, in the order of the lines."""
    return list(_walk(getattr(function, "body", []), ""))


def _walk(body: Sequence[ast.stmt], owner: str) -> Iterator[Statement]:
    for node in body:
        end = node.end_lineno or node.lineno
        blocks = list(_blocks(node))
        if not blocks:
            yield Statement(node, node.lineno, end, end, owner=owner)
            continue
        inner = blocks[0][0].lineno
        yield Statement(node, node.lineno, max(node.lineno, _first(blocks[0][0]) - 1), end, inner, owner)
        inside = node.name if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) else owner
        for k, block in enumerate(blocks):
            if k:
                yield from _opener(blocks[k - 1], block, owner)
            yield from _walk(block, inside)


def _blocks(node: ast.stmt) -> Iterator[list[ast.stmt]]:
    for name in ("body", "handlers", "orelse", "finalbody", "cases"):
        for part in [getattr(node, name, None) or []]:
            if part and isinstance(part[0], ast.stmt):
                yield part
            else:
                yield from (inner.body for inner in part)


def _opener(before: list[ast.stmt], block: list[ast.stmt], owner: str) -> Iterator[Statement]:
    """The lines of `else:`, `except …:` between two blocks; an `elif` is a statement of its own."""
    first, last = (before[-1].end_lineno or 0) + 1, _first(block[0]) - 1
    if first <= last:
        yield Statement(None, first, last, last, owner=owner, follows=block[0].lineno)


def _first(node: ast.stmt) -> int:
    decorators = getattr(node, "decorator_list", [])
    return min([node.lineno, *(one.lineno for one in decorators)])


# --- where a number comes from -------------------------------------------------------------------------

_ATTRIBUTES = {"shape", "ndim"}
_METHODS = {"size", "numel", "item", "tolist", "dim"}
_CASTS = {"len", "int", "float", "bool"}
_PLAIN_CALLS = _CASTS | {"range", "max", "min", "abs", "round", "sum", "enumerate", "divmod"}


class Values:
    """Which names of a function hold numbers that were read from the example, and which a loop counts."""

    def __init__(self, function: ast.AST) -> None:
        self.read: set[str] = set()
        self.counted: set[str] = set()
        before = -1
        while before != len(
            self.read
        ):  # until nothing new is found: a name may come from a later line of a loop
            before = len(self.read)
            for node in ast.walk(function):
                self._note(node)

    def _note(self, node: ast.AST) -> None:
        if isinstance(node, ast.For):
            self.counted |= set(_names(node.target)) if _is_count(node.iter) else set()
        value = (
            getattr(node, "value", None)
            if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign)
            else None
        )
        if isinstance(value, ast.expr) and _is_plain(value) and self.reads(value):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]  # type: ignore[attr-defined]
            self.read |= {name for target in targets for name in _names(target)}

    def reads(self, node: ast.AST) -> str:
        """The parts of the code that read a size or a value of a tensor, or such a name: "x.shape[0], n"."""
        return ", ".join(dict.fromkeys(self._parts(node)))

    def _parts(self, node: ast.AST) -> Iterator[str]:
        whole = node.value if isinstance(node, ast.Subscript) else node
        if _reads(whole) or self._is(node, self.read):
            yield ast.unparse(node)
            return
        for child in ast.iter_child_nodes(node):
            yield from self._parts(child)

    def counts(self, node: ast.AST) -> str:
        """The loop's variable that the code uses; else empty."""
        return next((ast.unparse(n) for n in ast.walk(node) if self._is(n, self.counted)), "")

    def _is(self, node: ast.AST, names: set[str]) -> bool:
        return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in names


def literals(node: ast.AST) -> set[float]:
    """The numbers that the code writes, without signs."""
    found = (n.value for n in ast.walk(node) if isinstance(n, ast.Constant))
    return {abs(float(value)) for value in found if isinstance(value, int | float)}


def own_part(node: ast.stmt) -> list[ast.AST]:
    """A statement without the blocks inside it."""
    blocks = {id(inner) for block in _blocks(node) for inner in block if inner.lineno > node.lineno}
    return [child for child in ast.iter_child_nodes(node) if id(child) not in blocks]


def _reads(node: ast.AST) -> bool:
    match node:
        case ast.Attribute(value=of, attr=name) if name in _ATTRIBUTES:
            return _root(of) != "self"
        case ast.Call(func=ast.Attribute(value=of, attr=name)) if name in _METHODS:
            return _root(of) != "self"
        case ast.Call(func=ast.Name(id=name), args=[of, *_]) if name in _CASTS:
            return _root(of) != "self" and not isinstance(of, ast.Constant)
    return False


def _root(node: ast.AST) -> str:
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def _is_plain(value: ast.expr) -> bool:
    """Whether it gives numbers: no call but those that read or count."""
    calls = [node for node in ast.walk(value) if isinstance(node, ast.Call)]
    return all(
        _reads(call) or (isinstance(call.func, ast.Name) and call.func.id in _PLAIN_CALLS) for call in calls
    )


def _is_count(value: ast.expr) -> bool:
    return (
        isinstance(value, ast.Call)
        and isinstance(value.func, ast.Name)
        and value.func.id in ("range", "enumerate")
    )


def _names(target: ast.expr) -> Iterator[str]:
    return (node.id for node in ast.walk(target) if isinstance(node, ast.Name))
