"""The xray's view is touched for real, by mouse and by keyboard, in a real JupyterLab."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Locator, expect

from .lab import Lab
from .page import NotebookPage
from .touch import (
    has_no_barriers_and_fits,
    left_no_trace,
    lists_its_keys,
    one_tab_in_and_one_out,
    say,
    touching,
)

CELLS = (
    """\
import torch
import torchcourse as tc
from torchcourse._ipython import register
register()
x = torch.arange(12.0).reshape(3, 4).requires_grad_()
with tc.xray() as seen:
    y = x.t()
    z = y.reshape(12)
    z.detach().add_(1)
    z.sum().item()
seen""",
    "tc.xray.compare(lambda: x.t().reshape(12), lambda: x.reshape(12), names=('turned', 'plain'))",
    """\
with tc.xray() as many:
    w = torch.zeros(60, 3)
    for i in range(60):
        w[i] += i
        w[i, : i % 3 + 1] *= 2
    w[w > 100].sum()
many""",
)

expect.set_options(timeout=30_000)


@pytest.fixture(scope="module")
def xray_page(browser: Browser, jupyter: Lab) -> Iterator[NotebookPage]:
    with touching(browser, jupyter, "xray", *CELLS) as page:
        yield page


def cleared(page: NotebookPage, number: int) -> Locator:
    """A view with nothing pointed at; `frames` counts from here."""
    page.page.mouse.move(0, 0)
    view = page.page.locator(".tc-view").nth(number)
    body = view.locator(".tc-body")
    body.focus()
    body.press("Escape")
    expect(view.locator(".tc-here"), "Esc did not clear the view").to_have_count(0)
    page.frames.clear()
    return view


@pytest.fixture
def trace(xray_page: NotebookPage) -> Locator:
    return cleared(xray_page, 0)


@pytest.fixture
def pairs(xray_page: NotebookPage) -> Locator:
    return cleared(xray_page, 1)


def row(view: Locator, words: str) -> Locator:
    return view.locator('[role="row"][aria-level]', has_text=words).first


def test_xray_opens_with_the_copy(trace: Locator) -> None:
    expect(trace.locator(".tc-title")).to_contain_text(
        re.compile(r"xray · 4 lines · \d+ operators · 4 nodes · 1 wait")
    )
    expect(say(trace)).to_contain_text("reshape could not make a view")
    expect(row(trace, "aten::clone"), "the line that the sentence is about is not open").to_be_visible()
    expect(row(trace, "y = x.t()")).to_have_attribute("aria-expanded", "false")


def test_xray_mouse(trace: Locator, xray_page: NotebookPage) -> None:
    row(trace, "aten::clone").hover()
    expect(say(trace)).to_contain_text(
        "aten::clone gave [4, 3] float32 inside aten::reshape: new storage, 48 bytes. Autograd recorded CloneBackward0"
    )
    for toucher in ("aten::_unsafe_view", "z.detach().add_(1)", "z.sum().item()"):
        expect(row(trace, toucher), f"{toucher} touches the clone").to_have_class(re.compile(r"\btc-lit\b"))
    expect(row(trace, "y = x.t()"), "y lies in another storage").not_to_have_class(re.compile(r"\btc-lit\b"))
    row(trace, "y = x.t()").click()
    expect(row(trace, "aten::t"), "a click did not open the line").to_be_visible()
    row(trace, "y = x.t()").click()
    expect(row(trace, "aten::transpose"), "a click did not close the line").to_have_count(0)
    xray_page.page.mouse.move(0, 0)
    assert xray_page.frames == [], "hovering or folding sent a message to the kernel"


def test_xray_keyboard(trace: Locator, xray_page: NotebookPage) -> None:
    keys, here = xray_page.page.keyboard, trace.locator(".tc-here")
    for key, words in (
        ("Home", "y = x.t()"),
        ("ArrowRight", "y = x.t()"),  # opens it
        ("ArrowRight", "aten::t"),
        ("ArrowLeft", "y = x.t()"),
        ("ArrowLeft", "y = x.t()"),  # closes it
        ("ArrowDown", "z = y.reshape(12)"),
        ("ArrowDown", "aten::reshape"),
        ("ArrowDown", "aten::clone"),
        ("]", "aten::_unsafe_view"),
        ("]", "z.detach().add_(1)"),
        ("[", "aten::_unsafe_view"),
        ("ArrowUp", "aten::clone"),
        ("End", "z.sum().item()"),
    ):
        keys.press(key)
        expect(here, f"after {key}").to_contain_text(words)
        current = trace.locator(".tc-body").get_attribute("aria-activedescendant")
        assert current == here.get_attribute("id"), "a screen reader is not told of the row"
    lists_its_keys(xray_page, trace)
    keys.press("Escape")
    expect(here, "Esc did not clear").to_have_count(0)
    assert xray_page.frames == [], "moving by keys sent a message to the kernel"


def test_xray_keyboard_one_tab_in_and_one_out(xray_page: NotebookPage) -> None:
    # The last view: after the others comes an editor, where Tab means something else.
    view = cleared(xray_page, 2)
    one_tab_in_and_one_out(xray_page, view)


def test_xray_keyboard_moving_keeps_the_card_as_high_as_it_is(
    trace: Locator, xray_page: NotebookPage
) -> None:
    heights = set()
    for key in ("Home", "ArrowDown", "ArrowDown", "ArrowDown", "End"):
        xray_page.page.keyboard.press(key)
        heights.add(trace.locator(".tc-card").bounding_box()["height"])
    assert len(heights) == 1


def test_xray_pairs_mouse(pairs: Locator, xray_page: NotebookPage) -> None:
    row(pairs, "aten::clone").hover()
    expect(say(pairs)).to_contain_text("aten::clone ran only in turned")
    expect(row(pairs, "aten::clone")).to_contain_text("only turned")
    expect(row(pairs, "new bytes")).to_contain_text(re.compile(r"≠.*48.*0"))
    assert xray_page.frames == [], "hovering sent a message to the kernel"


def test_xray_pairs_keyboard(pairs: Locator, xray_page: NotebookPage) -> None:
    keys = xray_page.page.keyboard
    keys.press("Home")
    expect(pairs.locator(".tc-here")).to_contain_text("sums")
    keys.press("]")
    expect(say(pairs), "] did not go to the first difference").to_contain_text("Operators: ")
    keys.press("End")
    expect(say(pairs)).to_contain_text("aten::view ran only in plain")


def test_xray_repeats_are_folded(xray_page: NotebookPage) -> None:
    view = cleared(xray_page, 2)
    expect(row(view, "w[i] += i")).to_contain_text("× 60")
    ids = [found.get_attribute("id") for found in xray_page.page.locator("[id^=tc-grid]").all()]
    assert len(ids) == len(set(ids)) > 10, "rows of two views have one id"
    expect(row(view, "w[w > 100].sum()").locator(".tc-wait")).to_have_text(re.compile("1"))


def test_xray_touched_has_no_barriers_and_fits(trace: Locator, xray_page: NotebookPage) -> None:
    has_no_barriers_and_fits(xray_page, trace, "Home", "ArrowDown", "ArrowDown", "ArrowDown")


def test_xray_left_no_trace(xray_page: NotebookPage) -> None:
    left_no_trace(xray_page)
