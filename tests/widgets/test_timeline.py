"""The timeline: what it takes, what it refuses, what it sends. What the browser does is tested in a browser."""

import json
import re
from itertools import accumulate

import pytest

from torchcourse.allocator import Allocator, OutOfMemoryError, save_snapshot
from torchcourse.allocator.sizes import GIB, MIB
from torchcourse.widgets._card import script
from torchcourse.widgets.oom import explain_oom
from torchcourse.widgets.timeline import UNIT, AllocatorTimeline, timeline

from ..graphs.test_timeline import fragmented


def test_an_allocator_a_snapshot_and_a_file_show_the_same(tmp_path):
    model = Allocator(GIB)
    model.free(model.malloc(3 * MIB))
    file = tmp_path / "snapshot.pickle"
    save_snapshot(model.snapshot(), file)
    first = timeline(model)
    for source in (model.snapshot(), file, str(file)):
        assert timeline(source).story.columns[0].side.says == first.story.columns[0].side.says


def test_against_settings_a_second_allocator_or_a_file(tmp_path):
    model = fragmented()
    other = fragmented()
    file = tmp_path / "snapshot.pickle"
    save_snapshot(other.snapshot(), file)
    for against in ("expandable_segments:True", other, other.snapshot(), str(file), file):
        shown = timeline(model, against=against)
        assert len(shown.story.columns) == 2 and shown.story.steps == 22
    assert shown.story.columns[1].side.name == "default settings"
    assert (
        timeline(model, against="expandable_segments:True").story.columns[1].side.name
        == "expandable_segments:True"
    )


def test_bad_input_gets_a_sentence(tmp_path):
    model = fragmented()
    junk = tmp_path / "junk"
    junk.write_bytes(b"no pickle")
    for call, error, words in (
        (lambda: timeline(3), TypeError, "not a int"),
        (lambda: timeline(tmp_path / "none"), ValueError, "Cannot read"),
        (lambda: timeline(junk), ValueError, "pickle"),
        (lambda: timeline({}), ValueError, "has no 'device_traces'"),
        (
            lambda: timeline(model, against="max_split_sise_mb:20"),
            ValueError,
            "Unknown key 'max_split_sise_mb'",
        ),
        (lambda: timeline(model, against=Allocator(GIB)), ValueError, "not two runs of one program"),
        (lambda: timeline(model, request=-1), ValueError, "request is a number of bytes"),
        (lambda: timeline(model, request="1 GiB"), ValueError, "request is a number of bytes"),
        (lambda: timeline(junk, against="expandable_segments:True"), ValueError, "pickle"),
        (lambda: timeline(model.snapshot(), device=3), ValueError, "there is no 3"),
    ):
        with pytest.raises(error, match=words):
            call()


def test_the_bundle_has_the_view_the_twin_and_a_picture():
    shown = timeline(fragmented(), request=GIB)
    data, _ = shown._repr_mimebundle_()
    assert data.keys() == {"application/vnd.jupyter.widget-view+json", "text/plain", "image/svg+xml"}
    assert data["text/plain"] == str(shown) == shown.picture["twin"]
    assert repr(shown) == "<AllocatorTimeline: CUDA memory>"
    assert not re.search(r"0x[0-9a-f]{6}", "".join(map(str, data.values())))


def test_the_message_adds_up_and_is_compact():
    model = Allocator(8 * GIB)
    kept = []
    for k in range(4000):
        kept.append(model.malloc((k % 7 + 1) * MIB))
        if k % 3:
            model.free(kept.pop(k % len(kept)))
    shown = timeline(model)
    (column,) = shown.picture["columns"]
    side = shown.story.columns[0].side
    assert [n * UNIT for n in accumulate(column["reserved"])] == list(side.reserved)
    assert [n * UNIT for n in accumulate(column["allocated"])] == list(side.allocated)
    assert list(accumulate(column["ends"])) == list(side.ends) and column["paints"][-4:] != []
    assert [shown.picture["texts"][k] for k in column["says"]] == list(side.says)
    assert len(json.dumps(shown.picture)) < 60 * shown.story.steps


def test_a_request_of_any_size_is_among_those_to_ask_about():
    shown = timeline(fragmented(), request=700 * MIB)
    assert shown.picture["request"] == 700 * MIB and 700 * MIB in shown.picture["requests"]
    assert shown.picture["requests"] == sorted(shown.picture["requests"])
    assert timeline(fragmented()).picture["request"] == 0


def test_the_front_end_imports_and_fetches_nothing():
    text = AllocatorTimeline._esm + AllocatorTimeline._css
    code = re.sub(r"(?<!:)//[^\n]*|/\*.*?\*/", "", text, flags=re.S).replace("http://www.w3.org", "")
    assert not re.search(r"\bimport\b|\bfetch\b|XMLHttpRequest|https?:|\beval\b|url\(", code)
    assert text.count("export default") == 1 and ".send(" not in AllocatorTimeline._esm.removeprefix(script())


def test_a_pasted_message_is_explained():
    model = Allocator(GIB)
    model.malloc(600 * MIB)
    with pytest.raises(OutOfMemoryError) as caught:
        model.malloc(600 * MIB)
    for message in (caught.value, str(caught.value), f"Traceback …\ntorch.OutOfMemoryError: {caught.value}"):
        data = explain_oom(message)._repr_mimebundle_()
        assert data["text/plain"].endswith("something grows, a leak.") and data["image/svg+xml"].startswith(
            "<svg"
        )
    with pytest.raises(ValueError, match="no out-of-memory message"):
        explain_oom("KeyError: 3")
