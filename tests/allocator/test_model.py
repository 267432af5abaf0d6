"""The rules, one by one, and wrong calls."""

import pytest

from torchcourse.allocator import Allocator, OutOfMemoryError
from torchcourse.allocator.sizes import GIB, MIB


@pytest.fixture
def model():
    return Allocator(8 * GIB)


def actions(model):
    return [(entry.action, entry.size) for entry in model.trace()]


def test_one_mebibyte_is_small_and_one_byte_more_is_large(model):
    model.malloc(MIB)
    assert model.memory_reserved() == 2 * MIB
    model.malloc(MIB + 1)
    assert model.memory_reserved() == 22 * MIB


def test_ten_mebibytes_get_a_segment_of_their_own(model):
    model.malloc(10 * MIB - 512)
    assert model.memory_reserved() == 20 * MIB
    model.malloc(10 * MIB, stream=1)
    assert model.memory_reserved() == 30 * MIB


def test_a_rest_of_half_a_mebibyte_stays_with_the_block(model):
    model.free(model.malloc(20 * MIB))
    model.malloc(int(19.5 * MIB))
    assert model.memory_allocated() == 20 * MIB
    assert model.memory_stats()["requested_bytes.all.current"] == int(19.5 * MIB)


def test_a_freed_block_comes_back_first(model):
    first = model.malloc(5000)
    model.free(first)
    assert model.malloc(5000) == first
    assert actions(model) == [
        ("segment_alloc", 2 * MIB),
        ("alloc", 5000),
        ("free_requested", 5000),
        ("free_completed", 5000),
        ("alloc", 5000),
    ]


def test_neighbours_merge(model):
    parts = [model.malloc(512 * 1024) for _ in range(4)]
    for part in parts[::2] + parts[1::2]:
        model.free(part)
    (segment,) = model.snapshot()["segments"]
    assert [block["size"] for block in segment["blocks"]] == [2 * MIB]


def test_the_best_fit_is_the_smallest_that_is_large_enough(model):
    sizes = {size: model.malloc(size * MIB) for size in (40, 20, 30)}
    for address in sizes.values():
        model.free(address)
    assert model.malloc(25 * MIB) == sizes[30]


@pytest.mark.parametrize(("tie", "first"), [("segment", 0), ("address", 1), ("block", 0)])
def test_the_tie_rule(tie, first):
    """The driver hands out falling addresses here, so the oldest segment is the highest."""
    model = Allocator(8 * GIB, tie=tie, addresses="down")
    blocks = [model.malloc(30 * MIB) for _ in range(2)]
    for block in blocks:
        model.free(block)
    assert model.malloc(30 * MIB) == blocks[first]


def test_streams_do_not_share_blocks(model):
    model.free(model.malloc(MIB, stream=0))
    model.malloc(MIB, stream=7)
    assert model.memory_reserved() == 4 * MIB


def test_a_block_that_another_stream_uses_waits(model):
    block = model.malloc(30 * MIB)
    model.record_stream(block, 7)
    model.gpu_busy = True
    model.free(block)
    assert model.memory_allocated() == 0
    assert model.memory_stats()["active_bytes.all.current"] == 30 * MIB
    assert model.malloc(30 * MIB) != block
    model.gpu_busy = False
    assert model.malloc(30 * MIB) == block


def test_empty_cache_waits_for_the_streams(model):
    block = model.malloc(30 * MIB)
    model.record_stream(block, 7)
    model.gpu_busy = True
    model.free(block)
    model.empty_cache()
    assert model.memory_reserved() == 0


def test_its_own_stream_is_no_other_stream(model):
    block = model.malloc(MIB, stream=7)
    model.record_stream(block, 7)
    model.free(block)
    assert actions(model)[-1] == ("free_completed", MIB)


def test_empty_cache_keeps_a_segment_with_one_live_block(model):
    blocks = [model.malloc(MIB) for _ in range(2)]
    model.free(blocks[0])
    model.empty_cache()
    assert model.memory_reserved() == 2 * MIB
    model.free(blocks[1])
    model.empty_cache()
    assert model.memory_reserved() == 0


def test_a_failed_cudamalloc_gives_the_cache_back_and_tries_again():
    model = Allocator(100 * MIB)
    model.free(model.malloc(60 * MIB))
    model.malloc(80 * MIB)
    assert ("segment_free", 60 * MIB) in actions(model)
    assert model.memory_stats()["num_alloc_retries"] == 1


def test_fragmentation_and_its_cure():
    """Half of the card is free, in pieces: 60 MiB do not fit. With expandable segments they do."""

    def run(conf):
        model = Allocator(200 * MIB, conf)
        blocks = [model.malloc(20 * MIB) for _ in range(10)]
        for block in blocks[::2]:
            model.free(block)
        return model

    with pytest.raises(OutOfMemoryError):
        whole = run("")
        kept = [whole.malloc(10 * MIB) for _ in range(5)]
        whole.malloc(60 * MIB)
    assert kept
    run("expandable_segments:True").malloc(60 * MIB)


