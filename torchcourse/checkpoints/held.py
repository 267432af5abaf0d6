"""What a name of a state_dict holds, as far as fitting goes, and the names of a file as they are mended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor
from torch.nn.parameter import is_lazy


@dataclass(frozen=True)
class Held:
    """Shape and dtype; None where there is none yet (a lazy parameter) or none at all (an extra state)."""

    shape: tuple[int, ...] | None
    dtype: str | None
    tensor: Any = field(default=None, repr=False, compare=False)  # itself, to tell one from an equal one

    def fits(self, theirs: Held) -> bool:
        """Whether `load_state_dict` copies their value into ours."""
        if not isinstance(self.tensor, Tensor):
            return True  # an extra state takes what it is given
        if theirs.no_data(self):
            return False
        scalar = self.shape == () and len(theirs.shape or ()) == 1  # PyTorch takes the first of a vector
        return self.shape is None or scalar or self.shape == theirs.shape

    def no_data(self, ours: Held) -> str:
        """What stands where the numbers for our tensor should be, in words; "" where all is well."""
        if not isinstance(self.tensor, Tensor):
            return "None" if self.tensor is None else f"a {type(self.tensor).__name__}, no tensor"
        if is_lazy(self.tensor):
            return "" if is_lazy(ours.tensor) else "a lazy parameter, which has no numbers yet"
        if self.tensor.is_meta and not ours.tensor.is_meta:
            return "a tensor on the meta device, which has no numbers"
        if self.tensor.is_quantized and not ours.tensor.is_quantized:
            return "a quantized tensor; its dequantize() is what the model takes"
        if self.tensor.layout != torch.strided and ours.tensor.layout == torch.strided:
            return "a sparse tensor; its to_dense() is what the model takes"
        return ""

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
