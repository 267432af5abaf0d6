"""Tied weights: one tensor under two names, in the model or in the file."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor
from torch.nn.parameter import is_lazy

from torchcourse.checkpoints.errors import some
from torchcourse.checkpoints.held import Names, Shapes, differences


def tied(ours: Shapes, theirs: Shapes, names: Names) -> Names:
    """One tensor under two names: a file may hold one of them only, or one more than the model has."""
    missing, unexpected = differences(ours, theirs, names)
    twins = _first(missing, _twins(ours), names.raw)
    if missing and not unexpected and all(twins.values()):
        raw = {**names.raw, **{name: names.raw[twin] for name, twin in twins.items()}}
        pairs = some([f"{name} = {twin}" for name, twin in twins.items()])
        said = f"The model ties weights ({pairs}), and the file holds each of them once."
        return replace(names, raw=raw, said=(*names.said, said))
    file = {name: theirs[raw] for name, raw in names.raw.items()}
    extra = _first(unexpected, _twins(file), ours)
    if unexpected and not missing and all(extra.values()):
        raw = {name: raw for name, raw in names.raw.items() if name not in extra}
        pairs = some([f"{name} = {twin}" for name, twin in extra.items()])
        said = f"The file ties weights ({pairs}), and the model knows each of them once."
        return replace(names, raw=raw, said=(*names.said, said))
    return names


def _first(names: list[str], twins: dict[str, list[str]], known: Mapping[str, Any]) -> dict[str, str]:
    """For each name its first twin that is known on the other side; "" where there is none."""
    return {name: next((twin for twin in twins[name] if twin in known), "") for name in names}


def _twins(here: Shapes) -> dict[str, list[str]]:
    """Each name with the other names for the very same elements."""
    groups: dict[object, list[str]] = defaultdict(list)
    for name, value in here.items():
        groups[_place(value.tensor)].append(name)
    return {name: [other for other in group if other != name] for group in groups.values() for name in group}


def _place(tensor: Any) -> object:
    """Where the elements lie; a tensor without such a place is the same as itself only."""
    if not isinstance(tensor, Tensor) or tensor.layout != torch.strided or tensor.is_meta or is_lazy(tensor):
        return id(tensor)
    if not tensor.numel():
        return id(tensor)
    return tensor.data_ptr(), tensor.shape, tensor.stride(), tensor.dtype, tensor.device


def values_that_collide(ours: Shapes, theirs: Shapes) -> str | None:
    """A sentence where the file has two values for one tied tensor: it loads without a word, and one is lost."""
    for name, twins in _twins(ours).items():
        for twin in twins:
            if _differ(theirs[name].tensor, theirs[twin].tensor):
                return (
                    f"`{name}` and `{twin}` are one tied tensor in the model and two different ones in the file: "
                    "the one that is loaded last wins."
                )
    return None


def _differ(first: Any, second: Any) -> bool:
    if not isinstance(first, Tensor) or not isinstance(second, Tensor) or first.is_meta or second.is_meta:
        return False
    return _place(first) != _place(second) and not _equal(first.detach(), second.detach())


def _equal(first: Tensor, second: Tensor) -> bool:
    """Number by number; a NaN equals a NaN."""
    if first.shape != second.shape or first.is_quantized or second.is_quantized:
        return first.shape == second.shape
    second = second.to(first.device)
    return bool(((first == second) | ((first != first) & (second != second))).all())
