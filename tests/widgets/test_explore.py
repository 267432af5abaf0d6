"""The widget: names, bundle, the text box's answers. What the browser does is tested in a browser."""

import json
import re

import pytest
import torch

import torchcourse as tc
from torchcourse.storage.chain import ChainError
from torchcourse.widgets import StorageExplorer, explore
from torchcourse.widgets._card import script, style


@pytest.fixture
def x():
    return torch.arange(12.0).reshape(3, 4)


def test_names_are_read_where_the_call_stands(x):
    y = x.t()
    assert [g.name for g in tc.explore(x, y).scene.grids] == ["x", "y"]
    assert [g.name for g in explore(x, x[:, ::2]).scene.grids] == ["x", "x[:, ::2]"]
    assert [g.name for g in explore(x + 1).scene.grids] == ["(x + 1)"]


def test_names_fall_back_to_variables_and_letters(x):
    y = x.t()
    given = (x, y)
    assert [g.name for g in explore(*given).scene.grids] == ["x", "y"]
    assert [g.name for g in explore(*(t.clone() for t in given)).scene.grids] == ["a", "b"]
    assert [g.name for g in explore(x, x).scene.grids] == ["x", "b"]
    source = "shown = explore(torch.zeros(2).add(1).mul(2).sub(3))"
    scope: dict = {"explore": explore, "torch": torch}
    exec(source, scope)  # allowed: code without a source file, as some front ends run it
    assert [g.name for g in scope["shown"].scene.grids] == ["a"]


def test_names_can_be_given(x):
    assert [g.name for g in explore(x, x, names=["p", "q"]).scene.grids] == ["p", "q"]
    with pytest.raises(ValueError, match="2 tensors and 1 names"):
        explore(x, x, names=["p"])


@pytest.mark.parametrize("bad", [(), ([1],), (3,), tuple(torch.zeros(9))])
def test_bad_calls_raise_a_sentence(bad):
    with pytest.raises((TypeError, ValueError), match="explore"):
        explore(*bad)


def test_five_dimensions_break_no_notebook():
    shown = explore(torch.zeros(1, 1, 1, 1, 1))
    assert shown.scene.title == "No picture" and "5 dimensions" in str(shown)
    assert shown.picture["first"] == ""
    assert "5 dimensions" in shown._repr_mimebundle_()[0]["image/svg+xml"]


def test_the_bundle_has_the_view_the_twin_and_a_picture(x):
    shown = explore(x, x.t())
    data, _ = shown._repr_mimebundle_()
    assert data.keys() == {"application/vnd.jupyter.widget-view+json", "text/plain", "image/svg+xml"}
    assert data["text/plain"] == str(shown) == str(explore(x, x.t()))
    assert data["image/svg+xml"] == explore(x, x.t())._repr_mimebundle_()[0]["image/svg+xml"]
    for text in (repr(shown), data["text/plain"], data["image/svg+xml"]):
        assert not re.search(r"0x[0-9a-f]{6}", text)
    assert repr(shown) == "<StorageExplorer: One storage, two tensors>"


def test_the_picture_is_plain_data_and_small(x):
    text = json.dumps(explore(x, x.t()).picture)
    assert json.loads(text)["grids"][1]["stride"] == [1, 4] and len(text) < 20_000


def test_the_picture_of_a_huge_tensor_is_small():
    big = torch.empty(100_000_000, dtype=torch.uint8)
    assert len(json.dumps(explore(big, big.view(100, 100, 100, 100)).picture)) < 150_000


def test_a_chain_shows_the_view_or_the_copy(x):
    shown = explore(x)
    assert shown.chain(".t()").startswith("A view")
    assert [g.name for g in shown.scene.grids] == ["x", "x.t()"] and len(shown.scene.strips) == 1
    assert shown.chain(".t().reshape(12)") == "A copy: a new storage of 48 bytes; a write to it stays there."
    assert len(shown.scene.strips) == 2 and shown.scene.grids[1].note == "a copy"
    assert shown.chain(".contiguous()").startswith("The same tensor")
    assert shown.chain("") and [g.name for g in shown.scene.grids] == ["x"]


def test_a_refused_chain_keeps_the_picture(x):
    shown = explore(x)
    shown.chain(".t()")
    before = shown.picture
    with pytest.raises(ChainError):
        shown.chain(".t().view(12)")
    assert shown.picture == before


@pytest.mark.parametrize(
    ("content", "refused"),
    [
        ({"chain": ".t()", "id": 1}, False),
        ({"chain": "__import__('os')", "id": 2}, True),
        ({"chain": ".unsqueeze(0).unsqueeze(0).unsqueeze(0)", "id": 3}, False),
    ],
)
def test_the_box_is_answered(x, content, refused):
    shown, sent = explore(x), []
    shown.send = sent.append
    shown._asked(shown, content, [])
    assert sent[0]["id"] == content["id"] and sent[0]["refused"] is refused and sent[0]["answer"]


@pytest.mark.parametrize("content", [None, 3, {}, {"chain": 3}, {"other": "x"}, []])
def test_nonsense_messages_are_ignored(x, content):
    shown, sent = explore(x), []
    shown.send = sent.append
    shown._asked(shown, content, [])
    assert sent == []


def test_the_front_end_imports_and_fetches_nothing():
    text = script("box", "explore") + style()
    code = re.sub(r"(?<!:)//[^\n]*|/\*.*?\*/", "", text, flags=re.S)
    assert not re.search(
        r"\bimport\b|\bfetch\b|XMLHttpRequest|https?:|\beval\b|url\(", code.replace("http://www.w3.org", "")
    )
    assert text.count("export default") == 1


def test_the_style_sheet_has_no_colour_of_its_own():
    source = re.sub(r"--tc-[a-z-]+: #[0-9A-F]{6};", "", style())
    assert not re.search(r"#[0-9a-fA-F]{3,6}\b", source)
    assert "@light" not in style() and "@dark" not in style()


def test_an_explorer_is_a_widget(x):
    assert isinstance(explore(x), StorageExplorer)
