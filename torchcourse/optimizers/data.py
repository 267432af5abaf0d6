"""What a recorded optimizer did, as plain data."""

from dataclasses import dataclass

from torch import Tensor

from ._text import table


@dataclass(frozen=True, eq=False)
class Update:
    """One parameter in one step.

    step: from 1. before, value: the parameter before and after it; update: value − before.
    gradient: of the loss alone; None where the loss did not reach the parameter: then nothing moves,
    not even by decay. decay, step_size, bias_corrections: see `rules.Terms`; None where there is no
    gradient, or no rule for this optimizer. momentum, v: the running mean of gradients and of their
    squares that the step left, or None.
    difference: the largest distance between the rule's value and the optimizer's: 0.0 means equal to
    the last bit; None where there is no rule.
    """

    step: int
    parameter: str
    before: Tensor
    gradient: Tensor | None
    decay: Tensor | None
    momentum: Tensor | None
    v: Tensor | None
    step_size: float | Tensor | None
    bias_corrections: tuple[float, float] | None
    value: Tensor
    difference: float | None

    @property
    def update(self) -> Tensor:
        return self.value - self.before


@dataclass(frozen=True, eq=False)
class Record:
    """Every update in order: all parameters of step 1, then of step 2 …

    losses: the loss before each step. stopped: a sentence when the loss was not finite, else None.
    """

    optimizer: str
    steps: tuple[Update, ...]
    losses: tuple[float, ...]
    stopped: str | None

    def of(self, parameter: str) -> tuple[Update, ...]:
        """The updates of one parameter. Raises KeyError with the known names."""
        known = dict.fromkeys(update.parameter for update in self.steps)
        if parameter not in known:
            raise KeyError(f"no parameter {parameter!r}; recorded were {', '.join(known)}")
        return tuple(update for update in self.steps if update.parameter == parameter)

    def __str__(self) -> str:
        return table(self)
