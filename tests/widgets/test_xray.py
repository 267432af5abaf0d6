"""The xray's view as a widget: what it sends, what stands beside it, and how results come to show it.

What the browser does with it is tested in a browser.
"""

import json
import re
import subprocess
import sys

import pytest
import torch
from IPython.core.interactiveshell import InteractiveShell

from torchcourse._ipython import register
from torchcourse.layers import compare, xray
from torchcourse.widgets._card import script
from torchcourse.widgets.xray import ComparisonView, XrayView, view

from ..graphs.test_xray import long_trace, sketch

WIDGET = "application/vnd.jupyter.widget-view+json"


@pytest.fixture
def comparison():
    x = torch.arange(12.0).reshape(3, 4)
    return compare(lambda: x.t().reshape(12), lambda: x.reshape(12), names=("turned", "plain"))


def test_the_bundle_has_the_view_the_twin_and_a_picture(comparison):
    for result, kind in ((sketch(), XrayView), (comparison, ComparisonView)):
        shown = view(result)
        data, _ = shown._repr_mimebundle_()
        assert isinstance(shown, kind)
        assert data.keys() == {WIDGET, "text/plain", "image/svg+xml"}
        assert data["text/plain"] == str(result) == str(shown)
        assert data["image/svg+xml"].startswith("<svg")
        assert not re.search(r"0x[0-9a-f]{6}", repr(shown) + data["text/plain"] + data["image/svg+xml"])


def test_the_same_data_every_time():
    assert view(sketch()).picture == view(sketch()).picture


def test_the_picture_is_plain_data(comparison):
    for result in (sketch(), comparison):
        picture = view(result).picture
        assert json.loads(json.dumps(picture)) == picture


def test_the_rows_lead_back_to_their_texts():
    picture = view(sketch()).picture
    first = picture["rows"][0]
    assert first[0] == 1 and picture["texts"][first[3]] == "y = x.t()"
    role, words = first[6]
    assert (picture["roles"][role], picture["texts"][words]) == ("view", "view of x")
    assert [picture["texts"][n] for n in first[8]] == ["3", "0", "1", ""]
    assert set(picture["names"].values()) == {"x", "z"}


def test_the_text_below_the_card_has_the_tree_too():
    twin = view(sketch()).picture["twin"]
    assert twin.startswith(str(view(sketch()))) and "aten::_unsafe_view" in twin


@pytest.mark.parametrize(("lines", "operators"), [(40, 2500), (1, 100_000)])
def test_the_state_of_100_000_operators_is_small(lines, operators):
    shown = view(long_trace(lines, operators))
    assert len(json.dumps(shown.get_state()).encode()) < 300_000
    assert len(shown.static_svg()) < 100_000


def test_two_huge_spellings_stay_small():
    shown = view(compare(long_trace(1, 20_000), long_trace(1, 30_000)))
    assert len(json.dumps(shown.get_state()).encode()) < 300_000


def test_an_xray_that_raised_shows_what_had_happened():
    x = torch.ones(3)
    with pytest.raises(ZeroDivisionError) as caught:
        xray(lambda: x.add_(1) / (1 // 0))
    assert "aten::add_" in view(caught.value.seen).picture["texts"]


def test_an_empty_block_has_a_view():
    with xray() as seen:
        pass
    picture = view(seen).picture
    assert picture["rows"] == [] and picture["sentence"].startswith("Nothing ran")


def test_the_front_end_imports_and_fetches_nothing():
    text = script("treegrid", "xray") + XrayView._css
    code = re.sub(r"(?<!:)//[^\n]*|/\*.*?\*/", "", text, flags=re.S).replace("http://www.w3.org", "")
    assert not re.search(r"\bimport\b|\bfetch\b|XMLHttpRequest|https?:|\beval\b|url\(|innerHTML", code)
    assert text.count("export default") == 1


def test_the_style_sheet_has_no_colour_of_its_own():
    source = re.sub(r"--tc-[a-z-]+: #[0-9A-F]{6};", "", XrayView._css)
    assert not re.search(r"#[0-9a-fA-F]{3,6}\b", source)


# --- how a result shows itself -------------------------------------------------------------------------


@pytest.fixture
def shell():
    yield InteractiveShell.instance()
    InteractiveShell.clear_instance()


def test_a_result_shows_itself_as_its_view(shell, comparison):
    assert all(register(shell) for _ in range(3))
    seen = sketch()
    for result in (seen, seen.trace, comparison):
        data, _ = shell.display_formatter.format(result)
        assert {WIDGET, "image/svg+xml"} < data.keys()
        assert data["text/plain"] == str(result)


def test_other_results_show_as_before(shell):
    register(shell)
    data, _ = shell.display_formatter.format(sketch().operators[0])
    assert data.keys() == {"text/plain"}


def test_registering_is_silent_and_knows_the_magic(shell, capsys):
    register(shell)
    assert "xray" in shell.magics_manager.magics["cell"]
    assert capsys.readouterr() == ("", "")


def test_without_ipython_it_does_nothing():
    code = "from torchcourse._ipython import register; import sys; sys.exit(register() or 'torch' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_registering_imports_no_torch():
    code = (
        "import sys; from IPython.core.interactiveshell import InteractiveShell as S; "
        "from torchcourse._ipython import register; register(S.instance()); sys.exit('torch' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
