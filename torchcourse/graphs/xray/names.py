"""What a storage is called: the variable of the reader's code that certainly holds it.

A name is given only where the source line and the calls that ran on it say the same thing:
`y = x.t()` whose first call was `torch.Tensor.t` names the storage that it was given `x`.
"""

import ast
from collections.abc import Iterable, Iterator

from torchcourse.layers import Call, Operator, Trace

_SIGNS: dict[type[ast.operator], str] = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div", ast.MatMult: "matmul", ast.Pow: "pow",
}  # fmt: skip
_LONGEST = 16  # characters of a name


def storage_names(trace: Trace) -> dict[int, str]:
    """Storage number -> name; a storage for which the code gives no certain name is left out."""
    calls: dict[int, list[int]] = {}
    for i, call in enumerate(trace.calls):
        if call.line is not None:
            calls.setdefault(call.line, []).append(i)
    operators = _by_call(trace.operators)
    names: dict[int, str] = {}
    for line, source in trace.source:
        statement = _parsed(source)
        if statement is None or line not in calls:
            continue
        for storage, name in _named(statement, calls[line], trace.calls, operators):
            if name not in names.values() and len(name) <= _LONGEST:
                names.setdefault(storage, name)
    return names


def _by_call(operators: Iterable[Operator]) -> dict[int, list[Operator]]:
    found: dict[int, list[Operator]] = {}
    for operator in operators:
        if operator.call is not None and operator.dispatched:
            found.setdefault(operator.call, []).append(operator)
    return found


def _parsed(source: str) -> ast.stmt | None:
    """The line's one statement; None for a part of a longer one."""
    text = source.strip()
    for whole in (text, f"{text} pass"):  # `for y in x:` has its body elsewhere
        try:
            body = ast.parse(whole).body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        return body[0] if len(body) == 1 else None
    return None


def _named(
    statement: ast.stmt, on_line: list[int], calls: tuple[Call, ...], operators: dict[int, list[Operator]]
) -> Iterator[tuple[int, str]]:
    """(storage, name) of the tensor that the line starts from, and of the new one that it assigns."""
    first, last = (operators.get(i, []) for i in (on_line[0], on_line[-1]))
    start = _start(statement)
    if start and calls[on_line[0]].name == f"torch.Tensor.{start[1]}" and first and first[0].inputs:
        yield first[0].inputs[0], start[0]
    target = _target(statement)
    if target and calls[on_line[-1]].name.rpartition(".")[2] == target[1] and last:
        output = last[-1].outputs[-1] if last[-1].outputs else None
        if output and output.kind == "new" and output.storage is not None:
            yield output.storage, target[0]


def _start(statement: ast.stmt) -> tuple[str, str] | None:
    """The variable at the left end of the line, and the method that is called on it."""
    if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
        return statement.target.id, f"{_SIGNS.get(type(statement.op), '')}_"
    if isinstance(statement, ast.AugAssign):
        node: ast.expr | None = statement.target
    elif isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Subscript):
        node = statement.targets[0]
        return (node.value.id, "__setitem__") if isinstance(node.value, ast.Name) else None
    else:
        node = getattr(statement, "value", None)
    method = ""
    while node is not None and not isinstance(node, ast.Name):
        node, method = _left(node, method)
    return (node.id, method) if node is not None and method else None


def _left(node: ast.expr, method: str) -> tuple[ast.expr | None, str]:
    """One step towards the left end of an expression, and the method that this step calls."""
    match node:
        case ast.Call(func=ast.Attribute(value=inner, attr=name)):
            return inner, name
        case ast.Subscript(value=inner):
            return inner, "__getitem__"
        case ast.BinOp(left=inner, op=sign):
            return inner, _SIGNS.get(type(sign), "")
    return None, method


def _target(statement: ast.stmt) -> tuple[str, str] | None:
    """The one variable that is assigned, and the name of the last call that makes its value."""
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            pass
        case _:
            return None
    match value:
        case ast.Call(func=ast.Attribute(attr=method)) | ast.Call(func=ast.Name(id=method)):
            return name, method
        case ast.Subscript():
            return name, "__getitem__"
        case ast.BinOp(op=sign):
            return name, _SIGNS.get(type(sign), "")
    return None
