"""What comes in, looked at before anything is done with it: one clear sentence for each thing that can't work."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, TypeGuard

import torch
from torch import Tensor, nn
from torch.nn.parameter import is_lazy
from torch.optim import Optimizer


def trainable(model: nn.Module, optimizer: Optimizer) -> list[tuple[str, nn.Parameter]]:
    """The model's parameters that the optimizer holds and that require grad, with their names.

    Raises TypeError for what is no module or no optimizer, ValueError where there is nothing to train.
    """
    if not isinstance(model, nn.Module):
        raise TypeError(f"model is an nn.Module; got {_kind(model)}.")
    if not isinstance(optimizer, Optimizer):
        raise TypeError(f"optimizer is a torch.optim.Optimizer; got {_kind(optimizer)}.")
    named = list(model.named_parameters())
    if not named:
        raise ValueError(
            f"{type(model).__name__} has no parameters, so there is nothing to train. "
            "Layers in a plain list are not registered: put them in an nn.ModuleList."
        )
    if lazy := [name for name, p in named if is_lazy(p)]:
        raise ValueError(f"{lazy[0]} has no shape yet: call the model once with a batch, and try again.")
    held = {p for group in optimizer.param_groups for p in group["params"]}
    if not held:
        raise ValueError("The optimizer holds no parameters: build it with model.parameters().")
    ours = [(name, p) for name, p in named if p in held and p.requires_grad]
    if not ours:
        raise ValueError(
            "The optimizer holds none of this model's parameters that require grad. "
            "It was built for another model, or everything is frozen."
        )
    return ours


def callable_loss(loss_fn: Any) -> None:
    """Raises TypeError for what can't be called as loss_fn(output, target)."""
    if not callable(loss_fn) or isinstance(loss_fn, type):
        raise TypeError(f"loss_fn is called as loss_fn(output, target); got {_kind(loss_fn)}.")


def steps_alone(optimizer: Optimizer) -> None:
    """Raises ValueError for an optimizer whose step() needs a closure."""
    if isinstance(optimizer, torch.optim.LBFGS):
        raise ValueError(
            "LBFGS evaluates the loss several times within a step, so one step has no single loss to record. "
            "Take another optimizer, such as SGD or Adam."
        )


def endless(batches: Iterable[Any], at_most: int) -> Iterator[tuple[Any, Any]]:
    """Pairs (input, target), again and again. Of an iterator, the first `at_most` batches are kept and repeated.

    Raises TypeError where `batches` can't be iterated or a batch is no pair, ValueError where none comes.
    """
    if not isinstance(batches, Iterable) or isinstance(batches, Tensor):
        raise TypeError(f"batches is a DataLoader, or a list of (input, target) pairs; got {_kind(batches)}.")
    again: Iterable[Any] = list(islice(batches, at_most)) if isinstance(batches, Iterator) else batches
    while True:
        count = 0
        for count, batch in enumerate(again, 1):  # noqa: B007  the count is read after the loop
            yield pair(batch)
        if not count:
            raise ValueError(_why_empty(batches))


def pair(batch: Any) -> tuple[Any, Any]:
    """The batch as (input, target), or a TypeError that says what it is instead."""
    if isinstance(batch, (tuple, list)) and len(batch) == 2:
        return batch[0], batch[1]
    length = f" of {len(batch)}" if isinstance(batch, (tuple, list, dict)) else ""
    raise TypeError(f"A batch is a pair (input, target); got {_kind(batch)}{length}.")


def _why_empty(batches: Any) -> str:
    size, data = getattr(batches, "batch_size", None), getattr(batches, "dataset", None)
    try:
        samples = len(data)  # type: ignore[arg-type]
    except TypeError:
        samples = 0
    if samples and isinstance(size, int) and size > samples:
        return (
            f"The data set has {samples} samples and a batch takes {size}: with drop_last=True no batch is left. "
            "Take a smaller batch_size, or drop_last=False."
        )
    return "No batch came: the data set is empty, or its iterator is used up."


def scalar(loss: Any) -> Tensor:
    """The loss, or a sentence why backward() can't start from it."""
    if not isinstance(loss, Tensor):
        raise TypeError(f"loss_fn must return a tensor with one element; got {_kind(loss)}.")
    if loss.numel() != 1:
        raise ValueError(
            f"loss_fn must return one number, and its result has shape {tuple(loss.shape)}. "
            'Take its mean, or leave out reduction="none".'
        )
    if loss.is_complex():
        raise ValueError("loss_fn must return a real number, and its result is complex: take its abs().")
    if not loss.requires_grad:
        raise ValueError(
            "The loss does not require grad: no parameter took part in it, or it was computed under no_grad."
        )
    return loss


def first_is_finite(loss: Tensor, batch: tuple[Any, Any], model: nn.Module) -> None:
    """Raises ValueError where the very first loss is NaN or infinite, and names where that comes from."""
    if bool(torch.isfinite(loss.detach()).all()):
        return
    bad = [name for name, t in zip(("input", "target"), batch, strict=True) if not _finite(t)]
    weights = [name for name, p in model.named_parameters() if not _finite(p)]
    where = f"the first batch's {bad[0]} has a NaN or an infinity in it" if bad else ""
    where = where or (f"the parameter {weights[0]} is not finite" if weights else "")
    where = where or "input, target and parameters are finite, so it arises in the model or in loss_fn"
    raise ValueError(f"The first loss is {loss.item()}, before any step: {where}.")


def _finite(value: Any) -> bool:
    return not _is_tensor(value) or bool(torch.isfinite(value.detach()).all())


def _is_tensor(value: Any) -> TypeGuard[Tensor]:
    return isinstance(value, Tensor)


def positive_count(name: str, value: Any, least: int = 1) -> int:
    """The value, or a sentence: counts are whole numbers of at least `least`."""
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise ValueError(f"{name} is a whole number, {least} or more; got {value!r}.")
    return value


def _kind(value: Any) -> str:
    if isinstance(value, type):
        return f"the class {value.__name__} itself"
    return "None" if value is None else f"a {type(value).__name__}"
