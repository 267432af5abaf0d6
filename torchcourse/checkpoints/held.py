"""What a name of a state_dict holds, as far as fitting goes, and the names of a file as they are mended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from torch import Tensor
from torch.nn.parameter import is_lazy


@dataclass(frozen=True)
class Held:
    """Shape and dtype; None where there is none yet (a lazy parameter) or none at all (an extra state)."""

    shape: tuple[int, ...] | None
    dtype: str | None
    tensor: Any = field(default=None, repr=False, compare=False)  # itself, to tell one from an equal one

    def fits(self, other: Held) -> bool:
        """Whether the values of one can be copied into the other."""
        return self.shape is None or other.shape is None or self.shape == other.shape

    def __str__(self) -> str:
        return "no shape yet" if self.shape is None else str(self.shape)


def held(value: object) -> Held:
    """What stands behind a name of a state_dict."""
    if not isinstance(value, Tensor) or is_lazy(value):
        return Held(None, None, value)
    return Held(tuple(value.shape), str(value.dtype).removeprefix("torch."), value)


Shapes = dict[str, Held]


@dataclass(frozen=True)
class Names:
    """The file's names on their way to the model's: `raw[name now]` is the name in the file."""

    raw: dict[str, str]
    said: tuple[str, ...] = ()  # the causes found so far
    unsure: bool = False  # a rename is likely, and the shapes can't say which
    inner: Mapping[str, Any] | None = None  # where the state_dict stood one level down in a whole checkpoint

    def moved(self, new_name: dict[str, str], said: str) -> Names:
        """The same with new names for some; names that would collide leave all as it was."""
        raw = {new_name.get(name, name): raw for name, raw in self.raw.items()}
        return replace(self, raw=raw, said=(*self.said, said)) if len(raw) == len(self.raw) else self


def differences(ours: Shapes, theirs: Shapes, names: Names) -> tuple[list[str], list[str]]:
    """What the model misses and what it doesn't expect, under the names of now."""
    missing = [name for name in ours if name not in names.raw]
    return missing, [name for name in names.raw if name not in ours]


def all_fit(ours: Shapes, theirs: Shapes, names: Names) -> bool:
    """Whether these names load: the same set, and each shape the same."""
    if ours.keys() != names.raw.keys():
        return False
    return all(our.fits(theirs[names.raw[name]]) for name, our in ours.items())
