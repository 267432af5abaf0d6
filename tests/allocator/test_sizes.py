"""Rounding, and how a size is spelt."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from torchcourse.allocator.config import parse_conf
from torchcourse.allocator.sizes import GIB, MIB, format_size, round_size, segment_size

DIVISIONS = parse_conf("roundup_power2_divisions:[1:0,4:2,64:8,>:1]").roundup_power2_divisions


@pytest.mark.parametrize(
    ("nbytes", "size"), [(1, 512), (511, 512), (512, 512), (513, 1024), (MIB, MIB), (MIB + 1, MIB + 512)]
)
def test_requests_become_multiples_of_512(nbytes, size):
    assert round_size(nbytes) == size


@pytest.mark.parametrize(("nbytes", "size"), [(1200, 1536), (4800, 5120), (5 * MIB, 5 * MIB), (4096, 4096)])
def test_four_steps_between_powers_of_two(nbytes, size):
    assert round_size(nbytes, (4,) * 16) == size


def test_the_small_request_keeps_its_512_steps():
    assert round_size(512 * 4, (4,) * 16) == 2048
    assert round_size(512 * 4 - 1, (4,) * 16) == 2048


@pytest.mark.parametrize(
    ("size", "segment"),
    [
        (512, 2 * MIB),
        (MIB, 2 * MIB),
        (MIB + 512, 20 * MIB),
        (10 * MIB - 512, 20 * MIB),
        (10 * MIB, 10 * MIB),
        (10 * MIB + 512, 12 * MIB),
    ],
)
def test_what_the_driver_is_asked_for(size, segment):
    assert segment_size(size) == segment


@given(st.integers(1, 1 << 50), st.sampled_from([(), (2,) * 16, (8,) * 16, DIVISIONS]))
def test_rounding_never_shrinks_and_at_most_doubles(nbytes, divisions):
    size = round_size(nbytes, divisions)
    assert max(nbytes, 512) <= size <= max(2 * nbytes, 512)
    assert size % 512 == 0 and round_size(size, divisions) == size


@pytest.mark.parametrize(
    ("nbytes", "text"),
    [
        (0, "0 bytes"),
        (1024, "1024 bytes"),
        (1025, "1.00 KiB"),
        (MIB, "1024.00 KiB"),
        (20 * MIB, "20.00 MiB"),
        (GIB, "1024.00 MiB"),
        (3 * GIB // 2, "1.50 GiB"),
    ],
)
def test_spelling(nbytes, text):
    assert format_size(nbytes) == text
