"""What arguments and outputs hold, leaf by leaf, each with its path: "x", "batch['ids']", "states[0]"."""

import dataclasses
import inspect
from collections.abc import Iterator, Mapping
from typing import Any

from torch import Tensor, nn

Leaves = dict[str, Any]


def arguments(model: nn.Module, inputs: tuple[Any, ...], defaults: bool = False) -> dict[str, Any]:
    """Parameter name of `forward` → value; `*args` gives one tuple. Names by position where that fails."""
    try:
        bound = inspect.signature(model.forward).bind(*inputs)
    except (TypeError, ValueError):
        return {f"input_{number}": value for number, value in enumerate(inputs)}
    if defaults:
        bound.apply_defaults()
    return dict(bound.arguments)


def of_arguments(model: nn.Module, inputs: tuple[Any, ...], defaults: bool = False) -> Leaves:
    """The leaves of a call's arguments by path, in the order in which exporters flatten them."""
    return {
        path: leaf
        for name, value in arguments(model, inputs, defaults).items()
        for path, leaf in _walk(value, name)
    }


def of_output(value: Any) -> list[Any]:
    """The leaves of an output in order; None, which no graph returns, left out."""
    return [leaf for _, leaf in _walk(value, "") if leaf is not None]


def _walk(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        parts = [(f"{path}[{key!r}]", part) for key, part in value.items()]
    elif isinstance(value, (tuple, list)):
        parts = [(f"{path}[{number}]", part) for number, part in enumerate(value)]
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        parts = [(f"{path}.{f.name}", getattr(value, f.name)) for f in dataclasses.fields(value)]
    else:
        yield path, value
        return
    for inner, part in parts:
        yield from _walk(part, inner)


def number(leaf: Any) -> bool:
    return isinstance(leaf, (bool, int, float))


def described(leaves: Leaves) -> str:
    """'x [3, 4] float32, n = 3'."""
    return ", ".join(f"{path} {_said(leaf)}" for path, leaf in leaves.items()) or "no arguments"


def _said(leaf: Any) -> str:
    if isinstance(leaf, Tensor):
        return f"{list(leaf.shape)} {str(leaf.dtype).removeprefix('torch.')}"
    if leaf is None or number(leaf) or isinstance(leaf, str):
        return f"= {leaf!r}"
    return f"({type(leaf).__name__})"
