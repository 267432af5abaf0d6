"""Source and graph side by side as data and as pictures."""

import re
import xml.etree.ElementTree as ET
from functools import cache

import pytest
import torch

from torchcourse.export import coverage
from torchcourse.graphs.ways import MOST, MOST_ROWS, Side, side
from torchcourse.graphs.ways_picture import drawing, size, svg

from ..export import sourced
from .test_svg import drawn

EXAMPLE = torch.ones(3, 4)


@cache
def shown(name: str, way: str = "trace") -> Side:
    return side(coverage(getattr(sourced, name)(), (EXAMPLE,), way))


def row(seen: Side, text: str):
    return next(one for one in seen.rows if text in one.text)


def chips(seen: Side, text: str) -> list[tuple[str, str, str]]:
    return [(chip.role, chip.glyph, chip.words) for chip in row(seen, text).chips]


def test_marks_are_words_and_signs():
    seen = shown("Net")
    assert chips(seen, "else:") == [("rest", "✕", "not taken when exported")]
    assert chips(seen, "y = x * 2") == [], "once a block is enough"
    assert chips(seen, "for i in range") == [("view", "↻", "unrolled ×3")]
    assert chips(seen, "y = y + i") == [("now", "✎", "baked in 0, 1, 2")]
    assert chips(seen, "print(") == [("rest", "·", "printed once")]
    assert chips(seen, "y = self.head(x)") == []


def test_rows_and_boxes_belong_together():
    seen = shown("Net")
    titles = lambda text: [seen.boxes[b].title for b in row(seen, text).boxes]  # noqa: E731
    assert titles("y = self.head(x)") == ["linear", "relu"] and titles("self.lin(x)") == ["linear"]
    assert titles("for i in range") == titles("y = y + i") == ["add", "add", "add"]
    assert titles("y = x * 2") == titles("print(") == []
    assert [box.baked for box in seen.boxes if box.title == "add"] == ["0", "1", "2", "[0, 1, 2, 3]"]
    assert all(a < b for a, b in seen.wires)


def test_every_row_and_box_that_can_be_pointed_at_says_something():
    for name in ("Net", "Nested", "Cond"):
        seen = shown(name, "export")
        assert all(box.say for box in seen.boxes)
        assert all(one.say for one in seen.rows if one.boxes or one.kind in ("not taken", "no trace"))
    said = row(shown("Net"), "for i in range").say
    assert "no loop in the graph: its body ran `3` times" in said and "the example decides how often" in said
    assert "no other input will take it" in row(shown("Net"), "y = x * 2").say


def test_large_graphs_are_folded_by_line():
    seen = shown("Deep")
    assert seen.folded == f"Folded: {len(seen.boxes)} boxes stand for 142 nodes."
    assert [box.title for box in seen.boxes] == ["x", "add ×70, mul ×70", "output"]
    assert drawn(drawing(seen).element()) == len(seen.boxes)
    assert row(seen, "x = x * 2").boxes, "a folded operator lost its line"


def test_models_without_lines_are_folded_by_module():
    layers = [torch.nn.Sequential(*[torch.nn.ReLU() for _ in range(5)]) for _ in range(300)]
    seen = side(coverage(torch.nn.Sequential(*layers), EXAMPLE, "trace"))
    assert len(seen.boxes) == MOST and "stand for 1,502 nodes" in seen.folded
    assert seen.boxes[1].title == "relu ×5" and seen.boxes[-1].title == "output"


def test_long_sources_are_cut_and_say_so(tmp_path, monkeypatch):
    body = "".join(f"        x = x + {k}\n" for k in range(MOST_ROWS + 20))
    (tmp_path / "long_source.py").write_text(
        f"from torch import nn\nclass Long(nn.Module):\n    def forward(self, x):\n{body}        return x\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    from long_source import Long

    seen = side(coverage(Long(), EXAMPLE, "trace"))
    assert len(seen.rows) == MOST_ROWS + 1 and "more lines" in seen.rows[-1].text
    assert len(seen.boxes) <= MOST and len(svg("Long", seen)) < 100_000


def test_a_refusal_has_a_source_a_reason_and_no_boxes():
    seen = shown("ByValue", "export")
    assert seen.boxes == seen.wires == () and seen.refused and seen.refused in seen.sentence
    assert chips(seen, "if y.sum() > 0:") == [("now", "✕", "the export stopped here")]
    picture = svg("ByValue", seen)
    assert drawn(picture) == 0 and "stopped here" in picture and "Data-dependent branch" in picture


@pytest.mark.parametrize(("name", "way"), [("Net", "trace"), ("Cond", "export"), ("Deep", "trace")])
def test_pictures_are_whole_and_the_same_every_time(name, way):
    picture = svg(name, shown(name, way), ["a note"])
    assert picture == svg(name, shown(name, way), ["a note"]) and len(picture) < 100_000
    root = ET.fromstring(picture)
    assert root.get("role") == "img" and drawn(picture) == len(shown(name, way).boxes)
    assert "a note" in picture and not re.search(r"0x[0-9a-f]{6}", picture)


def test_texts_fit_into_their_boxes():
    for name in ("Net", "Deep", "Nested"):
        for box in shown(name).boxes:
            width, height = size(box)
            longest = max(map(len, (box.title, *box.details)))
            assert width >= 6.5 * longest and height >= 22 + 15 * len(box.details)


def test_no_text_is_markup(tmp_path, monkeypatch):
    (tmp_path / "odd_source.py").write_text(
        "from torch import nn\nclass Odd(nn.Module):\n    def forward(self, x):\n"
        "        print('<script>&\"')\n        return x + 1\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    from odd_source import Odd

    picture = svg("<i>", side(coverage(Odd(), EXAMPLE, "trace")))
    assert "<script>" not in picture and "&lt;script&gt;&amp;" in picture
    ET.fromstring(picture)
