"""The backward as a picture: places, boxes and wires, and the sentences, from hand-written and real runs."""

import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest
import torch

from torchcourse.autograd import graph, record_backward
from torchcourse.autograd.numbers import numbers
from torchcourse.graphs._backward_story import tell
from torchcourse.graphs._backward_words import cut, ending, formula, joined, number, short
from torchcourse.graphs._places import lay_out
from torchcourse.graphs.backward import (
    HEIGHT,
    WIDTH,
    Box,
    Moment,
    Story,
    Wire,
    arranged,
    counting,
    drawing,
    svg,
)


def chain(n: int) -> Story:
    """n operators in a row, and one leaf."""
    ops = [
        Box("op", f"Op{k}", "3×4", "grad 1.0", "grad 1.0", (k + 1,), saved=True, freed=True) for k in range(n)
    ]
    leaf = [
        Box("acc", "Accumulate", "w", "w", "w", (n + 1,)),
        Box("grad", "w.grad", "None", "None → 2.0", "2.0", (n + 1,)),
    ]
    wires = [Wire(k, k + 1, "3×4", "1.0", (k + 1,), (k + 2,)) for k in range(n)]
    wires.append(Wire(n, n + 1, sent=(n + 1,)))
    moments = [Moment(k, f"`Op{k}` ran.") for k in range(n + 1)]
    return Story("loss.backward()", "Nothing ran.", (*ops, *leaf), tuple(wires), tuple(moments))


def boxes_of(story: Story) -> list[tuple[int, int, int, int]]:
    story, places = arranged(story)
    return [(x, y, box.width, HEIGHT) for box, (x, y) in zip(story.boxes, places.spots, strict=True)]


@pytest.mark.parametrize("n", [1, 3, 12])
def test_boxes_do_not_overlap_and_lie_in_the_picture(n):
    story, places = arranged(chain(n))
    boxes = boxes_of(chain(n))
    for k, (x, y, w, h) in enumerate(boxes):
        assert x >= 0 and y >= 0 and x + w <= places.width and y + h <= places.height
        for a, b, c, d in boxes[:k]:
            assert x + w <= a or a + c <= x or y + h <= b or b + d <= y
    assert len(places.routes) == len(story.wires)


def test_a_short_story_runs_to_the_left_a_long_one_down():
    (first, *_, last), (top, *_, bottom) = boxes_of(chain(3)), boxes_of(chain(12))
    assert first[0] > last[0] and abs(first[1] - last[1]) < HEIGHT
    assert top[1] < bottom[1]
    assert arranged(chain(3))[1].width <= WIDTH


def test_running_down_a_leaf_and_its_grad_share_a_box():
    story, _ = arranged(chain(12))
    assert [box.kind for box in story.boxes[-2:]] == ["op", "leaf"]
    assert story.boxes[-1].title == "w.grad" and story.boxes[-1].now == "None → 2.0"
    assert story.moments[-1].box == len(story.boxes) - 1
    assert len(story.wires) == 12


def test_parallel_wires_each_have_a_route():
    places = lay_out([(60, 40), (60, 40)], [(0, 1), (0, 1)])
    assert places.routes[0].path != places.routes[1].path


def test_nothing_to_lay_out():
    assert lay_out([], []).width == 0


def test_each_wire_and_box_is_one_group_in_the_order_of_the_story():
    story, places = arranged(chain(3))
    found = ET.fromstring(drawing(story, places).element())
    groups = [group.get("class", "") for group in found]
    assert [("tc-wire" in name.split()) for name in groups] == [True] * 4 + [False] * 5
    assert sum("node" in name.split() for name in groups) == len(story.boxes)


def test_the_live_picture_has_no_colour_of_its_own_the_static_one_has():
    story, places = arranged(chain(2))
    assert "#" not in drawing(story, places).body
    assert "#" in drawing(story, places, static=True).body


def test_the_static_picture_numbers_the_steps_and_shows_the_end():
    page = svg(chain(3))
    texts = [node.text for node in ET.fromstring(page).iter("{http://www.w3.org/2000/svg}text")]
    assert "1 Op0" in texts and "4 Accumulate" in texts and "2.0" in texts
    assert "None → 2.0" not in texts
    assert ET.fromstring(page).get("width") == ET.fromstring(svg(chain(12))).get("width") == "760"


def test_names_are_escaped():
    story = chain(1)
    wild = replace(story, boxes=(replace(story.boxes[0], title="<b>&"), *story.boxes[1:]), title="<script>")
    assert "<b>" not in svg(wild) and "<script>" not in svg(wild)
    ET.fromstring(svg(wild))


def test_a_fold_counts_what_ran_in_it():
    assert counting(0, (3, 4, 9), (4,)) == "0/3 nodes · 0/1 .grad"
    assert counting(4, (3, 4, 9), (4,)) == "2/3 nodes · 1/1 .grad"
    assert counting(9, (3, 4, 9), ()) == "3/3 nodes"


