"""Every view is touched for real, by mouse and by keyboard, in a real JupyterLab."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, expect

from torchcourse._views import VIEWS

from .lab import Lab
from .page import NotebookPage
from .touch import has_no_barriers, left_no_trace, lists_its_keys, one_tab_in_and_one_out, touching

EXPLORE = """\
import torch
from torchcourse.widgets import explore
x = torch.arange(12).reshape(3, 4)
y = x.t()
explore(x, y)
"""

expect.set_options(timeout=20_000)


def _names_of_tests() -> list[str]:
    files = Path(__file__).parent.glob("test_*.py")
    return [name for file in files for name in re.findall(r"^def (test_\w+)", file.read_text("utf-8"), re.M)]


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_is_touched(view: str) -> None:
    """Its tests may stand here or in a file of their own; `test_<view>_` is how their names begin."""
    tests = [name for name in _names_of_tests() if name.startswith(f"test_{view}_")]
    words = {word for name in tests for word in name.split("_")}
    assert {"mouse", "keyboard"} <= words, f"{view} needs a test by mouse and one by keyboard"


@pytest.fixture(scope="module")
def explore_page(browser: Browser, jupyter: Lab) -> Iterator[NotebookPage]:
    with touching(browser, jupyter, "explore", EXPLORE) as page:
        yield page


@pytest.fixture
def explore(explore_page: NotebookPage) -> Locator:
    """The view, with nothing pointed at; `frames` counts from here."""
    explore_page.page.mouse.move(0, 0)
    view = explore_page.page.locator(".tc-view")
    view.locator(".tc-body").focus()
    view.locator(".tc-body").press("Escape")
    expect(view.locator(".tc-lit"), "Esc did not clear the view").to_have_count(0)
    explore_page.frames.clear()
    return view


def cell(view: Locator, grid: int, number: int) -> Locator:
    return view.locator(".tc-grid").nth(grid).locator(".tc-cell").nth(number)


def test_explore_mouse(explore: Locator, explore_page: NotebookPage) -> None:
    cell(explore, grid=1, number=7).hover()  # y[2, 1]
    say = explore.locator(".tc-say:not(.tc-measure)")
    expect(say, "no formula for the cell under the mouse").to_contain_text(
        "y[2, 1] is element 0 + 2·1 + 1·4 = 6"
    )
    expect(say, "the partner is not named").to_contain_text("x[1, 2]")
    expect(explore.locator(".tc-cell.tc-lit"), "not lit: y's cell, x's, the storage's").to_have_count(3)
    expect(cell(explore, grid=0, number=6)).to_have_class(re.compile(r"\btc-lit\b"))
    assert explore_page.frames == [], "hovering sent a message to the kernel"
    explore_page.page.mouse.move(0, 0)
    expect(explore.locator(".tc-lit"), "the light stays when the mouse leaves").to_have_count(0)


def test_explore_keyboard(explore: Locator, explore_page: NotebookPage) -> None:
    say, keys = explore.locator(".tc-say:not(.tc-measure)"), explore_page.page.keyboard
    for key, words in (
        ("Home", "x[0, 0] is element 0 + 0·4 + 0·1 = 0"),
        ("ArrowRight", "x[0, 1] is element 0 + 0·4 + 1·1 = 1"),
        ("ArrowDown", "x[1, 1] is element 0 + 1·4 + 1·1 = 5"),
        ("ArrowLeft", "x[1, 0] is element 0 + 1·4 + 0·1 = 4"),
        ("]", "y[0, 1] is element 0 + 0·1 + 1·4 = 4"),
        ("[", "x[1, 0]"),
        ("ArrowUp", "x[0, 0]"),
        ("End", "x[2, 3] is element 0 + 2·4 + 3·1 = 11"),
    ):
        keys.press(key)
        expect(say, f"after {key}").to_contain_text(words)
        expect(explore.locator(".tc-cell.tc-lit"), f"after {key}").to_have_count(3)
    lists_its_keys(explore_page, explore)
    keys.press("Escape")
    expect(explore.locator(".tc-lit"), "Esc did not clear").to_have_count(0)
    assert explore_page.frames == [], "moving by keys sent a message to the kernel"


def test_explore_keyboard_one_tab_in_and_one_out(explore: Locator, explore_page: NotebookPage) -> None:
    one_tab_in_and_one_out(explore_page, explore)


def test_explore_chain_by_keyboard(explore: Locator, explore_page: NotebookPage) -> None:
    keys, names = explore_page.page.keyboard, explore.locator(".tc-grid .tc-name")
    before = names.all_inner_texts()
    keys.press("/")
    expect(explore.locator("input"), "/ did not lead to the text box").to_be_focused()
    keys.type(".t()[:, ::2]")
    keys.press("Enter")
    expect(names.nth(1), "the chain's result is not in the picture").to_have_text("x.t()[:, ::2]")
    expect(explore.locator(".tc-grid").nth(1).locator(".tc-cell")).to_have_count(8)
    assert explore_page.frames, "the watch on messages to the kernel sees none, so it proves nothing"
    explore.locator("input").fill("")
    keys.press("Enter")
    expect(names, "an empty chain did not bring the first picture back").to_have_text(before)


def test_explore_chain_by_mouse(explore: Locator, explore_page: NotebookPage) -> None:
    names = explore.locator(".tc-grid .tc-name").all_inner_texts()
    explore.locator("input").click()
    explore_page.page.keyboard.type(".__class__")
    explore_page.page.keyboard.press("Enter")
    answer = explore.locator(".tc-answer.tc-no")
    expect(answer, "a refused chain got no sentence").to_contain_text("__class__")
    expect(explore.locator(".tc-grid .tc-name"), "a refused chain changed the picture").to_have_text(names)
    explore.locator("input").fill("")
    explore_page.page.keyboard.press("Escape")
    expect(explore.locator(".tc-body"), "Esc did not lead from the box to the picture").to_be_focused()


def test_explore_touched_has_no_barriers(explore: Locator, explore_page: NotebookPage) -> None:
    has_no_barriers(explore_page, "Home", "]")


def test_explore_left_no_trace(explore_page: NotebookPage) -> None:
    left_no_trace(explore_page)
