"""Messages read back, number by number."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from torchcourse.allocator import read_oom_message
from torchcourse.allocator.messages import oom_message
from torchcourse.allocator.sizes import GIB, MIB, format_size

SIZES = st.integers(0, 200 * GIB)


def _as_exact_as(text):
    number, unit = text.split()
    return round(float(number) * {"bytes": 1, "KiB": 1 << 10, "MiB": MIB, "GiB": GIB}[unit])


@given(SIZES, SIZES, SIZES, st.none() | SIZES, SIZES, SIZES)
def test_every_number_comes_back(tried, total, free, allowed, allocated, cached):
    numbers = read_oom_message(
        oom_message(
            tried=tried,
            total=total,
            free=free,
            allowed=allowed,
            allocated=allocated,
            reserved=allocated + cached,
        )
    )
    spelt = [tried, total, free, allocated, cached]
    found = [numbers.tried, numbers.total, numbers.free, numbers.allocated, numbers.cached]
    assert [_as_exact_as(format_size(size)) for size in spelt] == found
    assert (numbers.allowed is None) == (allowed is None)
    assert (numbers.device, numbers.others, numbers.this_process) == (0, None, None)
    assert numbers.cause.endswith(".") and numbers.cause in str(numbers)


def message(tried, total, free, *processes, allocated, cached, allowed=""):
    return (
        f"CUDA out of memory. Tried to allocate {tried}. GPU 1 has a total capacity of {total} of which {free} is "
        f"free. {''.join(f'{process} memory in use. ' for process in processes)}{allowed}Of the allocated memory "
        f"{allocated} is allocated by PyTorch, and {cached} is reserved by PyTorch but unallocated."
    )


MINE = "Including non-PyTorch memory, this process has 10.00 GiB"
CAUSES = {
    "too large": (message("30.29 GiB", "10.74 GiB", "3.69 GiB", allocated="6.10 GiB", cached="397.12 MiB"), "larger"),
    "fragmented": (
        message("35.60 GiB", "79.33 GiB", "26.16 GiB", allocated="11.97 GiB", cached="40.69 GiB"),
        "not in one piece",
    ),
    "other processes": (
        message(
            "2.00 GiB", "23.00 GiB", "1.00 GiB", "Process 7 has 9.00 GiB", "Process 8 has 3.00 GiB", MINE,
            allocated="8.00 GiB", cached="1.00 GiB",
        ),
        "Other processes",
    ),
    "a limit": (
        message(
            "2.00 GiB", "23.00 GiB", "13.00 GiB", allocated="9.00 GiB", cached="0 bytes",
            allowed="10.00 GiB allowed; ",
        ),
        "limit",
    ),
    "spilled": (message("1002.00 MiB", "8.00 GiB", "0 bytes", allocated="13.98 GiB", cached="129.48 MiB"), "spilled"),
    "full": (message("22.00 MiB", "23.65 GiB", "11.06 MiB", MINE, allocated="22.90 GiB", cached="8.00 MiB"), "fill"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "cause"), CAUSES.values(), ids=CAUSES)
def test_the_probable_cause(text, cause):
    assert cause in read_oom_message(text).cause


def test_processes_are_told_apart():
    numbers = read_oom_message(CAUSES["other processes"][0])
    assert (numbers.others, numbers.this_process, numbers.device) == (12 * GIB, 10 * GIB, 1)


def test_private_pools_and_the_older_spelling():
    text = CAUSES["full"][0].replace("capacity", "capacty")
    text = text.replace("and 8", "with 46.00 MiB allocated in private pools (e.g., CUDA Graphs), and 8")
    numbers = read_oom_message(text)
    assert numbers.private_pools == 46 * MIB and numbers.total == round(23.65 * GIB)


def test_the_form_before_2_1():
    numbers = read_oom_message(
        "RuntimeError: CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; 10.92 GiB total capacity; "
        "8.57 MiB already allocated; 9.28 GiB free; 10.00 MiB reserved in total by PyTorch)"
    )
    assert (numbers.tried, numbers.total, numbers.free) == (20 * MIB, round(10.92 * GIB), round(9.28 * GIB))
    assert numbers.cached == 10 * MIB - round(8.57 * MIB)


# Messages that people posted, as tracker and number, in GiB: tried, total, free, process, allocated, cached.
POSTED = {
    "FramePack#369": ((30.29, 10.74, 3.69, 6.68, 6.10, 0.39), "larger than the card"),
    "Mask2DiT#4": ((35.60, 79.33, 26.16, 53.16, 11.97, 40.69), "not in one piece"),
    "lerf#73": ((3.00, 23.65, 1.66, 20.81, 12.09, 4.84), "not in one piece"),
    "vllm#7721": ((16.00, 44.53, 0.18, 44.34, 43.67, 0.33), "Tensors fill the card"),
    "CADS#4": ((22.78, 31.47, 12.73, 18.73, 9.08, 9.35), "Tensors fill the card"),
    "MyGirlGPT#11": ((0.03, 4.00, 0.04, 3.44, 2.58, 0.00), "had room a moment later"),
}


@pytest.mark.parametrize(("numbers", "cause"), POSTED.values(), ids=POSTED)
def test_messages_that_people_posted(numbers, cause):
    tried, total, free, process, allocated, cached = (f"{n:.2f} GiB" for n in numbers)
    mine = f"Including non-PyTorch memory, this process has {process}"
    read = read_oom_message(message(tried, total, free, mine, allocated=allocated, cached=cached))
    assert cause in read.cause
    assert [name for name, _, _ in read.rows] == [
        "tried", "total", "free", "this process", "outside", "allocated", "cached",
    ]  # fmt: skip
    assert read.outside == max(read.this_process - read.allocated - read.cached, 0)


def test_a_message_may_be_broken_into_lines():
    text = CAUSES["other processes"][0]
    assert read_oom_message(text.replace(" ", "\n  ")) == read_oom_message(text)


def test_the_text_has_a_line_for_each_number():
    assert str(read_oom_message(CAUSES["other processes"][0])).splitlines() == [
        "tried            2.00 GiB  the new segment that the driver refused; the tensor itself may be smaller",
        "total           23.00 GiB  the card",
        "free          1024.00 MiB  what the driver had left, after PyTorch had given back what it could",
        "this process    10.00 GiB  all that this process holds: PyTorch's memory, CUDA context, libraries",
        "outside       1024.00 MiB  of this, not PyTorch's: CUDA context and libraries",
        "others          12.00 GiB  what other processes hold",
        "allocated        8.00 GiB  blocks in use: memory_allocated()",
        "cached        1024.00 MiB  reserved and not in use: memory_reserved() - memory_allocated()",
        "Probable cause: Other processes hold the memory that is missing: see nvidia-smi.",
    ]


@pytest.mark.parametrize("text", ["", "IndexError: out of range", "Tried to allocate 2.00 GiB", "x" * 10_000])
def test_another_text_is_refused(text):
    with pytest.raises(ValueError, match="no out-of-memory message"):
        read_oom_message(text)
