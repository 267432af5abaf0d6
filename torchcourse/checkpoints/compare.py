"""A module beside a state_dict: what `load_state_dict` would say, why, and the rename that mends it.

It mirrors the rules of `torch.nn.Module.load_state_dict`: names must agree (strict), shapes must agree (always),
dtypes and devices are converted without a word.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import nn

from torchcourse.checkpoints.causes import find_cause, without_counters
from torchcourse.checkpoints.errors import CheckpointError, first_line, told
from torchcourse.checkpoints.held import Names, Shapes, held

ODD_NAMES = "The names in the file are no strings, so load_state_dict finds none of them."


@dataclass(frozen=True)
class Change:
    """One name with two shapes or two dtypes, or with no numbers. `kind`: "shape", "dtype" or "value"."""

    name: str
    kind: str
    in_model: str
    in_file: str

    def __str__(self) -> str:
        return f"{told(self.name)}: {self.kind} {self.in_file} in the file, {self.in_model} in the model"


@dataclass(frozen=True, repr=False)
class Comparison:
    """What differs between a module and a state_dict, by the names that PyTorch would use."""

    missing: tuple[str, ...]  # the model has them, the file doesn't
    unexpected: tuple[str, ...]  # the file has them, the model doesn't
    changed: tuple[str, ...]  # in both, with another shape or dtype
    cause: str | None  # the likely one, in a sentence; None where nothing is to be said
    renamed: dict[str, Any] | None = field(compare=False)  # loads with strict=True; None unless that is sure
    changes: tuple[Change, ...] = ()
    agreeing: int = 0  # names with the same shape and dtype in both

    @property
    def loads(self) -> bool:
        """Whether `model.load_state_dict(state_dict)` goes through: a changed dtype does not stop it."""
        return not (self.missing or self.unexpected or any(c.kind != "dtype" for c in self.changes))

    def __str__(self) -> str:
        lines = [f"{self.agreeing} names agree"]
        for word in ("missing", "unexpected"):
            names = getattr(self, word)
            lines += [
                f"{word} {len(names)}: {', '.join(map(told, names[:6]))}{' …' if len(names) > 6 else ''}"
            ] * bool(names)
        lines += [f"changed {change}" for change in self.changes[:6]]
        lines += [f"… and {len(self.changes) - 6} more changes"] * (len(self.changes) > 6)
        lines += [f"cause: {self.cause}"] * (self.cause is not None)
        lines += ["renamed: a state_dict that loads"] * (self.renamed is not None)
        return "\n".join(lines)

    __repr__ = __str__


def compare(model: nn.Module, state_dict: Mapping[str, Any]) -> Comparison:
    """Compare a module with a state_dict, changing neither.

    `renamed` is given only when the rename is sure: a wrong one that loads silently would be worse than none. Its
    tensors are those of `state_dict`, not copies. Raises TypeError for anything but a module and a mapping.
    """
    _check(model, state_dict)
    file = {str(name): value for name, value in state_dict.items()}
    source = state_dict if file.keys() == state_dict.keys() else file
    ours = without_counters(_state_of(model), source)
    theirs = {name: held(value) for name, value in source.items()}
    changes = tuple(_changes(ours, theirs))
    names, cause = find_cause(ours, theirs, source)
    if source is file and names is None and cause is None:
        names, cause = Names({name: name for name in file}), ODD_NAMES
    changed = tuple(dict.fromkeys(change.name for change in changes))
    return Comparison(
        missing=tuple(name for name in ours if name not in state_dict),
        unexpected=tuple(str(name) for name in state_dict if name not in ours),
        changed=changed,
        cause=cause,
        renamed=None if names is None else _renamed(ours, names, source),
        changes=changes,
        agreeing=len(ours.keys() & state_dict.keys()) - len(changed),
    )


def _state_of(model: nn.Module) -> Shapes:
    try:
        return {str(name): held(value) for name, value in model.state_dict(keep_vars=True).items()}
    except Exception as error:  # the reader's class may have a state_dict of its own
        said = f"{type(error).__name__}: {first_line(error)}"
        raise CheckpointError(f"The model's own state_dict() can't be read: {said}.") from error


def _check(model: object, state_dict: object) -> None:
    if not isinstance(model, nn.Module):
        raise TypeError(f"model must be a module, not {type(model).__name__}.")
    if isinstance(state_dict, nn.Module):
        raise TypeError("The second argument is a module; pass its state_dict().")
    if isinstance(state_dict, str | bytes) or hasattr(state_dict, "__fspath__"):
        raise TypeError("Pass the state_dict itself: torch.load(path, weights_only=True).")
    if not isinstance(state_dict, Mapping):
        raise TypeError(
            f"state_dict must be a dictionary of names and tensors, not {type(state_dict).__name__}."
        )


def _changes(ours: Shapes, theirs: Shapes) -> list[Change]:
    found = []
    for name in ours:
        if name not in theirs:
            continue
        our, their = ours[name], theirs[name]
        if isinstance(our.tensor, torch.Tensor) and (said := their.no_data(our)):
            found.append(Change(name, "value", f"a tensor {our}", said))
        elif not our.fits(their):
            found.append(Change(name, "shape", str(our), str(their)))
        elif our.dtype and their.dtype and our.dtype != their.dtype:
            found.append(Change(name, "dtype", our.dtype, their.dtype))
    return found


def _renamed(ours: Shapes, names: Names, state_dict: Mapping[str, Any]) -> dict[str, Any]:
    """The file's values under the model's names, in the model's order, with the versions of their modules."""
    source = names.inner if names.inner is not None else state_dict
    result: OrderedDict[str, Any] = OrderedDict(
        (name, source[names.raw[name]]) for name in ours if name in names.raw
    )
    versions = getattr(source, "_metadata", None)
    if isinstance(versions, Mapping):
        moved = {_parent(name): versions.get(_parent(names.raw[name])) for name in result}
        result._metadata = {path: version for path, version in moved.items() if version is not None}  # type: ignore[attr-defined]
    return result


def _parent(name: str) -> str:
    return name.rpartition(".")[0]
