"""A chain of view operations, written as text and applied to a tensor: `.t()[:, ::2].reshape(-1)`.

The text is parsed with `ast` and walked against a list of what is allowed; nothing of it is ever
evaluated. Each step is first tried on PyTorch's meta device, where tensors have sizes and strides but
no memory, so that a chain that would copy too much is refused before it copies anything.
The operations are those of https://docs.pytorch.org/docs/stable/tensor_view.html, and the copies that
one compares them with.
"""

import ast
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import torch

from ._memory import why_no_memory
from ._strided import looking

LONGEST = 200  # characters
MOST_STEPS = 20
LARGEST = 10**12  # of any number in the text
MOST_NEW_BYTES = 64 * 2**20  # of all copies that a chain makes

# fmt: off
VIEWS = frozenset({
    "t", "transpose", "permute", "movedim", "moveaxis", "swapaxes", "swapdims", "adjoint",
    "view", "reshape", "flatten", "unflatten", "ravel", "contiguous", "squeeze", "unsqueeze",
    "expand", "broadcast_to", "narrow", "select", "diagonal", "unfold", "as_strided", "detach",
    })
COPIES = frozenset({
    "clone", "flip", "fliplr", "flipud", "roll", "rot90", "repeat", "tile",
    "to", "float", "double", "half", "int", "long", "bool",
})
# fmt: on
ATTRIBUTES = frozenset({"T", "mT", "H", "mH", "real", "imag"})
KNOWN = ("t", "permute", "view", "reshape", "expand", "unfold", "flatten", "select", "diagonal", "clone")
EXAMPLES = "such as .t(), [:, ::2], .expand(3, -1) or .reshape(2, 6)"


class ChainError(ValueError):
    """The text is no chain of view operations on this tensor; the message says why, in one sentence."""


@dataclass(frozen=True)
class Step:
    """One link of a chain: what it does to a tensor, and its text."""

    text: str
    apply: Callable[[torch.Tensor], Any]


def apply_chain(tensor: torch.Tensor, text: str) -> torch.Tensor:
    """The tensor that the chain gives: a view where PyTorch makes a view, else a copy.

    text: `.method(…)`, `.T` and `[…]` in any order; arguments are integers, slices, None, `...`,
    tuples or lists of them, True and False, dtypes and memory formats (`torch.int32`). Raises ChainError for
    anything else, for a tensor without memory (sparse, meta …), for PyTorch's own refusal (with its
    telling line), and for more than 64 MiB of copies. Changes nothing in `tensor`.
    """
    steps = parse_chain(text)
    if why := why_no_memory(tensor):
        raise ChainError(f"This tensor takes no chain: {why}")
    _check_copies(steps, _stand_in(tensor))
    for step in steps:
        tensor = _applied(step, tensor)
    return tensor


@looking
def _check_copies(steps: tuple[Step, ...], stand_in: torch.Tensor) -> None:
    """Raise ChainError where a step is refused, or where the copies would be too large."""
    new_bytes = 0
    for step in steps:
        result = _applied(step, stand_in)
        if result.untyped_storage()._cdata != stand_in.untyped_storage()._cdata:
            new_bytes += result.untyped_storage().nbytes()
        if new_bytes > MOST_NEW_BYTES:
            raise ChainError(
                f"{step.text} would copy {new_bytes:,} bytes in all; "
                f"this box copies at most {MOST_NEW_BYTES:,}. Take a smaller part first."
            )
        stand_in = result


def parse_chain(text: str) -> tuple[Step, ...]:
    """The chain's steps, in the order in which they run. Raises ChainError as `apply_chain` does."""
    text = text.strip()
    if not text:
        raise ChainError(f"Write a chain of view operations, {EXAMPLES}.")
    if len(text) > LONGEST:
        raise ChainError(f"A chain has at most {LONGEST} characters; this one has {len(text):,}.")
    if text[0] not in ".[":
        raise ChainError(f"A chain begins with a dot or a bracket, {EXAMPLES}.")
    node = _parsed(text)
    steps: list[Step] = []
    while not isinstance(node, ast.Name):
        step, node = _step(node)
        steps.append(step)
    if len(steps) > MOST_STEPS:
        raise ChainError(f"A chain has at most {MOST_STEPS} steps; this one has {len(steps)}.")
    return tuple(reversed(steps))


