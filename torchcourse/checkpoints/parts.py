"""One part of a checkpoint: how its state is read, checked against the object, restored, and put back."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from torchcourse.checkpoints.compare import compare
from torchcourse.checkpoints.errors import CheckpointError, first_line
from torchcourse.checkpoints.generators import generator_access
from torchcourse.checkpoints.values import savable

PLAIN = ""  # the kind of a part that is a plain value

# State that an optimizer keeps in the shape of its parameter.
_IN_ITS_SHAPE = {"momentum_buffer", "exp_avg", "exp_avg_sq", "exp_inf", "max_exp_avg_sq", "square_avg"}
_IN_ITS_SHAPE |= {"acc_delta", "grad_avg", "ax", "prev", "step_size", "sum"}


def kind_of(part: object) -> str:
    """The class name of a part that has a state; PLAIN for a plain value."""
    return type(part).__name__ if generator_access(part) or _has_state(part) else PLAIN


def state_of(name: str, part: object) -> Any:
    """What is saved of a part. Raises CheckpointError where that can't be read back without running code."""
    if isinstance(part, type):
        raise CheckpointError(f"Part `{name}` is the class {part.__name__}; pass an object of it.")
    try:
        state = _state(part)
    except Exception as error:
        said = f"{type(error).__name__}: {first_line(error)}"
        raise CheckpointError(f"The state of part `{name}` can't be read: {said}.") from error
    return savable(name, state)


def _state(part: Any) -> Any:
    access = generator_access(part)
    if access:
        return access[0]()
    return part.state_dict() if _has_state(part) else part


def _has_state(part: object) -> bool:
    return callable(getattr(part, "state_dict", None)) and callable(getattr(part, "load_state_dict", None))


# --- before anything is changed -----------------------------------------------------------------------------


def check_fits(name: str, part: object, kind: str, state: Any) -> None:
    """Raise CheckpointError, with the likely cause, where this state is not one of this object."""
    given = kind_of(part)
    if kind == PLAIN:
        raise CheckpointError(
            f"`{name}` is a plain value in the file: leave it out, it is in the returned dict."
        )
    if given == PLAIN:
        raise CheckpointError(
            f"`{name}` is the state of {kind}; pass the object to restore, not a plain value."
        )
    if isinstance(part, nn.Module):
        _check_module(name, part, state)
    elif given != kind:
        raise CheckpointError(
            f"`{name}` is the state of {kind}, and you passed {given}. Pass {kind}, made as in the saved run."
        )
    elif isinstance(part, Optimizer):
        _check_optimizer(name, part, state)


def _check_module(name: str, module: nn.Module, state: Any) -> None:
    if not isinstance(state, Mapping):
        raise CheckpointError(f"`{name}` in the file is no state_dict, so it can't go into a module.")
    seen = compare(module, state)
    if seen.missing or seen.unexpected or seen.changed:
        mend = "" if seen.renamed is None else " compare(model, state_dict).renamed holds one that loads."
        raise CheckpointError(f"`{name}` does not fit the file: {seen.cause}{mend}")


def _check_optimizer(name: str, optimizer: Optimizer, state: Any) -> None:
    try:
        saved = [len(group["params"]) for group in state["param_groups"]]
        entries = dict(state["state"])
    except (TypeError, KeyError, ValueError):
        raise CheckpointError(f"`{name}` in the file is no state of an optimizer.") from None
    here = [len(group["params"]) for group in optimizer.param_groups]
    if saved != here:
        raise CheckpointError(
            f"`{name}` has groups of {here} parameters, and the file has groups of {saved}. "
            "Make the optimizer over the same parameters as in the saved run."
        )
    _check_shapes(name, optimizer, state["param_groups"], entries)


def _check_shapes(name: str, optimizer: Optimizer, groups: list[Any], entries: dict[Any, Any]) -> None:
    parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    numbers = [number for group in groups for number in group["params"]]
    for number, parameter in zip(numbers, parameters, strict=True):
        for key, value in entries.get(number, {}).items():
            if key in _IN_ITS_SHAPE and isinstance(value, Tensor) and value.shape != parameter.shape:
                raise CheckpointError(
                    f"`{name}`: `{key}` of parameter {number} has shape {tuple(value.shape)} in the file, and that "
                    f"parameter has shape {tuple(parameter.shape)}. The parameters are others, or in another order."
                )


# --- restoring ----------------------------------------------------------------------------------------------


def restore(part: Any, state: Any) -> None:
    """Put the state into the object, in place."""
    access = generator_access(part)
    if access:
        access[1](state)
    else:
        part.load_state_dict(state)


def undo_of(part: Any) -> Callable[[], None]:
    """A function that puts the object back as it is now."""
    access = generator_access(part)
    if access:
        now = access[0]()
        return lambda: access[1](now)
    if isinstance(part, nn.Module):
        return _undo_module(part)
    # An optimizer replaces its tensors when it loads, so references are enough; others keep small values.
    before = part.state_dict() if isinstance(part, Optimizer) else copy.deepcopy(part.state_dict())
    return lambda: part.load_state_dict(before)


def _undo_module(module: nn.Module) -> Callable[[], None]:
    live = {key: value for key, value in module.state_dict().items() if isinstance(value, Tensor)}
    copies = {key: value.clone() for key, value in live.items() if not value.is_meta}

    def undo() -> None:
        with torch.no_grad():
            for key, value in copies.items():
                live[key].copy_(value)

    return undo
