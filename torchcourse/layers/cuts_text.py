"""The text twin of `cuts`: what gets no gradient, where its way ends, and in one line the harmless rest."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .cuts import Cut, Cuts, Leaf

NOTHING = "There is no output to follow: return the loss from the function, or call its backward inside."
NAMES = 6  # names in one sentence
SOURCE = 46  # characters of a source line


def text(found: "Cuts") -> str:
    heading = () if NOTHING in found.notes else _heading(found)
    return "\n".join([*heading, *_table(found), *_quiet(found), *found.notes])


def _heading(found: "Cuts") -> Iterator[str]:
    used = [leaf for leaf in found.leaves if leaf.why != "not used"]
    if not used:
        yield (
            "The output is computed from no tensor with a gradient." if not found.notes else "Nothing found."
        )
    else:
        reached = sum(leaf.reached for leaf in used)
        what = "leaf" if len(used) == 1 else "leaves"
        yield f"The output is computed from {len(used)} {what}; a gradient reaches {reached}."
    for why in ("cut off", "not used"):
        if names := _names(leaf for leaf in found.leaves if leaf.why == why):
            yield f"{why.capitalize()}: {names}."


def _names(leaves: Iterable["Leaf"]) -> str:
    return _listed(leaf.name for leaf in leaves)


def _listed(given: Iterable[str]) -> str:
    names = list(dict.fromkeys(given))
    more = f" and {len(names) - NAMES} more" if len(names) > NAMES else ""
    return ", ".join(names[:NAMES]) + more


def _table(found: "Cuts") -> Iterator[str]:
    """A row for each cut that a reader has to decide about."""
    shown = _by_line(cut for cut in found.cuts if _loud(cut))
    if shown:
        cells = [("line", "cut by", "operator", "effect", "source"), *map(_row, shown)]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        for row in cells:
            yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def _by_line(cuts: Iterable["Cut"]) -> list["Cut"]:
    """One row for all that one line cut in one way: a whole model under no_grad is one thing to decide."""
    groups: dict[tuple[object, ...], list[Cut]] = {}
    for cut in cuts:
        groups.setdefault((cut.line, cut.cause, cut.effect), []).append(cut)
    return [group[0] if len(group) == 1 else _together(group) for group in groups.values()]


def _together(group: list["Cut"]) -> "Cut":
    operators = {cut.operator for cut in group}
    return replace(
        group[0],
        operator=operators.pop() if len(operators) == 1 else "several",
        module=None,
        leaves=tuple(name for cut in group for name in cut.leaves),
        times=sum(cut.times for cut in group),
    )


def _loud(cut: "Cut") -> bool:
    return cut.effect == "cuts off" or (cut.effect == "one way of several" and not cut.selects)


def _row(cut: "Cut") -> tuple[str, ...]:
    times = f" × {cut.times}" if cut.times > 1 else ""
    effect = f"cuts off {_listed(cut.leaves)}" if cut.effect == "cuts off" else cut.effect
    module = f"  ({cut.module})" if cut.module else ""
    line = "-" if cut.line is None else str(cut.line)
    source = cut.source if len(cut.source) <= SOURCE else cut.source[: SOURCE - 1] + "…"
    return line, cut.cause + times, cut.operator or "-", effect, source + module


def _quiet(found: "Cuts") -> Iterator[str]:
    rest = [cut for cut in found.cuts if not _loud(cut)]
    for effect, what in (
        ("one way of several", "Masks and indices, which have no slope"),
        ("left to Python", "Left to Python, and not seen to come back"),
        ("not used", "Without effect on the output"),
    ):
        if here := [_brief(cut) for cut in rest if cut.effect == effect]:
            yield f"{what}: {', '.join(dict.fromkeys(here))}."


def _brief(cut: "Cut") -> str:
    name = cut.call.rpartition(".")[2].strip("_") if cut.selects else cut.cause
    return f"{name} (line {cut.line})" if cut.line else name
