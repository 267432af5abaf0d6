"""The checks of chapter 04: right answers are green, the wrong ones that people give stay red."""

from random import Random

import pytest

from torchcourse.allocator import Allocator, OutOfMemoryError
from torchcourse.exercises.allocator import CARD, compare_allocator, crowded, place, settings

from .rebuilt import rebuilt, rebuilt_lines

STEM = "04_cuda_memory"
OURS = rebuilt(STEM)


def best_fit(free, size):
    fits = [n for n in free if n >= size]
    return free.index(min(fits)) if fits else None


def test_best_fit_is_right():
    assert place(best_fit).state == "right"


@pytest.mark.parametrize(
    ("answer", "state"),
    [
        (lambda free, size: next((k for k, n in enumerate(free) if n >= size), None), "wrong"),
        (lambda free, size: free.index(max(free)) if free and max(free) >= size else None, "wrong"),
        (lambda free, size: free.index(size) if size in free else None, "wrong"),
        (lambda free, size: free.index(min(free)) if free else None, "wrong"),
        (
            lambda free, size: (
                None
                if not [n for n in free if n >= size]
                else max(k for k, n in enumerate(free) if n == min(n for n in free if n >= size))
            ),
            "almost",
        ),
        (lambda free, size: ..., "not yet"),
        (lambda free, size: 1 / 0, "wrong"),
        ("first", "not yet"),
    ],
    ids=[
        "first fit",
        "worst fit",
        "exact fit",
        "smallest",
        "youngest of equals",
        "stub",
        "raises",
        "no function",
    ],
)
def test_other_answers_to_place(answer, state):
    assert place(answer).state == state


@pytest.mark.parametrize(
    "conf", ["expandable_segments:True", "max_split_size_mb:128", "max_split_size_mb:1024"]
)
def test_settings_that_fit(conf):
    assert settings(lambda: conf).state == "right"


@pytest.mark.parametrize(
    ("conf", "words"),
    [
        ("", "in pieces that are too small"),
        ("garbage_collection_threshold:0.8", "in pieces that are too small"),
        ("roundup_power2_divisions:4", "in pieces that are too small"),
        ("max_split_size_mb:2048", "in pieces that are too small"),
        ("expandable_segments=True", "no key:value pair"),
        ("expandable_segment:True", "Unknown key"),
        (None, "settings are a string"),
    ],
)
def test_settings_that_do_not(conf, words):
    verdict = settings(lambda: conf)
    assert verdict.state == "wrong" and words in verdict.why


def test_untouched_settings_are_not_yet():
    assert settings(lambda: ...).state == "not yet"


def test_the_program_needs_a_setting():
    with pytest.raises(OutOfMemoryError):
        crowded(Allocator(CARD))
    crowded(Allocator(2 * CARD))


def test_the_rebuilt_allocator_agrees():
    for seed in range(5):
        verdict = compare_allocator(OURS["MiniAllocator"], Random(seed))
        assert verdict.state == "right", verdict


def test_it_runs_out_of_memory_in_the_comparison():
    assert " 0 ran out" not in compare_allocator(OURS["MiniAllocator"], Random(0)).why


def faulty(**methods):
    return type("Faulty", (OURS["MiniAllocator"],), methods)


@pytest.mark.parametrize(
    "fault",
    [
        faulty(split=lambda self, block, size: None),
        faulty(merge=lambda self, first, second: None),
        faulty(best_fit=lambda self, size: None),
        faulty(empty_cache=lambda self: None),
        faulty(
            best_fit=lambda self, size: next(
                (
                    b
                    for b in self.table.values()
                    if b.free and b.small == (size <= 1 << 20) and b.size >= size
                ),
                None,
            )
        ),
    ],
    ids=["never splits", "never merges", "never reuses", "never gives back", "first fit"],
)
def test_a_fault_is_found(fault):
    verdict = compare_allocator(fault, Random(1))
    assert verdict.state == "wrong" and "card of" in verdict.why


def test_code_that_raises_is_told_so():
    assert "your code can't be followed" in compare_allocator(lambda driver: 3, Random(0)).why


def test_it_stays_short_enough_to_read_in_class():
    assert 20 < rebuilt_lines(STEM) <= 60
