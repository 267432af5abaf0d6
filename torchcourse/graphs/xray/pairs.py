"""Two xrays side by side: their sums, and their operators aligned so that what differs stands out."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from difflib import SequenceMatcher

from torchcourse.layers import Comparison

from .items import Chip, Item, Scene
from .scene import scene

MOST_ALIGNED = 400  # neighbours on one level that are aligned; beyond it they stand one after another
MOST_PAIRS = 1200  # rows of operators

Key = tuple[str, str, str]  # what twins have in common

# What a row says about the two sides.
MARKS = {"same": "=", "differs": "≠", "a": "only", "b": "only"}


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a pair: the operator with its marks, or a figure."""

    text: str
    times: int = 1
    chips: tuple[Chip, ...] = ()
    tensor: str = ""


@dataclass(frozen=True, slots=True)
class Pair:
    """One row. mark: a key of `MARKS`; a and b: what stands there, or None."""

    level: int
    mark: str
    a: Side | None = None
    b: Side | None = None
    what: str = ""
    inside: tuple["Pair", ...] = ()
    opened: bool = False

    @property
    def size(self) -> int:
        return 1 + sum(pair.size for pair in self.inside)


@dataclass(frozen=True, slots=True)
class Pairs:
    """What the comparison's view shows."""

    title: str
    sentence: str
    names: tuple[str, str]
    sources: tuple[str, str]
    rows: tuple[Pair, ...]
    notes: tuple[str, ...] = ()


def pairs(comparison: Comparison) -> Pairs:
    """The rows of a comparison: the sums, then the operators."""
    left, right = scene(comparison.a), scene(comparison.b)
    sums = tuple(
        Pair(2, "same" if t.a == t.b else "differs", Side(f"{t.a:,}"), Side(f"{t.b:,}"), t.what)
        for t in comparison.totals
        if t.a or t.b
    )
    operators, cut = _capped(tuple(_aligned(_operators(left), _operators(right), 2)), MOST_PAIRS)
    rows = [Pair(1, _mark(sums), what="sums", inside=sums, opened=True)] if sums else []
    if operators:
        rows.append(Pair(1, _mark(operators), what="operators", inside=operators, opened=True))
    notes = dict.fromkeys((*left.notes, *right.notes))
    if cut:
        notes[f"This view holds {MOST_PAIRS:,} rows of operators; {cut:,} more are left out."] = None
    one, other = comparison.names
    sources = (_source(left), _source(right))
    if sources[0] == sources[1]:  # both stand on one line: it tells nothing of either
        sources = ("", "")
    return Pairs(
        f"xray · {one} against {other}",
        told(comparison),
        comparison.names,
        sources,
        tuple(rows),
        tuple(notes),
    )


def told(comparison: Comparison) -> str:
    """The differences that matter most, in one or two sentences."""
    one, other = comparison.names
    if comparison.same:
        return f"No difference: `{one}` and `{other}` run the same operators and wait alike."
    said = []
    by_name = {total.what: total for total in comparison.totals}
    for what, words in (("waits", "waits"), ("new bytes", "new bytes"), ("operators", "operators"),
                        ("saved bytes", "bytes saved for backward"), ("nodes", "nodes")):  # fmt: skip
        total = by_name.get(what)
        if total is not None and total.a != total.b:
            said.append(f"`{total.a:,}` {words} against `{total.b:,}`")
    if not said:
        names = ", ".join(f"`{d.what}`" for d in (*comparison.operators, *comparison.differs)[:3])
        return f"The sums are alike; what differs is {names}."
    return f"`{one}` against `{other}`: {', '.join(said[:3])}."


def _source(side: Scene) -> str:
    lines = [item.name.strip() for item in side.lines if item.line is not None]
    return " ⏎ ".join(lines[:3]) + (" …" if len(lines) > 3 else "")


def _operators(side: Scene) -> tuple[Item, ...]:
    """All operators of a side; what ran again and again because its line did is one block."""
    found: list[Item] = []
    for line in side.lines:
        if line.times > 1:
            found.append(
                Item(2, "block", f"{line.operators or 0:,} operators", times=line.times, inside=line.inside)
            )
        else:
            found += line.inside or ([line] if line.kind == "rest" else [])
    return tuple(found)


def _key(item: Item) -> Key:
    return item.kind, item.name if item.kind != "rest" else "", item.tensor


def _aligned(left: tuple[Item, ...], right: tuple[Item, ...], level: int) -> Iterator[Pair]:
    for a, b, size in _runs([_key(item) for item in left], [_key(item) for item in right]):
        yield from _beside(left[a[0] : a[1]], right[b[0] : b[1]], level)
        twins = zip(left[a[1] : a[1] + size], right[b[1] : b[1] + size], strict=True)
        yield from (_pair(one, other, level) for one, other in twins)


def _runs(left: list[Key], right: list[Key]) -> Iterator[tuple[tuple[int, int], tuple[int, int], int]]:
    """For each run of twins: what stands before it on either side (start, end), and its length."""
    a = b = 0
    if max(len(left), len(right)) <= MOST_ALIGNED:
        for match in SequenceMatcher(None, left, right, autojunk=False).get_matching_blocks():
            yield (a, match.a), (b, match.b), match.size
            a, b = match.a + match.size, match.b + match.size
    yield (a, len(left)), (b, len(right)), 0


def _beside(left: tuple[Item, ...], right: tuple[Item, ...], level: int) -> Iterator[Pair]:
    """Neighbours without a twin: those of one name are still paired, so that one sees what changed."""
    rest = list(right)
    for item in left:
        twin = next((other for other in rest if (other.kind, other.name) == (item.kind, item.name)), None)
        if twin is None:
            yield _pair(item, None, level)
            continue
        while (other := rest.pop(0)) is not twin:
            yield _pair(None, other, level)
        yield _pair(item, twin, level)
    yield from (_pair(None, other, level) for other in rest)


def _pair(one: Item | None, other: Item | None, level: int) -> Pair:
    inside = tuple(_aligned(one.inside if one else (), other.inside if other else (), level + 1))
    left, right = _side(one), _side(other)
    if left is None or right is None:
        mark = "b" if left is None else "a"
    else:
        mark = "same" if left == right and _mark(inside) == "same" else "differs"
    return Pair(level, mark, left, right, inside=inside, opened=False)


def _side(item: Item | None) -> Side | None:
    if item is None:
        return None
    # The two sides name their storages by different lines; only the kind is compared.
    chips = tuple(Chip(chip.role, chip.words.split(" of ")[0].split(" on ")[0]) for chip in item.chips)
    return Side(item.name, item.times, chips, item.tensor)


def _mark(inside: tuple[Pair, ...]) -> str:
    return "same" if all(pair.mark == "same" for pair in inside) else "differs"


def _capped(rows: tuple[Pair, ...], most: int) -> tuple[tuple[Pair, ...], int]:
    """The same rows, at most so many of them, and how many were left out; pairs that hide one open."""
    kept, left, cut = [], most, 0
    for pair in rows:
        if left < 1:
            cut += pair.size
            continue
        inside, missing = _capped(pair.inside, left - 1)
        hides = pair.mark == "differs" and any(inner.mark != "same" for inner in inside)
        kept.append(replace(pair, inside=inside, opened=hides))
        left, cut = left - kept[-1].size, cut + missing
    return tuple(kept), cut
