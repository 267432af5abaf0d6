"""What a call of `record` must look like, each fault in one sentence."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn


def checked_parameters(given: Any) -> tuple[dict[str, Tensor], Any]:
    """Copies that require grad: by name, and in the form in which they were given."""
    if isinstance(given, Tensor):
        copy = _copy("parameter", given)
        return {"parameter": copy}, copy
    if isinstance(given, nn.Module):
        given = dict(given.named_parameters())
    if isinstance(given, Mapping):
        copies = {str(name): _copy(str(name), tensor) for name, tensor in given.items()}
        return _some(copies), dict(zip(given, copies.values(), strict=True))
    if isinstance(given, Sequence) and not isinstance(given, str):
        copies = {f"[{index}]": _copy(f"[{index}]", tensor) for index, tensor in enumerate(given)}
        return _some(copies), list(copies.values())
    raise TypeError(
        f"parameters is {_a(given)}; give a tensor, a list of tensors, a dict name → tensor, or a module."
    )


def _some(copies: dict[str, Tensor]) -> dict[str, Tensor]:
    if not copies:
        raise ValueError("There are no parameters, so there is nothing to step; give at least one tensor.")
    return copies


def _copy(name: str, tensor: Any) -> Tensor:
    if not isinstance(tensor, Tensor):
        raise TypeError(f"{name} is {_a(tensor)}; an optimizer steps tensors: torch.tensor({tensor!r}, …).")
    if not tensor.is_floating_point():
        raise TypeError(f"{name} has dtype {tensor.dtype}; only floating-point tensors have gradients.")
    return tensor.detach().clone().requires_grad_()


def made(
    optimizer_class: Any, copies: Mapping[str, Tensor], settings: dict[str, Any]
) -> torch.optim.Optimizer:
    """The optimizer over the copies; what it refuses is said with its own words, and what it knows."""
    if not (inspect.isclass(optimizer_class) and issubclass(optimizer_class, torch.optim.Optimizer)):
        raise TypeError(f"{optimizer_class!r} is no optimizer class; give for example torch.optim.SGD.")
    name, known = optimizer_class.__name__, list(inspect.signature(optimizer_class).parameters)[1:]
    if unknown := [setting for setting in settings if setting not in known]:
        raise TypeError(f"{name} has no setting {unknown[0]!r}; it has {', '.join(known)}.")
    try:
        return optimizer_class(copies.values(), **settings)
    except (ValueError, TypeError) as refused:
        raise ValueError(f"{name} refuses these settings: {refused}.") from None


def checked_steps(steps: Any) -> int:
    if not isinstance(steps, int) or isinstance(steps, bool) or steps < 1:
        raise ValueError(f"steps is {steps!r}; give a whole number, 1 or more.")
    return steps


def checked_loss(loss: Callable[[Any], Tensor], parameters: Any) -> Tensor:
    """The loss at the copies: a scalar with a graph."""
    value = loss(parameters)
    if not isinstance(value, Tensor):
        raise TypeError(
            f"loss(parameters) returned something {_a(value)}; return the scalar tensor that was computed."
        )
    if value.numel() != 1:
        raise ValueError(f"loss(parameters) has shape {tuple(value.shape)}; reduce it: .mean() or .sum().")
    if not value.requires_grad:
        raise ValueError(
            "loss(parameters) has no graph, so there is no gradient; compute it from the parameters that "
            "the function is given, outside of no_grad()."
        )
    return value


def _a(thing: Any) -> str:
    return f"of type {type(thing).__name__}"
