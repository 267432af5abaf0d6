"""The module tree as a widget: what it sends, and what stands beside it. A browser tests what it does."""

import json
import re

import pytest
import torch
from torch import nn

import torchcourse as tc
from torchcourse.widgets import tree
from torchcourse.widgets._card import script
from torchcourse.widgets.tree import ModuleTree

from ..modules.faulty import FAULTY, Net
from ..modules.sound import SOUND
from ..modules.test_missed import made, state

WIDGET = "application/vnd.jupyter.widget-view+json"


def test_the_bundle_has_the_view_the_twin_and_a_picture():
    shown = tc.tree(Net(layers=[nn.Linear(2, 2)]))
    data, _ = shown._repr_mimebundle_()
    assert isinstance(shown, ModuleTree) and data.keys() == {WIDGET, "text/plain", "image/svg+xml"}
    assert data["text/plain"] == str(shown) and "module-in-container at layers" in str(shown)
    assert data["image/svg+xml"].startswith("<svg")
    assert not re.search(r"0x[0-9a-f]{6}", repr(shown) + str(shown) + data["image/svg+xml"])


@pytest.mark.parametrize(
    "name", ["hooks", "lazy layers", "a ScriptModule", "properties that raise", "DataParallel"]
)
def test_any_module_can_be_shown(name):
    model, optimizer = made(SOUND[name])
    picture = tree(model, optimizer).picture
    assert json.loads(json.dumps(picture)) == picture
    assert [route["why"] for route in picture["routes"]] == [""] * 4


def test_a_cycle_is_shown_and_not_walked():
    picture = tree(FAULTY["a module inside itself"][2]()).picture
    assert all("never ends" in route["why"] and not route["steps"] for route in picture["routes"])


def test_the_rows_lead_back_to_their_texts():
    picture = tree(nn.Sequential(nn.Linear(2, 3))).picture
    texts = picture["texts"]
    level, kind, opened, name, path, note, marks, cells, say = picture["rows"][2]
    assert (level, kind, opened, texts[name], texts[path], texts[note]) == (
        3,
        1,
        1,
        "weight",
        "0.weight",
        "[3, 2]",
    )
    assert picture["roles"][marks[0]] == "base" and texts[marks[1]] == "parameter" and marks[2] == 0
    assert [texts[n] for n in cells] == ["24", "float32", "cpu", ""] and texts[say] == ""
    half = picture["routes"][1]
    assert half["call"] == ".half()" and half["steps"][8:10] == [2, 1]
    assert [texts[n] for n in half["steps"][10:12]] == ["float32", "float16"]


def test_the_same_data_every_time():
    model = Net(layers=[nn.Linear(2, 2)])
    assert tree(model).picture == tree(model).picture


def test_showing_changes_nothing():
    model, optimizer = made(SOUND["cleared gradients"])
    before = state(model)
    tree(model, optimizer)
    assert state(model) == before


def test_the_state_of_1000_modules_is_small():
    blocks = (nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.BatchNorm1d(4)) for _ in range(250))
    shown = tree(nn.Sequential(*blocks))
    assert len(json.dumps(shown.get_state()).encode()) < 500_000
    assert len(shown.static_svg()) < 100_000


def test_the_front_end_imports_and_fetches_nothing():
    text = script("treegrid", "tree") + ModuleTree._css
    code = re.sub(r"(?<!:)//[^\n]*|/\*.*?\*/", "", text, flags=re.S).replace("http://www.w3.org", "")
    assert not re.search(r"\bimport\b|\bfetch\b|XMLHttpRequest|https?:|\beval\b(?!\()|url\(|innerHTML", code)
    assert text.count("export default") == 1


def test_the_style_sheet_has_no_colour_of_its_own():
    source = re.sub(r"--tc-[a-z-]+: #[0-9A-F]{6};", "", ModuleTree._css)
    assert not re.search(r"#[0-9a-fA-F]{3,6}\b", source)


def test_bad_calls_get_a_sentence():
    with pytest.raises(TypeError, match=r"takes an nn\.Module, not a dict"):
        tree({})
    with pytest.raises(TypeError, match="with param_groups"):
        tree(nn.Linear(1, 1), torch.ones(1))
