"""A whole checkpoint in place of its state_dict: where in it the model's stands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from torchcourse.checkpoints.errors import some, told
from torchcourse.checkpoints.held import Shapes

DEEPEST = 3  # levels of dictionaries


@dataclass(frozen=True)
class Opened:
    """The state_dict that was found inside, and a sentence that says where."""

    inner: Mapping[str, Any]
    said: str


def open_whole(ours: Shapes, state_dict: Mapping[str, Any]) -> Opened | str | None:
    """The one inner state_dict that shares names with the model, a sentence where none is, or None."""
    if _of_optimizer(state_dict):
        return "This is the state of an optimizer, not of a module."
    inside = dict(_state_dicts(state_dict))
    if not inside or _ends(_tensors(state_dict)) & _ends(ours):
        return None
    parts = {f"{path[0]}.{name}": value for path, inner in inside.items() for name, value in inner.items()}
    if parts.keys() == ours.keys():
        return Opened(parts, "The file has one state_dict for each part of the model.")
    fitting = [path for path, inner in inside.items() if _ends(inner) & _ends(ours)]
    if len(fitting) == 1:
        return Opened(inside[fitting[0]], _said(fitting[0]))
    keys = some([str(key) for key in state_dict])
    return (
        f"This is a whole checkpoint with {keys}, not a state_dict: pass the one entry that holds the model."
    )


def _said(path: tuple[str, ...]) -> str:
    where = "one level" if len(path) == 1 else f"{len(path)} levels"
    return f"The state_dict stands {where} down, under the key `{told('.'.join(path))}`."


def _of_optimizer(value: Mapping[str, Any]) -> bool:
    return {"state", "param_groups"} <= set(value)


def _state_dicts(
    value: Mapping[str, Any], path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], Mapping[str, Any]]]:
    """Dictionaries that hold tensors, below this one, under string names."""
    for key, inner in value.items():
        if not isinstance(inner, Mapping) or _of_optimizer(inner):
            continue
        here = (*path, str(key))
        if _tensors(inner):
            yield here, {str(name): held for name, held in inner.items()} if _odd(inner) else inner
        if len(here) < DEEPEST:
            yield from _state_dicts(inner, here)


def _odd(names: Mapping[Any, Any]) -> bool:
    return not all(isinstance(name, str) for name in names)


def _tensors(value: Mapping[str, Any]) -> dict[str, Any]:
    return {name: inner for name, inner in value.items() if isinstance(inner, Tensor)}


def _ends(names: Mapping[str, Any]) -> set[str]:
    return {".".join(str(name).split(".")[-2:]) for name in names}
