"""A sentence for each event."""

import pytest

from torchcourse.allocator import Allocator, OutOfMemoryError, replay
from torchcourse.allocator.sizes import MIB

from .conftest import run_golden


def test_the_sentences():
    model = Allocator(64 * MIB)
    first = model.malloc(int(1.2 * MIB))
    model.malloc(MIB + 1)
    model.free(first)
    model.free(model.malloc(30 * MIB))
    model.empty_cache()
    with pytest.raises(OutOfMemoryError):
        model.malloc(60 * MIB)
    assert [f"{entry.action}: {why}" for entry, why in zip(model.trace(), model.reasons(), strict=True)] == [
        "segment_alloc: No cached block fits: cudaMalloc of 20.00 MiB.",
        "alloc: 1.20 MiB, large pool: from the new memory, 20.00 MiB; split, 18.80 MiB left.",
        "alloc: 1.00 MiB, large pool: best fit, a free block of 18.80 MiB; split, 17.80 MiB left.",
        "free_requested: The program freed it, and no other stream uses it.",
        "free_completed: The block of 1.20 MiB is free; no neighbour is.",
        "segment_alloc: No cached block fits: cudaMalloc of 30.00 MiB.",
        "alloc: 30.00 MiB, large pool: from the new memory, 30.00 MiB; taken whole.",
        "free_requested: The program freed it, and no other stream uses it.",
        "free_completed: The block of 30.00 MiB is free, and with it its segment.",
        "segment_free: The segment is wholly free: cudaFree of 30.00 MiB.",
        "oom: Neither a cached block nor the card has room for a block of 60.00 MiB: out of memory.",
    ]


def test_a_block_that_waits_and_merges():
    model = Allocator(64 * MIB)
    blocks = [model.malloc(MIB // 2) for _ in range(3)]
    model.free(blocks[0])
    model.record_stream(blocks[1], 7)
    model.free(blocks[1])
    model.free(blocks[2])
    model.malloc(1)
    why = list(model.reasons())
    assert "The program freed it, and another stream may still use it: it waits." in why
    assert (
        "The other streams are done. The block of 512.00 KiB is free and merges with 512.00 KiB in front "
        "and 1024.00 KiB behind." in why
    )


def test_each_replayed_event_has_its_reason(golden):
    model, _ = run_golden(golden)
    replayed = replay(model.snapshot())
    if len(golden["stream_handles"]) == 1:
        assert [event.reason for event in replayed.events] == list(model.reasons())
    assert all(event.reason for event in replayed.events)
