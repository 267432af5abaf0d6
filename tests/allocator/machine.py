"""Random requests for the property tests, and what must hold after each of them."""

from contextlib import suppress
from itertools import pairwise

from hypothesis import strategies as st

from torchcourse.allocator import OutOfMemoryError
from torchcourse.allocator.sizes import MIB

SIZES = st.one_of(
    st.integers(1, 4096),
    st.integers(1, 2 * MIB),
    st.sampled_from([MIB, MIB + 1, 5 * MIB, 10 * MIB - 512, 10 * MIB, 20 * MIB, 33 * MIB]),
    st.integers(1, 64 * MIB),
)
REQUESTS = st.lists(
    st.one_of(
        st.tuples(st.just("malloc"), SIZES, st.sampled_from([0, 0, 7])),
        st.tuples(st.just("free"), st.integers(0, 1000)),
        st.tuples(st.just("free"), st.integers(0, 1000)),
        st.tuples(st.just("record_stream"), st.integers(0, 1000), st.sampled_from([7, 9])),
        st.tuples(st.just("gpu_busy"), st.booleans()),
        st.tuples(st.just("empty_cache")),
    ),
    max_size=80,
)
CONFS = st.sampled_from(
    [
        "",
        "expandable_segments:True",
        "max_split_size_mb:32",
        "roundup_power2_divisions:4",
        "garbage_collection_threshold:0.5,per_process_memory_fraction:0.9",
        "large_segment_size_mb:51",
        "expandable_segments:True,large_segment_size_mb:30",
    ]
)


def act(model, live, request):
    """Apply one request; `live` holds the addresses in use with what was asked for."""
    name, *arguments = request
    if name == "malloc":
        with suppress(OutOfMemoryError):
            live[model.malloc(*arguments)] = arguments[0]
    elif name == "gpu_busy":
        model.gpu_busy = arguments[0]
    elif name == "empty_cache":
        model.empty_cache()
    elif live:
        address = list(live)[arguments[0] % len(live)]
        if name == "free":
            model.free(address)
            del live[address]
        else:
            model.record_stream(address, arguments[1])


def check(model, live):
    """Blocks tile their segments, nothing overlaps, no two free neighbours, the sums are the statistics."""
    segments = model.snapshot()["segments"]
    for segment in segments:
        _check_blocks(segment, segment["address"] + segment["total_size"])
    for segment, following in pairwise(segments):
        assert segment["address"] + segment["total_size"] <= following["address"]
    blocks = [block for segment in segments for block in segment["blocks"]]
    used = {b["address"]: b["requested_size"] for b in blocks if b["state"] == "active_allocated"}
    assert used == live
    _check_sums(model, segments, blocks)


def _check_blocks(segment, end):
    here, free_before = segment["address"], False
    for block in segment["blocks"]:
        assert block["address"] == here and block["size"] > 0 and block["size"] % 512 == 0
        is_free = block["state"] == "inactive"
        assert not (is_free and free_before)
        here, free_before = here + block["size"], is_free
    assert here == end


def _check_sums(model, segments, blocks):
    stats = model.memory_stats()

    def total(*states):
        return sum(block["size"] for block in blocks if block["state"] in states)

    assert (
        stats["reserved_bytes.all.current"]
        == sum(s["total_size"] for s in segments)
        == model.memory_reserved()
    )
    assert stats["allocated_bytes.all.current"] == total("active_allocated") == model.memory_allocated()
    assert stats["active_bytes.all.current"] == total("active_allocated", "active_pending_free")
    for name in {key.rpartition(".all.")[0] for key in stats if ".all." in key}:
        part = {p: [stats[f"{name}.{pool}.{p}"] for pool in ("all", "small_pool", "large_pool")]
                for p in ("current", "peak", "allocated", "freed")}  # fmt: skip
        for p in ("current", "allocated", "freed"):
            assert part[p][0] == part[p][1] + part[p][2]
        assert all(peak >= now >= 0 for peak, now in zip(part["peak"], part["current"], strict=True))
        assert part["allocated"][0] - part["freed"][0] == part["current"][0]
