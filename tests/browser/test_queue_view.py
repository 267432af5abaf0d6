"""The queue view, touched for real, by mouse and by keyboard, in a real JupyterLab."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Locator, expect

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

QUEUE = """\
from torchcourse.devices.queue import clock, item, kernel
from torchcourse.widgets import queue
queue([
    clock("t0"), kernel("y = x @ w", 80), kernel("z = y.relu()", 40), clock("t1", since="t0"),
    item("z[0].item()"), clock("t2", since="t0"),
], title="Timing")
"""
STATES = {
    name: re.compile(rf"\b{name}\b") for name in ("tc-now", "tc-past", "tc-come", "tc-queued", "tc-here")
}

expect.set_options(timeout=20_000)


@pytest.fixture(scope="module")
def queue_page(browser: Browser, jupyter: Lab) -> Iterator[NotebookPage]:
    with touching(browser, jupyter, "queue", QUEUE) as page:
        yield page


@pytest.fixture
def queue(queue_page: NotebookPage) -> Locator:
    """The view before its first moment; `frames` counts from here."""
    queue_page.page.mouse.move(0, 0)
    view = queue_page.page.locator(".tc-view")
    view.locator(".tc-body").focus()
    view.locator(".tc-body").press("Home")
    expect(view.locator(".tc-counter"), "Home did not lead to the start").to_have_text("0 / 7")
    queue_page.frames.clear()
    return view


def box(view: Locator, label: str) -> Locator:
    return view.locator(".tc-i", has_text=label).first


def test_queue_keyboard(queue: Locator, queue_page: NotebookPage) -> None:
    keys = queue_page.page.keyboard
    height = queue.locator(".tc-card").bounding_box()["height"]
    moments = [
        ("0 µs", "Python launches x @ w", 1),
        ("10 µs", "x @ w runs", 2),
        ("20 µs", "Python's clock says 20 µs", 4),
        ("30 µs", "Python waits", 4),
        ("90 µs", "x @ w is done. y.relu() runs", 4),
        ("130 µs", "y.relu() is done", 4),
        ("135 µs", "Python is done", 4),
    ]
    for k, (at, words, line) in enumerate(moments, 1):
        keys.press("ArrowRight")
        expect(say(queue), f"moment {k}").to_contain_text(f"At {at}")
        expect(say(queue), f"moment {k}").to_contain_text(words)
        expect(queue.locator(".tc-counter")).to_have_text(f"{k} / 7")
        expect(queue.locator("li").nth(line), f"moment {k}: the line is not marked").to_have_class(
            STATES["tc-here"]
        )
        assert queue.locator(".tc-card").bounding_box()["height"] == height, "the card changed its height"
    expect(box(queue, "x @ w")).to_have_class(STATES["tc-past"])
    keys.press("Home")
    for _ in range(3):
        keys.press("ArrowRight")
    expect(box(queue, "x @ w"), "what runs has no ring").to_have_class(STATES["tc-now"])
    expect(box(queue, "y.relu()"), "what is queued does not show it").to_have_class(STATES["tc-queued"])
    keys.press("ArrowLeft")
    expect(box(queue, "y.relu()"), "one moment back does not undo").to_have_class(STATES["tc-come"])
    keys.press("]")
    expect(queue.locator(".tc-counter"), "] did not lead to the next line").to_have_text("3 / 7")
    keys.press("[")
    expect(queue.locator(".tc-counter"), "[ did not lead to the line before").to_have_text("2 / 7")
    lists_its_keys(queue_page, queue)
    keys.press("Escape")
    expect(queue.locator(".tc-counter"), "Esc did not clear").to_have_text("0 / 7")
    assert queue_page.frames == [], "stepping sent a message to the kernel"


def test_queue_keyboard_plays(queue: Locator, queue_page: NotebookPage) -> None:
    queue_page.page.keyboard.press(" ")
    expect(queue.locator(".tc-play"), "Space did not play").to_have_attribute("aria-label", "Pause")
    expect(queue.locator(".tc-counter"), "it does not play to the end").to_have_text("7 / 7")
    expect(queue.locator(".tc-play"), "it does not stop at the end").to_have_attribute("aria-label", "Play")
    assert queue_page.frames == [], "playing sent a message to the kernel"


def test_queue_mouse(queue: Locator, queue_page: NotebookPage) -> None:
    counter = queue.locator(".tc-counter")
    queue.get_by_role("button", name="One moment on").click()
    expect(counter).to_have_text("1 / 7")
    expect(queue.locator(".tc-body"), "a button keeps the focus, and the keys are lost").to_be_focused()
    box(queue, "y.relu()").click()
    expect(counter, "a click on a box did not lead to its beginning").to_have_text("5 / 7")
    queue_page.page.mouse.move(0, 0)
    expect(say(queue)).to_contain_text("At 90 µs")
    box(queue, "x @ w").hover()
    expect(say(queue), "pointing at a box does not say what it is").to_contain_text("10 µs to 90 µs")
    queue_page.page.mouse.move(0, 0)
    expect(say(queue), "the sentence stays when the mouse leaves").to_contain_text("At 90 µs")
    bar = queue.locator(".tc-scrub")
    frame = bar.bounding_box()
    bar.click(position={"x": frame["width"] - 4, "y": frame["height"] / 2})
    expect(counter, "the scrubber did not lead to the end").to_have_text("7 / 7")
    expect(queue.get_by_role("button", name="One moment on")).to_be_disabled()
    assert queue_page.frames == [], "the mouse sent a message to the kernel"


def test_queue_keyboard_one_tab_in_and_one_out(queue: Locator, queue_page: NotebookPage) -> None:
    one_tab_in_and_one_out(queue_page, queue)


def test_queue_says_the_same_as_text(queue: Locator, queue_page: NotebookPage) -> None:
    says_the_same_as_text(queue_page, queue)


def test_queue_touched_has_no_barriers(queue: Locator, queue_page: NotebookPage) -> None:
    has_no_barriers(queue_page, "ArrowRight", "ArrowRight", "ArrowRight")


def test_queue_left_no_trace(queue_page: NotebookPage) -> None:
    left_no_trace(queue_page)
