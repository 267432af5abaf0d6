"""The story of an allocator: its segments and steps, held to the allocator itself; places, words, pictures."""

import re
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from torchcourse.allocator import Allocator, OutOfMemoryError, read_oom_message, rerun
from torchcourse.allocator.history import history
from torchcourse.allocator.sizes import GIB, MIB
from torchcourse.graphs.timeline import oom, story
from torchcourse.graphs.timeline.picture import svg
from torchcourse.graphs.timeline.places import Span, shelves
from torchcourse.graphs.timeline.story import states, tell
from torchcourse.graphs.timeline.tiles import BARE, FIRST_OWNER, FREE, NO_MEMORY, WAITS, Paint, paint
from torchcourse.graphs.timeline.words import size

from ..allocator.conftest import GOLDEN, read, run_golden
from ..allocator.test_history import REQUESTS, run

KINDS = {"inactive": "free", "active_pending_free": "waits", "active_allocated": "in use"}


def fragmented(total=5 * GIB):
    """Two GiB are free, and one does not fit."""
    model = Allocator(total)
    for address in [model.malloc(GIB) for _ in range(4)]:
        model.free(address)
    halves = [model.malloc(512 * MIB) for _ in range(8)]
    for address in halves[::2]:
        model.free(address)
    model.malloc(700 * MIB)
    with pytest.raises(OutOfMemoryError):
        model.malloc(GIB)
    return model


def told(model):
    return tell([history(model)])


def kind(state):
    return "free" if state == FREE else "waits" if state == WAITS else "in use"


def mapped(side, step):
    """The runs of tiles with memory, each a list of (size, what it is)."""
    runs = []
    for slot, tiles in zip(side.slots, states(side, step), strict=True):
        ends = [*(tile.offset for tile in tiles[1:]), slot.extent]
        new = True
        for tile, end in zip(tiles, ends, strict=True):
            if tile.state == NO_MEMORY:
                new = True
                continue
            if new:
                runs.append([])
            new = False
            runs[-1].append((end - tile.offset, kind(tile.state)))
    return sorted(runs)


def segments(model):
    """The same of the allocator itself."""
    return sorted(
        [(block["size"], KINDS[block["state"]]) for block in segment["blocks"]]
        for segment in model.snapshot()["segments"]
    )


