"""Gradients of one backward: measured where they arrive, and dropped at once, so that they never lie side by side."""

import contextlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from .numbers import norm

MANY_ROWS = 2  # fewer rows say nothing about dead units, or equal ones


@dataclass
class Gradients:
    """Numbers per parameter id. norm: 2-norm, in float32 at least; dead: share of rows that are exactly 0."""

    norms: dict[int, float] = field(default_factory=dict)
    dead: dict[int, float] = field(default_factory=dict)
    twins: set[int] = field(default_factory=set)  # all rows of the weight and of its gradient are the same
    lost: dict[int, float] = field(
        default_factory=dict
    )  # share of a bfloat16 weight that an update can't move
    output: float | None = None  # 2-norm of the gradient that the loss hands to the model's output


class Measure:
    """Hooks for one backward. rows: ids of the weights whose rows are looked at.

    moves: id -> (lr, whether an update is about lr whatever the gradient), of what may be too coarse to move.
    """

    def __init__(
        self,
        leaves: Iterable[Tensor],
        output: Tensor | None,
        rows: set[int],
        same: set[int],
        moves: dict[int, tuple[float, bool]],
    ) -> None:
        self.leaves = {id(leaf): leaf for leaf in leaves}
        self.rows, self.same, self.output = rows, same, output
        self.moves = moves
        self._lost: dict[int, Tensor] = {}
        self._norms: dict[int, list[Tensor]] = {}
        self._dead: dict[int, Tensor] = {}
        self._twins: dict[int, Tensor] = {}
        self._output: list[Tensor] = []

    @contextlib.contextmanager
    def hooks(self) -> Iterator[None]:
        """The reader's own hooks after accumulation are set aside: one of them may step an optimizer."""
        handles: list[Any] = []
        aside = [(leaf, leaf._post_accumulate_grad_hooks) for leaf in self.leaves.values()]
        try:
            for leaf in self.leaves.values():
                leaf._post_accumulate_grad_hooks = None  # type: ignore[assignment]
                handles.append(leaf.register_post_accumulate_grad_hook(self._arrived))
            if self.output is not None and self.output.requires_grad and not self.output.is_leaf:
                handles.append(self.output.register_hook(self._at_output))
            yield
        finally:
            for handle in handles:
                handle.remove()
            for leaf, own in aside:
                leaf._post_accumulate_grad_hooks = own

    def _at_output(self, grad: Tensor) -> None:
        self._output.append(norm(grad.detach()))

    def _arrived(self, leaf: Tensor) -> None:
        grad, key = leaf.grad, id(leaf)
        leaf.grad = None
        if grad is None:
            return
        grad = grad.detach()
        if grad.is_sparse:
            grad = grad.coalesce().values()
        if key in self.rows and grad.ndim > 1 and len(grad) >= MANY_ROWS:
            rows = norm(grad.flatten(1), 1)
            self._dead[key] = (rows == 0).float().mean()
            self._norms.setdefault(key, []).append(norm(rows))
        else:
            self._norms.setdefault(key, []).append(norm(grad))
        if key in self.moves:
            self._lost[key] = _lost(leaf.detach(), grad, *self.moves[key])
        if key in self.same and grad.ndim > 1:
            spread = (grad - grad[:1]).abs().max()
            self._twins[key] = spread <= 1e-5 * grad.abs().max()

    def result(self) -> Gradients:
        """The numbers, read from the device once."""
        return Gradients(
            {key: max(map(float, values)) for key, values in self._norms.items()},
            {key: float(share) for key, share in self._dead.items()},
            {key for key, same in self._twins.items() if bool(same)},
            {key: float(share) for key, share in self._lost.items()},
            float(self._output[0]) if self._output else None,
        )


def same_rows(parameter: Tensor) -> bool:
    """Whether a weight's units can't be told apart: every row is the first one."""
    if parameter.ndim < 2 or len(parameter) < MANY_ROWS or parameter.layout is not torch.strided:
        return False
    rows = parameter.detach()
    return bool((rows[0] == rows[1]).all()) and bool((rows == rows[:1]).all())


def _lost(weight: Tensor, grad: Tensor, rate: float, even: bool) -> Tensor:
    """The share of numbers whose update is below half of the distance to the next one, whatever way it rounds."""
    move = torch.where(grad != 0, rate, 0.0) if even else rate * grad.abs()
    return ((move < torch.finfo(weight.dtype).eps / 4 * weight.abs()) & (grad != 0)).float().mean()
