"""Where slides begin, cell by cell."""

import base64
import struct

import pytest
from nbformat.v4 import new_output

from .examples import code, result, text
from .slides import ROOM, slide_types

# The head of a picture file, which says how high it is.
PNG = base64.b64encode(
    b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", 9, ROOM) + b"\0" * 40
).decode()


def types(*cells):
    return list(slide_types(list(cells)))


def shown(kind, value):
    return new_output("display_data", {kind: value})


def test_headings_begin_slides():
    assert types(text("# Title"), text("## Part"), text("### Piece"), text("more")) == [
        "slide",
        "slide",
        "subslide",
        None,
    ]
    assert types(text("# Title"), text("The end.\n\n## Next")) == ["slide", "slide"]
    assert types(text("# Title"), text("```python\n# a comment\n```")) == ["slide", None]


def test_bars_are_skipped_and_what_is_folded_is_the_speakers():
    nav, folded = (
        text("[← Back](a.ipynb)", tags=("nav",)),
        text("<details><summary>Hint</summary>…</details>"),
    )
    assert types(nav, text("# Title"), folded, nav) == ["skip", "slide", "notes", "skip"]


def test_what_answers_a_prediction_comes_when_called_for():
    predict = code("tc.predict()", tags=("predict",))
    cells = text("## Part"), predict, text("So:"), code("1", result("1")), code("2", result("2"))
    assert types(*cells) == ["slide", None, "fragment", "fragment", None]


@pytest.mark.parametrize(
    "tall",
    [
        code("x\n" * 40),
        code("x", result("1\n" * 40)),
        code("x", shown("image/svg+xml", f'<svg width="9" height="{ROOM}">')),
        code("x", shown("image/svg+xml", f'<svg width="9pt" height="{ROOM * 3 // 4}pt">')),
        code("x", shown("text/html", "<tr><td>1</td></tr>" * 40)),
        code("x", shown("image/png", PNG)),
    ],
    ids=["source", "text", "svg", "points", "table", "png"],
)  # fmt: skip
def test_what_does_not_fit_takes_its_text_to_the_next_slide(tall):
    assert types(text("## Part"), code("1"), text("Look:"), tall)[:3] == ["slide", None, "subslide"]
    assert types(text("## Part"), code("1"), tall) == ["slide", None, "subslide"]


def test_what_fits_stays():
    assert types(text("## Part"), code("1", result("1")), text("Look:"), code("2")) == [
        "slide",
        None,
        None,
        None,
    ]
