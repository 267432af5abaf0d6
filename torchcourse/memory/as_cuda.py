"""Where a step on the CPU allocates otherwise than the same step on a GPU, and the number is known."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch

from .ledger import Raw

SCALAR = 8  # bytes; an optimizer makes its step counts and factors on the CPU

# `foreach` gives, bit for bit, what the loop over parameters gives: only these are switched.
SAME_BITS = frozenset(
    getattr(torch.optim, name)
    for name in ("SGD", "Adam", "AdamW", "Adamax", "Adagrad", "Adadelta", "RMSprop", "Rprop")
)


def shrink_mask(noise: torch.Tensor, raw: Raw | None) -> None:
    """Dropout keeps its noise in the input's dtype on the CPU, and a mask of one byte an element on a GPU.

    That of whole channels (`dropout2d`), made by `empty`, is the same on both.
    """
    if raw is not None and raw.operator == "aten::empty_like" and noise.is_floating_point():
        raw.nbytes = noise.numel()


def leave_on_host(group: dict[str, Any], state: Any, raw_of: Callable[[torch.Tensor], Raw | None]) -> None:
    """The step count of a parameter lies in the host's memory, unless the optimizer is capturable or fused."""
    count = state.get("step") if isinstance(state, Mapping) else None
    raw = raw_of(count) if isinstance(count, torch.Tensor) else None
    if raw is not None:
        raw.on_host = not (group.get("capturable") or group.get("fused"))


class ForeachAsOnCuda:
    """On a GPU `foreach=None` means True, on the CPU False (`_default_to_fused_or_foreach`).

    The temporaries of a step depend on it, so it is True while a recorded step runs, and None again after.
    """

    def __init__(self) -> None:
        self._changed: list[dict[str, Any]] = []

    def change(self, optimizer: torch.optim.Optimizer) -> None:
        if type(optimizer) not in SAME_BITS:
            return
        for group in optimizer.param_groups:
            plain = all(type(p) in (torch.Tensor, torch.nn.Parameter) for p in group["params"])
            unset = group.get("foreach", False) is None and not group.get("fused")
            if plain and unset and not group.get("differentiable"):
                group["foreach"] = True
                self._changed.append(group)

    def restore(self) -> None:
        while self._changed:
            self._changed.pop()["foreach"] = None
