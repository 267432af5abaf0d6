"""Where Python needed a value: told from the calls first, from the operators where there is none."""

from collections.abc import Iterable, Iterator
from typing import Any

from torch import Tensor

from .events import Copy, Wait
from .profile import FlatOperator
from .record import RawCall, RawOperator, Record

# A call of these waits once, however many operators it takes.
CALLS: dict[Any, str] = {
    Tensor.item: ".item()",
    Tensor.tolist: ".tolist()",
    Tensor.__bool__: "bool(tensor)",
    Tensor.is_nonzero: "bool(tensor)",
    Tensor.__int__: "int(tensor)",
    Tensor.__index__: "int(tensor)",
    Tensor.__float__: "float(tensor)",
    Tensor.__repr__: "print",
    Tensor.__format__: "print",
}
# An operator of these, met outside of such a call, waits by itself.
OPERATORS = {
    "aten::_local_scalar_dense": ".item()",
    "aten::nonzero": "nonzero",
    "aten::masked_select": "masked_select",
    "aten::equal": ".item()",  # both ask their kernel for one value
    "aten::allclose": ".item()",
}
# An index that is a mask is first turned into positions: `nonzero`, inside the kernel.
INDEXED = frozenset({"aten::index", "aten::index_put", "aten::index_put_", "aten::_index_put_impl_"})
TO_CPU = "copy to the CPU from another device"

Placed = tuple[int, Wait]  # position in the record, to put them in order


def waits_of(record: Record, flat: Iterable[FlatOperator], masks: Iterable[int]) -> tuple[Wait, ...]:
    """All waits in order. masks: positions in `record.operators` that were indexed by a mask."""
    found = dict(_from_operators(record, _names_above(flat)))
    found.update((i, _wait("boolean index", record.operators[i])) for i in masks if not _covered(record, i))
    placed = sorted([*((i, 1, w) for i, w in found.items()), *_from_calls(record)], key=lambda p: p[:2])
    return tuple(wait for _, _, wait in placed)


def _from_calls(record: Record) -> Iterator[tuple[float, int, Wait]]:
    first = _first_operator(record)
    following = len(record.operators)
    for i in reversed(range(len(record.calls))):
        call = record.calls[i]
        following = first.get(i, following)
        if call.finished and (cause := CALLS.get(call.func)):
            # Without an operator of its own it stands just before the next call's.
            place = following if i in first else following - 0.5
            yield place, 0, _wait(cause, call)


def _first_operator(record: Record) -> dict[int, int]:
    first: dict[int, int] = {}
    for i, operator in enumerate(record.operators):
        if operator.call is not None:
            first.setdefault(operator.call, i)
    return first


def _from_operators(record: Record, above: dict[int, set[str]]) -> Iterator[Placed]:
    for i, operator in enumerate(record.operators):
        if not operator.finished or _covered(record, i):
            continue
        if operator.copied and operator.blocking and operator.outputs[0].device.type == "cpu":
            yield i, _wait(TO_CPU, operator)
        elif cause := OPERATORS.get(operator.name):
            if "aten::is_nonzero" in above.get(i, ()):
                cause = "bool(tensor)"
            yield i, _wait(cause, operator)


def _names_above(flat: Iterable[FlatOperator]) -> dict[int, set[str]]:
    """For each noted `_local_scalar_dense`: the names of the operators that enclose it."""
    operators = list(flat)
    above: dict[int, set[str]] = {}
    for operator in operators:
        if operator.record is None or operator.name not in OPERATORS:
            continue
        names, parent = above.setdefault(operator.record, set()), operator.parent
        while parent is not None:
            names.add(operators[parent].name)
            parent = operators[parent].parent
    return above


def masks_of(flat: list[FlatOperator]) -> list[int]:
    """Positions in the record of the index operators whose kernel asked for `nonzero`."""
    found = []
    for operator in flat:
        parent = operator.parent
        if operator.name != "aten::nonzero" or not operator.inner or parent is None:
            continue
        record = _noted(flat, parent)
        if record is not None and flat[parent].name in INDEXED:
            found.append(record)
    return sorted(set(found))


def _noted(flat: list[FlatOperator], at: int | None) -> int | None:
    while at is not None and flat[at].record is None:
        at = flat[at].parent
    return None if at is None else flat[at].record


def _covered(record: Record, i: int) -> bool:
    """Inside a call that is itself the wait."""
    call = record.operators[i].call
    return call is not None and record.calls[call].func in CALLS


def _wait(cause: str, at: RawCall | RawOperator) -> Wait:
    return Wait(cause, at.line, at.module)


def copies_of(record: Record) -> tuple[Copy, ...]:
    return tuple(
        Copy(raw.copied[0], raw.outputs[0].device, raw.copied[1], raw.line)
        for raw in record.operators
        if raw.copied is not None
    )
