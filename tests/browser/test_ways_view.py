"""The export view, touched for real, by mouse and by keyboard, in a real JupyterLab."""

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
    says_the_same_as_text,
    touching,
)

WAYS = """\
import torch
import torchcourse as tc
from torch import nn

class Net(nn.Module):
    def forward(self, x):
        print("seen", len(x))
        if x.shape[0] > 1:
            y = x * 2
        else:
            y = x - 1
        for i in range(x.shape[0]):
            y = y + i
        return y / len(x)

tc.ways(Net(), torch.ones(3, 4))
"""
REFUSED = """\
import torch
import torchcourse as tc
from torch import nn

class ByValue(nn.Module):
    def forward(self, x):
        y = x * 2
        if y.sum() > 0:
            y = y + 1
        return y

tc.ways(ByValue(), torch.ones(3, 4), ways=("trace", "export"))
"""
HERE, LIT = re.compile(r"\btc-here\b"), re.compile(r"\btc-lit\b")

expect.set_options(timeout=20_000)


@pytest.fixture(scope="module")
def ways_page(browser: Browser, jupyter: Lab) -> Iterator[NotebookPage]:
    with touching(browser, jupyter, "ways", WAYS, REFUSED) as page:
        yield page


def cleared(page: NotebookPage, number: int) -> Locator:
    """A view on its first way, with nothing pointed at; `frames` counts from here."""
    page.page.mouse.move(0, 0)
    view = page.page.locator(".tc-view").nth(number)
    view.locator(".tc-way").first.click()
    view.locator(".tc-body").press("Escape")
    page.page.mouse.move(0, 0)
    expect(view.locator(".tc-here, .tc-lit"), "Esc did not clear the view").to_have_count(0)
    page.frames.clear()
    return view


@pytest.fixture
def ways(ways_page: NotebookPage) -> Locator:
    return cleared(ways_page, 0)


def pane(view: Locator) -> Locator:
    return view.locator(".tc-pane:not(.tc-off)")


def line(view: Locator, code: str) -> Locator:
    return pane(view).locator(".tc-line", has_text=code).first


def box(view: Locator, title: str, number: int = 0) -> Locator:
    return pane(view).locator(".node", has_text=title).nth(number)


def test_ways_mouse(ways: Locator, ways_page: NotebookPage) -> None:
    line(ways, "for i in range").hover()
    expect(say(ways)).to_contain_text("no loop in the graph: its body ran 3 times")
    expect(pane(ways).locator(".node.tc-lit"), "a loop lights up what it became").to_have_count(3)
    box(ways, "mul").hover()
    expect(line(ways, "y = x * 2"), "hovering an operator does not light up its line").to_have_class(LIT)
    expect(say(ways)).to_contain_text("aten::mul gives [3, 4] float32. It comes from line 9 of Net.forward")
    line(ways, "y = x - 1").hover()
    expect(say(ways)).to_contain_text("did not run for this example")
    expect(pane(ways).locator(".node.tc-lit")).to_have_count(0)
    ways_page.page.mouse.move(0, 0)
    expect(ways.locator(".tc-here, .tc-lit"), "the light stays when the mouse leaves").to_have_count(0)
    expect(say(ways)).to_contain_text("torch.jit.trace(model, example) kept 5 operators")
    box(ways, "div").click()
    ways_page.page.mouse.move(0, 0)
    expect(line(ways, "return y / len(x)"), "a click does not stay").to_have_class(LIT)
    assert ways_page.frames == [], "hovering sent a message to the kernel"


def test_ways_says_by_words_what_left_no_trace(ways: Locator) -> None:
    expect(line(ways, "else:")).to_contain_text("not taken when exported")
    expect(line(ways, "print(")).to_contain_text("printed once")
    expect(line(ways, "for i in range")).to_contain_text("unrolled ×3")
    expect(line(ways, "return y / len(x)")).to_contain_text("baked in 3")


