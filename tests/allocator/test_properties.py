"""What holds whatever is requested."""

import pickle

from hypothesis import given, settings
from hypothesis import strategies as st

from torchcourse.allocator import Allocator, replay
from torchcourse.allocator.size_index import SizeIndex
from torchcourse.allocator.sizes import MIB

from .machine import CONFS, REQUESTS, act, check


@settings(max_examples=150, deadline=None)
@given(REQUESTS, CONFS, st.sampled_from(["segment", "address", "block"]), st.sampled_from(["up", "down"]))
def test_the_invariants(requests, conf, tie, addresses):
    model, live = Allocator(256 * MIB, conf, tie, addresses), {}
    for request in requests:
        act(model, live, request)
        check(model, live)


@settings(max_examples=60, deadline=None)
@given(REQUESTS, CONFS)
def test_everything_can_be_given_back(requests, conf):
    model, live = Allocator(256 * MIB, conf), {}
    for request in requests:
        act(model, live, request)
    for address in live:
        model.free(address)
    model.empty_cache()
    assert model.memory_reserved() == model.memory_allocated() == 0
    assert model.mem_get_info() == (256 * MIB, 256 * MIB)


@settings(max_examples=60, deadline=None)
@given(REQUESTS, st.sampled_from(["", "max_split_size_mb:32", "roundup_power2_divisions:4"]))
def test_a_model_agrees_with_the_replay_of_its_trace(requests, conf):
    model, live = Allocator(256 * MIB, conf), {}
    for request in requests:
        if request[0] != "gpu_busy":
            act(model, live, request)
    replayed = replay(model.snapshot())
    assert replayed.first_difference is None
    assert replayed.peak_reserved == model.max_memory_reserved()


@settings(max_examples=60, deadline=None)
@given(REQUESTS)
def test_peaks_are_the_largest_current_values(requests):
    model, live, highest = Allocator(256 * MIB), {}, 0
    for request in requests:
        act(model, live, request)
        highest = max(highest, model.memory_allocated())
    assert model.max_memory_allocated() == highest


@settings(max_examples=40, deadline=None)
@given(REQUESTS)
def test_statistics_do_not_depend_on_when_one_looks(requests):
    often, once = (Allocator(256 * MIB) for _ in range(2))
    first, second = {}, {}
    for request in requests:
        act(often, first, request)
        often.memory_stats()
        act(once, second, request)
    assert often.memory_stats() == once.memory_stats()


NUMBERS = st.integers(0, 100) | st.integers(0, 1 << 14) | st.integers(0, (1 << 52) - 1)


@given(st.lists(st.tuples(st.booleans(), NUMBERS)), NUMBERS)
def test_the_index_of_sizes_is_a_sorted_set(steps, asked):
    index, members = SizeIndex(), set()
    for add, number in steps:
        if add:
            index.add(number)
            members.add(number)
        elif number in members:
            index.remove(number)
            members.remove(number)
        assert index.next_from(asked) == min((m for m in members if m >= asked), default=-1)
    for number in sorted(members):
        index.remove(number)
    assert index.next_from(0) == -1


def test_a_snapshot_is_plain_data():
    model = Allocator(256 * MIB)
    model.free(model.malloc(30 * MIB))
    assert b"torchcourse" not in pickle.dumps(model.snapshot())
