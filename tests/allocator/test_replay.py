"""Replay: traces that start in the middle, that contradict themselves, and that are no traces."""

import copy
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from torchcourse.allocator import Allocator, SnapshotError, replay
from torchcourse.allocator.record import read_record
from torchcourse.allocator.sizes import MIB
from torchcourse.allocator.walk import Walk

from .conftest import run_golden
from .machine import CONFS, REQUESTS, act


@pytest.fixture
def snapshot():
    model = Allocator(256 * MIB)
    kept = [model.malloc(size) for size in (1000, 3 * MIB, 30 * MIB, 5000)]
    for address in kept[:3]:
        model.free(address)
    model.malloc(2 * MIB)
    model.empty_cache()
    model.malloc(40 * MIB)
    return model.snapshot()


def without_start(snapshot, entries):
    return {**snapshot, "device_traces": [snapshot["device_traces"][0][entries:]]}


def trace(snapshot):
    return snapshot["device_traces"][0]


def test_a_replay_says_what_it_did(snapshot):
    replayed = replay(snapshot)
    assert len(replayed.events) == len(trace(snapshot))
    assert all(event.agrees and event.recorded == event.model for event in replayed.events)
    assert str(
        replayed
    ) == f"{len(replayed.events)} of {len(replayed.events)} events agree, peak reserved " + (
        f"{replayed.peak_reserved} bytes"
    )


UNKNOWABLE = {
    "expandable_small_gpu",
    "gc",
}  # the record lacks a reservation's size; a first block's exact size


@pytest.mark.parametrize("part", [1 / 4, 1 / 2, 3 / 4])
def test_a_trace_that_starts_in_the_middle(golden, part, request):
    """A ring buffer loses its oldest entries; what stood there is worked out from the rest."""
    model, _ = run_golden(golden)
    whole = model.snapshot()
    replayed = replay(without_start(whole, int(len(trace(whole)) * part)))
    if any(name in request.node.callspec.id for name in UNKNOWABLE):
        first = replayed.first_difference
        assert first is None or "is not in the record" in first.why or "does not hold" in first.why
    else:
        assert replayed.first_difference is None
        assert replayed.layout_agrees


def test_the_peak_counts_what_was_there_at_the_start(snapshot):
    replayed = replay(without_start(snapshot, len(trace(snapshot)) - 1))
    assert replayed.peak_reserved == sum(segment["total_size"] for segment in snapshot["segments"])


def test_only_a_layout(snapshot):
    replayed = replay(without_start(snapshot, len(trace(snapshot))))
    assert replayed.events == () and replayed.layout_agrees


def index_of(snapshot, action, nth=0):
    return [n for n, entry in enumerate(trace(snapshot)) if entry["action"] == action][nth]


def first_difference(snapshot):
    found = replay(snapshot).first_difference
    assert found is not None and found.why.endswith(".") and str(found)
    return found


def test_an_address_that_the_rules_do_not_give(snapshot):
    number = index_of(snapshot, "alloc", 4)
    trace(snapshot)[number]["addr"] += 512
    found = first_difference(snapshot)
    assert found.index == number
    assert found.event.recorded == found.event.model + 512


def test_a_segment_of_another_size(snapshot):
    number = index_of(snapshot, "segment_alloc", 1)
    trace(snapshot)[number]["size"] += 2 * MIB
    assert first_difference(snapshot).index == number


def test_a_segment_that_was_not_needed(snapshot):
    number = index_of(snapshot, "alloc", 3)
    entry = {"action": "segment_alloc", "addr": 1 << 40, "size": 2 * MIB, "stream": 0}
    trace(snapshot).insert(number, entry)
    assert first_difference(snapshot).index == number


def test_a_segment_that_no_entry_made_was_there_at_the_start(snapshot):
    del trace(snapshot)[index_of(snapshot, "segment_alloc", 1)]
    replayed = replay(snapshot)
    assert replayed.first_difference is None and replayed.layout_agrees


def test_a_layout_that_no_entry_explains(snapshot):
    del trace(snapshot)[index_of(snapshot, "segment_free")]
    replayed = replay(snapshot)
    assert replayed.first_difference is None and not replayed.layout_agrees
    assert str(replayed).endswith("every event agrees, the final layout differs")


def test_a_block_that_is_freed_twice(snapshot):
    number = index_of(snapshot, "free_completed")
    trace(snapshot)[number + 1 : number + 1] = [
        {**trace(snapshot)[number], "action": "free_requested"},
        dict(trace(snapshot)[number]),
    ]
    found = first_difference(snapshot)
    assert found.index == number + 1 and "no block is in use" in found.why


def test_a_free_that_nobody_asked_for(snapshot):
    number = index_of(snapshot, "free_requested", 1)
    del trace(snapshot)[number]
    assert "no free asked for" in first_difference(snapshot).why


def test_a_block_that_never_fits(snapshot):
    trace(snapshot).append({"action": "oom", "device_free": 0, "size": 512, "stream": 0})
    found = first_difference(snapshot)
    assert found.index == len(trace(snapshot)) - 1 and "the model has a block" in found.why


