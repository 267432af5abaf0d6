"""Everything that the rules read, together."""

from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor, nn

from torchcourse.modules import Missed

from .given import Given
from .gradients import Gradients
from .numbers import is_zero
from .probe import Probe
from .step import Seen

SHUT = 1e-3  # a factor per channel below this is a gate that opens in training


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
    dead: tuple[str, ...] = ()  # weights whose layer feeds a ReLU that is 0 throughout
    stops: tuple[str, ...] = ()  # other causes of a gradient of 0
    ajar: Seen | None = None  # a step with its gates ajar

    @cached_property
    def weights(self) -> tuple[tuple[str, Tensor], ...]:
        """Without biases and single numbers: a bias before a batch norm has a gradient of zero by right."""
        named = [(n, p) for n, p in self.given.parameters.items() if p.requires_grad and p.numel()]
        return tuple((n, p) for n, p in named if p.ndim > 1 or not ("bias" in n or p.numel() == 1))

    @cached_property
    def gates(self) -> tuple[Tensor, ...]:
        """What starts at zero on purpose, or near it, and learns: until then it lets no gradient through."""
        named = [(n, p) for n, p in self.given.parameters.items() if p.requires_grad and "bias" not in n]
        return tuple(p for _, p in named if p.numel() and self._reached(p) and _shut(p))

    def _reached(self, parameter: Tensor) -> bool:
        ajar = None if self.ajar is None else self.ajar.gradients
        return bool(self.norm(id(parameter)) or (ajar is not None and ajar.norms.get(id(parameter))))

    @cached_property
    def judged(self) -> tuple[Seen, ...]:
        """The steps from which the size of gradients is told: with the gates ajar, where there are some."""
        return self.steps if self.ajar is None else (self.ajar,)

    @cached_property
    def norms(self) -> dict[str, float]:
        """Of each weight that a gradient came to, the largest of these steps."""
        found = [step.gradients.norms for step in self.judged if step.gradients is not None]
        named = [(n, [g[id(p)] for g in found if id(p) in g]) for n, p in self.weights]
        return {name: max(norms) for name, norms in named if norms}

    @cached_property
    def start(self) -> float:
        """The norm of the gradient at the model's output."""
        return max((s.gradients.output or 0.0 for s in self.judged if s.gradients is not None), default=0.0)

    def idle(self, name: str) -> bool:
        """Whether this parameter's layer had nothing to do in this batch: an expert that nobody asked."""
        if not self.steps or self.steps[0].rows.get(name.rpartition(".")[0]) == 0:
            return bool(self.steps)
        return any(name.startswith(path) for path in self._unasked)

    @cached_property
    def _unasked(self) -> tuple[str, ...]:
        """Members of a list without any gradient, next to others of their kind that have one, where forward chooses."""
        found: list[str] = []
        lists = (nn.ModuleList, nn.ModuleDict)
        for path, module in self.given.model.named_modules() if self.steps[0].routes else ():
            if isinstance(module, lists) and len({type(one) for one in module.children()}) == 1:
                silent = [name for name, one in module.named_children() if not self._learns(one)]
                if 0 < len(silent) < len(module):
                    found += [f"{path}.{name}.".lstrip(".") for name in silent]
        return tuple(found)

    def _learns(self, module: nn.Module) -> bool:
        return any(self.norm(id(p)) for p in module.parameters())

    @cached_property
    def gradients(self) -> tuple[Gradients, ...]:
        return tuple(step.gradients for step in self.steps if step.gradients is not None)

    def norm(self, key: int) -> float | None:
        """The largest that a step gave this parameter; None: none reached it."""
        return max((g.norms[key] for g in self.gradients if key in g.norms), default=None)


def _shut(parameter: Tensor) -> bool:
    if parameter.is_meta or parameter.layout is not torch.strided:
        return False
    return is_zero(parameter) or (parameter.ndim < 2 and bool(parameter.detach().abs().max() < SHUT))
