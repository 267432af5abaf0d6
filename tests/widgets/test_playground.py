"""The decay playground without a browser: what it sends, its twin, its static picture, bad calls."""

import json
from xml.etree import ElementTree

import pytest

from torchcourse.optimizers.decay import PROBLEMS, WAYS, Settings, path
from torchcourse.widgets import playground
from torchcourse.widgets.playground import CHOICES


def test_two_and_two_coincide():
    """λ in the loss and weight_decay lead to one place in SGD and in Adam, and AdamW elsewhere."""
    sgd_loss, sgd, adam_loss, adam, adamw = (path(PROBLEMS[0], way) for way in WAYS)
    assert sgd_loss.points[-1] == pytest.approx(sgd.points[-1], abs=1e-12)
    assert adam_loss.points[-1] == pytest.approx(adam.points[-1], abs=1e-9)
    assert abs(adamw.points[-1][0] - adam.points[-1][0]) > 1


def test_only_decay_moves_a_weight_without_gradient():
    flat = PROBLEMS[2]
    none = path(flat, WAYS[-1], Settings(decay=0.0))
    some = path(flat, WAYS[-1], Settings(decay=0.1))
    assert none.points[-1][1] == flat.start[1]
    assert some.points[-1][1] == pytest.approx(flat.start[1] * (1 - 0.1 * 0.1) ** 60)


def test_what_the_browser_gets():
    view = playground(lr=0.07, weight_decay=0.25)
    sent = json.loads(json.dumps(view.picture))
    assert 0.07 in sent["choices"]["lr"] and 0.25 in sent["choices"]["decay"]
    assert set(CHOICES["lr"]) < set(sent["choices"]["lr"])
    assert [way["name"] for way in sent["ways"]] == [way.name for way in WAYS]
    assert len(json.dumps(sent)) < 20_000


def test_twin_and_static_picture_say_the_same():
    view = playground(steps=10)
    text, svg = str(view), view.static_svg()
    ElementTree.fromstring(svg)
    assert svg == playground(steps=10).static_svg()
    assert "after 5 and after 10 steps" in text
    for way in WAYS:
        assert way.name in text and way.name in svg


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"lr": -0.1}, "lr is -0.1"),
        ({"lr": float("nan")}, "lr is nan"),
        ({"weight_decay": -1}, "weight_decay is -1"),
        ({"weight_decay": "0.1"}, "weight_decay is '0.1'"),
        ({"momentum": 1.0}, "momentum is 1.0"),
        ({"betas": (0.9, 1.0)}, "a beta is 1.0"),
        ({"betas": 0.9}, "betas is 0.9"),
        ({"steps": 0}, "steps is 0"),
        ({"steps": 10**6}, "steps is 1000000"),
    ],
)
def test_bad_calls(settings, says):
    with pytest.raises(ValueError) as refused:
        playground(**settings)
    assert says in str(refused.value) and "\n" not in str(refused.value)


def test_a_path_that_grows_without_end_is_still_drawn():
    view = playground(lr=10, weight_decay=10, steps=1000)
    ElementTree.fromstring(view.static_svg())
    assert "nan" not in view.static_svg()
