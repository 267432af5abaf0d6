"""The module tree's rows and their static picture: right figures, findings in their places, the same bytes."""

import subprocess
import sys
from xml.etree import ElementTree

import pytest
import torch
from torch import nn

from torchcourse.graphs.modules import CHIPS, MOST_ROWS, NO_ROW, scene
from torchcourse.graphs.modules_picture import svg, twin, visible
from torchcourse.modules import missed, tree, walks

from ..modules.faulty import FAULTY, Net
from ..modules.sound import SOUND
from ..modules.test_missed import made

SCRIPT = """
from torch import nn
from torchcourse.graphs.modules import scene
from torchcourse.graphs.modules_picture import svg
from torchcourse.modules import missed, tree, walks
model = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
model.layers = [nn.Linear(2, 2)]
print(svg(scene(tree(model), missed(model), walks(model))))
"""
EVERY = {**SOUND, **{name: make for name, (_, _, make) in FAULTY.items()}}


def shown(model, optimizer=None):
    return scene(tree(model), missed(model, optimizer), walks(model))


@pytest.mark.parametrize("name", EVERY)
def test_every_case_has_its_rows(name):
    model, optimizer = made(EVERY[name])
    owned, found = tree(model), missed(model, optimizer)
    view = shown(model, optimizer)
    kinds = [row.kind for row in view.rows]
    assert kinds.count("module") == len(owned.nodes)
    assert kinds.count("tensor") == sum(len(node.tensors) for node in owned.nodes)
    # Each finding shows: as a row of its own, or as a chip on the row that it is about.
    wrong = [mark.words for row in view.rows for mark in row.marks if mark.wrong]
    assert len(wrong) == len(found) and set(wrong) <= set(CHIPS.values())
    assert all(row.say for row in view.rows if any(mark.wrong for mark in row.marks))
    for route in view.routes:
        assert all(stop.row != NO_ROW for stop in route.stops)
        assert not any(view.rows[stop.row].kind == "missed" for stop in route.stops)
    ElementTree.fromstring(svg(view))


def test_all_that_missed_can_say_has_its_words():
    from tests.modules.faulty import FAULTY

    assert set(CHIPS) == {kind for kind, _, _ in FAULTY.values()}


def test_a_module_row_sums_up():
    view = shown(nn.Sequential(nn.BatchNorm1d(2), nn.Linear(2, 2).half().eval()))
    root, norm = view.rows[0], view.rows[1]
    assert (root.nbytes, root.dtype, root.device, root.mode) == (52, "float32 +2", "cpu", "train")
    assert (norm.name, norm.note, norm.dtype) == ("0", "BatchNorm1d", "float32 +1")
    assert view.rows[7].mode == "eval"
    assert view.title == "Sequential · 3 modules · 4 parameters · 3 buffers · 52 bytes"
    assert view.sentence.endswith("Nothing was missed.")


def test_what_was_missed_stands_under_its_module():
    view = shown(nn.Sequential(nn.ReLU(), Net(layers=[nn.Linear(2, 2)])))
    at = next(i for i, row in enumerate(view.rows) if row.kind == "missed")
    row = view.rows[at]
    assert (row.name, row.path, row.level, row.nbytes) == ("layers", "1.layers", 3, None)
    assert row.say.startswith("A plain list with 1 module") and view.sentence.startswith(
        "`1.layers`: a plain list"
    )


def test_a_large_tree_opens_folded_but_for_what_was_missed():
    blocks = [nn.Sequential(nn.Linear(2, 2), nn.ReLU()) for _ in range(20)]
    blocks.append(Net(scale=torch.ones(2)))
    view = shown(nn.Sequential(*blocks))
    names = [row.name for row, _ in visible(view.rows)]
    assert names[:22] == ["Sequential", *map(str, range(21))] and "scale" in names


def test_a_huge_tree_is_cut_and_says_so():
    model = nn.Sequential(*(nn.Sequential(nn.Linear(1, 1), nn.Linear(1, 1)) for _ in range(800)))
    view = shown(model)
    rest = [row for row in view.rows if row.kind == "rest"]
    assert len(view.rows) <= MOST_ROWS + 801 and rest and view.left_out
    assert view.left_out + len(view.rows) - len(rest) == 1 + 800 * 7
    assert any(stop.row == NO_ROW for stop in view.routes[0].stops)
    assert len(svg(view)) < 100_000


def test_names_are_escaped():
    model = Net()
    model.add_module("<b>&amp;", nn.ReLU())
    setattr(model, "<i>", [nn.ReLU()])
    picture = svg(shown(model))
    ElementTree.fromstring(picture)
    assert "<b>" not in picture and "<i>" not in picture


def test_the_same_bytes_in_another_process():
    runs = {
        subprocess.run([sys.executable, "-c", SCRIPT], check=True, capture_output=True, text=True).stdout
        for _ in range(2)
    }
    assert len(runs) == 1 and runs.pop().startswith("<svg")


def test_the_twin_says_what_the_picture_says():
    model = Net(layers=[nn.Linear(2, 2)])
    text = twin(tree(model), missed(model), walks(model))
    for words in (
        "Net: 2 modules",
        "module-in-container at layers",
        ".half() visits Net, head, head.weight float32 → float16",
    ):
        assert words in text
