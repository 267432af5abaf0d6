"""The update rules of five optimizers, written out: one parameter, one step.

Each rule takes the parameter's value, its gradient and the state that the last step left (an empty
dict before the first), and changes none of them. The state's keys are those of `optimizer.state`.
The order of the operations is that of the for-loop variants in torch/optim/{sgd,adam,adagrad,rmsprop}.py,
so that the results are equal to the last bit; `foreach=True` gives the same, `fused=True` may round
otherwise.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

State = dict[str, Any]


@dataclass(frozen=True, eq=False)
class Terms:
    """What one rule computed.

    value: the parameter after the step.
    decay: what weight decay brought: `weight_decay · value`, added to the gradient, or, where it is
        decoupled (AdamW), `lr · weight_decay · value`, taken from the parameter itself.
    step_size: what the momentum (or, without one, the gradient) is multiplied with: a number, or one
        per element.
    bias_corrections: 1 − β₁ᵗ and 1 − β₂ᵗ, or None where the rule has none.
    """

    value: Tensor
    decay: Tensor
    state: State
    step_size: float | Tensor
    bias_corrections: tuple[float, float] | None = field(default=None)


def sgd(
    value: Tensor,
    gradient: Tensor,
    state: State,
    *,
    lr: float,
    momentum: float = 0.0,
    dampening: float = 0.0,
    weight_decay: float = 0.0,
    nesterov: bool = False,
) -> Terms:
    """torch.optim.SGD: the decay goes through the momentum buffer, like the gradient it was added to."""
    decay = weight_decay * value
    direction = gradient.add(value, alpha=weight_decay)
    buffer: Tensor | None = state.get("momentum_buffer")
    if momentum:  # the first buffer is the gradient itself, without dampening
        buffer = direction if buffer is None else (momentum * buffer).add(direction, alpha=1 - dampening)
        direction = direction.add(buffer, alpha=momentum) if nesterov else buffer
    return Terms(value.add(direction, alpha=-lr), decay, {"momentum_buffer": buffer}, lr)


def adam(
    value: Tensor,
    gradient: Tensor,
    state: State,
    *,
    lr: float,
    betas: tuple[float, float] = (0.9, 0.999),
    eps: float = 1e-8,
    weight_decay: float = 0.0,
    amsgrad: bool = False,
    decoupled_weight_decay: bool = False,
) -> Terms:
    """torch.optim.Adam: the decay is divided by √v̂ like the gradient, unless it is decoupled (AdamW)."""
    decay = (lr if decoupled_weight_decay else 1) * weight_decay * value
    if decoupled_weight_decay:
        value = value * (1 - lr * weight_decay)
    else:
        gradient = gradient.add(value, alpha=weight_decay)
    step, m, v = state.get("step", 0) + 1, *_moments(state, gradient)
    m = m.lerp(gradient, 1 - betas[0])
    v = (betas[1] * v).addcmul(gradient, gradient, value=1 - betas[1])
    largest = torch.maximum(state.get("max_exp_avg_sq", v), v) if amsgrad else v
    corrections = 1 - betas[0] ** step, 1 - betas[1] ** step
    root = largest.sqrt() / corrections[1] ** 0.5 + eps
    new = {"step": step, "exp_avg": m, "exp_avg_sq": v} | ({"max_exp_avg_sq": largest} if amsgrad else {})
    rate = lr / corrections[0]
    return Terms(value.addcdiv(m, root, value=-rate), decay, new, rate / root, corrections)


def adamw(value: Tensor, gradient: Tensor, state: State, *, lr: float, **settings: Any) -> Terms:
    """torch.optim.AdamW: Adam whose decay shrinks the parameter itself, before the step."""
    return adam(value, gradient, state, lr=lr, **{**settings, "decoupled_weight_decay": True})


def adagrad(
    value: Tensor,
    gradient: Tensor,
    state: State,
    *,
    lr: float,
    lr_decay: float = 0.0,
    weight_decay: float = 0.0,
    initial_accumulator_value: float = 0.0,
    eps: float = 1e-10,
) -> Terms:
    """torch.optim.Adagrad: every squared gradient stays in the sum, so steps only become smaller."""
    decay = weight_decay * value
    gradient = gradient.add(value, alpha=weight_decay)
    step = state.get("step", 0) + 1
    total = state.get("sum", torch.full_like(value, initial_accumulator_value))
    total = total.addcmul(gradient, gradient)
    root, rate = total.sqrt() + eps, lr / (1 + (step - 1) * lr_decay)
    return Terms(value.addcdiv(gradient, root, value=-rate), decay, {"step": step, "sum": total}, rate / root)


def rmsprop(
    value: Tensor,
    gradient: Tensor,
    state: State,
    *,
    lr: float,
    alpha: float = 0.99,
    eps: float = 1e-8,
    weight_decay: float = 0.0,
    momentum: float = 0.0,
    centered: bool = False,
) -> Terms:
    """torch.optim.RMSprop: the gradient is divided first, and the momentum sums what came out."""
    decay = weight_decay * value
    gradient = gradient.add(value, alpha=weight_decay)
    new = {"step": state.get("step", 0) + 1}
    new["square_avg"] = v = (alpha * state.get("square_avg", torch.zeros_like(value))).addcmul(
        gradient, gradient, value=1 - alpha
    )
    if centered:
        new["grad_avg"] = mean = state.get("grad_avg", torch.zeros_like(value)).lerp(gradient, 1 - alpha)
        v = v.addcmul(mean, mean, value=-1)
    root = v.sqrt() + eps
    if not momentum:
        return Terms(value.addcdiv(gradient, root, value=-lr), decay, new, lr / root)
    buffer = (momentum * state.get("momentum_buffer", torch.zeros_like(value))).addcdiv(gradient, root)
    return Terms(value.add(buffer, alpha=-lr), decay, new | {"momentum_buffer": buffer}, lr)


def _moments(state: State, gradient: Tensor) -> tuple[Tensor, Tensor]:
    zero = torch.zeros_like(gradient)
    return state.get("exp_avg", zero), state.get("exp_avg_sq", zero)


RULES: dict[type[torch.optim.Optimizer], Callable[..., Terms]] = {
    torch.optim.SGD: sgd,
    torch.optim.Adam: adam,
    torch.optim.AdamW: adamw,
    torch.optim.Adagrad: adagrad,
    torch.optim.RMSprop: rmsprop,
}
