"""The queue view: what it takes, what it sends. What the browser does is tested in a browser."""

import json
import re
import sys

import pytest
import torch
from torch.profiler import profile

from torchcourse.devices.queue import item, kernel, run
from torchcourse.widgets._card import script
from torchcourse.widgets.queue import LIVE, QueueView, queue

PROGRAM = [kernel("y = x @ w", 80), item("y.item()")]


def test_it_takes_a_program_lanes_and_a_profile():
    assert str(queue(PROGRAM, title="Here")) == str(queue(run(PROGRAM, title="Here")))
    assert queue(PROGRAM, title="Here").picture["title"] == "Here (model), 5 moments"
    with profile() as seen:
        torch.ones(2).sum()
    shown = queue(seen)
    assert shown.story.lanes.source == "profile" and "No GPU work in here" in str(shown)


def test_launch_blocking_is_passed_on():
    assert queue(PROGRAM, launch_blocking=True).story.lanes.waited > queue(PROGRAM).story.lanes.waited


def test_the_picture_matches_the_drawing():
    picture = queue(PROGRAM).picture
    assert json.loads(json.dumps(picture)) == picture
    svg = picture["svg"]
    assert svg.count('class="tc-i ') == len(picture["spans"]) == len(picture["says"])
    assert svg.count('class="tc-w') - svg.count('class="tc-w-') == len(picture["spans"])
    assert svg.count('class="tc-r ') == len(picture["readings"])
    assert len(picture["xs"]) == len(picture["moments"])


def test_an_error_adds_its_arrow():
    picture = queue([kernel("y = t[i]", 5, fails="assert"), kernel("z", 5), kernel("w", 5)]).picture
    assert picture["svg"].count('class="tc-r ') == len(picture["readings"]) == 1


@pytest.mark.filterwarnings("ignore:CUDA is not available")
def test_a_live_view_has_one_twin_on_every_machine(monkeypatch):
    ran = []
    without = queue(PROGRAM, live=lambda: ran.append(1))
    assert str(without) == LIVE and without.story.lanes.source == "model" and not ran
    monkeypatch.setattr(sys.modules[QueueView.__module__], "_on_gpu", lambda: True)
    monkeypatch.setattr(torch.cuda, "synchronize", lambda: None)
    with_gpu = queue(PROGRAM, live=lambda: ran.append(torch.ones(2) + 1))
    assert str(with_gpu) == LIVE and with_gpu.story.lanes.source == "profile" and len(ran) == 2
    assert "aten::add" in with_gpu.story.lanes.lines


def test_static_picture_and_twin_go_into_the_notebook():
    data = queue(PROGRAM)._repr_mimebundle_()[0]
    assert data["text/plain"] == str(queue(PROGRAM)) and data["image/svg+xml"].startswith("<svg")


def test_bad_input_gets_one_sentence():
    for bad, error, words in (
        (3, TypeError, "takes a finished torch.profiler.profile"),
        (kernel("y", 1), TypeError, "takes a finished torch.profiler.profile"),
        (["y = x @ w"], TypeError, "line 1 of the program is no step"),
    ):
        with pytest.raises(error, match=words):
            queue(bad)
    with pytest.raises(TypeError, match="live is a function without arguments"):
        queue(PROGRAM, live=3)


def test_the_front_end_imports_and_fetches_nothing():
    text = script("queue") + QueueView._css
    code = re.sub(r"(?<!:)//[^\n]*|/\*.*?\*/", "", text, flags=re.S).replace("http://www.w3.org", "")
    assert not re.search(r"\bimport\b|\bfetch\b|XMLHttpRequest|https?:|\beval\b|url\(", code)
    assert text.count("export default") == 1 and ".send(" not in script("queue")
