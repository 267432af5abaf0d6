"""Lanes as a story and as a picture: moments in order, boxes in their places, the same bytes each time."""

import re
import subprocess
import sys
import xml.etree.ElementTree as ET

import pytest

from torchcourse.devices.queue import (
    Lanes,
    clock,
    copy,
    item,
    kernel,
    python,
    read_profile,
    record,
    run,
    stream_waits,
    synchronize,
)
from torchcourse.graphs.queue import LEFT, WIDEST, WIDTH, cursor, drawing, scale_of, svg
from torchcourse.graphs.queue_story import tell, us

TIMED = [
    clock("t0"),
    kernel("y = x @ w", 80),
    kernel("z = y.relu()", 40),
    clock("t1", since="t0"),
    item("z[0].item()"),
    clock("t2", since="t0"),
]
STREAMS = [
    copy("b = x.to(device)", 60, stream="side", pinned=True, non_blocking=True, reads="x"),
    record("here", stream="side"),
    stream_waits("here", stream="default"),
    python("x.zero_()", 5, writes="x"),
    kernel("y = b @ w", 30),
    synchronize(),
]
BROKEN = [kernel("y = t[i]", 50, fails="device-side assert"), python("log()", 60), kernel("z = y + 1", 5)]
PROGRAMS = {"timed": TIMED, "streams": STREAMS, "broken": BROKEN, "empty": []}


@pytest.fixture(params=PROGRAMS)
def story(request):
    return tell(run(PROGRAMS[request.param], title=request.param))


def test_the_story_of_a_timed_product():
    story = tell(run(TIMED, title="Timing"))
    told = {us(moment.at): moment.say for moment in story.moments}
    assert story.heading == "Timing (model), 7 moments"
    assert told["20 µs"].startswith("`y.relu()` is queued, and Python goes on.")
    assert (
        "Python's clock says `20 µs` from t0 to t1; the GPU's work of these lines takes `120 µs`."
        in told["20 µs"]
    )
    assert told["90 µs"] == "`x @ w` is done. `y.relu()` runs on the default stream."
    assert told["30 µs"] == "`z[0].item()` is queued. Python waits."
    assert story.moments[-1].say.endswith("Python is done.")
    assert (
        "Python is done at `135 µs`, the last lane is done at `135 µs`. Python waits `105 µs` of it."
        in story.sentence
    )


def test_the_text_twin_says_all_that_the_view_says(story):
    text = str(story)
    for words in (story.heading, story.sentence, *story.lanes.lines, *(m.say for m in story.moments)):
        assert words.replace("`", "") in text
    for note in story.lanes.notes:
        assert note.replace("`", "") in text


def test_an_error_is_told_where_it_happens_and_where_it_is_raised():
    story = tell(run(BROKEN))
    failed, raised = story.moments[-2], story.moments[-1]
    assert "`t[i]` fails: device-side assert." in failed.say
    assert "raises the error now, in `z = y + 1`" in raised.say and raised.line == 2
    assert story.raised == len(story.moments)
    assert story.sentence.startswith("Python is stopped by an error at `70 µs`")


def test_moments_stand_in_order_and_spans_in_moments(story):
    times = [moment.at for moment in story.moments]
    assert times == sorted(set(times)) and all(moment.say for moment in story.moments)
    for i, span in zip(story.lanes.intervals, story.spans, strict=True):
        assert times[span.first - 1] == i.start and times[span.last - 1] == i.end
        assert (times[span.queued - 1] if span.queued else None) == i.queued


def boxes(drawn: str) -> list[tuple[float, float, float]]:
    """x, y, width of each interval."""
    found = re.findall(
        r'class="tc-i [^"]*" transform="translate\(([\d.]+) ([\d.]+)\)">.*?tc-face" width="([\d.]+)"', drawn
    )
    return [tuple(map(float, box)) for box in found]


def test_boxes_stand_where_their_times_are(story):
    lanes, scale = story.lanes, scale_of(story.lanes)
    drawn = drawing(story)
    found = boxes(drawn.body)
    assert len(found) == len(lanes.intervals)
    for i, (x, y, width) in zip(lanes.intervals, found, strict=True):
        assert abs(x - scale.x(i.start)) < 0.1 and abs(x + width - max(scale.x(i.end), x + 2)) < 0.2
        assert x >= LEFT and x + width <= drawn.width and 0 <= y < drawn.height
    assert len({y for _, y, _ in found}) == len({i.lane for i in lanes.intervals})
    assert cursor(story) == sorted(cursor(story))


def test_no_box_of_the_live_picture_begins_in_a_state(story):
    """The front end sets tc-now and its kind; a box that has one from the start would keep it."""
    states = {"tc-now", "tc-past", "tc-come", "tc-queued"}
    for names in re.findall(r'<g class="(tc-[irw][^"]*)"', drawing(story).body):
        assert not states & set(names.split())


def test_labels_fit_into_their_boxes(story):
    for width, text in re.findall(
        r'tc-face" width="([\d.]+)"[^>]*/>(?:<text[^>]*>([^<]*)</text>)?', drawing(story).body
    ):
        assert len(text) * 6.7 <= float(width)


def test_every_picture_is_well_formed_and_stays_in_its_card(story):
    for picture in (drawing(story).element(), svg(story)):
        root = ET.fromstring(picture)
        assert int(root.get("width")) <= 760 and "NaN" not in picture
    assert "tc-cursor" not in svg(story)


def test_what_is_unsafe_stands_in_the_static_picture_too():
    assert "Unsafe: x.zero_() touches x" in svg(tell(run(STREAMS)))
    assert "Python raised it at" in svg(tell(run(BROKEN)))


def test_a_long_profile_is_wide_and_its_static_picture_is_not():
    calls = []
    for k in range(300):
        at = {"ph": "X", "tid": 1, "ts": 100 * k, "dur": 40, "name": f"aten::op{k}", "cat": "cpu_op"}
        call = at | {"cat": "cuda_runtime", "name": "cudaLaunchKernel", "dur": 4, "args": {"correlation": k}}
        work = at | {"cat": "kernel", "name": "gemm", "dur": 90, "args": {"correlation": k, "stream": 7}}
        calls += [at, call, work]
    story = tell(read_profile({"traceEvents": calls}))
    assert WIDTH < drawing(story).width <= WIDEST
    assert drawing(story, static=True).width == WIDTH


def test_a_profile_without_a_gpu_says_why_nothing_is_queued():
    trace = {"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "aten::add", "ts": 0, "dur": 5, "tid": 1}]}
    assert "No GPU work in here" in tell(read_profile(trace)).sentence
    assert "No GPU work in here" in tell(Lanes("t", "model", (), ())).sentence


def test_text_of_a_program_is_never_markup():
    hostile = '<script>alert("x")</script>'
    story = tell(run([kernel(hostile, 500), python(hostile, 500)], title=hostile))
    for picture in (drawing(story).element(), svg(story)):
        ET.fromstring(picture)
        assert "<script" not in picture


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0 µs"), (12.25, "12.2 µs"), (9999, "9,999 µs"), (12_345, "12.35 ms"), (20_000, "20 ms")],
)
def test_times_read_well(value, text):
    assert us(value) == text


def test_the_same_bytes_in_every_process():
    code = "from tests.graphs.test_queue import *; print(svg(tell(run(STREAMS))))"
    runs = {
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    }
    assert runs == {svg(tell(run(STREAMS))) + "\n"}
