"""`find_nan(model, *inputs)`: where the first NaN or Inf comes into being, forward and backward."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor
from torch.utils._pytree import tree_leaves, tree_map_only

from torchcourse._eager import eagerly

from . import _numbers
from ._backward import BadNode, first_bad_node
from ._forward import Forward, names_of
from ._kept import as_before
from .data import Birth


def find_nan(
    model: Callable[..., Any],
    *inputs: Any,
    loss_fn: Callable[..., Any] | None = None,
    target: Any = None,
    **kwargs: Any,
) -> Birth | None:
    """Run `model(*inputs, **kwargs)` and its backward; tell where a NaN or Inf was born, or None.

    The loss is `loss_fn(output, target)` (`loss_fn(output)` without a target); without loss_fn the sum of all
    floating outputs. Under no_grad there is no backward to look into. Forward, a birth is the first operator
    whose result is not finite while what it was given is; backward, the first such node. Infinities that
    somebody wrote down to mask with (masked_fill, full, where, a float mask) are none, until an operator makes
    NaN of them. An Inf that is swallowed and hurts no gradient is none either.

    Changes no value, `.grad`, buffer, attribute, mode or random state, and keeps nothing. The model runs once;
    a second time only to find the line of a bad node. A model that raises after a NaN was born: the result says
    so in `.error`; one that raises before: its error goes on to you. Raises TypeError for what can't be called.
    """
    if isinstance(model, type) or not callable(model):
        raise TypeError(f"find_nan takes a module, or a function, and then its inputs; got {_kind(model)}.")
    if loss_fn is not None and not callable(loss_fn):
        raise TypeError(f"loss_fn is called with the output and the target; got {_kind(loss_fn)}.")
    if loss_fn is None and target is not None:
        kwargs["target"] = target  # the model's own argument
    call = _Call(model, inputs, kwargs, loss_fn, target)
    found = call.look()
    if found is not None and found.backward:
        return replace(found, **call.line_of(found))
    return found


@dataclass
class _Call:
    """What is to be run."""

    model: Callable[..., Any]
    inputs: tuple[Any, ...]
    kwargs: dict[str, Any]
    loss_fn: Callable[..., Any] | None
    target: Any
    node: int = 0  # counted from the beginning of the run

    def look(self) -> Birth | None:
        with as_before(self.model) as kept:
            watch = Forward(kept, self._names())
            outputs, error = self._run(watch)
            return self._decide(watch, outputs, error)

    def line_of(self, found: Birth) -> dict[str, Any]:
        """Run the forward again, with an eye on lines."""
        with as_before(self.model) as kept:
            watch = Forward(kept, self._names(), lines=True)
            self._run(watch)
            note = watch.place_of(watch.start + self.node)
            return {} if note is None else {"line": note[1].line, "source": note[1].source}

    def _names(self) -> dict[int, tuple[str, str]]:
        found = [t for t in tree_leaves((self.inputs, self.kwargs)) if isinstance(t, Tensor)]
        return names_of(self.model, found)

    def _run(self, watch: Forward) -> tuple[list[Tensor], Exception | None]:
        """What the model and the loss returned: the tensors in it that have numbers; and what was raised."""
        inputs, kwargs = tree_map_only(Tensor, _own_leaf, (self.inputs, self.kwargs))
        try:
            with eagerly(), watch:
                output = self.model(*inputs, **kwargs)
                if self.loss_fn is not None:
                    output = self._loss(output)
        except Exception as error:
            if not watch.births:
                error.add_note("find_nan: until then, no NaN or Inf had been born.")
                raise
            return [], error
        leaves = [t for t in tree_leaves(output) if isinstance(t, Tensor)]
        return [t for t in leaves if t.is_floating_point() or t.is_complex()], None

    def _loss(self, output: Any) -> Any:
        assert self.loss_fn is not None
        return self.loss_fn(output) if self.target is None else self.loss_fn(output, self.target)

    def _decide(self, watch: Forward, outputs: list[Tensor], error: Exception | None) -> Birth | None:
        if error is not None:
            return replace(watch.births[0], error=_first_line(error), reached=False)
        reached = [watch.reached(one) for one in outputs if not _numbers.finite(one)]
        known = [one for one in reached if one is not None]
        if known:
            return min(known, key=lambda one: one.index)
        bad = _backward(outputs)
        if bad is not None:
            self.node = bad.number - watch.start
            return _in_backward(watch, bad)
        silent = [b for b in watch.births if _alarming(b) and b.index not in watch.handled]
        return replace(silent[0], reached=False) if silent else None


def _own_leaf(tensor: Tensor) -> Tensor:
    """An input with a history is handed over without it: that graph is the reader's."""
    if tensor.grad_fn is None:
        return tensor
    return tensor.detach().requires_grad_().clone()


def _alarming(birth: Birth) -> bool:
    """Of what does no harm in this run: a NaN, and a parameter that is not finite."""
    return birth.what == "NaN" or birth.where.startswith("parameter ")


def _backward(outputs: list[Tensor]) -> BadNode | None:
    roots = [one for one in outputs if one.requires_grad]
    if not roots or not torch.is_grad_enabled():
        return None
    try:
        return first_bad_node(roots)
    except Exception as error:
        error.add_note("find_nan: the forward was finite; this was raised in its backward.")
        raise


def _in_backward(watch: Forward, bad: BadNode) -> Birth:
    """The node; or the forward operator behind it, where the forward had made a NaN that something swallowed."""
    note = watch.place_of(bad.number)
    forward = [b for b in watch.births if note is not None and b.index == note[0]]
    if forward:
        return replace(forward[0], node=bad.name, reached=False)
    where = bad.name if note is None else note[1].module
    operator = "aten::add" if bad.summed else bad.name
    return Birth("nan-in-backward", bad.what, where, operator, bad.inputs, True, node=bad.name, index=bad.at)


def _first_line(error: BaseException) -> str:
    text = ""
    with contextlib.suppress(Exception):
        text = str(error).partition("\n")[0]
    return f"{type(error).__name__}: {text}"


def _kind(value: Any) -> str:
    if isinstance(value, type):
        return f"the class {value.__name__} itself: make an instance of it"
    return "None" if value is None else f"a {type(value).__name__}"
