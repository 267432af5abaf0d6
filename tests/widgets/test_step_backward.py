"""The stepper: what it runs, what it refuses, what it sends. What the browser does is tested in a browser."""

import json
import re

import pytest
import torch
from torch import nn

from torchcourse.widgets._card import script
from torchcourse.widgets.step_backward import BackwardStepper, step_backward


def leaves():
    w, b = (torch.tensor(v, requires_grad=True) for v in (3.0, 1.0))
    return w, b, torch.tensor(2.0), torch.tensor(4.0)


def test_it_runs_the_real_backward_once():
    w, b, x, target = leaves()
    shown = step_backward((x * w + b - target) ** 2)
    assert (w.grad.item(), b.grad.item()) == (12.0, 6.0)
    assert [shown.story.boxes[m.box].title for m in shown.story.moments][:3] == ["Pow", "Sub", "Add"]


def test_names_are_those_where_the_call_stands():
    w, b, x, target = leaves()
    loss = (x * w + b - target) ** 2
    shown = step_backward(loss)
    assert shown.story.title == "loss.backward()"
    assert {"w.grad", "b.grad"} <= {box.title for box in shown.story.boxes}


def test_names_can_be_given():
    w, b, x, _ = leaves()
    shown = step_backward(x * w + b, names={"slope": w, "offset": b})
    assert {"slope.grad", "offset.grad"} <= {box.title for box in shown.story.boxes}


def test_what_has_a_name_has_its_value_on_the_wire():
    w, b, x, target = leaves()
    product = x * w
    line = product + b
    shown = step_backward((line - target) ** 2).story
    values = {
        (shown.boxes[one.source].title, shown.boxes[one.target].title): one.value for one in shown.wires
    }
    assert values["Add", "Mul"] == "6.0" and values["Sub", "Add"] == "7.0"


def test_what_was_written_since_has_no_value():
    w, _, x, _ = leaves()
    product = x * w
    loss = (product + 1) ** 2
    with torch.no_grad():
        product.fill_(0)
    shown = step_backward(loss).story
    assert not any(one.value == "0.0" for one in shown.wires)


def test_two_backwards_accumulate():
    w, b, x, _ = leaves()
    first, second = (step_backward(x * w + b) for _ in range(2))
    line = [next(box.now for box in s.story.boxes if box.title == "w.grad") for s in (first, second)]
    assert line == ["None → 2.0", "2.0 → 4.0"]


def test_a_leaf_alone_is_a_story_too():
    w = torch.tensor(3.0, requires_grad=True)
    shown = step_backward(w)
    assert len(shown.story.moments) == 1 and w.grad.item() == 1.0


def test_what_has_no_backward_gets_a_sentence_and_changes_nothing():
    w, b, x, _ = leaves()
    freed = (x * w) ** 2
    freed.backward()
    w.grad = None
    for bad, error, words in (
        (3, TypeError, "takes the loss, a tensor, not a int"),
        (x * 2, ValueError, "no graph"),
        (freed, ValueError, "freed: a backward has run through it"),
        (torch.ones(3) * w, ValueError, "3 elements, shape [3]"),
    ):
        with pytest.raises(error, match=re.escape(words)):
            step_backward(bad)
    with pytest.raises(ValueError, match="at_most"):
        step_backward(x * w + b, at_most=0)
    assert w.grad is None and b.grad is None


def test_a_gradient_makes_more_than_one_number_possible():
    w = torch.ones(3, requires_grad=True)
    shown = step_backward(w * 2, gradient=torch.tensor([1.0, 0.0, 2.0]))
    assert w.grad.tolist() == [2.0, 0.0, 4.0]
    assert "received `[1.0, 0.0, 2.0]`" in shown.story.moments[0].say


class Breaks(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        raise RuntimeError("planted")


def test_a_node_that_raises_is_the_last_step():
    w = torch.tensor(3.0, requires_grad=True)
    story = step_backward(Breaks.apply(w) + 1).story
    assert "Here backward stops: RuntimeError: planted" in story.moments[-1].say
    assert story.boxes[story.moments[-1].box].wrong and w.grad is None


def test_damage_in_place_is_the_last_step():
    w = torch.tensor(3.0, requires_grad=True)
    y = w.exp()
    loss = y * 1 + 1
    y.add_(1)
    story = step_backward(loss).story
    assert "modified by an inplace operation" in story.moments[-1].say


def test_the_bundle_has_the_view_the_twin_and_a_picture():
    w, b, x, _ = leaves()
    loss = x * w + b
    shown = step_backward(loss, retain_graph=True)
    data, _ = shown._repr_mimebundle_()
    assert data.keys() == {"application/vnd.jupyter.widget-view+json", "text/plain", "image/svg+xml"}
    assert data["text/plain"] == str(shown) and "  1. Backward starts: AddBackward0" in str(shown)
    assert repr(shown) == "<BackwardStepper: loss.backward()>"
    assert not re.search(r"0x[0-9a-f]{6}", "".join(map(str, data.values())))


def deep(blocks=20):
    return nn.Sequential(*(nn.Sequential(nn.Linear(8, 8), nn.LayerNorm(8), nn.GELU()) for _ in range(blocks)))


def stepper_of_a_deep_net(**kwargs):
    torch.manual_seed(0)
    model = deep()
    return step_backward(model(torch.randn(2, 8)).square().mean(), names=model, **kwargs)


def test_a_large_graph_opens_folded_and_small():
    shown = stepper_of_a_deep_net()
    assert len(shown.story.moments) > 140 and len(shown.story.boxes) <= 40
    assert "folded into" in str(shown)
    assert len(json.dumps(shown.picture)) < 60_000
    assert len(stepper_of_a_deep_net(at_most=300).story.boxes) > 140


def test_every_moment_stands_in_its_box():
    for picture in (stepper_of_a_deep_net().picture, stepper_of_a_deep_net(at_most=300).picture):
        for k, (box, _) in enumerate(picture["moments"], 1):
            assert k in picture["boxes"][box][0]
        groups = re.findall(r'<g class="(tc-wire|node)', picture["svg"])
        assert groups == ["tc-wire"] * len(picture["wires"]) + ["node"] * len(picture["boxes"])


def test_the_front_end_imports_and_fetches_nothing():
    text = script("step_backward") + BackwardStepper._css
    code = re.sub(r"(?<!:)//[^\n]*|/\*.*?\*/", "", text, flags=re.S).replace("http://www.w3.org", "")
    assert not re.search(r"\bimport\b|\bfetch\b|XMLHttpRequest|https?:|\beval\b|url\(", code)
    assert text.count("export default") == 1 and ".send(" not in script("step_backward")
