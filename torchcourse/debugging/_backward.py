"""Runs a backward, and finds the first node that makes a NaN or Inf out of finite gradients."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any, NamedTuple

import torch
from torch import Tensor

from torchcourse._saved import raw_saved
from torchcourse.autograd._torch import is_python_function

from . import _numbers
from ._kept import gradients_aside
from .data import Operand


class BadNode(NamedTuple):
    number: int  # autograd's count of nodes when it was made
    name: str
    at: int  # place in the order of the run
    what: str
    inputs: tuple[Operand, ...]
    summed: bool  # the gradient was finite in each user's part, and their sum was not


def first_bad_node(outputs: list[Tensor]) -> BadNode | None:
    """Backward from all outputs at once, each with a gradient of ones; None where all gradients stay finite.

    A plain run decides; only when it ends in a NaN or Inf, a second one looks at each node.
    """
    nodes = _nodes(outputs)
    leaves = [node.variable for node in nodes if hasattr(node, "variable")]
    with gradients_aside(leaves), torch.autograd.set_detect_anomaly(False):
        _run(outputs)
        if all(_numbers.finite(leaf.grad) for leaf in leaves if leaf.grad is not None):
            return None
        for leaf in leaves:
            leaf.grad = None
        search = _Search()
        with _hooks(nodes, search):
            _run(outputs)
    return search.found


def _run(outputs: list[Tensor]) -> None:
    # The graph is kept: a part of it may be the reader's own.
    ones = [torch.ones_like(one) for one in outputs]
    torch.autograd.backward(outputs, ones, retain_graph=True)


def _nodes(outputs: list[Tensor]) -> list[Any]:
    first = [torch.autograd.graph.get_gradient_edge(one).node for one in outputs]
    found = dict.fromkeys(first)
    queue = list(found)
    for node in queue:  # the list grows while it is read
        for after, _ in node.next_functions:
            if after is not None and after not in found:
                found[after] = None
                queue.append(after)
    return queue


class _Search:
    """What the hooks tell, until the first bad node."""

    def __init__(self) -> None:
        self.found: BadNode | None = None
        self._ran = 0

    def after(self, node: Any, left: Any, entered: Any) -> None:
        self._ran += 1
        if self.found is not None:
            return
        if not _all_finite(entered):
            self._note(node, entered, summed=True)
        elif not _all_finite(left):
            self._note(node, left, summed=False, given=entered)

    def _note(self, node: Any, bad: Any, summed: bool, given: Any = ()) -> None:
        what = _numbers.kind_of([g for g in bad if g is not None and not _numbers.finite(g)])
        operands = [_numbers.operand(_gradient(k, given), g) for k, g in enumerate(given) if g is not None]
        operands += [_numbers.operand(name, value) for name, value in ([] if summed else _saved(node))]
        self.found = BadNode(_created(node), node.name(), self._ran - 1, what, tuple(operands), summed)


def _gradient(place: int, given: Any) -> str:
    return "grad" if len(given) == 1 else f"grad[{place}]"


def _all_finite(gradients: Any) -> bool:
    return all(one is None or _numbers.finite(one) for one in gradients)


@contextlib.contextmanager
def _hooks(nodes: list[Any], search: _Search) -> Iterator[None]:
    handles = [node.register_hook(_post(node, search)) for node in nodes]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def _post(node: Any, search: _Search) -> Any:
    def after(left: Any, entered: Any) -> None:
        search.after(node, left, entered)

    return after


def _saved(node: Any) -> Iterator[tuple[str, Any]]:
    """The tensors and numbers that the node kept. What a hook packed is not unpacked: that may compute."""
    if is_python_function(node):
        raws = raw_saved(node, "_raw_saved_tensors", ())
        if all(raw.unpack_hook is None for raw in raws):
            yield from ((f"saved[{k}]", t) for k, t in enumerate(node.saved_tensors) if t is not None)
        return
    for name in dir(type(node)):
        if name.startswith("_saved_"):
            raw = raw_saved(node, f"_raw{name}", None)
            if getattr(raw, "unpack_hook", None) is None and not isinstance(raw, (tuple, list)):
                value = getattr(node, name)
                if isinstance(value, (Tensor, float)):
                    yield name.removeprefix("_saved_"), value


def _created(node: Any) -> int:
    """The node's number in the order of creation; AccumulateGrad has none."""
    ask = getattr(node, "_sequence_nr", None)
    return -1 if ask is None else int(ask())
