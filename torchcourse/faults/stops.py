"""Where a gradient of exactly 0 comes from: clipped numbers, and steps. Asked only after such a gradient was seen."""

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F
from torch.overrides import TorchFunctionMode

from torchcourse.layers._torch import unwatched

from .given import Given
from .graph import LAYERS
from .keep import Keep
from .watch import readers_line, source_line, where

STEPS = {
    "round",
    "round_",
    "sign",
    "sign_",
    "floor",
    "floor_",
    "ceil",
    "ceil_",
    "trunc",
    "trunc_",
    "heaviside",
}
RELUS = {F.relu, torch.relu, torch.relu_, Tensor.relu, Tensor.relu_, F.threshold}
CLAMPS = {
    F.relu6, F.hardtanh, torch.clamp, Tensor.clamp, Tensor.clamp_, torch.clamp_min, Tensor.clamp_min, Tensor.clip,
    torch.clip, torch.clamp_max, Tensor.clamp_max,
}  # fmt: skip


class Stops(TorchFunctionMode):
    """dead: where a ReLU is 0 for every number, the weight of the layer that feeds it, or the line; words: the rest."""

    def __init__(self, names: dict[int, str]) -> None:
        super().__init__()
        self.names = names
        self.dead: list[str] = []
        self.words: list[str] = []

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = getattr(func, "__name__", "")
        given = (
            args[0].detach().clone() if func in CLAMPS and name.endswith("_") else args[0] if args else None
        )
        result = func(*args, **(kwargs or {}))
        if isinstance(result, Tensor) and result.requires_grad and result.numel():
            with unwatched(), torch.no_grad():
                if name in STEPS:
                    self._cause(f"{name}() has the slope 0 everywhere")
                elif func in RELUS | CLAMPS and not bool(result.any()):
                    self._dead(result)
                elif func in CLAMPS and given is not None and not bool(torch.eq(result, given).any()):
                    self._cause(f"{name}() clips every number")
        return result

    def _cause(self, what: str) -> None:
        place = readers_line(__file__)
        self.words.append(what if place is None else f"{what}, in {where(place)}{source_line(place)}")

    def _dead(self, result: Tensor) -> None:
        name = next((self.names[key] for key in _weights(result.grad_fn) if key in self.names), "")
        if name:
            self.dead.append(name)
        elif (place := readers_line(__file__)) is not None:
            self.dead.append(where(place))


def _weights(node: Any) -> Iterator[int]:
    """The ids of what the layer right below an activation multiplies with."""
    while node is not None:
        below = [one for one, _ in node.next_functions if one is not None]
        for one in (*below, *(deeper for near in below for deeper, _ in near.next_functions)):
            if (variable := getattr(one, "variable", None)) is not None and variable.ndim > 1:
                yield id(variable)
        node = next((one for one in below if one.name() in LAYERS), None)


def stops(given: Given, keep: Keep) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The names of dead layers, and the other causes in words; the model and the loss run once more."""
    seen = Stops({id(p): name for name, p in given.parameters.items()})
    keep.rewind()
    try:
        with seen:
            given.loss_fn(given.call(given.input), given.target)
    except Exception:  # it says less then
        return (), ()
    return tuple(dict.fromkeys(seen.dead)), tuple(dict.fromkeys(seen.words))
