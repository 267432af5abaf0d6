"""The export view as a widget: what it takes, what it sends. What the browser does is tested in a browser."""

import json
import re

import pytest
import torch
from IPython.core.interactiveshell import InteractiveShell
from torch import nn

import torchcourse as tc
from torchcourse._ipython import register
from torchcourse.export import coverage
from torchcourse.widgets._card import script
from torchcourse.widgets.ways import ExportView, view, ways

from ..export import sourced

WIDGET = "application/vnd.jupyter.widget-view+json"
EXAMPLE = torch.ones(3, 4)


@pytest.fixture(scope="module")
def both() -> ExportView:
    return tc.ways(sourced.Net(), EXAMPLE)


def test_the_bundle_has_the_view_the_twin_and_a_picture(both):
    data, _ = both._repr_mimebundle_()
    assert isinstance(both, ExportView) and data.keys() == {WIDGET, "text/plain", "image/svg+xml"}
    assert data["text/plain"] == str(both) and "not taken when exported" in str(both)
    assert "torch.jit.trace" in str(both) and "torch.export.export" in str(both)
    assert data["image/svg+xml"].startswith("<svg")
    assert not re.search(r"0x[0-9a-f]{6}", repr(both) + str(both) + data["image/svg+xml"])


def test_the_picture_is_plain_data(both):
    picture = both.picture
    assert json.loads(json.dumps(picture)) == picture
    assert [way["name"] for way in picture["ways"]] == ["torch.jit.trace", "torch.export"]
    trace = picture["ways"][0]
    assert len(trace["says"]) == trace["svg"].count('class="node') and not trace["refused"]
    _, _, kind, chips, boxes, say = next(r for r in trace["rows"] if "for i in" in r[1])
    assert kind == "traced" and chips == [["view", "↻", "unrolled ×3"]] and len(boxes) == 3 and say
    assert max(b for r in trace["rows"] for b in r[4]) < len(trace["says"])
    assert "Netron" in picture["note"] and "http" not in picture["note"]


def test_the_same_data_every_time():
    assert ways(sourced.Net(), EXAMPLE, "trace").picture == ways(sourced.Net(), EXAMPLE, "trace").picture


def test_it_opens_with_the_first_way_that_made_a_graph():
    shown = ways(sourced.ByValue(), EXAMPLE, ("export", "trace"))
    assert shown.picture["opens"] == 1 and shown.picture["ways"][0]["svg"] == ""
    assert "Data-dependent branch" in shown.static_svg(), "the refusal is not told"


def test_a_model_that_no_way_takes_shows_its_source_and_the_reasons():
    shown = ways(sourced.Late(), EXAMPLE)
    assert all(way["refused"] and not way["svg"] and way["rows"] for way in shown.picture["ways"])
    assert 'class="node' not in shown.static_svg() and "stopped here" in str(shown)


def test_the_state_of_a_large_model_is_small():
    shown = ways(nn.Sequential(*[sourced.Deep() for _ in range(6)]), EXAMPLE, "trace")
    assert len(json.dumps(shown.get_state()).encode()) < 300_000 and len(shown.static_svg()) < 100_000


def test_a_coverage_shows_itself_as_its_view():
    shell = InteractiveShell.instance()
    try:
        assert register(shell)
        found = coverage(sourced.Head(), EXAMPLE, "trace")
        data, _ = shell.display_formatter.format(found)
        assert {WIDGET, "image/svg+xml"} < data.keys() and data["text/plain"] == str(found) == str(
            view(found)
        )
    finally:
        InteractiveShell.clear_instance()


def test_the_front_end_imports_and_fetches_nothing():
    text = script("player", "ways") + ExportView._css
    code = re.sub(r"(?<!:)//[^\n]*|/\*.*?\*/", "", text, flags=re.S).replace("http://www.w3.org", "")
    assert not re.search(r"\bimport\b|\bfetch\b|XMLHttpRequest|https?:|\beval\b(?!\()|url\(|innerHTML", code)
    assert text.count("export default") == 1


def test_the_style_sheet_has_no_colour_of_its_own():
    source = re.sub(r"--tc-[a-z-]+: #[0-9A-F]{6};", "", ExportView._css)
    assert not re.search(r"#[0-9a-fA-F]{3,6}\b", source)


def test_bad_calls_get_a_sentence():
    with pytest.raises(TypeError, match=r"takes a model, an nn\.Module, not a dict"):
        ways({}, EXAMPLE)
    with pytest.raises(ValueError, match="no way 'magic'"):
        ways(nn.ReLU(), EXAMPLE, ("trace", "magic"))
    with pytest.raises(ValueError, match="has no way in it"):
        ways(nn.ReLU(), EXAMPLE, ())
