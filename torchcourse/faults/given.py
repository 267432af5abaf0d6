"""What comes in: checked before anything runs, and the tensors in a batch of any nesting."""

import inspect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from torch import Tensor, nn
from torch.optim import Optimizer

DEEPEST = 6
# These move every number by about lr, whatever the size of its gradient.
ADAPTIVE = ("Adam", "AdamW", "Adamax", "NAdam", "RAdam", "RMSprop", "Adagrad", "SparseAdam", "Adafactor")


@dataclass(frozen=True, eq=False)
class Given:
    """The four things under study; `optimizers` is empty where there is none."""

    model: nn.Module
    input: Any
    target: Any
    loss_fn: Any
    optimizers: tuple[Any, ...]

    @cached_property
    def parameters(self) -> dict[str, nn.Parameter]:
        """Each parameter once, under its first name."""
        return dict(self.model.named_parameters())

    @cached_property
    def spread(self) -> str:
        """ "*" or "**" where forward takes what the input holds, and not the input as one; else ""."""
        return _spread(self.model, self.input)

    def arguments(self, value: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """What the model is called with, for this value in the input's place."""
        if self.spread == "**":
            return (), dict(value)
        return (tuple(value) if self.spread == "*" else (value,)), {}

    def call(self, value: Any) -> Any:
        args, kwargs = self.arguments(value)
        return self.model(*args, **kwargs)

    def groups(self) -> Iterator[tuple[Any, str, dict[str, Any]]]:
        """Each group of parameters, with its optimizer and the words for it."""
        for k, optimizer in enumerate(self.optimizers):
            name = f"optimizers[{k}]" if len(self.optimizers) > 1 else "optimizer"
            for i, group in enumerate(optimizer.param_groups):
                yield optimizer, f"{name}.param_groups[{i}]", group

    @cached_property
    def held(self) -> set[int]:
        """The ids of all that the optimizers move."""
        return {id(p) for _, _, group in self.groups() for p in group["params"]}


def given(model: Any, batch: Any, loss_fn: Any, optimizer: Any) -> Given:
    """TypeError with one sentence for each thing that is not what a step needs."""
    if not isinstance(model, nn.Module):
        raise TypeError(f"check_up takes an nn.Module as its model; got {_kind(model)}.")
    if not isinstance(batch, (tuple, list)) or len(batch) != 2:
        length = f" of length {len(batch)}" if isinstance(batch, (tuple, list, dict)) else ""
        raise TypeError(f"A batch is a pair (input, target); got {_kind(batch)}{length}.")
    if not callable(loss_fn):
        raise TypeError(f"loss_fn is called as loss_fn(model(input), target); got {_kind(loss_fn)}.")
    if isinstance(loss_fn, type):
        raise TypeError(f"loss_fn is the class {loss_fn.__name__} itself: make one, {loss_fn.__name__}().")
    return Given(model, batch[0], batch[1], loss_fn, _optimizers(optimizer))


def _spread(model: nn.Module, value: Any) -> str:
    """A dict goes by its names if forward has all of them; a tuple goes one by one if forward needs several."""
    if not isinstance(value, (tuple, list, Mapping)) or not value:
        return ""
    try:
        signature = inspect.signature(getattr(model, "_orig_mod", model).forward)
    except (TypeError, ValueError):  # compiled by TorchScript
        return ""
    if not isinstance(value, Mapping):
        return "*" if not _binds(signature, value) and _binds(signature, *value) else ""
    if not all(isinstance(key, str) for key in value):
        return ""
    named = {
        p.name for p in signature.parameters.values() if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)
    }
    known = named.issuperset(value)
    return "**" if _binds(signature, **value) and (known or not _binds(signature, value)) else ""


def _binds(signature: inspect.Signature, *args: Any, **kwargs: Any) -> bool:
    try:
        signature.bind(*args, **kwargs)
    except TypeError:
        return False
    return True


def _optimizers(optimizer: Any) -> tuple[Any, ...]:
    several = tuple(optimizer) if isinstance(optimizer, (list, tuple)) else (optimizer,)
    for one in several:
        if one is not None and not (isinstance(one, Optimizer) or hasattr(one, "param_groups")):
            raise TypeError(f"optimizer is one of torch.optim, a list of such, or None; got {_kind(one)}.")
    return tuple(one for one in several if one is not None)


def _kind(value: Any) -> str:
    if isinstance(value, type):
        return f"the class {value.__name__} itself"
    return "None" if value is None else f"a {type(value).__name__}"


def tensors(value: Any, depth: int = DEEPEST) -> Iterator[Tensor]:
    """The tensors in a batch or an output: nested tuples, lists, dicts, and objects with attributes."""
    if isinstance(value, Tensor):
        yield value
    elif depth and isinstance(value, dict):
        for inner in value.values():
            yield from tensors(inner, depth - 1)
    elif depth and isinstance(value, (tuple, list)):
        for inner in value:
            yield from tensors(inner, depth - 1)
    elif depth and not isinstance(value, type) and hasattr(value, "__dict__"):
        yield from tensors(vars(value), depth - 1)