# --- states ---------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=80)
@given(REQUESTS, st.sampled_from(("", "expandable_segments:True", "max_split_size_mb:20")))
def test_the_last_state_is_the_allocators(requests, conf):
    model = run(requests, conf=conf)
    side = told(model).columns[0].side
    assert mapped(side, len(side.ends) - 1) == segments(model)


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.name.removesuffix(".json.gz"))
def test_every_state_adds_up(path):
    model, _ = run_golden(read(path))
    side = told(model).columns[0].side
    assert mapped(side, len(side.ends) - 1) == segments(model)
    last = len(side.ends) - 1
    for step in {0, 1, last // 3, last // 2, last}:
        blocks = [block for run in mapped(side, step) for block in run]
        assert sum(nbytes for nbytes, _ in blocks) == side.reserved[step]
        assert sum(nbytes for nbytes, what in blocks if what == "in use") == side.allocated[step]


def test_a_snapshot_that_starts_in_the_middle():
    model = Allocator(GIB)
    held = [model.malloc(5 * MIB) for _ in range(3)]
    whole = model.snapshot()
    whole["device_traces"] = [[]]
    side = tell([history(whole)]).columns[0].side
    assert mapped(side, 0) == segments(model) and side.allocated[0] == 5 * MIB * len(held)
    assert side.total is None


def test_paint_cuts_and_joins():
    tiles = paint(BARE, 100, Paint(0, 0, 100, FREE), 1)
    assert tiles == ((0, FREE, 1),)
    tiles = paint(tiles, 100, Paint(0, 20, 30, FIRST_OWNER), 2)
    assert tiles == ((0, FREE, 1), (20, FIRST_OWNER, 2), (50, FREE, 1))
    assert paint(tiles, 100, Paint(0, 20, 30, FREE), 3) == ((0, FREE, 3),)
    in_front = paint(tiles, 100, Paint(0, 0, 20, FIRST_OWNER), 3)
    assert in_front == ((0, FIRST_OWNER, 3), (20, FIRST_OWNER, 2), (50, FREE, 1))


def test_a_long_history_shows_its_end(monkeypatch):
    model = run([("malloc", 3 * MIB, 0), ("malloc", 90 * MIB, 1), ("free", 1, 0)] * 20)
    whole = told(model)
    monkeypatch.setattr(story, "MOST", 10)
    part = told(model)
    assert (part.steps, part.hidden) == (10, whole.steps - 10)
    assert f"The {part.hidden} events before them are not shown." in str(part)
    for step in (0, 4, 10):
        assert mapped(part.columns[0].side, step) == mapped(whole.columns[0].side, step + part.hidden)
    assert part.columns[0].side.says[1:] == whole.columns[0].side.says[part.hidden + 1 :]
    assert svg(part).count("<svg") == 1


# --- places ---------------------------------------------------------------------------------------

SPANS = st.lists(
    st.tuples(st.integers(1, 400), st.integers(0, 40), st.integers(1, 40)).map(
        lambda drawn: Span(drawn[0] * 2 * MIB, drawn[1], drawn[1] + drawn[2])
    ),
    min_size=1, max_size=60,
)  # fmt: skip


@settings(deadline=None, max_examples=60)
@given(SPANS, st.sampled_from((720, 346)))
def test_no_two_segments_share_a_place(spans, width):
    (shelf,) = shelves([spans], width)
    ranges = [
        (place, place + span.size / shelf.scale) for place, span in zip(shelf.places, spans, strict=True)
    ]
    for k, (start, end) in enumerate(ranges):
        assert start >= 0 and end <= shelf.rows * width + 0.1
        if end - start <= width:
            assert start // width == (end - 0.1) // width or end - start < 0.2, "broken at the end of a row"
        for other in range(k):
            if spans[other].born < spans[k].died and spans[k].born < spans[other].died:
                assert end <= ranges[other][0] + 0.02 or ranges[other][1] <= start + 0.02


def test_two_sides_have_one_scale():
    one, other = (
        tell([history(fragmented()), history(rerun(fragmented(), "expandable_segments:True"))])
    ).columns
    assert one.large.scale == other.large.scale and one.large.rows == other.large.rows


# --- two runs -------------------------------------------------------------------------------------


def test_the_pair_steps_together():
    model = fragmented()
    pair = tell([history(model), history(rerun(model, "expandable_segments:True"))], request=GIB)
    left, right = (column.side for column in pair.columns)
    assert left.says[-1].endswith("the card has 324 MiB free: out of memory.") and left.ended == pair.steps
    assert "pages are unmapped" in right.says[-1] and right.ended is None
    assert right.allocated[-1] - left.allocated[-1] == GIB


def test_a_side_that_ends_early_says_so():
    model = Allocator(GIB)
    for _ in range(3):
        model.malloc(100 * MIB)
    small = tell([history(model), history(rerun(model, total_bytes=256 * MIB))]).columns[1].side
    assert small.ended == 3 and len(small.says) == 4
    shorter = tell([history(model), history(rerun(model, total_bytes=128 * MIB))]).columns[1].side
    assert shorter.says[-1] == "Ended at event 2: out of memory."


def test_two_programs_are_no_pair():
    one, other = Allocator(GIB), Allocator(GIB)
    one.malloc(MIB)
    other.malloc(3 * MIB)
    with pytest.raises(
        ValueError, match="not two runs of one program: after 0 calls one has a malloc of about"
    ):
        tell([history(one), history(other)])


# --- owners and words -----------------------------------------------------------------------------


def test_owners_by_the_number_of_the_malloc():
    model = Allocator(GIB)
    for nbytes in (3 * MIB, 4 * MIB, 5 * MIB, MIB):
        model.malloc(nbytes)
    shown = tell([history(model)], {0: "parameter", 1: "cache", 2: "parameter"})
    assert [(owner.name, owner.letter) for owner in shown.owners] == [
        ("parameter", "P"), ("cache", "C"), ("other", "·"),
    ]  # fmt: skip
    assert len({owner.role for owner in shown.owners}) == 3
    assert "3 MiB parameter | 4 MiB cache | 5 MiB parameter | 8 MiB free" in str(shown)
    assert shown.columns[0].side.says[2].startswith("Asked for 4 MiB (cache), large pool: the best fit")


def test_more_names_than_paints_fold_into_one():
    model = Allocator(GIB)
    names = [f"name {k}" for k in range(12)]
    for _ in names:
        model.malloc(MIB)
    shown = tell([history(model)], names)
    assert len(shown.owners) == 6 and len({owner.letter for owner in shown.owners}) == 6


@pytest.mark.parametrize(
    ("nbytes", "words"),
    [(0, "0 bytes"), (1023, "1023 bytes"), (1024, "1 KiB"), (MIB + MIB // 5, "1.2 MiB"), (GIB, "1 GiB"),
     (1 << 41, "2 TiB"), (18 * MIB + 800 * 1024, "18.78 MiB")],
)  # fmt: skip
def test_sizes_in_words(nbytes, words):
    assert size(nbytes) == words


def test_the_sentences():
    model = Allocator(64 * MIB)
    first = model.malloc(int(1.2 * MIB))
    model.malloc(MIB + 1)
    model.free(first)
    model.free(model.malloc(30 * MIB))
    model.malloc(40 * MIB)
    assert list(told(model).columns[0].side.says) == [
        "The state at the start.",
        "Asked for 1.2 MiB, large pool: no cached block fits; cudaMalloc of 20 MiB; split, 18.8 MiB left.",
        "Asked for 1 MiB, large pool: the best fit is a free block of 18.8 MiB; split, 17.8 MiB left.",
        "Freed 1.2 MiB into the cache; no neighbour is free.",
        "Asked for 30 MiB, large pool: no cached block fits; cudaMalloc of 30 MiB; taken whole.",
        "Freed 30 MiB into the cache; its whole segment is free with it.",
        "Asked for 40 MiB, large pool: no cached block fits; the driver refused, so cudaFree of one wholly free "
        "segment of 30 MiB; cudaMalloc of 40 MiB; taken whole.",
    ]


def test_the_twin_is_bounded_and_the_same_each_time():
    model = run(
        [("malloc", 3 * MIB, k) for k in range(90)] + [("free", 1, 5 * k) for k in range(40)], total=GIB
    )
    first, second = str(told(model)), str(told(model))
    assert first == second and len(first.splitlines()) < 50 and max(map(len, first.splitlines())) < 300
    assert "more segments" in first and "more\n" in first and not re.search(r"0x|\b\d{13}", first)


def test_the_twin_says_what_a_request_finds():
    model = fragmented()
    assert (
        "For 1 GiB: 2 GiB is free in the cache, and none of it serves: the largest piece of its pool is 512 MiB."
        in str(tell([history(model)], request=GIB))
    )
    assert "For 256 MiB: a free block of 512 MiB serves it; 0 bytes of 2 GiB free could not." in str(
        tell([history(model)], request=256 * MIB)
    )


# --- pictures -------------------------------------------------------------------------------------


def test_the_picture_is_well_formed_and_the_same_each_time():
    model = fragmented()
    pair = [history(model), history(rerun(model, "max_split_size_mb:20"))]
    drawn = svg(tell(pair, request=GIB))
    ElementTree.fromstring(drawn)
    assert drawn == svg(tell(pair, request=GIB)) and "&lt;" not in drawn
    assert 'class="tc-t-unfit"' in drawn and 'class="tc-t-base"' in drawn


def test_an_empty_history_is_drawn_too():
    shown = told(Allocator(GIB))
    ElementTree.fromstring(svg(shown))
    assert str(shown).startswith("CUDA memory, 0 events")


def test_a_name_cannot_bring_markup():
    model = Allocator(GIB)
    model.malloc(30 * MIB)
    drawn = svg(tell([history(model)], ["<script>&"]))
    ElementTree.fromstring(drawn)
    assert "<script>" not in drawn


def test_the_picture_of_a_message():
    model = Allocator(GIB)
    model.malloc(600 * MIB)
    with pytest.raises(OutOfMemoryError) as caught:
        model.malloc(600 * MIB)
    drawn = oom.svg(read_oom_message(str(caught.value)))
    ElementTree.fromstring(drawn)
    assert "tried 600 MiB" in drawn and "Tensors fill the card" in drawn
