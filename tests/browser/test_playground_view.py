"""The decay playground, touched for real, by mouse and by keyboard; its rules held to Python's."""

import math
import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Locator, expect

from torchcourse.optimizers.decay import PROBLEMS, WAYS, Settings, path
from torchcourse.widgets._card import HERE

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

PLAYGROUND = "from torchcourse.widgets import playground\nplayground(steps=20)"

expect.set_options(timeout=20_000)


@pytest.fixture(scope="module")
def playground_page(browser: Browser, jupyter: Lab) -> Iterator[NotebookPage]:
    with touching(browser, jupyter, "playground", PLAYGROUND) as page:
        yield page


@pytest.fixture
def playground(playground_page: NotebookPage) -> Locator:
    """The view at its start, with the sliders where they begin; `frames` counts from here."""
    playground_page.page.mouse.move(0, 0)
    view = playground_page.page.locator(".tc-view")
    view.get_by_role("button", name=PROBLEMS[0].name).click()
    body = view.locator(".tc-body")
    for key in ("Escape", "Home"):
        body.press(key)
    expect(view.locator(".tc-counter"), "Home did not lead to the start").to_have_text("0 / 20")
    playground_page.frames.clear()
    return view


def test_playground_keyboard(playground: Locator, playground_page: NotebookPage) -> None:
    keys = playground_page.page.keyboard
    height = playground.locator(".tc-card").bounding_box()["height"]
    for key, words in (
        ("ArrowRight", "after step 1"),
        ("End", "That is the last step"),
        ("Home", "w = [3.300, 2.800]"),
        ("ArrowDown", "SGD, λ in the loss"),
        ("ArrowUp", "AdamW(weight_decay=λ)"),
    ):
        keys.press(key)
        expect(say(playground), f"after {key}").to_contain_text(words)
        assert playground.locator(".tc-card").bounding_box()["height"] == height, (
            "the card changed its height"
        )
    line = playground.locator(".tc-way.tc-chosen")
    before = line.get_attribute("points")
    keys.press("D")
    assert line.get_attribute("points") != before, "a larger λ did not move the path"
    keys.press("d")
    assert line.get_attribute("points") == before, "the former λ did not bring the path back"
    keys.press("]")
    expect(playground.locator(".tc-title")).to_contain_text(PROBLEMS[1].name)
    keys.press("[")
    expect(playground.locator(".tc-title")).to_contain_text(PROBLEMS[0].name)
    lists_its_keys(playground_page, playground)
    assert playground_page.frames == [], "a key sent a message to the kernel"


def test_playground_mouse(playground: Locator, playground_page: NotebookPage) -> None:
    playground.locator(".tc-one").nth(1).click()
    expect(say(playground)).to_contain_text("SGD(weight_decay=λ)")
    bar = playground.get_by_label("Learning rate")
    frame = bar.bounding_box()
    bar.click(position={"x": frame["width"] - 3, "y": frame["height"] / 2})
    expect(playground.locator(".tc-slider output").first).to_have_text("0.4")
    playground.get_by_role("button", name=PROBLEMS[2].name).click()
    expect(playground.locator(".tc-title")).to_contain_text(PROBLEMS[2].name)
    expect(playground.locator(".tc-body"), "a button keeps the focus, and the keys are lost").to_be_focused()
    assert playground_page.frames == [], "the mouse sent a message to the kernel"


def test_playground_keyboard_one_tab_in_and_one_out(
    playground: Locator, playground_page: NotebookPage
) -> None:
    one_tab_in_and_one_out(playground_page, playground)


def test_playground_says_the_same_as_text(playground: Locator, playground_page: NotebookPage) -> None:
    says_the_same_as_text(playground_page, playground)


def test_playground_steps_that_grow_without_end(playground: Locator, playground_page: NotebookPage) -> None:
    """Whatever the sliders do, it stays usable: a sentence, and no number that is none."""
    keys = playground_page.page.keyboard
    for key in ("ArrowDown", *"LLLLLL", *"MMMM", *"DDDDD", "End"):
        keys.press(key)
    assert not re.search("NaN|Infinity", playground.inner_html())
    keys.press("Escape")
    expect(say(playground)).to_contain_text("w = ")


def test_playground_touched_has_no_barriers(playground: Locator, playground_page: NotebookPage) -> None:
    has_no_barriers(playground_page, "ArrowRight", "ArrowRight")


# Without a mean of gradients (beta 1 is 0), Adam's steps near the end amplify the last digit's rounding, so
# that two right computations part; those paths are compared where they have not yet.
SWEEP = [
    Settings(lr, decay, momentum, betas, steps)
    for lr in (0.01, 0.4)
    for decay in (0.0, 0.1, 1.0)
    for momentum, betas, steps in ((0.0, (0.9, 0.999), 40), (0.9, (0.0, 0.9), 20), (0.5, (0.5, 0.99), 40))
]


def test_the_rules_of_the_browser_are_pythons(browser: Browser) -> None:
    """Every point of every path, to 1e-9 of its size; paths that grow without end, to where they do."""
    page = browser.new_page()
    page.add_script_tag(content=(HERE / "decay_rules.js").read_text(encoding="utf-8"))
    compared = 0
    for settings in SWEEP:
        for problem in PROBLEMS:
            for way in WAYS:
                told = page.evaluate(
                    "([problem, way, settings]) => decayPath(problem, way, settings)",
                    [
                        {"curvature": problem.curvature, "best": problem.best, "start": problem.start},
                        {"optimizer": way.optimizer.__name__, "in_loss": way.in_loss},
                        vars(settings),
                    ],
                )
                for ours, theirs in zip(told["points"], path(problem, way, settings).points, strict=False):
                    assert all(
                        math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9)
                        for a, b in zip(ours, theirs, strict=True)
                    )
                    compared += 1
                for move, before, after in zip(
                    told["moves"], told["points"], told["points"][1:], strict=False
                ):
                    parts = [sum(move[part][i] for part in move) for i in (0, 1)]
                    assert all(
                        math.isclose(b + part, a, rel_tol=1e-9, abs_tol=1e-9)
                        for part, b, a in zip(parts, before, after, strict=True)
                    )
    page.close()
    assert compared > 8_000


def test_playground_left_no_trace(playground_page: NotebookPage) -> None:
    left_no_trace(playground_page)
