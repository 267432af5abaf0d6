"""The export view: a model's source on the left, the graph that an exporter made of it on the right.

What belongs together lights up together; `[` and `]` go from one way of exporting to the next.
"""

from collections.abc import Sequence
from typing import Any

from torch import nn

from torchcourse.export._coverage import Coverage
from torchcourse.export._source import coverage
from torchcourse.graphs import ways_picture as pictures
from torchcourse.graphs.ways import Row, Side, side

from ._card import Card, script, style

NETRON = 'For Netron, `torch.onnx.export(model, example, "model.onnx")` writes a file; open it there.'


def ways(
    model: nn.Module, example: Any, ways: Sequence[str] = ("trace", "export"), dynamic_shapes: Any = None
) -> "ExportView":
    """Show what each way of exporting took from the model's source, for this example.

    example: the tuple of arguments, or one tensor. ways: of "trace", "torchscript_onnx", "export", "dynamo_onnx",
    in the order of the keys `[` and `]`; the view opens with the first that made a graph. dynamic_shapes: as in
    `torch.export.export`. The model is copied; its prints are muted. A way that refuses shows the source, the
    line where it stopped and the reason, and no graph. TypeError: model is no module, example no tuple.
    ValueError: an unknown way, or none.
    """
    if isinstance(ways, str):
        ways = (ways,)
    if not ways:
        raise ValueError(
            "ways has no way in it; give at least one of trace, torchscript_onnx, export, dynamo_onnx."
        )
    return ExportView([coverage(model, example, way, dynamic_shapes) for way in dict.fromkeys(ways)])


def view(found: Coverage) -> "ExportView":
    """Show a coverage that was made already."""
    return ExportView([found])


class ExportView(Card):
    """What `ways` gives. `.found` holds the coverages; `str()` is the text twin."""

    _esm = script("player", "ways")
    _css = style("ways")

    def __init__(self, found: Sequence[Coverage]) -> None:
        super().__init__()
        self.found = tuple(found)
        self.sides = tuple(map(side, self.found))
        self._opens = next((k for k, one in enumerate(self.sides) if not one.refused), 0)
        self.picture = {
            "title": f"{self.found[0].model}, exported",
            "sentence": self.sides[self._opens].sentence,
            "opens": self._opens,
            "ways": [_packed(one) for one in self.sides],
            "legend": [list(entry) for entry in pictures.LEGEND],
            "note": NETRON,
            "text": self.twin(),
        }

    def twin(self) -> str:
        return "\n\n".join(map(str, self.found))

    def static_svg(self) -> str:
        shown = self.sides[self._opens]
        others = [f"{one.name}: {one.sentence}" for one in self.sides if one is not shown]
        return pictures.svg(f"{self.found[0].model}, exported with {shown.name}", shown, others)


def _packed(one: Side) -> dict[str, Any]:
    """One way as the browser takes it: a finished drawing, and rows that know their boxes."""
    return {
        "name": one.name,
        "sentence": one.sentence,
        "folded": one.folded,
        "refused": one.refused,
        "svg": "" if one.refused else pictures.drawing(one).element(),
        "says": [box.say for box in one.boxes],
        "wires": [list(wire) for wire in one.wires],
        "rows": [_row(row) for row in one.rows],
    }


def _row(row: Row) -> list[Any]:
    """[number, text, kind, [[role, glyph, words], …], boxes, say]."""
    chips = [[chip.role, chip.glyph, chip.words] for chip in row.chips]
    return [row.number, row.text, row.kind, chips, list(row.boxes), row.say]
