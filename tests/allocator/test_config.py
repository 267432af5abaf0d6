"""The settings string."""

import pytest

from torchcourse.allocator import parse_conf
from torchcourse.allocator.config import UNLIMITED
from torchcourse.allocator.sizes import MIB


def test_nothing_said_is_the_default():
    conf = parse_conf("")
    assert (conf.max_split_size, conf.large_segment_size) == (UNLIMITED, 20 * MIB)
    assert str(conf) == "the default settings"


def test_every_key():
    conf = parse_conf(
        "backend:native, expandable_segments:True,max_split_size_mb:64,max_non_split_rounding_mb:32,"
        "garbage_collection_threshold:0.8,per_process_memory_fraction:0.5,large_segment_size_mb:30,"
        "roundup_power2_divisions:4,pinned_num_register_threads:8,release_lock_on_cudamalloc:True,"
    )
    assert conf.expandable_segments
    assert (conf.max_split_size, conf.max_non_split_rounding) == (64 * MIB, 32 * MIB)
    assert (conf.garbage_collection_threshold, conf.per_process_memory_fraction) == (0.8, 0.5)
    assert conf.large_segment_size == 30 * MIB
    assert conf.roundup_power2_divisions == (4,) * 16


def test_the_first_boundary_fills_all_below_and_the_sign_all_above():
    divisions = parse_conf("roundup_power2_divisions:[64:8,256:4,>:1]").roundup_power2_divisions
    assert divisions == (8,) * 7 + (0, 4) + (1,) * 7


def test_the_rounding_limit_follows_the_large_segment():
    assert parse_conf("large_segment_size_mb:50").max_non_split_rounding == 50 * MIB


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("max_split_mb:20", r"Unknown key 'max_split_mb' .* Known keys: backend, .*max_split_size_mb"),
        ("max_split_size_mb", "no key:value pair"),
        ("max_split_size_mb:", "no key:value pair"),
        (":20", "no key:value pair"),
        ("max_split_size_mb:64,,", "no key:value pair"),
        ("max_split_size_mb:64,max_split_size_mb:64", "stands twice"),
        ("max_split_size_mb:19", "at least the large segment, 20 MiB"),
        ("max_split_size_mb:40,large_segment_size_mb:50", "at least the large segment, 50 MiB"),
        ("max_split_size_mb:twenty", "needs a whole number"),
        ("max_split_size_mb:-1", "needs a whole number"),
        ("max_split_size_mb:٣٢", "needs a whole number"),
        ("max_split_size_mb:" + "9" * 5000, "needs a whole number"),
        ("max_non_split_rounding_mb:10", "at least the large segment"),
        ("large_segment_size_mb:10", "must be more than 10"),
        ("expandable_segments:true", "True or False, not 'true'"),
        ("garbage_collection_threshold:1", "strictly between 0 and 1"),
        ("garbage_collection_threshold:nan", "needs a number"),
        ("per_process_memory_fraction:1.5", "between 0 and 1"),
        ("roundup_power2_divisions:3", "a power of two"),
        ("roundup_power2_divisions:0", "not taken by PyTorch"),
        ("roundup_power2_divisions:[64:8", "not closed"),
        ("roundup_power2_divisions:[63:8]", "power of two in MiB"),
        ("roundup_power2_divisions:[64]", "needs a whole number"),
        ("roundup_power2_divisions:[64:8]x", "something behind its list"),
        ("backend:cudaMallocAsync", "native backend"),
        ("throw_on_cudamalloc_oom:True", "does not know"),
    ],
)
def test_nonsense_is_refused_with_a_sentence(text, why):
    with pytest.raises(ValueError, match=why):
        parse_conf(text)


def test_no_string_is_no_setting():
    with pytest.raises(TypeError, match="is a string"):
        parse_conf(None)