def _parsed(text: str) -> ast.expr:
    try:
        node = ast.parse(f"x{text}", mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        why = error.msg if isinstance(error, SyntaxError) else "Python can't read it"
        raise ChainError(f"This is no complete chain ({why}). Write it {EXAMPLES}.") from None
    first = node
    while isinstance(first, ast.Call | ast.Attribute | ast.Subscript):
        first = first.func if isinstance(first, ast.Call) else first.value
    if not (isinstance(first, ast.Name) and first.id == "x"):
        raise ChainError(f"Only steps that follow each other are a chain, {EXAMPLES}.")
    return node


def _step(node: ast.expr) -> tuple[Step, ast.expr]:
    """The last step of the expression, and what it is applied to."""
    if isinstance(node, ast.Subscript):
        index = _index(node.slice)
        return Step(f"[{ast.unparse(node.slice)}]", lambda t: t[index]), node.value
    if isinstance(node, ast.Attribute):
        name = node.attr
        if name in VIEWS | COPIES:
            raise ChainError(f".{name} is a method: write .{name}(…).")
        if name not in ATTRIBUTES:
            raise ChainError(_not_allowed(name))
        return Step(f".{name}", lambda t: getattr(t, name)), node.value
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return _call(node, node.func)
    raise ChainError(f"Only .method(…), .T and […] can stand in a chain, {EXAMPLES}.")


def _call(node: ast.Call, function: ast.Attribute) -> tuple[Step, ast.expr]:
    name = function.attr
    if name not in VIEWS | COPIES:
        raise ChainError(_not_allowed(name))
    arguments = [_literal(argument) for argument in node.args]
    named = {k.arg: _literal(k.value) for k in node.keywords if k.arg}
    if len(named) < len(node.keywords):
        raise ChainError(f".{name} takes plain arguments here: no ** and no *.")
    text = f".{name}({', '.join(ast.unparse(a) for a in (*node.args, *node.keywords))})"
    return Step(text, lambda t: getattr(t, name)(*arguments, **named)), function.value


def _not_allowed(name: str) -> str:
    shown = name if len(name) <= 30 else name[:30] + "…"
    near = get_close_matches(name, sorted(VIEWS | COPIES | ATTRIBUTES), n=1)
    hint = (
        f"Did you mean .{near[0]}?"
        if near
        else "It knows " + ", ".join(f".{n}" for n in KNOWN) + " and more."
    )
    return f".{shown} is none of the view operations of this box. {hint}"


def _index(node: ast.expr) -> Any:
    """What stands between the brackets of an index."""
    if isinstance(node, ast.Tuple):
        return tuple(_index(part) for part in node.elts)
    if isinstance(node, ast.Slice):
        parts = (node.lower, node.upper, node.step)
        return slice(*(None if part is None else _literal(part) for part in parts))
    return _literal(node)


def _literal(node: ast.AST) -> Any:
    """An integer, None, `...`, True, False, a dtype, or a tuple or list of them."""
    if isinstance(node, ast.Constant) and (
        node.value is None or node.value is ... or isinstance(node.value, int)
    ):
        return _small(node.value)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and _is_int(node.operand):
        return -_literal(node.operand)
    if isinstance(node, ast.Tuple | ast.List):
        parts = [_literal(part) for part in node.elts]
        if any(isinstance(part, bool) for part in parts):
            raise ChainError("Write the numbers of a mask's True entries instead, such as [[0, 2]].")
        return tuple(parts) if isinstance(node, ast.Tuple) else parts
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "torch":
        found = getattr(torch, node.attr, None) if not node.attr.startswith("_") else None
        if isinstance(found, torch.dtype | torch.memory_format):
            return found
    shown = ast.unparse(node)
    shown = shown if len(shown) <= 40 else shown[:40] + "…"
    raise ChainError(
        f"{shown} can't stand in a chain: write integers, slices, None, ..., or a dtype such as torch.int32."
    )


def _is_int(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) is int


def _small(value: Any) -> Any:
    if isinstance(value, int) and abs(value) > LARGEST:
        raise ChainError(f"A number in a chain is at most {LARGEST:,}.")
    return value


@looking
def _stand_in(tensor: torch.Tensor) -> torch.Tensor:
    """A meta tensor with the same size, strides, offset and storage size, and no memory."""
    storage = torch.UntypedStorage(tensor.untyped_storage().nbytes(), device="meta")
    blank = torch.empty(0, dtype=tensor.dtype, device="meta")
    return blank.set_(storage, tensor.storage_offset(), tensor.size(), tensor.stride())


def _applied(step: Step, tensor: torch.Tensor) -> torch.Tensor:
    try:
        with warnings.catch_warnings():  # .T of a 3-D tensor warns; the box has no place for it
            warnings.simplefilter("ignore")
            result = step.apply(tensor)
    except Exception as error:
        line = next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)
        raise ChainError(f"PyTorch refuses {step.text}: {line[:300]}") from None
    if not isinstance(result, torch.Tensor):
        raise ChainError(f"{step.text} gives no tensor, so no picture.")
    return result