def test_the_message_counts_after_the_cache_went_back():
    model = Allocator(100 * MIB)
    model.malloc(30 * MIB)
    model.free(model.malloc(30 * MIB))
    with pytest.raises(OutOfMemoryError) as caught:
        model.malloc(90 * MIB)
    assert str(caught.value) == (
        "CUDA out of memory. Tried to allocate 90.00 MiB. GPU 0 has a total capacity of 100.00 MiB of which "
        "70.00 MiB is free. Of the allocated memory 30.00 MiB is allocated by PyTorch, and 0 bytes is reserved by "
        "PyTorch but unallocated. If reserved but unallocated memory is large try setting "
        "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation.  See documentation for Memory "
        "Management  (https://pytorch.org/docs/stable/notes/cuda.html#environment-variables)"
    )


def test_the_message_names_the_segment_not_the_request():
    model = Allocator(10 * MIB)
    with pytest.raises(OutOfMemoryError, match=r"Tried to allocate 20\.00 MiB"):
        model.malloc(MIB + 1)
    assert actions(model)[-1] == ("oom", MIB + 512)


def test_a_fraction_is_a_limit():
    model = Allocator(100 * MIB)
    model.set_per_process_memory_fraction(0.5)
    with pytest.raises(OutOfMemoryError, match=r"100\.00 MiB is free\. 50\.00 MiB allowed; "):
        model.malloc(60 * MIB)
    model.set_per_process_memory_fraction(1.0)
    model.malloc(60 * MIB)


def test_the_threshold_does_nothing_without_a_fraction():
    def cached(fraction):
        model = Allocator(100 * MIB, "garbage_collection_threshold:0.3")
        model.set_per_process_memory_fraction(fraction)
        for size in (12, 14, 16):
            model.free(model.malloc(size * MIB))
        model.malloc(18 * MIB)
        return model.memory_stats()["segment.all.freed"]

    assert cached(1.0) == 0
    assert cached(0.9) == 2  # 42 MiB are held, 27 may be: the two that are older than the average go


def test_zero_bytes_are_nothing(model):
    assert model.malloc(0) == 0
    model.free(0)
    model.record_stream(0, 1)
    assert not list(model.trace())


def test_more_than_an_exbibyte(model):
    with pytest.raises(OutOfMemoryError, match="more than 1EB"):
        model.malloc(1 << 60)
    assert not list(model.trace())


def test_peaks_are_reset_to_the_current_value(model):
    model.free(model.malloc(30 * MIB))
    assert model.max_memory_allocated() == model.max_memory_reserved() == 30 * MIB
    model.reset_peak_memory_stats()
    assert (model.max_memory_allocated(), model.max_memory_reserved()) == (0, 30 * MIB)
    model.reset_accumulated_memory_stats()
    assert model.memory_stats()["allocation.all.allocated"] == 0


def test_looking_changes_nothing(model):
    model.malloc(MIB)
    before = model.snapshot()
    model.memory_stats(), model.memory_summary(), str(model)
    assert model.snapshot() == before


WRONG = [
    (lambda m, a: m.malloc(-1), ValueError, "0 or more, not -1"),
    (lambda m, a: m.malloc(1.5), TypeError, "whole number, not 1.5"),
    (lambda m, a: m.malloc(True), TypeError, "whole number, not True"),
    (lambda m, a: m.malloc(1, stream="main"), TypeError, "stream is a whole number"),
    (lambda m, a: m.free(a + 512), ValueError, "no block starts there"),
    (lambda m, a: m.free(a + 1024), ValueError, "this block is free already"),
    (lambda m, a: m.free(None), TypeError, "address is a whole number"),
    (lambda m, a: m.record_stream(a + 512, 1), ValueError, "no block starts there"),
    (lambda m, a: m.record_stream(a, "s"), TypeError, "stream is a whole number"),
    (lambda m, a: m.set_per_process_memory_fraction(1.1), ValueError, "from 0 to 1, not 1.1"),
    (lambda m, a: m.set_per_process_memory_fraction(float("nan")), ValueError, "from 0 to 1"),
    (lambda m, a: m.set_per_process_memory_fraction("half"), TypeError, "from 0 to 1"),
]


@pytest.mark.parametrize(("call", "error", "why"), WRONG)
def test_a_wrong_call_says_what_is_wrong_and_changes_nothing(model, call, error, why):
    address = model.malloc(1000)
    model.free(model.malloc(1000))
    before, allowed = model.snapshot(), model.state.allowed
    with pytest.raises(error, match=why):
        call(model, address)
    assert model.snapshot() == before
    assert model.state.allowed == allowed


def test_a_block_is_freed_once(model):
    address = model.malloc(1000)
    model.free(address)
    with pytest.raises(ValueError, match="free already"):
        model.free(address)


@pytest.mark.parametrize(
    ("arguments", "error", "why"),
    [
        ({"total_bytes": 0}, ValueError, "total_bytes"),
        ({"total_bytes": 8.0}, TypeError, "total_bytes"),
        ({"total_bytes": GIB, "conf": "nonsense"}, ValueError, "no key:value pair"),
        ({"total_bytes": GIB, "tie": "size"}, ValueError, "'segment', 'address', 'block', not 'size'"),
        ({"total_bytes": GIB, "addresses": "left"}, ValueError, "'up' or 'down'"),
    ],
)
def test_an_allocator_that_cannot_be(arguments, error, why):
    with pytest.raises(error, match=why):
        Allocator(**arguments)