def test_ways_keyboard(ways: Locator, ways_page: NotebookPage) -> None:
    keys = ways_page.page.keyboard
    height = ways.locator(".tc-card").bounding_box()["height"]
    for key, here, lit in (
        ("Home", line(ways, 'print("seen"'), None),
        ("ArrowDown", line(ways, "if x.shape[0] > 1"), None),
        ("ArrowDown", line(ways, "y = x * 2"), box(ways, "mul")),
        ("ArrowRight", box(ways, "mul"), line(ways, "y = x * 2")),
        ("ArrowDown", box(ways, "add"), line(ways, "y = y + i")),
        ("ArrowLeft", line(ways, "y = y + i"), box(ways, "add", 2)),
        ("End", line(ways, "return y / len(x)"), box(ways, "div")),
        ("ArrowRight", box(ways, "div"), line(ways, "return y / len(x)")),
        ("Home", box(ways, "x"), None),
        ("End", box(ways, "output"), None),
    ):
        keys.press(key)
        expect(here, f"after {key}").to_have_class(HERE)
        if lit is not None:
            expect(lit, f"after {key}").to_have_class(LIT)
        assert ways.locator(".tc-card").bounding_box()["height"] == height, "the card changed its height"
    lists_its_keys(ways_page, ways)
    keys.press("Escape")
    expect(ways.locator(".tc-here"), "Esc did not clear").to_have_count(0)
    assert ways_page.frames == [], "moving by keys sent a message to the kernel"


def test_ways_keyboard_goes_from_way_to_way(ways: Locator, ways_page: NotebookPage) -> None:
    keys, pressed = ways_page.page.keyboard, ways.locator('.tc-way[aria-pressed="true"]')
    height = ways.locator(".tc-card").bounding_box()["height"]
    expect(pressed).to_have_text("torch.jit.trace")
    keys.press("]")
    expect(pressed).to_have_text("torch.export")
    expect(say(ways)).to_contain_text("torch.export.export(model, example) kept 5 operators")
    expect(box(ways, "mul"), "the other way shows no graph").to_be_visible()
    assert ways.locator(".tc-card").bounding_box()["height"] == height, "another way has another height"
    keys.press("[")
    expect(pressed).to_have_text("torch.jit.trace")
    assert ways_page.frames == [], "another way sent a message to the kernel"


def test_ways_mouse_a_refusal_shows_the_source_and_the_reason(ways_page: NotebookPage) -> None:
    view = cleared(ways_page, 1)
    view.locator(".tc-way", has_text="torch.export").click()
    expect(view.locator(".tc-body"), "a button keeps the focus, and the keys are lost").to_be_focused()
    expect(pane(view).locator(".node"), "a picture of no graph").to_have_count(0)
    expect(pane(view).locator(".tc-no-graph")).to_contain_text("No graph. Data-dependent branch")
    expect(line(view, "if y.sum() > 0:")).to_contain_text("the export stopped here")
    ways_page.page.keyboard.press("Home")
    expect(say(view)).to_contain_text("the export stopped here")
    ways_page.page.keyboard.press("ArrowRight")  # there is no graph to go to
    expect(line(view, "if y.sum() > 0:")).to_have_class(HERE)


def test_ways_keyboard_one_tab_in_and_one_out(ways_page: NotebookPage) -> None:
    view = cleared(ways_page, 1)
    view.locator(".tc-body").focus()
    one_tab_in_and_one_out(ways_page, view)


def test_ways_says_the_same_as_text(ways: Locator, ways_page: NotebookPage) -> None:
    ways.locator(".tc-body").focus()
    says_the_same_as_text(ways_page, ways)


def test_ways_touched_has_no_barriers_and_fits(ways: Locator, ways_page: NotebookPage) -> None:
    ways.locator(".tc-body").focus()
    has_no_barriers_and_fits(ways_page, ways, "Home", "ArrowDown", "ArrowDown", "ArrowRight")


def test_ways_left_no_trace(ways_page: NotebookPage) -> None:
    left_no_trace(ways_page)
