"""The xray as a view: a folding table by source line, and two spellings side by side.

`pack` and `pack_pairs` turn the rows into what the browser takes: lists of numbers, with every text
once in a table, so that a trace of 100,000 operators stays below 300 kB.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from torchcourse.graphs.look import PAINTS
from torchcourse.graphs.xray import Chip, Item, Scene, pairs, scene, svg
from torchcourse.graphs.xray.pairs import Pair, Pairs, Side
from torchcourse.graphs.xray.picture import LEGEND, figures, mark_words
from torchcourse.layers import Comparison, Trace
from torchcourse.layers.text import tree_text

from ._card import Card, script, style

MOST_IN_TWIN = 20_000  # operators of a trace whose tree stands in the text twin, too
ROLES = tuple(PAINTS)


class XrayView(Card):
    """What an xray shows itself as. `.scene` holds the rows; `str()` is the table as text."""

    _esm = script("treegrid", "xray")
    _css = style("xray")

    def __init__(self, seen: Any) -> None:
        super().__init__()
        trace: Trace = getattr(seen, "trace", seen)
        self.scene = scene(seen)
        self._text = str(seen)
        tree = f"\n\n{tree_text(trace)}" if 0 < len(trace.operators) <= MOST_IN_TWIN else ""
        self.picture = pack(self.scene, self._text + tree)

    def twin(self) -> str:
        return self._text

    def static_svg(self) -> str:
        return svg(self.scene)


class ComparisonView(Card):
    """What a comparison of two xrays shows itself as."""

    _esm = script("treegrid", "xray")
    _css = XrayView._css

    def __init__(self, comparison: Comparison) -> None:
        super().__init__()
        self.pairs = pairs(comparison)
        self._text = str(comparison)
        self.picture = pack_pairs(self.pairs, self._text)

    def twin(self) -> str:
        return self._text

    def static_svg(self) -> str:
        return svg(self.pairs)


def view(result: Any) -> Card:
    """The view of a `Seen`, a `Trace` or a `Comparison`."""
    return ComparisonView(result) if isinstance(result, Comparison) else XrayView(result)


class _Texts:
    """Every text once; rows hold its number."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {"": 0}

    def __call__(self, text: str) -> int:
        return self.numbers.setdefault(text, len(self.numbers))

    def chips(self, chips: Iterable[Chip]) -> list[int]:
        """role, words, role, words, …"""
        return [number for chip in chips for number in (ROLES.index(chip.role), self(chip.words))]


def pack(shown: Scene, twin: str) -> dict[str, Any]:
    """The scene as plain lists, rows in the order of the open tree."""
    text = _Texts()
    lines = [_packed(item, text) for item in _all(shown.lines)]
    return {
        **_head(shown.title, shown.sentence, shown.notes, twin),
        "mode": "trace",
        "columns": ["line", "operators", "new bytes", "nodes", "waits"],
        "rows": lines,
        "texts": list(text.numbers),
        "names": dict(map(_named, shown.storages)),
    }


def _named(storage: tuple[int, str]) -> tuple[str, str]:
    return str(storage[0]), storage[1]


def _head(title: str, sentence: str, notes: Iterable[str], twin: str) -> dict[str, Any]:
    return {
        "title": title,
        "sentence": sentence,
        "notes": list(notes),
        "twin": twin,
        "roles": list(ROLES),
        "legend": [list(item) for item in LEGEND],
    }


def _all(items: Iterable[Item]) -> Iterator[Item]:
    for item in items:
        yield item
        yield from _all(item.inside)


_ITEM_KINDS = ("line", "operator", "block", "rest")


def _packed(item: Item, text: _Texts) -> list[Any]:
    """[level, kind, opened, name, times, line, chips, tensor, figures, nodes, saved, causes, own, touched, calls,
    call, module, why]

    `xray.js` takes them apart in this order; what stands at the end and is empty is left off.
    """
    row: list[Any] = [
        item.level, _ITEM_KINDS.index(item.kind), int(item.opened), text(item.name), item.times, item.line or 0,
        text.chips(item.chips), text(item.tensor), [text(figure) for figure in figures(item)],
        [text(node) for node in item.nodes], item.saved_bytes, text(_causes(item.waits)),
        list(item.own), list(item.touched), item.calls, text(item.call), text(item.module), text(item.why_no_node),
    ]  # fmt: skip
    while row and row[-1] in ([], 0):
        row.pop()
    return row


def _causes(waits: tuple[str, ...]) -> str:
    counted = [(cause, waits.count(cause)) for cause in dict.fromkeys(waits)]
    return ", ".join(f"{n:,} × `{cause}`" if n > 1 else f"`{cause}`" for cause, n in counted)


def pack_pairs(shown: Pairs, twin: str) -> dict[str, Any]:
    """The comparison as plain lists: [level, mark, opened, what, a, b]; a side is [text, times, chips, tensor]."""
    text = _Texts()

    def side(of: Side | None) -> list[Any] | int:
        return 0 if of is None else [text(of.text), of.times, text.chips(of.chips), text(of.tensor)]

    def rows(level: Iterable[Pair]) -> Iterator[list[Any]]:
        for pair in level:
            what = pair.what or mark_words(pair.mark, shown.names)
            mark = ("same", "differs", "a", "b").index(pair.mark)
            yield [pair.level, mark, int(pair.opened), text(what), side(pair.a), side(pair.b)]
            yield from rows(pair.inside)

    return {
        **_head(shown.title, shown.sentence, shown.notes, twin),
        "mode": "pairs",
        "columns": ["what", *shown.names],
        "sources": list(shown.sources),
        "rows": list(rows(shown.rows)),
        "texts": list(text.numbers),
    }
