"""`leaks(step)`: which tensors outlive their step, and who holds them."""

from __future__ import annotations

import contextlib
import gc
import re
import sys
import weakref
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from torch import Tensor

from torchcourse._eager import eagerly
from torchcourse.layers.storages import storage_of

from . import _graphs
from ._births import Births, Born, live_tensors
from ._holders import EXCEPTIONS, Holder, Search
from .data import Findings, Leak

LEAST = 3
_AT_MOST = 40  # tensors whose holder is looked for
MENDS = {
    "graph-kept": "Keep a number, not a tensor with its graph: `loss.item()`, or `loss.detach()`.",
    "tensors-in-history": "Keep numbers (`.item()`), or few tensors (`deque(maxlen=…)`), or write them to disk.",
    "tensors-in-traceback": "Drop the exception: `del error` after its block, "
    "`sys.last_exc = sys.last_value = sys.last_traceback = None` in a notebook.",
    "tensors-in-output": "End a cell with a number or `None`; `%reset -f out` empties what Jupyter remembers.",
    "tensors-held": "Let go of it within the step: `del` the name, or overwrite it.",
}
HOOKS = "Register the hook once, before the loop, or `handle.remove()` at the end of the step."
_KEY = re.compile(r"\['[^']*'\]")
_AGAIN = re.compile(r"(\.\w+|\[…\])\1+")  # a linked list: `.next.next.next`
NONE = "No tensor outlives its step."


def leaks(step: Callable[[], Any], n: int = 5) -> Findings[Leak]:
    """Call `step()` n times and tell which tensors pile up: `.kind`, `.where`, `.nbytes_per_step`, `.mend` of each.

    The first two steps (one, with n below 5) are warm-up: an optimizer's state or a cache that they fill is no
    leak, nor is what the last step leaves. A tensor counts when every step in between leaves one such behind.
    Memory is that of storages made during the steps, by operators or out of NumPy, on any device. The steps are
    real: they train. Python's cyclic garbage is collected after each, so what only a cycle holds is no leak.
    Raises TypeError for a step that can't be called, ValueError for n below 3.
    """
    _check(step, n)
    births, rewritten, grown = Births(), _Rewritten(), []
    with _only_new_objects() as only:
        if not only:
            births.census()  # what is there already was born before the first step
        for number in range(n):
            births.step = number
            with eagerly(), births:
                step()
            gc.collect()
            grown.append(_alive(births, rewritten))
    warm = 2 if n >= 5 else 1
    return _findings(births, grown, range(warm, n - 1))


@contextlib.contextmanager
def _only_new_objects() -> Iterator[bool]:
    """Within it the collector looks at what came after its begin: a tenth of a second less for each step.

    Afterwards all objects are in the oldest generation, as after any collection. False: the reader froze some,
    and so it is left out.
    """
    if gc.get_freeze_count():
        yield False
        return
    gc.freeze()
    try:
        yield True
    finally:
        gc.unfreeze()


def _check(step: Any, n: Any) -> None:
    if not callable(step):
        raise TypeError(
            f"leaks takes a function that does one step, without arguments; got a {type(step).__name__}."
        )
    if not isinstance(n, int) or isinstance(n, bool) or n < LEAST:
        raise ValueError(f"n is the number of steps, {LEAST} or more: less shows no growth; got {n!r}.")


class _Graphs(NamedTuple):
    """What autograd keeps alive after a step: how many nodes, and the number of the youngest."""

    nodes: int
    youngest: int


def _alive(births: Births, rewritten: _Rewritten) -> _Graphs:
    """Of the tensors that the steps made, and of older ones that a step wrote into."""
    met: set[Any] = set()
    tensors = births.census() + rewritten.tensors()
    nodes = sum(len(_graphs.nodes_of(tensor, met)) for tensor in tensors)
    return _Graphs(nodes, max(map(_age, tensors), default=-1))


class _Rewritten:
    """Tensors from before the first step that got another history: `total += loss` writes into `total`."""

    def __init__(self) -> None:
        self._before = [(weakref.ref(one), _age(one)) for one in live_tensors()]

    def tensors(self) -> list[Tensor]:
        alive = [(ref(), age) for ref, age in self._before]
        return [one for one, age in alive if one is not None and _age(one) > age]


class _Held(NamedTuple):
    """A survivor with who holds it; graph: it is, or hangs on, a tensor with a history."""

    born: Born
    holder: Holder
    graph: bool


def _findings(births: Births, graphs: list[_Graphs], steps: range) -> Findings[Leak]:
    survivors = {key: born for key, born in births.alive.items() if born.step in steps}
    growing, raised = _grows(graphs, steps), any(getattr(sys, name, None) is not None for name in EXCEPTIONS)
    tensors = live_tensors() if survivors or growing or raised else []
    with Search([tensors]) as search:
        held = _by_tensors(survivors, tensors, search) if survivors else {}
        held |= _by_graphs({k: b for k, b in survivors.items() if k not in held}, tensors, search)
        found = _grouped(held, survivors, steps, growing)
        if growing and not any(leak.nodes_per_step for leak in found):
            found += _only_nodes(tensors, search, growing, graphs[steps.stop - 1].youngest)
        if raised and not found:
            found = _by_last_exception(births, steps.stop, tensors, search)
    return Findings(tuple(sorted(found, key=lambda leak: -leak.nbytes_per_step)), NONE)


def _grows(graphs: list[_Graphs], steps: range) -> float:
    """Autograd nodes that each step adds to what is alive, 0 where one step adds none."""
    added = [graphs[k + 1].nodes - graphs[k].nodes for k in range(steps.start - 1, steps.stop)]
    return sum(added) / len(added) if min(added) > 0 else 0.0


