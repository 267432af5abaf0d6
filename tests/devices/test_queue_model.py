"""The model of the queue: by hand where the answer is known, and what must hold for any program."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from torchcourse.devices.queue import (
    CALL,
    LAUNCH,
    READ,
    Lanes,
    clock,
    copy,
    item,
    kernel,
    python,
    record,
    run,
    stream_waits,
    synchronize,
    wait_for,
)


def on(lanes: Lanes, lane: str) -> list[tuple[str, float, float]]:
    return [(i.kind, i.start, i.end) for i in lanes.intervals if i.lane == lane]


def test_launches_return_at_once_and_kernels_follow_one_another():
    lanes = run([kernel("y = x @ w", 80), kernel("z = y.relu()", 40)])
    assert on(lanes, "host") == [("launch", 0, 10), ("launch", 10, 20)]
    assert on(lanes, "default") == [("kernel", 10, 90), ("kernel", 90, 130)]
    assert (lanes.host_end, lanes.end, lanes.busy("default"), lanes.waited) == (20, 130, 120, 0)


def test_a_slow_host_leaves_the_gpu_idle():
    lanes = run([kernel("a + b", 4), kernel("c + d", 4), kernel("e + f", 4)])
    assert on(lanes, "default") == [("kernel", 10, 14), ("kernel", 20, 24), ("kernel", 30, 34)]


def test_item_waits_for_all_that_stands_before_it():
    lanes = run([kernel("y = x @ w", 80), item("y[0].item()")])
    assert on(lanes, "host")[-1] == ("wait", 20, 90 + READ)
    wait = lanes.intervals[-1]
    assert lanes.intervals[wait.cause].label == "y[0].item()"


def test_pythons_clock_sees_launches_and_events_see_kernels():
    lanes = run(
        [
            record("start"), clock("t0"), kernel("y = x @ w", 80), clock("t1", since="t0"),
            record("end", since="start"), synchronize(), clock("t2", since="t0"),
        ]
    )  # fmt: skip
    timings = {t.last: (t.by, t.us, t.gpu_us) for t in lanes.timings}
    assert timings["t1"] == ("clock", LAUNCH, 80)
    assert timings["t2"] == ("clock", 90, 80)
    # From the marker on the empty stream to the one behind the kernel: the launch is in it, too.
    assert timings["end"] == ("events", LAUNCH + 80, 80)


def test_events_around_queued_work_time_it_exactly():
    busy = [kernel("warm up", 200), record("start"), kernel("y = x @ w", 80), record("end", since="start")]
    (timing,) = run(busy).timings
    assert timing.us == timing.gpu_us == 80


@pytest.mark.parametrize(
    ("pinned", "non_blocking", "waits"),
    [(False, False, True), (False, True, True), (True, False, True), (True, True, False)],
)
def test_only_pinned_and_non_blocking_lets_the_host_go_on(pinned, non_blocking, waits):
    lanes = run([copy("x.to(device)", 60, pinned=pinned, non_blocking=non_blocking)])
    assert lanes.host_end == (70 if waits else 10)


def test_a_copy_overlaps_with_a_kernel_of_another_stream_and_not_of_its_own():
    step = [kernel("y = x @ w", 100), copy("b.to(device)", 60, stream="side", pinned=True, non_blocking=True)]
    assert run(step).end == 110
    step[1] = copy("b.to(device)", 60, pinned=True, non_blocking=True)
    assert run(step).end == 170


def test_a_stream_waits_for_an_event_while_the_host_goes_on():
    lanes = run(
        [
            copy("b.to(device)", 60, stream="side", pinned=True, non_blocking=True),
            record("here", stream="side"),
            stream_waits("here", stream="default"),
            kernel("y = model(b)", 30),
        ]
    )
    assert on(lanes, "default") == [("kernel", 70, 100)] and lanes.host_end == 2 * LAUNCH + 2 * CALL
    kernel_box = next(i for i in lanes.intervals if i.kind == "kernel")
    assert lanes.intervals[kernel_box.cause].kind == "copy"


def test_the_host_waits_for_an_event_and_not_for_what_came_after_it():
    lanes = run([kernel("a", 50), record("half"), kernel("b", 500), wait_for("half")])
    assert lanes.host_end == 60


def test_synchronize_waits_for_one_stream_or_for_all():
    step = [kernel("a", 50), kernel("b", 500, stream="side")]
    assert run([*step, synchronize(stream="default")]).host_end == 60
    assert run([*step, synchronize()]).host_end == 520
    assert run([synchronize()]).intervals == ()


BROKEN = kernel("y = table[index]", 50, fails="device-side assert triggered")


def test_an_error_appears_in_a_later_innocent_line():
    lanes = run(
        [BROKEN, kernel("z = y * 2", 40), python("log()", 60), kernel("w = z + 1", 40), python("more()", 5)]
    )
    failure = lanes.failure
    assert (failure.step, failure.at, failure.raised_step, failure.raised_at) == (0, 60, 3, 80)
    assert on(lanes, "default") == [("kernel", 10, 60)]
    assert "more()" not in [i.label for i in lanes.intervals]
    assert "Python raised it at 80 µs, in `w = z + 1`" in str(lanes)


@pytest.mark.parametrize("last", [item("z.item()"), synchronize(), copy("z.cpu()", 20)])
def test_who_waits_hears_of_the_error_when_it_happens(last):
    failure = run([BROKEN, last]).failure
    assert (failure.raised_step, failure.raised_at) == (1, 60)


def test_launch_blocking_moves_the_error_to_its_line():
    failure = run([BROKEN, kernel("z = y * 2", 40)], launch_blocking=True).failure
    assert failure.step == failure.raised_step == 0


def test_an_error_that_nobody_waits_for_is_said_so():
    lanes = run([BROKEN])
    assert lanes.failure.raised_step is None and "before anyone noticed" in str(lanes)


def test_non_blocking_is_unsafe_where_the_host_touches_the_memory_too_early():
    send = copy(
        "g = x.to(device, non_blocking=True)", 60, pinned=True, non_blocking=True, reads="x", writes="g"
    )
    (hazard,) = run([send, python("x.zero_()", 5, writes="x")]).hazards
    assert (hazard.buffer, hazard.step, hazard.at, hazard.other, hazard.until) == ("x", 1, 10, 0, 70)
    assert run([send, synchronize(), python("x.zero_()", 5, writes="x")]).hazards == ()
    assert run([send, python("x.sum()", 5, reads="x")]).hazards == (), "two readers may meet"
    assert run([send, kernel("g * 2", 20, reads="g")]).hazards == (), "one stream keeps the order"
    assert run([send, kernel("g * 2", 20, stream="side", reads="g")]).hazards != ()


def test_bad_programs_get_one_sentence():
    for bad, error, words in (
        (kernel("y", 1), TypeError, "a program is a list of steps"),
        ([3], TypeError, "line 1 of the program is no step"),
        (
            [wait_for("never")],
            ValueError,
            "line 1 needs 'never', which no earlier line has made; there is none",
        ),
        ([clock("t1", since="t0")], ValueError, "needs 't0'"),
        ([python("p", 1)] * 2001, ValueError, "2,000 lines"),
    ):
        with pytest.raises(error, match=words):
            run(bad)
    for make, error, words in (
        (lambda: kernel("y", -1), ValueError, "0 or more; got -1"),
        (lambda: kernel("y", float("nan")), ValueError, "0 or more; got nan"),
        (lambda: kernel("y", "long"), TypeError, "a number; got 'long'"),
        (lambda: kernel(3, 1), TypeError, "begins with its line of code"),
    ):
        with pytest.raises(error, match=words):
            make()


times = st.integers(0, 60)
streams = st.sampled_from(["default", "side"])
steps = st.one_of(
    st.builds(lambda us: python("p", us), times),
    st.builds(lambda us, stream: kernel("k", us, stream=stream), times, streams),
    st.builds(
        lambda us, stream, pinned, non_blocking: copy(
            "c", us, stream=stream, pinned=pinned, non_blocking=non_blocking
        ),
        times,
        streams,
        st.booleans(),
        st.booleans(),
    ),
    st.builds(lambda stream: item("i", stream=stream), streams),
    st.just(synchronize()),
    st.builds(lambda stream: synchronize(stream=stream), streams),
)
programs = st.lists(steps, max_size=12).map(
    lambda middle: [record("e0"), *middle, stream_waits("e0", stream="side")]
)


@given(programs)
def test_what_holds_for_every_program(program):
    lanes = run(program)
    for lane in (*lanes.hosts, *lanes.streams):
        own = [i for i in lanes.intervals if i.lane == lane]
        assert all(before.end <= after.start for before, after in pairwise(own))
    host = [i for i in lanes.intervals if i.lane == "host"]
    assert all(before.end == after.start for before, after in pairwise(host)), "the host never rests"
    for i in lanes.intervals:
        if i.queued is not None:
            assert i.start >= i.queued
            # It starts as early as it may: when queued, or when something ends.
            assert i.start == i.queued or any(other.end == i.start for other in lanes.intervals)
        if i.cause is not None:
            assert lanes.intervals[i.cause].end == (i.end if i.kind == "wait" else i.start)


@given(programs)
def test_launch_blocking_is_never_faster_and_never_overlaps(program):
    blocked = run(program, launch_blocking=True)
    assert blocked.end >= run(program).end
    busy = [i for i in blocked.intervals if i.kind in ("kernel", "copy")]
    assert all(before.end <= after.start for before, after in pairwise(busy))