@settings(max_examples=120, deadline=None)
@given(REQUESTS, CONFS, st.integers(0, 1 << 32), st.sampled_from([None, "segment", "address", "block"]))
def test_a_record_that_contradicts_itself_raises_nothing(requests, conf, seed, tie):
    model, live, chance = Allocator(256 * MIB, conf), {}, random.Random(seed)
    for request in requests:
        act(model, live, request)
    snapshot = copy.deepcopy(model.snapshot())
    for _ in range(3):
        spoil(snapshot, chance)
    record = read_record(snapshot)
    run = Walk(record, tie or record.tie)
    assert len(run.result().events) == len(trace(snapshot))
    segments = run.model.snapshot()["segments"]
    assert run.model.memory_reserved() == sum(segment["total_size"] for segment in segments)


def spoil(snapshot, chance):
    """Make the record contradict itself in one place."""
    entries, segments = trace(snapshot), snapshot["segments"]
    if entries:
        here, there = (chance.randrange(len(entries)) for _ in range(2))
        entry, other = entries[here], entries[there]
        chance.choice(
            [
                lambda: entries.pop(here),
                lambda: entries.insert(there, dict(entry)),
                lambda: entries.__setitem__(slice(here, here + 1), [dict(other)]),
                lambda: entry.update(size=chance.choice([0, 1, 512, other["size"], (1 << 61) + 7])),
                lambda: entry.update(addr=chance.choice([0, 1, other.get("addr", 5), 1 << 61])),
                lambda: entry.update(stream=chance.choice([-5, 0, 7])),
            ]
        )()
    if segments:
        segment = chance.choice(segments)
        block = chance.choice(segment["blocks"])
        chance.choice(
            [
                lambda: None,
                lambda: segments.remove(segment),
                lambda: segment["blocks"].append(dict(block)),
                lambda: block.update(size=chance.choice([0, 1, 512, 1 << 61])),
                lambda: block.update(
                    state=chance.choice(["inactive", "active_allocated", "active_pending_free"])
                ),
                lambda: segment.update(address=chance.choice([0, 1, segments[0]["address"] + 512])),
                lambda: segment.update(is_expandable=not segment["is_expandable"]),
            ]
        )()


def remove(*path):
    def change(snapshot):
        holder = snapshot
        for key in path[:-1]:
            holder = holder[key]
        del holder[path[-1]]

    return change


def put(value, *path):
    def change(snapshot):
        holder = snapshot
        for key in path[:-1]:
            holder = holder[key]
        holder[path[-1]] = value

    return change


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (remove("segments"), "The snapshot has no 'segments'"),
        (remove("device_traces"), "The snapshot has no 'device_traces'"),
        (put(None, "segments"), "segments is a list, not None"),
        (put([3], "segments"), "Segment 0 is a dictionary, not 3"),
        (put([{}], "device_traces"), "The trace of device 0 is a list, not a dict"),
        (put("alloc", "device_traces", 0, 2), "Entry 2 of the trace is a dictionary, not 'alloc'"),
        (remove("device_traces", 0, 2, "action"), "action is a string, not None"),
        (put("map", "device_traces", 0, 2, "action"), "Entry 2 .* another backend or of a version"),
        (put([[]], "device_traces", 0, 2, "action"), "action is a string, not a list"),
        (remove("device_traces", 0, 2, "addr"), "Entry 2 of the trace has no 'addr'"),
        (put(-1, "device_traces", 0, 2, "size"), "size is a whole number from 0"),
        (put("12", "device_traces", 0, 2, "size"), "size is a whole number .*not '12'"),
        (put(True, "device_traces", 0, 2, "size"), "size is a whole number .*not True"),
        (put(2.5, "device_traces", 0, 2, "addr"), "addr is a whole number .*not 2.5"),
        (put(None, "device_traces", 0, 2, "stream"), "stream is a whole number, not None"),
        (remove("segments", 0, "blocks"), "Segment 0 has no 'blocks'"),
        (remove("segments", 0, "address"), "Segment 0 has no 'address'"),
        (put("tiny", "segments", 0, "segment_type"), "'small' or 'large', not 'tiny'"),
        (put(1 << 80, "segments", 0, "total_size"), "total_size is a whole number"),
        (put(7, "segments", 0, "blocks", 0), "Block 0 of segment 0 is a dictionary"),
        (remove("segments", 0, "blocks", 0, "size"), "Block 0 of segment 0 has no 'size'"),
        (put(3, "segments", 0, "blocks", 0, "state"), "state is a string, not 3"),
    ],
)
def test_missing_and_mistyped_fields_are_named(snapshot, change, why):
    change(snapshot)
    with pytest.raises(SnapshotError, match=why):
        replay(snapshot)


def test_a_list_of_blocks_belongs_to_one_segment(snapshot):
    snapshot["segments"] = [snapshot["segments"][0]] * 1000
    with pytest.raises(SnapshotError, match="shares its list of blocks"):
        replay(snapshot)


def test_wrong_calls(snapshot):
    for device in (1, -1, True, "cuda"):
        with pytest.raises(SnapshotError, match="has 1 devices"):
            replay(snapshot, device=device)
    with pytest.raises(ValueError, match="tie is one of"):
        replay(snapshot, tie="size")
    with pytest.raises(SnapshotError, match="A snapshot is a dictionary, not a list"):
        replay([])


def test_settings_that_make_no_sense_are_left_aside(snapshot):
    snapshot["allocator_settings"] = {
        "PYTORCH_CUDA_ALLOC_CONF": "no:sense",
        "max_split_size": "x",
        "expandable_segments": 3,
        "roundup_power2_divisions": {"1": "x"},
    }
    assert replay(snapshot).first_difference is None
