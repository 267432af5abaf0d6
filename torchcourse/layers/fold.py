"""Repeated blocks, counted: the steps of a training loop are shown once, with × N.

Two operators are alike when name, line, module, the outputs' kind, shape, dtype and device, and
all that ran inside them are alike. A block is a run of neighbours; it repeats when the next run
is alike. Time and memory grow linearly with the trace.
"""

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

from .events import Operator, Trace

LONGEST = 4096  # neighbours in one block
CANDIDATES = 16  # block lengths that are tried at each place


@dataclass(frozen=True, slots=True)
class Block:
    """A run of operators that ran `times` times.

    operator: index into `trace.operators`, of the first time; then `inside` is what ran within
    it. None: a run of several neighbours, which `inside` lists.
    """

    times: int
    operator: int | None
    inside: tuple["Block", ...] = ()

    @property
    def count(self) -> int:
        """Operators behind this block, all its times and all depths."""
        own = 0 if self.operator is None else 1
        return self.times * (own + sum(block.count for block in self.inside))


def fold(seen: Any) -> tuple[Block, ...]:
    """The trace's operators as blocks; the counts of the blocks add up to the operators."""
    trace: Trace = getattr(seen, "trace", seen)
    return _Folder(trace.operators).run()


class _Folder:
    def __init__(self, operators: tuple[Operator, ...]) -> None:
        self.operators = operators
        self.inside: list[list[int]] = [[] for _ in operators]  # what ran directly in each
        self.kinds = [0] * len(operators)  # a number for each kind of subtree

    def run(self) -> tuple[Block, ...]:
        """Kinds from the last operator to the first, so that what is inside has its kind already;
        blocks from the outside in, so that only the first time of a block is folded."""
        numbers: dict[Any, int] = {}
        waiting: dict[int, list[int]] = defaultdict(list)
        for i in reversed(range(len(self.operators))):
            operator = self.operators[i]
            inside = self.inside[i] = waiting.pop(operator.depth + 1, [])[::-1]
            key = (_look(operator), tuple(self.kinds[j] for j in inside))
            self.kinds[i] = numbers.setdefault(key, len(numbers))
            waiting[operator.depth].append(i)
        return self.repeats(waiting[0][::-1])

    def repeats(self, run: list[int]) -> tuple[Block, ...]:
        """Neighbours folded: at each place the length that covers most wins."""
        kinds = [self.kinds[i] for i in run]
        following = _next_places(kinds)
        folded: list[Block] = []
        at = 0
        while at < len(run):
            length, times = _best(kinds, following, at)
            if length == 1:
                folded.append(Block(times, run[at], self.repeats(self.inside[run[at]])))
            else:
                folded.append(Block(times, None, self.repeats(run[at : at + length])))
            at += length * times
        return tuple(folded)


def _look(operator: Operator) -> Any:
    outputs = tuple((o.kind, o.shape, o.dtype, o.device) for o in operator.outputs)
    return operator.name, operator.line, operator.module, outputs


def _next_places(kinds: list[int]) -> list[int]:
    """For each place the next one of the same kind, or the length."""
    later: dict[int, int] = {}
    following = [len(kinds)] * len(kinds)
    for i in reversed(range(len(kinds))):
        following[i] = later.get(kinds[i], len(kinds))
        later[kinds[i]] = i
    return following


def _best(kinds: list[int], following: list[int], at: int) -> tuple[int, int]:
    best, covered, place = (1, 1), 1, at
    for _ in range(CANDIDATES):
        place = following[place]
        length = place - at
        if place >= len(kinds) or length > LONGEST:
            break
        times = _times(kinds, at, length)
        if times > 1 and times * length > covered:
            best, covered = (length, times), times * length
    return best


def _times(kinds: list[int], at: int, length: int) -> int:
    first, times = kinds[at : at + length], 1
    while kinds[at + times * length : at + (times + 1) * length] == first:
        times += 1
    return times
