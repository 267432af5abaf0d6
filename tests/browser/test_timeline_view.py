"""The timeline, touched for real, by mouse and by keyboard; and the states that it works out, held to Python's."""

import base64
import json
import random
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Locator, expect

from torchcourse.allocator import Allocator, OutOfMemoryError
from torchcourse.allocator.sizes import GIB, MIB
from torchcourse.graphs.timeline.story import states
from torchcourse.widgets.timeline import UNIT, AllocatorTimeline, timeline

from .lab import Lab
from .page import NotebookPage
from .touch import (
    has_no_barriers,
    left_no_trace,
    lists_its_keys,
    one_tab_in_and_one_out,
    say,
    says_the_same_as_text,
    touching,
)

TIMELINE = """\
from torchcourse.allocator import Allocator, OutOfMemoryError
from torchcourse.widgets.timeline import timeline
MiB = 1 << 20
model = Allocator(64 * MiB)
blocks = [model.malloc(n * MiB) for n in (3, 6, 12)]
model.free(blocks[1])
small = model.malloc(2 * MiB)
model.free(model.malloc(30 * MiB))
timeline(model, owners=["parameter", "activation", "gradient", "temporary"], request=8 * MiB)
"""
STEPS = [
    "Asked for 3 MiB (parameter), large pool: no cached block fits; cudaMalloc of 20 MiB; split, 17 MiB left.",
    "Asked for 6 MiB (activation), large pool: the best fit is a free block of 17 MiB; split, 11 MiB left.",
    "Asked for 12 MiB (gradient), large pool: no cached block fits; cudaMalloc of 12 MiB; taken whole.",
    "Freed 6 MiB (activation) into the cache; it merges with 11 MiB behind to 17 MiB.",
    "Asked for 2 MiB (temporary), large pool: the best fit is a free block of 17 MiB; split, 15 MiB left.",
    "Asked for 30 MiB, large pool: no cached block fits; cudaMalloc of 30 MiB; taken whole.",
    "Freed 30 MiB into the cache; its whole segment is free with it.",
]

expect.set_options(timeout=20_000)


@pytest.fixture(scope="module")
def timeline_page(browser: Browser, jupyter: Lab) -> Iterator[NotebookPage]:
    with touching(browser, jupyter, "timeline", TIMELINE) as page:
        yield page


@pytest.fixture
def shown(timeline_page: NotebookPage) -> Locator:
    """The view before its first event; `frames` counts from here."""
    timeline_page.page.mouse.move(0, 0)
    view = timeline_page.page.locator(".tc-timeline")
    view.locator(".tc-body").focus()
    view.locator(".tc-body").press("Home")
    expect(counter(view), "Home did not lead to the start").to_have_text(f"0 / {len(STEPS)}")
    timeline_page.frames.clear()
    return view


def counter(view: Locator) -> Locator:
    return view.locator(".tc-player .tc-counter")


def number(view: Locator, name: str) -> Locator:
    return view.locator(".tc-numbers > div", has_text=name).locator("b").first


def test_timeline_keyboard(shown: Locator, timeline_page: NotebookPage) -> None:
    keys = timeline_page.page.keyboard
    height = shown.locator(".tc-card").bounding_box()["height"]
    for k, words in enumerate(STEPS, 1):
        keys.press("ArrowRight")
        expect(say(shown), f"event {k}").to_have_text(words)
        expect(counter(shown)).to_have_text(f"{k} / {len(STEPS)}")
        assert shown.locator(".tc-card").bounding_box()["height"] == height, "the card changed its height"
    expect(number(shown, "allocated")).to_have_text("17 MiB")
    expect(number(shown, "reserved")).to_have_text("62 MiB")
    expect(number(shown, "free on the card")).to_have_text("2 MiB")
    for key, place in (
        ("ArrowLeft", 6),
        ("[", 3),
        ("[", 1),
        ("]", 3),
        ("PageDown", 4),
        ("PageUp", 3),
        ("End", 7),
    ):
        keys.press(key)
        expect(counter(shown), f"after {key}").to_have_text(f"{place} / {len(STEPS)}")
    expect(say(shown)).to_have_text(STEPS[-1])
    lists_its_keys(timeline_page, shown)
    assert timeline_page.frames == [], "stepping sent a message to the kernel"


def test_timeline_keyboard_asks_about_a_request(shown: Locator, timeline_page: NotebookPage) -> None:
    keys = timeline_page.page.keyboard
    keys.press("End")
    answer = shown.locator(".tc-ask")
    expect(answer).to_have_text(
        "For 8 MiB: a free block of 15 MiB serves it; 0 bytes of 45 MiB free could not."
    )
    assert shown.locator(".tc-unfit[d*=M]").count() == 0
    keys.press("+")
    keys.press("+")
    expect(answer).to_contain_text("For 16 MiB: a free block of 30 MiB serves it; 15 MiB of 45 MiB")
    assert shown.locator(".tc-unfit[d*=M]").count() == 1, "what is too small is not crossed out"
    keys.press("-")
    keys.press("-")
    expect(answer).to_contain_text("For 8 MiB")
    assert timeline_page.frames == [], "asking sent a message to the kernel"


def test_timeline_keyboard_goes_through_the_blocks(shown: Locator, timeline_page: NotebookPage) -> None:
    keys = timeline_page.page.keyboard
    keys.press("ArrowRight")
    keys.press("b")
    expect(say(shown)).to_contain_text("3 MiB, parameter, in a segment of 20 MiB, large pool; since event 1:")
    keys.press("b")
    expect(say(shown)).to_contain_text("17 MiB, free, in a segment of 20 MiB")
    keys.press("B")
    expect(say(shown)).to_contain_text("3 MiB, parameter")
    keys.press("ArrowRight")
    expect(say(shown)).to_have_text(STEPS[1])


