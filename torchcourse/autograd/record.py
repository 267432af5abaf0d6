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

from .data import Graph, Node, maker
from .graph import build, why_none
from .kinds import ACCUMULATE
from .rules import rule
from .run import Accumulation, BackwardRecord, Step
from .stats import Stats, reshaped, stats

make_step = maker(Step)


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


Memory = tuple[int, int, int]


class _Seen(NamedTuple):
    """Numbers of a gradient, and which memory they were taken from."""

    memory: Memory | None
    stats: Stats | None


_NONE = _Seen(None, None)


class _Turn:
    """One step while it happens."""

    __slots__ = ("after", "before", "end", "entered", "finished", "left", "node", "start")

    def __init__(self, node: int, entered: list[_Seen], before: Stats | None) -> None:
        self.node, self.entered, self.before = node, entered, before
        self.left: list[Stats | None] = []
        self.after: Stats | None = None
        self.finished = False
        self.start = self.end = time.perf_counter_ns()


class _Post:
    """The two hooks on one node."""

    __slots__ = ("leaf", "node", "recorder", "turn", "view")

    def __init__(self, recorder: "_Recorder", node: Node, leaf: Any) -> None:
        self.recorder, self.node, self.leaf = recorder, node.id, leaf
        self.view = node.kind == "view"
        self.turn: _Turn | None = None

    def enter(self, gradients: tuple[torch.Tensor | None, ...]) -> None:
        before = None if self.leaf is None else stats(self.leaf.variable.grad)
        entered = [self.recorder.arrived(self.node, slot, one) for slot, one in enumerate(gradients)]
        self.turn = _Turn(self.node, entered, before)
        self.recorder.turns.append(self.turn)

    def leave(self, out: tuple[torch.Tensor | None, ...], arrived: tuple[torch.Tensor | None, ...]) -> None:
        turn, self.turn = self.turn, None
        if turn is None:  # the engine ran post hooks of a node that never began
            return
        turn.end, turn.finished = time.perf_counter_ns(), True
        if self.leaf is not None:
            turn.after = _after(self.leaf.variable.grad, turn)
            return
        for slot, one in enumerate(out):
            seen = self._measured(one, arrived, turn.entered)
            self.recorder.sent(self.node, slot, seen)
            turn.left.append(seen.stats)

    def _measured(
        self, gradient: torch.Tensor | None, arrived: tuple[torch.Tensor | None, ...], entered: list[_Seen]
    ) -> _Seen:
        """What went through unchanged, or as a view of all of it, need not be measured again."""
        if gradient is None:
            return _NONE
        memory = _memory(gradient)
        for one, seen in zip(arrived, entered, strict=False):
            if one is gradient and memory == seen.memory:
                return seen
            if memory is not None and memory == seen.memory and self._same_elements(one, gradient):
                return _Seen(memory, reshaped(seen.stats, gradient))
        return _Seen(memory, stats(gradient))

    def _same_elements(self, one: Any, other: torch.Tensor) -> bool:
        """Of two tensors of one memory and length: whether they read the same elements of it, with their sign."""
        same = self.view or (one.shape == other.shape and one.stride() == other.stride())
        return same and one.is_neg() == other.is_neg()


class _Recorder:
    """The hooks on all nodes of a graph, and what they saw."""

    def __init__(self, graph: Graph, nodes: list[Any]) -> None:
        self.graph = graph
        self.turns: list[_Turn] = []
        self._on_the_way: dict[tuple[int, int], _Seen] = {}
        arriving = Counter((edge.target, edge.output) for edge in graph.edges)
        # A gradient that is the only one to arrive need not be measured again on arrival.
        self._alone = {
            (edge.source, edge.slot): (edge.target, edge.output)
            for edge in graph.edges
            if arriving[edge.target, edge.output] == 1
        }
        self._handles: list[Any] = []
        for known, node in zip(graph.nodes, nodes, strict=True):
            post = _Post(self, known, node if known.kind == ACCUMULATE else None)
            self._handles += [node.register_prehook(post.enter), node.register_hook(post.leave)]

    def sent(self, node: int, slot: int, seen: _Seen) -> None:
        place = self._alone.get((node, slot))
        if place is not None:
            self._on_the_way[place] = seen

    def arrived(self, node: int, slot: int, gradient: torch.Tensor | None) -> _Seen:
        seen = self._on_the_way.pop((node, slot), None)
        if gradient is None:
            return _NONE
        memory = _memory(gradient)
        if seen is not None and memory is not None and memory == seen.memory:
            return seen
        return _Seen(memory, stats(gradient))

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
        entered, accumulated = tuple([seen.stats for seen in turn.entered]), None
        if node.kind == ACCUMULATE:
            accumulated = Accumulation(
                node.variable, turn.before, entered[0] if entered else None, turn.after
            )
        freed = 0 if kept or not turn.finished or node.freed else node.saved_bytes
        seconds = (turn.end - turn.start) / 1e9
        return make_step(
            index, turn.node, node.name, rule(node.name), entered, tuple(turn.left), accumulated, freed,
            turn.finished, seconds,
        )  # fmt: skip


def _memory(tensor: torch.Tensor) -> Memory | None:
    """Where its elements begin, how many they are, and how often they were written: the same while unchanged."""
    try:
        return tensor.data_ptr(), tensor.numel(), tensor._version
    except (RuntimeError, NotImplementedError):  # sparse, without data, or made in inference mode
        return None


def _after(grad: torch.Tensor | None, turn: _Turn) -> Stats | None:
    """`.grad` afterwards; where AccumulateGrad took the gradient itself, it is measured already."""
    if grad is None:
        return None
    memory, (first, *_) = _memory(grad), turn.entered
    taken = turn.before is None and memory is not None and memory == first.memory
    return first.stats if taken else stats(grad)
