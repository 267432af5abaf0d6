"""Steps a real optimizer on copies, and writes down what went into each update."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from ._check import checked_loss, checked_parameters, checked_steps, made
from .data import Record, Update
from .rules import RULES, State, Terms

# Under these keys optimizers keep their running mean of gradients, and that of their squares.
MOMENTUM = ("momentum_buffer", "exp_avg")
SQUARES = ("exp_avg_sq", "square_avg", "sum")


def record(
    optimizer_class: type[torch.optim.Optimizer],
    parameters: Tensor | Sequence[Tensor] | Mapping[str, Tensor] | nn.Module,
    loss: Callable[[Any], Tensor],
    steps: int,
    **settings: Any,
) -> Record:
    """Runs `steps` steps of `optimizer_class(copies, **settings)` on `loss(copies)`, and records each term.

    parameters: one floating-point tensor, several in a list, or name → tensor; the copies come in the
    same form (a module's parameters as a dict). The given ones are never written to. The record ends
    early, and says so in `.stopped`, when the loss is not finite.
    Raises TypeError or ValueError, with a sentence, for parameters that are no tensors, settings that the
    optimizer refuses, and a loss that is no scalar or has no graph.
    Mirrors torch/optim/optimizer.py: `step` reads `.grad` and `param_groups`, and keeps a state of its own.
    """
    copies, given = checked_parameters(parameters)
    optimizer = made(optimizer_class, copies, settings)
    rule = _rule(optimizer)
    states: dict[str, State] = {name: {} for name in copies}
    updates: list[Update] = []
    losses: list[float] = []
    for step in range(1, checked_steps(steps) + 1):
        optimizer.zero_grad(set_to_none=True)
        now = checked_loss(loss, given)
        losses.append(now.item())
        if not now.isfinite():
            said = f"The loss before step {step} is {now.item()}: the record ends there."
            return Record(optimizer_class.__name__, tuple(updates), tuple(losses), said)
        torch.autograd.backward(now)
        before = {name: copy.detach().clone() for name, copy in copies.items()}
        # Copies: SGD with nesterov and foreach, without decay, writes its direction into .grad.
        gradients = {name: _clone(copy.grad) for name, copy in copies.items()}
        optimizer.step()
        for name, copy in copies.items():
            gradient = gradients[name]
            terms = rule(before[name], gradient, states[name]) if rule and gradient is not None else None
            states[name] = terms.state if terms else states[name]
            kept = optimizer.state[copy]
            updates.append(_update(step, name, before[name], gradient, copy.detach().clone(), terms, kept))
    return Record(optimizer_class.__name__, tuple(updates), tuple(losses), None)


def _rule(optimizer: torch.optim.Optimizer) -> Callable[[Tensor, Tensor, State], Terms] | None:
    """The course's rule for this optimizer with the settings of its group; None where there is none."""
    written = RULES.get(type(optimizer))
    if written is None:
        return None
    group = optimizer.param_groups[0]
    sign = -1 if group["maximize"] else 1
    known = inspect.signature(RULES[torch.optim.Adam] if "betas" in group else written).parameters
    settings = {name: value for name, value in group.items() if name in known}
    return lambda value, gradient, state: written(value, sign * gradient, state, **settings)


def _update(
    step: int,
    name: str,
    before: Tensor,
    gradient: Tensor | None,
    value: Tensor,
    terms: Terms | None,
    state: Mapping[str, Any],
) -> Update:
    return Update(
        step=step,
        parameter=name,
        before=before,
        gradient=gradient,
        decay=terms.decay if terms else None,
        momentum=_kept(state, MOMENTUM),
        v=_kept(state, SQUARES),
        step_size=terms.step_size if terms else None,
        bias_corrections=terms.bias_corrections if terms else None,
        value=value,
        difference=(terms.value - value).abs().max().item() if terms else None,
    )


def _clone(tensor: Tensor | None) -> Tensor | None:
    return None if tensor is None else tensor.detach().clone()


def _kept(state: Mapping[str, Any], keys: tuple[str, ...]) -> Tensor | None:
    found = [state[key] for key in keys if isinstance(state.get(key), Tensor)]
    return _clone(found[0]) if found else None
