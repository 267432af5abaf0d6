"""The backward stepper, touched for real, by mouse and by keyboard, in a real JupyterLab."""

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

STEPPER = """\
import torch
from torchcourse.widgets.step_backward import step_backward
w = torch.tensor(3.0, requires_grad=True)
b = torch.tensor(1.0, requires_grad=True)
x, target = torch.tensor(2.0), torch.tensor(4.0)
loss = (x * w + b - target) ** 2
step_backward(loss)
"""
STATES = {
    "tc-now": re.compile(r"\btc-now\b"),
    "tc-past": re.compile(r"\btc-past\b"),
    "tc-come": re.compile(r"\btc-come\b"),
}

expect.set_options(timeout=20_000)


@pytest.fixture(scope="module")
def stepper_page(browser: Browser, jupyter: Lab) -> Iterator[NotebookPage]:
    with touching(browser, jupyter, "step_backward", STEPPER) as page:
        yield page


@pytest.fixture
def stepper(stepper_page: NotebookPage) -> Locator:
    """The view before its first step; `frames` counts from here."""
    stepper_page.page.mouse.move(0, 0)
    view = stepper_page.page.locator(".tc-view")
    view.locator(".tc-body").focus()
    view.locator(".tc-body").press("Home")
    expect(view.locator(".tc-counter"), "Home did not lead to the start").to_have_text("0 / 6")
    stepper_page.frames.clear()
    return view


def box(view: Locator, title: str) -> Locator:
    return view.locator(".node", has_text=title).first


def test_step_backward_keyboard(stepper: Locator, stepper_page: NotebookPage) -> None:
    keys = stepper_page.page.keyboard
    height = stepper.locator(".tc-card").bounding_box()["height"]
    steps = [
        ("PowBackward0 received 1.0", "Pow"),
        ("SubBackward0 received 6.0", "Sub"),
        ("AddBackward0 received 6.0", "Add"),
        ("puts 6.0 into b.grad", "b.grad"),
        ("grad·self = 12.0 to w", "Mul"),
        ("puts 12.0 into w.grad", "w.grad"),
    ]
    for k, (words, title) in enumerate(steps, 1):
        keys.press("ArrowRight")
        expect(say(stepper), f"step {k}").to_contain_text(words)
        expect(box(stepper, title), f"step {k}: the box is not ringed").to_have_class(STATES["tc-now"])
        expect(stepper.locator(".tc-counter")).to_have_text(f"{k} / 6")
        assert stepper.locator(".tc-card").bounding_box()["height"] == height, "the card changed its height"
    expect(box(stepper, "Pow"), "what is done is not dashed").to_have_class(STATES["tc-past"])
    expect(box(stepper, "w.grad").locator(".tc-during")).to_be_visible()
    keys.press("ArrowLeft")
    expect(box(stepper, "w.grad"), "one step back does not undo").to_have_class(STATES["tc-come"])
    keys.press("End")
    expect(stepper.locator(".tc-counter")).to_have_text("6 / 6")
    lists_its_keys(stepper_page, stepper)
    keys.press("Escape")
    expect(stepper.locator(".tc-counter"), "Esc did not clear").to_have_text("0 / 6")
    assert stepper_page.frames == [], "stepping sent a message to the kernel"


def test_step_backward_keyboard_plays(stepper: Locator, stepper_page: NotebookPage) -> None:
    keys = stepper_page.page.keyboard
    keys.press(" ")
    expect(stepper.locator(".tc-play"), "Space did not play").to_have_attribute("aria-label", "Pause")
    expect(stepper.locator(".tc-counter"), "it does not play to the end").to_have_text("6 / 6")
    expect(stepper.locator(".tc-play"), "it does not stop at the end").to_have_attribute("aria-label", "Play")
    assert stepper_page.frames == [], "playing sent a message to the kernel"


def test_step_backward_mouse(stepper: Locator, stepper_page: NotebookPage) -> None:
    counter = stepper.locator(".tc-counter")
    stepper.get_by_role("button", name="One step on").click()
    expect(counter).to_have_text("1 / 6")
    expect(stepper.locator(".tc-body"), "a button keeps the focus, and the keys are lost").to_be_focused()
    box(stepper, "Mul").click()
    expect(counter, "a click on a box did not lead to its step").to_have_text("5 / 6")
    stepper_page.page.mouse.move(0, 0)
    expect(say(stepper)).to_contain_text("MulBackward0")
    box(stepper, "Sub").hover()
    expect(say(stepper), "pointing at a box does not say what it did").to_contain_text("SubBackward0")
    stepper_page.page.mouse.move(0, 0)
    expect(say(stepper), "the sentence stays when the mouse leaves").to_contain_text("MulBackward0")
    bar = stepper.locator(".tc-scrub")
    frame = bar.bounding_box()
    bar.click(position={"x": frame["width"] / 2, "y": frame["height"] / 2})
    expect(counter, "the scrubber did not lead to the middle").to_have_text("3 / 6")
    stepper.get_by_role("button", name="To the last step").click()
    expect(counter).to_have_text("6 / 6")
    expect(stepper.get_by_role("button", name="One step on")).to_be_disabled()
    assert stepper_page.frames == [], "the mouse sent a message to the kernel"


def test_step_backward_keyboard_one_tab_in_and_one_out(stepper: Locator, stepper_page: NotebookPage) -> None:
    one_tab_in_and_one_out(stepper_page, stepper)


def test_step_backward_says_the_same_as_text(stepper: Locator, stepper_page: NotebookPage) -> None:
    says_the_same_as_text(stepper_page, stepper)


def test_step_backward_touched_has_no_barriers(stepper: Locator, stepper_page: NotebookPage) -> None:
    has_no_barriers(stepper_page, "ArrowRight", "ArrowRight")


def test_step_backward_left_no_trace(stepper_page: NotebookPage) -> None:
    left_no_trace(stepper_page)
