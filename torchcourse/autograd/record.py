"""`record_backward(loss)`: the real backward, watched by a hook before and after each node.

The engine (torch/csrc/autograd/engine.cpp) calls a node's prehooks with the gradient that it is about to
hand over, and its post hooks with what came out. Ours take numbers and keep no tensor: a reference that
lives on would make AccumulateGrad clone the gradient instead of taking it, and so change what is shown.
"""

import sys
import time
from collections import Counter
from typing import Any, NamedTuple

import torch

from .data import Graph
from .graph import build, why_none
from .kinds import ACCUMULATE
from .rules import rule
from .run import Accumulation, BackwardRecord, Step
from .stats import Stats, stats


class NoGraph(ValueError, RuntimeError):
    """backward() was asked of a tensor that has no graph."""


def record_backward(loss: torch.Tensor, *, names: Any = None, **kwargs: Any) -> BackwardRecord:
    """Run `loss.backward(**kwargs)` and record it: which node ran when, and what gradient entered and left.

    names: as for `graph`. Values, `.grad` and random state are, bit for bit, those of a plain backward; no
    hook stays. When the run raises, the error goes on to you, with what had happened as `error.record`.
    TypeError: loss is no tensor. NoGraph (a ValueError and RuntimeError): it needs no gradient.
    """
    if not isinstance(loss, torch.Tensor):
        raise TypeError(
            f"record_backward takes the tensor whose backward is to run, not a {type(loss).__name__}."
        )
    if not loss.requires_grad:
        raise NoGraph(f"This tensor has no graph, so backward has nothing to run. {why_none(loss)}")
    keep = kwargs.get("retain_graph")
    keep = bool(kwargs.get("create_graph")) if keep is None else bool(keep)
    graph, walk = build((loss,), names, sys._getframe(1))
    recorder = _Recorder(graph, walk.nodes)
    try:
        loss.backward(**kwargs)
    except BaseException as error:
        recorder.close()
        error.record = recorder.result(keep, error)  # type: ignore[attr-defined]
        raise
    finally:
        recorder.close()
    return recorder.result(keep)


class _Seen(NamedTuple):
    """Numbers of a gradient on its way, and which tensor they were taken from."""

    tensor: int
    version: int
    stats: Stats | None


class _Turn:
    """One step while it happens."""

    def __init__(self, node: int, entered: tuple[Stats | None, ...], before: Stats | None) -> None:
        self.node, self.entered, self.before = node, entered, before
        self.left: tuple[Stats | None, ...] = ()
        self.after: Stats | None = None
        self.finished = False
        self.start = self.end = time.perf_counter_ns()


class _Recorder:
    """The hooks on all nodes of a graph, and what they saw."""

    def __init__(self, graph: Graph, nodes: list[Any]) -> None:
        self.graph = graph
        self.turns: list[_Turn] = []
        self._running: dict[int, _Turn] = {}
        self._on_the_way: dict[tuple[int, int], _Seen] = {}
        arriving = Counter((edge.target, edge.output) for edge in graph.edges)
        # A gradient that is the only one to arrive need not be measured again on arrival.
        self._alone = {
            (edge.source, edge.slot): (edge.target, edge.output)
            for edge in graph.edges
            if arriving[edge.target, edge.output] == 1
        }
        self._handles: list[Any] = []
        for i, node in enumerate(nodes):
            self._watch(i, node)

    def _watch(self, i: int, node: Any) -> None:
        leaf = self.graph.nodes[i].kind == ACCUMULATE

        def enter(gradients: tuple[torch.Tensor | None, ...]) -> None:
            before = stats(node.variable.grad) if leaf else None
            entered = tuple([self._arrived(i, slot, one) for slot, one in enumerate(gradients)])
            turn = self._running[i] = _Turn(i, entered, before)
            self.turns.append(turn)

        def leave(out: tuple[torch.Tensor | None, ...], arrived: tuple[torch.Tensor | None, ...]) -> None:
            turn = self._running.pop(i, None)
            if turn is None:  # the engine ran post hooks of a node that never began
                return
            turn.end, turn.finished = time.perf_counter_ns(), True
            if leaf:
                turn.after = _after(node.variable.grad, arrived[0], turn)
            else:
                turn.left = tuple([self._sent(i, slot, one) for slot, one in enumerate(out)])

        self._handles += [node.register_prehook(enter), node.register_hook(leave)]

    def _sent(self, node: int, slot: int, gradient: torch.Tensor | None) -> Stats | None:
        measured = stats(gradient)
        place = self._alone.get((node, slot))
        if place is not None and gradient is not None:
            self._on_the_way[place] = _Seen(*_which(gradient), measured)
        return measured

    def _arrived(self, node: int, slot: int, gradient: torch.Tensor | None) -> Stats | None:
        seen = self._on_the_way.pop((node, slot), None)
        if seen is not None and gradient is not None and _which(gradient) == seen[:2]:
            return seen.stats
        return stats(gradient)

    def close(self) -> None:
        """Take all hooks off."""
        while self._handles:
            self._handles.pop().remove()

    def result(self, kept: bool, error: BaseException | None = None) -> BackwardRecord:
        steps = tuple([self._step(i, turn, kept) for i, turn in enumerate(self.turns)])
        message = None if error is None else f"{type(error).__name__}: {error}".splitlines()[0]
        return BackwardRecord(self.graph, steps, kept, message)

    def _step(self, index: int, turn: _Turn, kept: bool) -> Step:
        node = self.graph.nodes[turn.node]
        entered, accumulated = turn.entered, None
        if node.kind == ACCUMULATE:
            accumulated = Accumulation(
                node.variable, turn.before, entered[0] if entered else None, turn.after
            )
        freed = 0 if kept or not turn.finished or node.freed else node.saved_bytes
        seconds = (turn.end - turn.start) / 1e9
        return Step(
            index, turn.node, node.name, rule(node.name), entered, turn.left, accumulated, freed,
            turn.finished, seconds,
        )  # fmt: skip


def _which(tensor: torch.Tensor) -> tuple[int, int]:
    """The tensor itself and its version: the same pair while it lives unchanged."""
    return tensor._cdata, tensor._version


def _after(grad: torch.Tensor | None, arrived: torch.Tensor | None, turn: _Turn) -> Stats | None:
    """`.grad` afterwards; where AccumulateGrad took the gradient itself, it is measured already."""
    if turn.before is None and grad is not None and arrived is not None and _same_memory(grad, arrived):
        return turn.entered[0]
    return stats(grad)


def _same_memory(a: torch.Tensor, b: torch.Tensor) -> bool:
    try:
        return a.data_ptr() == b.data_ptr()
    except RuntimeError:  # sparse, or without data
        return False
