"""Observers of what a step uses and does: gradient norms, and the size of the update."""

from abc import abstractmethod
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer
from torch.utils.hooks import RemovableHandle

from ._input import positive_count, trainable
from ._torch import norms
from ._watching import Watching
from .series import Series


class _AtSteps(Watching):
    """Looks at every `every`-th call of optimizer.step() while its block runs. Keeps no graph, waits for no GPU."""

    WHAT = ""

    def __init__(self, model: nn.Module, optimizer: Optimizer, every: int = 1) -> None:
        self._named = trainable(model, optimizer)
        self._optimizer, self._every = optimizer, positive_count("every", every)
        self._step = 0
        # Per step looked at: its number, the places of the parameters that had a gradient, their numbers (squared).
        self._rows: list[tuple[int, list[int], Tensor]] = []

    def _hooks(self) -> tuple[RemovableHandle, ...]:
        pre = self._optimizer.register_step_pre_hook(self._before)
        return pre, self._optimizer.register_step_post_hook(self._after)

    def _before(self, optimizer: Optimizer, *call: Any) -> None:
        if self._step % self._every == 0:
            with torch.no_grad():
                self.before([k for k, (_, p) in enumerate(self._named) if p.grad is not None])

    def _after(self, optimizer: Optimizer, *call: Any) -> None:
        if self._step % self._every == 0:
            with torch.no_grad():
                self.after()
        self._step += 1

    def before(self, places: list[int]) -> None:
        """Just before step(): the places of the parameters that have a gradient."""

    def after(self) -> None:
        """Just after step()."""

    @property
    def seen(self) -> Series:
        """Everything seen so far. Here the numbers come from the device."""
        layers = list({_layer(name): None for name, _ in self._named})
        owner = [layers.index(_layer(name)) for name, _ in self._named]
        rows = tuple(self._row(len(layers), owner, places, row.tolist()) for _, places, row in self._rows)
        return Series(self.WHAT, tuple(layers), tuple(step for step, _, _ in self._rows), rows)

    def _row(
        self, width: int, owner: list[int], places: list[int], numbers: list[Any]
    ) -> tuple[float | None, ...]:
        """A layer's weight and bias count as one long vector."""
        parts: list[list[Any]] = [[] for _ in range(width)]
        for place, number in zip(places, numbers, strict=True):
            parts[owner[place]].append(number)
        return tuple(self.together(part) if part else None for part in parts)

    @staticmethod
    @abstractmethod
    def together(parts: list[Any]) -> float:
        """One number for a layer, from those of its parameters."""


class GradientNorms(_AtSteps):
    """The 2-norm of each layer's gradient, as step() finds it: after clipping, before the update.

    `with GradientNorms(model, optimizer) as norms: …the loop…`, then `norms.seen`, a Series.
    """

    WHAT = "gradient norm"

    def before(self, places: list[int]) -> None:
        if places:
            grads = [grad for k in places if (grad := self._named[k][1].grad) is not None]
            self._rows.append((self._step, places, norms(grads)))

    @staticmethod
    def together(parts: list[Any]) -> float:
        return float(sum(number**2 for number in parts) ** 0.5)


class UpdateRatios(_AtSteps):
    """How far each layer's step went: the norm of the change over the norm of the weights before.

    About 1e-3 is usual; 1e-1 tears the layer apart, 1e-6 leaves it as it is. Costs a copy of the parameters at
    each step looked at. `with UpdateRatios(model, optimizer) as ratios: …the loop…`, then `ratios.seen`.
    """

    WHAT = "update / weight"

    def __init__(self, model: nn.Module, optimizer: Optimizer, every: int = 1) -> None:
        super().__init__(model, optimizer, every)
        self._old: tuple[list[int], list[Tensor]] = ([], [])

    def before(self, places: list[int]) -> None:
        self._old = places, [self._named[k][1].clone() for k in places]

    def after(self) -> None:
        places, old = self._old
        self._old = ([], [])
        if places:
            weights = norms(old)
            for before, k in zip(old, places, strict=True):
                before.sub_(self._named[k][1])
            self._rows.append((self._step, places, torch.stack([norms(old), weights], dim=1)))

    @staticmethod
    def together(parts: list[Any]) -> float:
        change, weight = (sum(pair[k] ** 2 for pair in parts) ** 0.5 for k in (0, 1))
        return float(change / weight) if weight else (0.0 if not change else float("inf"))


def _layer(name: str) -> str:
    """ "body.0.weight" belongs to the layer "body.0"; a parameter of the model itself is its own layer."""
    return name.rpartition(".")[0] or name
