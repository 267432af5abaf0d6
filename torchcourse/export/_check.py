"""One clear sentence for a bad call."""

from collections.abc import Iterable, Mapping
from typing import Any

from torch import Tensor, nn

from . import _keep


def checked(model: Any, example: Any, others: Any, opset: Any) -> list[tuple[Any, ...]]:
    """All inputs, the example first. Raises TypeError with one sentence."""
    if isinstance(model, type) and issubclass(model, nn.Module):
        raise TypeError(
            f"compare takes a module, and got the class {model.__name__}: make one, {model.__name__}(…)."
        )
    if not isinstance(model, nn.Module):
        raise TypeError(
            f"compare takes an nn.Module, not a {type(model).__name__}: put a function into the forward of one."
        )
    if opset is not None and (isinstance(opset, bool) or not isinstance(opset, int)):
        raise TypeError(f"opset is a whole number such as 18, or None, not {opset!r}.")
    _tuple(example, "example")
    if isinstance(others, (Tensor, Mapping, str, bytes)) or not isinstance(others, Iterable):
        raise TypeError(
            f"others is a list of tuples of arguments, not a {type(others).__name__}: write [(x,), …]."
        )
    inputs = [example, *others]
    for number, one in enumerate(inputs[1:]):
        _tuple(one, f"others[{number}]")
    _values(model, inputs)
    return inputs


def _values(model: nn.Module, inputs: list[tuple[Any, ...]]) -> None:
    tensors = [*model.parameters(), *model.buffers(), *(t for one in inputs for t in _keep.tensors(one))]
    if any(tensor.is_meta for tensor in tensors):
        raise ValueError(
            "A tensor lies on the device meta, which has no values to compare: use the model and its inputs on the CPU."
        )


def _tuple(value: Any, name: str) -> None:
    if not isinstance(value, tuple):
        raise TypeError(
            f"{name} is a tuple of the model's arguments, not a {type(value).__name__}: for one argument write (x,)."
        )
