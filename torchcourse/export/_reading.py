"""The reader's own forwards: their source, and which of their lines ran."""

import ast
import inspect
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from textwrap import dedent
from types import CodeType, FrameType
from typing import Any

from torch import nn

from ._statements import Statement, Values, statements


@dataclass(slots=True)
class Forward:
    """One forward that was found. why: why its lines can't be shown, else ""."""

    name: str
    modules: list[str]
    file: str = ""
    start: int = 1  # number of its first line
    text: tuple[str, ...] = ()
    why: str = ""
    tree: ast.AST | None = None
    steps: list[Statement] = field(default_factory=list)
    values: Values | None = None
    runs: list[list[int]] = field(default_factory=list)  # lines in the order in which they ran, call by call
    ran: set[int] = field(default_factory=set)  # and all of them

    def holds(self, file: str, line: int) -> bool:
        return bool(self.text) and file == self.file and self.start <= line < self.start + len(self.text)

    def at(self, line: int) -> Statement | None:
        """The innermost statement of a line; of a loop in one line, the loop."""
        here = [step for step in self.steps if line in step]
        return next(
            (step for step in here if step.loop and step.body == step.first), here[-1] if here else None
        )


def forwards(model: nn.Module) -> list[Forward]:
    """The model's forward and those of its modules that the reader wrote, each function once."""
    found: dict[Any, Forward] = {}
    for path, module in model.named_modules():
        function = inspect.unwrap(getattr(module.forward, "__func__", module.forward))
        code = getattr(function, "__code__", None)
        if path and (code is None or is_torch(module)):
            continue
        key = code or type(module)
        if key in found:
            found[key].modules.append(path)
        else:
            found[key] = _forward(module, path, code)
    return list(found.values())


def is_torch(module: nn.Module) -> bool:
    """Whether PyTorch wrote its forward."""
    function = inspect.unwrap(getattr(module.forward, "__func__", module.forward))
    return str(getattr(function, "__module__", "") or "").split(".")[0] == "torch"


def _forward(module: nn.Module, path: str, code: CodeType | None) -> Forward:
    name = f"{type(module).__name__}.forward"
    if code is None or is_torch(module):
        whose = "PyTorch's own" if is_torch(module) else "no Python function"
        return Forward(name, [path], why=f"{name} is {whose}, so the graph stands alone.")
    if code.co_name == "<lambda>":
        return Forward(name, [path], why=f"{name} is a lambda, which has no lines of its own.")
    try:
        lines, start = inspect.getsourcelines(code)
        tree = ast.parse(dedent("".join(lines))).body[0]
    except (OSError, TypeError, SyntaxError, IndexError):
        return Forward(name, [path], why=f"The source of {name} is not available, so the graph stands alone.")
    ast.increment_lineno(tree, start - 1)
    text = tuple(line.rstrip("\n") for line in dedent("".join(lines)).splitlines())
    name = code.co_qualname.rpartition("<locals>.")[2]
    return Forward(name, [path], code.co_filename, start, text, "", tree, statements(tree), Values(tree))


@contextmanager
def watched(found: Sequence[Forward]) -> Iterator[None]:
    """Notes in `.runs` which lines of these forwards run inside of the block."""
    before = sys.gettrace()
    files = {one.file for one in found if one.text}

    def called(frame: FrameType, event: str, arg: Any) -> Any:
        code = frame.f_code
        if code.co_filename not in files:
            return None
        one = next((f for f in found if f.holds(code.co_filename, code.co_firstlineno)), None)
        return None if one is None else _noting(one)

    sys.settrace(called)
    try:
        yield
    finally:
        sys.settrace(before)


def _noting(one: Forward) -> Any:
    lines: list[int] = []
    one.runs.append(lines)

    def note(frame: FrameType, event: str, arg: Any) -> Any:
        if event == "line":
            lines.append(frame.f_lineno)
            one.ran.add(frame.f_lineno)
        return note

    return note


def rounds(one: Forward, loop: Statement) -> tuple[int, ...]:
    """How often the body of a loop ran, for each time that the loop was come to."""
    counts: list[int] = []
    for run in one.runs:
        within, last = False, 0
        for line in run:
            inside = loop.first <= line <= loop.last_inside
            if inside and not within:
                counts.append(-1 if loop.body == loop.first else 0)  # in one line, its last event is the end
            counts[-1:] = [counts[-1] + 1] if inside and _begins(loop, line, last) else counts[-1:]
            within, last = inside, line
    return tuple(counts)


def _begins(loop: Statement, line: int, last: int) -> bool:
    """Whether a round begins: the body's first line after the head's, which an endless `while` has not."""
    if line != loop.body:
        return False
    endless = isinstance(loop.node, ast.While) and isinstance(loop.node.test, ast.Constant)
    return loop.body == loop.first or last in loop or (endless and last != loop.body)
