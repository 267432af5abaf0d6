"""A history call by call, and the same calls once more under other settings."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from torchcourse.allocator import Allocator, OutOfMemoryError, rerun, save_snapshot
from torchcourse.allocator.history import history
from torchcourse.allocator.sizes import GIB, MIB

from .conftest import GOLDEN, read, run_golden

SIZES = st.sampled_from((1, 512, 4096, MIB // 2, MIB, MIB + 1, 3 * MIB, 12 * MIB, 40 * MIB, 90 * MIB))
REQUESTS = st.lists(
    st.tuples(st.sampled_from(("malloc", "free", "empty_cache", "stream")), SIZES, st.integers(0, 99))
)


def run(requests, total=256 * MIB, conf=""):
    model, live = Allocator(total, conf), []
    for name, size, place in requests:
        if name == "malloc":
            try:
                live.append(model.malloc(size, place % 2))
            except OutOfMemoryError:
                continue
        elif name == "empty_cache":
            model.empty_cache()
        elif live:
            address = live.pop(place % len(live))
            if name == "stream":
                model.record_stream(address, 7)
            model.free(address)
    return model


def kinds(past):
    return [call.kind for call in past.calls]


def test_a_malloc_is_one_call_whatever_it_leads_to():
    model = Allocator(64 * MIB)
    first = model.malloc(30 * MIB)
    model.free(first)
    model.malloc(60 * MIB)  # the driver refuses, so the first segment goes back
    with pytest.raises(OutOfMemoryError):
        model.malloc(60 * MIB)
    past = history(model)
    assert kinds(past) == ["malloc", "free", "malloc", "malloc"]
    assert [call.last - call.first for call in past.calls] == [2, 1, 3, 1]


def test_memory_given_back_by_the_program_is_a_call_of_its_own():
    model = Allocator(GIB)
    model.free(model.malloc(30 * MIB))
    model.empty_cache()
    model.malloc(60 * MIB)
    assert kinds(history(model)) == ["malloc", "free", "give back", "malloc"]


def test_a_free_that_waits_is_two_calls():
    model = Allocator(GIB)
    address = model.malloc(MIB)
    model.record_stream(address, 3)
    model.free(address)
    model.malloc(MIB)
    assert kinds(history(model)) == ["malloc", "free", "finish", "malloc"]


@settings(deadline=None, max_examples=60)
@given(REQUESTS)
def test_calls_tile_the_log(requests):
    past = history(run(requests))
    bounds = [0, *(call.last for call in past.calls)]
    assert [call.first for call in past.calls] == bounds[:-1] and bounds[-1] == len(past.log)


@settings(deadline=None, max_examples=60)
@given(REQUESTS, st.sampled_from(("", "expandable_segments:True")))
def test_the_same_settings_give_the_same_history(requests, conf):
    model = run(requests, conf=conf)
    again = rerun(model, conf)
    assert list(again.trace()) == list(model.trace())
    assert again.memory_allocated() == model.memory_allocated()


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.name.removesuffix(".json.gz"))
def test_recorded_runs_can_be_made_under_any_settings(path):
    golden = read(path)
    model, _ = run_golden(golden)
    for conf in ("", "expandable_segments:True", "max_split_size_mb:20"):
        again = rerun(model, conf, total_bytes=1 << 44)
        asked, given = (sum(entry.action == "alloc" for entry in one.trace()) for one in (model, again))
        failed = sum(entry.action == "oom" for entry in model.trace())
        assert given == asked + failed


def test_a_snapshot_has_the_history_of_its_model(tmp_path):
    model = run([("malloc", 3 * MIB, 0), ("malloc", 12 * MIB, 0), ("free", 1, 0), ("empty_cache", 1, 0)])
    save_snapshot(model.snapshot(), tmp_path / "snapshot.pickle")
    for source in (model.snapshot(), tmp_path / "snapshot.pickle", str(tmp_path / "snapshot.pickle")):
        assert history(source).log == history(model).log


def test_a_run_ends_where_it_is_the_first_to_run_out():
    model = Allocator(GIB)
    held = [model.malloc(100 * MIB) for _ in range(3)]
    model.free(held[0])
    small = rerun(model, total_bytes=256 * MIB)
    assert [entry.action for entry in small.trace()][-1] == "oom"
    assert small.memory_allocated() == 200 * MIB


def test_where_one_ran_out_the_other_may_go_on():
    model = Allocator(256 * MIB)
    held = [model.malloc(100 * MIB) for _ in range(2)]
    with pytest.raises(OutOfMemoryError):
        model.malloc(100 * MIB)
    model.free(held[0])
    assert rerun(model, total_bytes=GIB).memory_allocated() == 200 * MIB


def test_what_cannot_be_run_again_gets_a_sentence():
    model = Allocator(GIB)
    model.malloc(MIB)
    whole = model.snapshot()
    with pytest.raises(ValueError, match="does not tell the size of its card"):
        rerun(whole)
    assert rerun(whole, total_bytes=GIB).memory_allocated() == MIB
    whole["device_traces"] = [[]]
    with pytest.raises(ValueError, match="starts in the middle"):
        rerun(whole, total_bytes=GIB)
    with pytest.raises(TypeError, match=r"an Allocator, a snapshot .* not a int"):
        history(3)
