"""What a call's arguments were called where the call stands: `explore(x, x.t())` -> "x", "x.t()"."""

import ast
import linecache
from collections.abc import Sequence
from itertools import islice
from types import FrameType

LONGEST = 24  # characters; a longer expression gets a letter
LETTERS = "abcdefgh"


def argument_names(frame: FrameType | None, values: Sequence[object]) -> tuple[str, ...]:
    """One name for each value, all different: its expression in the source, its variable, or a letter.

    frame: the caller's. Nothing of it is changed or run; where its source can't be found, its
    variables are searched.
    """
    written = _written(frame, len(values)) if frame else None
    names: list[str] = []
    for k, value in enumerate(values):
        name = (written[k] if written else None) or _variable(frame, value)
        if not name or len(name) > LONGEST or name in names:
            name = next(letter for letter in (LETTERS[k], *LETTERS, f"tensor{k + 1}") if letter not in names)
        names.append(name)
    return tuple(names)


def _written(frame: FrameType, count: int) -> list[str] | None:
    """The arguments as they stand in the source of the call that `frame` is in, or None."""
    positions = next(islice(frame.f_code.co_positions(), frame.f_lasti // 2, None), None)
    if positions is None or None in positions:
        return None
    first, last, start, end = positions
    lines = [linecache.getline(frame.f_code.co_filename, n) for n in range(first or 0, (last or 0) + 1)]
    try:
        # Columns count bytes; the last line is cut first, since it may be the first one, too.
        lines[-1] = lines[-1].encode()[:end].decode()
        lines[0] = lines[0].encode()[start:].decode()
        node = ast.parse("".join(lines).strip(), mode="eval").body
    except (SyntaxError, ValueError, IndexError):
        return None
    if not isinstance(node, ast.Call) or len(node.args) != count:
        return None
    if any(isinstance(argument, ast.Starred) for argument in node.args):
        return None
    return [_atom(argument) for argument in node.args]


def _atom(node: ast.expr) -> str:
    """The expression's text, in brackets where an index after it would be read differently."""
    text = ast.unparse(node)
    return text if isinstance(node, ast.Name | ast.Attribute | ast.Call | ast.Subscript) else f"({text})"


def _variable(frame: FrameType | None, value: object) -> str | None:
    """The first variable of the caller that holds this very object; names with _ are IPython's."""
    if frame is None:
        return None
    for scope in (frame.f_locals, frame.f_globals):
        for name, held in list(scope.items()):
            if held is value and not name.startswith("_"):
                return str(name)
    return None
