"""What `%%xray` does with a cell."""

import contextlib
from typing import Any

from .seen import Xray

UNREAD = "%%xray: this cell is not Python, so nothing ran."
EMPTY = "%%xray: the cell is empty, so nothing ran."


def run(shell: Any, line: str, cell: str) -> Any:
    """The xray of the cell, which IPython shows as its value; also kept under the name in `line`.

    ValueError: `line` is no name. An error of the cell goes on, after what had happened is shown.
    """
    name = line.strip()
    if name and not name.isidentifier():
        raise ValueError(f"%%xray takes a name for the result, or nothing; {name!r} is no name.")
    if not cell.strip():
        print(EMPTY)
        return None
    file = _file_of(shell, cell)
    with Xray({file}, file) as seen:
        result = shell.run_cell(cell)
    if result.error_before_exec is not None:  # IPython has shown the SyntaxError
        print(UNREAD)
        return None
    if name:
        shell.user_ns[name] = seen
    if result.error_in_exec is not None:
        print(seen)
        raise _shown(result.error_in_exec)
    return seen


def _shown(error: BaseException) -> BaseException:
    """The cell must fail, but IPython has shown this traceback; one line is enough."""
    with contextlib.suppress(AttributeError):  # an exception class with slots
        error._render_traceback_ = lambda: [f"{type(error).__name__}: see above"]  # type: ignore[attr-defined]
    return error


def _file_of(shell: Any, cell: str) -> str:
    """The name under which IPython compiles this cell: what its frames call their file."""
    code = shell.transform_cell(cell)
    file: str = shell.compile.get_code_name(cell, code, shell.execution_count)
    return file