def _by_tensors(survivors: dict[int, Born], tensors: list[Tensor], search: Search) -> dict[int, _Held]:
    """The largest are asked for; of many alike, the others are held as those."""
    named = {key: tensor for tensor in tensors if (key := _key(tensor)) in survivors}
    order = sorted(named, key=lambda key: -survivors[key].nbytes)
    # (a comprehension would close over `named`, and be found as a holder)
    asked = search.holders([*map(named.__getitem__, order[:_AT_MOST])])
    held: dict[int, _Held] = {}
    alike: dict[tuple[Any, ...], Holder] = {}
    for at, key in enumerate(order):
        born = survivors[key]
        kind = (born.shape, born.operator)
        holder = asked[at] if at < len(asked) else alike.get(kind)
        if holder is not None:
            alike[kind] = holder
            held[key] = _Held(born, holder, _graphs.root_of(named[key]) is not None)
    return held


def _key(tensor: Tensor) -> int:
    storage = storage_of(tensor)
    return -1 if storage is None else storage._cdata


def _by_graphs(survivors: dict[int, Born], tensors: list[Tensor], search: Search) -> dict[int, _Held]:
    """What has no Python object, or is held by nodes: by the tensor at the end of the graph."""
    held: dict[int, _Held] = {}
    met: set[Any] = set()
    roots = sorted((t for t in tensors if _graphs.root_of(t) is not None), key=_age, reverse=True)
    for tensor in roots[: _AT_MOST if survivors else 0]:
        if survivors.keys() <= held.keys():
            break
        # Tensors inside of the graph have a Python object too, and no holder.
        holder = None if _graphs.root_of(tensor) in met else search.holder(tensor)
        if holder is not None:
            kept = {key for node in _graphs.nodes_of(tensor, met) for key in _graphs.kept_by(node)}
            held |= {key: _Held(survivors[key], holder, True) for key in kept & survivors.keys()}
    return held


def _age(tensor: Tensor) -> int:
    """The number of its node: the end of a graph has the largest."""
    ask = getattr(_graphs.root_of(tensor), "_sequence_nr", None)
    return -1 if ask is None else int(ask())


def _grouped(held: dict[int, _Held], survivors: dict[int, Born], steps: range, growing: float) -> list[Leak]:
    """One finding per holder; the keys of a dict that gets a new one each step count as one place."""
    groups: dict[tuple[str, str], list[_Held]] = defaultdict(list)
    unknown = Holder("memory whose holder Python can't tell (C++ code, another thread)", "tensors-held")
    for key, born in survivors.items():
        one = held.get(key, _Held(born, unknown, False))
        groups[_place(one.holder.by or one.holder.where), one.holder.kind].append(one)
    found = []
    for (place, _), members in groups.items():
        if {one.born.step for one in members} == set(steps) and not members[0].holder.bounded:
            holder = max(members, key=lambda one: one.born.nbytes).holder
            if len({one.holder for one in members}) > 1 and not holder.by:
                written = {_KEY.sub("[…]", one.holder.where) for one in members}
                holder = holder._replace(where=written.pop() if len(written) == 1 else place)
            found.append(_leak(holder, members, len(steps), growing))
    return found


def _place(where: str) -> str:
    """The same words for what grows at one place: whatever the key, however far down a linked list."""
    return _AGAIN.sub(r"\1", _KEY.sub("[…]", where))


def _leak(holder: Holder, members: list[_Held], steps: int, growing: float) -> Leak:
    graph = growing > 0 and any(one.graph for one in members)
    plain = holder.kind in ("tensors-in-history", "tensors-held")
    kind = "graph-kept" if graph and plain else holder.kind
    nbytes, count = sum(one.born.nbytes for one in members) // steps, len(members) / steps
    largest = max(members, key=lambda one: one.born.nbytes).born
    evidence = f"each step leaves {nbytes:,} bytes in {count:.3g} storages; the largest {list(largest.shape)}"
    if graph:
        evidence += f", and {growing:.3g} nodes of a graph"
    return Leak(
        kind,
        holder.where,
        nbytes,
        HOOKS if "_hooks" in holder.where else MENDS[kind],
        count,
        growing if graph else 0.0,
        largest.shape,
        evidence + ".",
    )


def _only_nodes(tensors: list[Tensor], search: Search, growing: float, older: int) -> list[Leak]:
    """A running `total += loss`: one tensor at a time, and behind it a graph that grows.

    older: what ends with this node or an earlier one did not grow in the last step, however large it is.
    """
    sizes = [
        (len(_graphs.nodes_of(tensor, set())), k) for k, tensor in enumerate(tensors) if _age(tensor) > older
    ]
    if not sizes:
        return []
    holder = search.holder(tensors[max(sizes)[1]])
    where = "a graph" if holder is None else f"the graph behind {holder.where}"
    evidence = f"each step adds {growing:.3g} nodes to a graph that stays alive."
    return [Leak("graph-kept", where, 0, MENDS["graph-kept"], 0.0, growing, (), evidence)]


def _by_last_exception(births: Births, last: int, tensors: list[Tensor], search: Search) -> list[Leak]:
    """What an exception of the last step still holds: it does not grow, and is not free either."""
    left = {key: born for key, born in births.alive.items() if born.step == last}
    held = [
        one
        for one in _by_tensors(left, tensors, search).values()
        if one.holder.kind == "tensors-in-traceback"
    ]
    if not held:
        return []
    nbytes = sum(one.born.nbytes for one in held)
    evidence = f"it holds {nbytes:,} bytes of the last step; the next exception lets go of them."
    kind = "tensors-in-traceback"
    return [Leak(kind, held[0].holder.where, 0, MENDS[kind], 0.0, 0.0, held[0].born.shape, evidence)]
