"""Everything that the rules read, together."""

from dataclasses import dataclass
from functools import cached_property

from torch import Tensor

from torchcourse.modules import Missed

from .given import Given
from .gradients import Gradients
from .numbers import is_zero
from .probe import Probe
from .step import Seen


@dataclass(eq=False)
class Look:
    given: Given
    missed: Missed
    steps: tuple[Seen, ...]
    probe: Probe
    grown: tuple[tuple[int, ...], ...]  # shapes of tensors that outlived their step
    holder: str  # the attribute or variable that holds them
    changed_batch: tuple[str, ...]
    twins: frozenset[int]  # ids of weights whose rows are equal
    cuts: tuple[str, ...] = ()  # where the gradient's way ends

    @cached_property
    def weights(self) -> tuple[tuple[str, Tensor], ...]:
        """Without biases and single numbers: a bias before a batch norm has a gradient of zero by right."""
        named = [(n, p) for n, p in self.given.parameters.items() if p.requires_grad and p.numel()]
        return tuple((n, p) for n, p in named if p.ndim > 1 or not ("bias" in n or p.numel() == 1))

    @cached_property
    def opens_later(self) -> bool:
        """A layer that starts at zero on purpose lets no gradient through before its first step."""
        return any(self.norm(id(p)) and is_zero(p) for _, p in self.weights)

    @cached_property
    def gradients(self) -> tuple[Gradients, ...]:
        return tuple(step.gradients for step in self.steps if step.gradients is not None)

    def norm(self, key: int) -> float | None:
        """The largest that a step gave this parameter; None: none reached it."""
        return max((g.norms[key] for g in self.gradients if key in g.norms), default=None)
