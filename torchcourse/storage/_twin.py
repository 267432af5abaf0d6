"""The facts of a tensor as a few aligned lines. No addresses: the same text in every process."""

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .facts import Facts

RUNS = 8  # stretches of touched elements that are written out
NAME = 16  # characters of the first column


def twin(facts: "Facts") -> str:
    """A headline and one line per fact."""
    lines = [f"  {name:<{NAME}}{value}" for name, value in _lines(facts)]
    return "\n".join([_headline(facts), *lines])


def _headline(facts: "Facts") -> str:
    """As PyTorch closes a tensor's repr: the device only where it isn't the CPU."""
    device = "" if facts.device == "cpu" else f", device='{facts.device}'"
    grad = ", requires_grad=True" if facts.requires_grad else ""
    name = "tensor" if facts.class_name == "Tensor" else facts.class_name
    return f"{name}(dtype={facts.dtype}{device}{grad})"


def _lines(facts: "Facts") -> Iterator[tuple[str, str]]:
    yield "size", str(facts.size)
    yield "stride", str(facts.stride)
    yield "storage_offset", f"{facts.storage_offset:,}"
    yield "storage", _storage(facts)
    yield "touches", _touches(facts)
    yield "contiguous", _contiguous(facts)
    if facts.is_view:
        yield "view", f"of a tensor of size {facts.base_size}"
    if facts.version:
        yield "version", f"{facts.version:,}"
    if facts.version is None:
        yield "version", "not counted: made in inference mode"
    if facts.is_conj or facts.is_neg:
        yield "pending", " and ".join(["conjugation"] * facts.is_conj + ["negation"] * facts.is_neg)


def _storage(facts: "Facts") -> str:
    held = f"{_count(facts.storage_elements, 'element')}, {_count(facts.storage_nbytes, 'byte')}"
    no_data = "" if facts.data == "present" else f"; {facts.data}: it has a size, but no data"
    return held + no_data


def _touches(facts: "Facts") -> str:
    if facts.numel == 0:
        return "nothing"
    if not facts.in_bounds:
        return f"element {facts.last_touched:,} and more that the storage does not hold"
    if facts.touched_elements is None:
        return f"up to element {facts.last_touched:,}, some more than once"
    whole = facts.touched_elements == facts.storage_elements > 1
    how_many = f"{'all ' if whole else ''}{_count(facts.touched_elements, 'element')}"
    which = "" if whole or facts.touched is None else f": {_stretches(facts.touched)}"
    return f"{how_many}, {_often(facts)}{which}"


def _often(facts: "Facts") -> str:
    if facts.times == 1:
        return "once each"
    assert facts.times is not None and facts.touched_elements is not None
    even = facts.numel == facts.touched_elements * facts.times
    return f"{facts.times:,} times each" if even else f"up to {facts.times:,} times each"


def _contiguous(facts: "Facts") -> str:
    others = " and ".join(f for f in facts.memory_formats if f != "contiguous_format")
    if not others:
        return "yes" if facts.contiguous else "no"
    return f"yes, and in {others} too" if facts.contiguous else f"no, but in {others}"


def _stretches(touched: tuple[int, ...]) -> str:
    """0 to 3, 8 to 11; or 0, 4, 8 where they lie apart."""
    cuts = [k for k, (a, b) in enumerate(pairwise(touched), start=1) if b - a != 1]
    starts, ends = [0, *cuts], [*cuts, len(touched)]
    runs = [_run(touched[s], touched[e - 1]) for s, e in zip(starts, ends, strict=True)]
    if len(runs) > RUNS:
        runs = [*runs[: RUNS - 1], "…", runs[-1]]
    return ", ".join(runs)


def _run(first: int, last: int) -> str:
    return f"{first:,}" if first == last else f"{first:,} to {last:,}"


def _count(n: int, noun: str) -> str:
    return f"{n:,} {noun}{'' if n == 1 else 's'}"