def test_words():
    assert [number(v) for v in (6.0, 1 / 3, 1.5e-9, float("nan"))] == ["6.0", "0.3333", "1.5e-09", "nan"]
    assert joined(["a"]) == "a" and joined(["a", "b"]) == "a and b"
    assert joined(list("abcd")) == "a, b and 2 more"
    assert short("MulBackward0") == "Mul" and short("AccumulateGrad") == "AccumulateGrad"
    assert cut("MaxPool2DWithIndices") == "MaxPool2DWithIn…"
    assert ending("layer1.0.conv1.weight") == "…0.conv1.weight"
    assert (formula("MulBackward0", 0), formula("MulBackward0", 1), formula("Nope", 0)) == (
        "grad·other",
        "grad·self",
        "",
    )


def scalar_loss():
    w, b = (torch.tensor(v, requires_grad=True) for v in (3.0, 1.0))
    x, target = torch.tensor(2.0), torch.tensor(4.0)
    return (x * w + b - target) ** 2, {"w": w, "b": b}


def told(loss, names, groups=(), **kwargs):
    found = graph(loss, names=names)
    known = numbers(loss, found)
    return tell(found, record_backward(loss, **kwargs), groups, known)


def test_the_sentences_say_what_came_what_went_and_by_which_rule():
    says = [moment.say.replace("`", "") for moment in told(*scalar_loss()).moments]
    assert says[0] == (
        "Backward starts: PowBackward0 received 1.0 and sends grad·exponent·self^(exponent − 1) = 6.0 to Sub. "
        "It reads self = 3.0 (4 bytes saved by the forward) and frees it."
    )
    assert "AddBackward0 received 6.0 and sends grad = 6.0 to Mul and grad = 6.0 to b." in says
    assert any(say.startswith("MulBackward0 received 6.0 and sends grad·self = 12.0 to w.") for say in says)
    assert "AccumulateGrad puts 12.0 into w.grad, which was None." in says


def test_alpha_is_named_where_it_changes_the_gradient():
    a, b = (torch.tensor(v, requires_grad=True) for v in (3.0, 1.0))
    story = told(torch.add(a, b, alpha=2), {"a": a, "b": b})
    assert "grad = `1.0` to `a` and grad·alpha = `2.0` to `b`" in story.moments[0].say


def test_values_of_the_forward_stand_on_the_wires_where_known():
    story = told(*scalar_loss())
    known = {(story.boxes[w.source].title, story.boxes[w.target].title): w.value for w in story.wires}
    assert known["Pow", "Sub"] == "3.0" and known["Mul", "Accumulate"] == "3.0"
    assert known["Sub", "Add"] == ""  # nobody kept it


def test_a_second_backward_adds():
    loss, names = scalar_loss()
    told(loss, names, retain_graph=True)
    story = told(loss, names)
    grads = {box.title: (box.before, box.now, box.after) for box in story.boxes if box.kind == "grad"}
    assert grads["w.grad"] == ("12.0", "12.0 → 24.0", "24.0")
    assert "adds `12.0` to `w.grad`: `12.0` becomes `24.0`" in str([m.say for m in story.moments])


def test_a_kept_graph_frees_nothing():
    kept = told(*scalar_loss(), retain_graph=True)
    assert not any(box.freed for box in kept.boxes) and any(box.saved for box in kept.boxes)
    assert "frees" not in str(kept) and "frees" in str(told(*scalar_loss()))


def test_nodes_that_the_engine_passes_by_have_no_step():
    loss, names = scalar_loss()
    story = told(loss, names, inputs=[names["b"]])
    untouched = [box.title for box in story.boxes if not box.steps]
    assert "w.grad" in untouched and "b.grad" not in untouched
    assert "tc-off" in drawing(*arranged(story)).body


def test_nan_is_marked_where_it_comes_out():
    x = torch.zeros((), requires_grad=True)
    story = told((x * 0).sqrt(), {"x": x})
    assert "The first NaN or infinity comes out here." in story.moments[0].say
    assert story.boxes[0].wrong


def test_folded_boxes_hold_all_steps_and_name_the_place():
    loss, names = scalar_loss()
    story = told(loss, names, [("all", (0, 1, 2, 3)), ("b", (4,)), ("w", (5,))])
    fold = story.boxes[0]
    assert fold.kind == "fold" and len(fold.steps) == 4 and fold.say.startswith("`all` holds 4 nodes")
    assert "In `all` (2 of 4): `SubBackward0`" in story.moments[1].say
    assert sorted(k for box in story.boxes if box.kind != "grad" for k in box.steps) == list(range(1, 7))
    assert str(story).count("6 nodes, folded into 3 boxes.") == 1


def test_the_same_bytes_in_other_processes():
    code = (
        "import torch; from tests.graphs.test_backward import *;"
        "s = told(*scalar_loss()); print(str(s)); print(svg(s)); print(drawing(*arranged(s)).body)"
    )
    runs = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**_environ(), "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(runs) == 1 and not re.search(rb"0x[0-9a-f]{6}", runs.pop())


def _environ():
    import os

    return dict(os.environ)