def test_timeline_keyboard_plays(shown: Locator, timeline_page: NotebookPage) -> None:
    keys = timeline_page.page.keyboard
    keys.press(" ")
    expect(shown.locator(".tc-play"), "Space did not play").to_have_attribute("aria-label", "Pause")
    expect(counter(shown), "it does not play to the end").to_have_text(f"{len(STEPS)} / {len(STEPS)}")
    expect(shown.locator(".tc-play"), "it does not stop at the end").to_have_attribute("aria-label", "Play")
    assert timeline_page.frames == [], "playing sent a message to the kernel"


def test_timeline_mouse(shown: Locator, timeline_page: NotebookPage) -> None:
    shown.get_by_role("button", name="One event on").click()
    expect(counter(shown)).to_have_text(f"1 / {len(STEPS)}")
    expect(shown.locator(".tc-body"), "a button keeps the focus, and the keys are lost").to_be_focused()
    picture = shown.locator(".tc-memory > svg")
    picture.hover(position={"x": 8, "y": 30})
    expect(say(shown), "pointing at a block does not say what it is").to_contain_text("3 MiB, parameter")
    timeline_page.page.mouse.move(0, 0)
    expect(say(shown), "the sentence stays when the mouse leaves").to_have_text(STEPS[0])
    box = picture.bounding_box()
    picture.click(position={"x": box["width"] * 4 / len(STEPS), "y": box["height"] - 30})
    expect(counter(shown), "a click on the curves did not lead to its moment").to_have_text(
        f"4 / {len(STEPS)}"
    )
    picture.click(position={"x": 8, "y": 30})
    expect(counter(shown), "a click on a block did not lead to its event").to_have_text(f"1 / {len(STEPS)}")
    timeline_page.page.mouse.move(0, 0)
    bar = shown.locator(".tc-player .tc-scrub")
    frame = bar.bounding_box()
    bar.click(position={"x": frame["width"] - 3, "y": frame["height"] / 2})
    expect(counter(shown), "the scrubber did not lead to the end").to_have_text(f"7 / {len(STEPS)}")
    assert timeline_page.frames == [], "the mouse sent a message to the kernel"


def test_timeline_keyboard_one_tab_in_and_one_out(shown: Locator, timeline_page: NotebookPage) -> None:
    one_tab_in_and_one_out(timeline_page, shown)


def test_timeline_says_the_same_as_text(shown: Locator, timeline_page: NotebookPage) -> None:
    says_the_same_as_text(timeline_page, shown)


def test_timeline_touched_has_no_barriers(shown: Locator, timeline_page: NotebookPage) -> None:
    has_no_barriers(timeline_page, "End", "b")


def test_timeline_left_no_trace(timeline_page: NotebookPage) -> None:
    left_no_trace(timeline_page)


# --- the front end's states -----------------------------------------------------------------------

STATES = """async ([module, picture, steps]) => {
  const { history } = await import(module);
  return picture.columns.map((column) => {
    let sum = 0;
    column.ends = column.ends.map((n) => (sum += n));
    const past = history(column);
    return steps.map((step) => past.at(step).slice());
  });
}"""


def _busy(conf: str) -> Allocator:
    chance, model, live = random.Random(7), Allocator(600 * MIB, conf), []
    for _ in range(700):
        if live and chance.random() < 0.45:
            address = live.pop(chance.randrange(len(live)))
            if chance.random() < 0.1:
                model.record_stream(address, 5)
            model.free(address)
        elif chance.random() < 0.02:
            model.empty_cache()
        else:
            try:
                live.append(model.malloc(int(2 ** chance.uniform(6, 26)), chance.choice((0, 0, 0, 4))))
            except OutOfMemoryError:
                model.free(live.pop())
    return model


@pytest.mark.parametrize("conf", ["", "expandable_segments:True"])
def test_the_states_are_pythons(browser: Browser, conf: str) -> None:
    """Back and forth, at random: the front end's blocks are those of the renderer."""
    shown = timeline(_busy(conf), against="max_split_size_mb:20")
    steps = random.Random(1).sample(range(shown.story.steps + 1), 40)
    module = f"data:text/javascript;base64,{base64.b64encode(AllocatorTimeline._esm.encode()).decode()}"
    page = browser.new_page()
    try:
        found = page.evaluate(STATES, [module, json.loads(json.dumps(shown.picture)), steps])
    finally:
        page.close()
    for column, answers in zip(shown.story.columns, found, strict=True):
        for step, answer in zip(steps, answers, strict=True):
            expected = [
                [[tile.offset // UNIT, tile.state, tile.since] for tile in tiles]
                for tiles in states(column.side, step)
            ]
            assert answer == expected, f"after event {step}"


def test_a_large_trace_is_drawn_folded(browser: Browser) -> None:
    """Hundreds of segments and thousands of blocks: few elements, whatever their number."""
    model = Allocator(80 * GIB)
    for k in range(6000):
        model.malloc((k % 40 + 1) * 256 * 1024)
    shown = timeline(model)
    module = f"data:text/javascript;base64,{base64.b64encode(AllocatorTimeline._esm.encode()).decode()}"
    page = browser.new_page()
    try:
        elements = page.evaluate(
            """async ([module, picture]) => {
              const { default: view } = await import(module);
              const el = document.body.appendChild(document.createElement("div"));
              view.render({ model: { get: () => picture, on() {}, off() {} }, el });
              return el.querySelectorAll("*").length;
            }""",
            [module, json.loads(json.dumps(shown.picture))],
        )
    finally:
        page.close()
    assert elements < 500
