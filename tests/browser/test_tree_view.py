"""The module tree is touched for real, by mouse and by keyboard, in a real JupyterLab."""

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
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = [nn.Linear(4, 4)]
        self.norm = nn.BatchNorm1d(4)
        self.head = nn.Linear(4, 2)

net = Net()
tc.tree(net, torch.optim.SGD(net.norm.parameters(), 0.1))""",
    "tc.tree(nn.Sequential(*[nn.Sequential(nn.Linear(4, 4), nn.ReLU()) for _ in range(30)]))",
)

expect.set_options(timeout=30_000)


@pytest.fixture(scope="module")
def tree_page(browser: Browser, jupyter: Lab) -> Iterator[NotebookPage]:
    with touching(browser, jupyter, "tree", *CELLS) as page:
        yield page


def cleared(page: NotebookPage, number: int) -> Locator:
    """A view without a walk and with nothing pointed at; `frames` counts from here."""
    page.page.mouse.move(0, 0)
    view = page.page.locator(".tc-view").nth(number)
    view.locator(".tc-body").focus()
    for _ in range(3):
        view.locator(".tc-body").press("Escape")
    expect(view.locator(".tc-here"), "Esc did not clear the view").to_have_count(0)
    expect(view.locator('[aria-pressed="true"]'), "Esc did not leave the walk").to_have_count(0)
    page.frames.clear()
    return view


@pytest.fixture
def tree(tree_page: NotebookPage) -> Locator:
    return cleared(tree_page, 0)


def row(view: Locator, words: str) -> Locator:
    return view.locator('[role="row"][aria-level]', has_text=words).first


def test_tree_opens_with_what_was_missed(tree: Locator) -> None:
    expect(tree.locator(".tc-title")).to_have_text("Net · 3 modules · 4 parameters · 3 buffers · 112 bytes")
    expect(say(tree)).to_contain_text("layers: a plain list with 1 module (Linear)")
    expect(row(tree, "layers").locator(".tc-wrong-tag")).to_have_text("✕not registered")
    expect(tree.locator(".tc-wrong-tag", has_text="not in the optimizer")).to_have_count(2)


def test_tree_mouse(tree: Locator, tree_page: NotebookPage) -> None:
    row(tree, "running_mean").hover()
    expect(say(tree)).to_have_text("norm.running_mean: buffer, [4] float32 on cpu, 16 bytes.")
    row(tree, "layers").hover()
    expect(say(tree)).to_contain_text("Mend: self.layers = nn.ModuleList(…).")
    row(tree, "BatchNorm1d").click()
    expect(row(tree, "running_mean"), "a click did not close the module").to_have_count(0)
    row(tree, "BatchNorm1d").click()
    tree.get_by_role("button", name="2 .half()").click()
    expect(say(tree)).to_contain_text("takes 10 steps")
    tree.get_by_role("button", name="To the last step").click()
    expect(say(tree)).to_contain_text("Done. layers was not visited.")
    expect(row(tree, "running_mean")).to_contain_text("→ float16")
    expect(row(tree, "num_batches_tracked")).to_contain_text("int64")
    expect(row(tree, "layers")).to_contain_text("missed")
    tree.get_by_role("button", name="2 .half()").click()
    expect(row(tree, "running_mean"), "leaving the walk left its traces").to_contain_text("float32")
    assert tree_page.frames == [], "pointing or walking sent a message to the kernel"


def test_tree_keyboard(tree: Locator, tree_page: NotebookPage) -> None:
    keys, here = tree_page.page.keyboard, tree.locator(".tc-here")
    for key, words in (
        ("Home", "Net"),
        ("ArrowDown", "layers"),
        ("ArrowDown", "norm"),
        ("ArrowRight", "weight"),
        ("ArrowLeft", "norm"),
        ("End", "bias"),
        ("[", "weight"),
        ("[", "layers"),
        ("]", "weight"),
    ):
        keys.press(key)
        expect(here, f"after {key}").to_contain_text(words)
        current = tree.locator(".tc-body").get_attribute("aria-activedescendant")
        assert current == here.get_attribute("id"), "a screen reader is not told of the row"
    lists_its_keys(tree_page, tree)
    assert tree_page.frames == [], "moving by keys sent a message to the kernel"


def test_tree_keyboard_walks_in_the_order_of_apply(tree: Locator, tree_page: NotebookPage) -> None:
    keys, here = tree_page.page.keyboard, tree.locator(".tc-here")
    keys.press("4")
    for words in ("norm", "head", "Net"):
        keys.press("ArrowRight")
        expect(here).to_contain_text(words)
    expect(say(tree), "apply calls fn on the children first").to_contain_text("Done. layers was not visited")
    keys.press("3")
    keys.press("ArrowRight")
    expect(say(tree)).to_have_text("Net: its flag training goes from train to eval.")
    keys.press("1")
    for key, words in (("]", "Net"), ("]", "norm"), ("ArrowRight", "weight"), ("]", "head"), ("Home", "")):
        keys.press(key)
        if words:
            expect(here, f"after {key}").to_contain_text(words)
    expect(tree.locator(".tc-counter")).to_have_text("0 / 10")
    keys.press("Space")
    expect(tree.locator(".tc-counter"), "Space does not play").not_to_have_text("0 / 10")
    keys.press("Escape")
    assert tree_page.frames == [], "walking sent a message to the kernel"


def test_tree_keyboard_one_tab_in_and_one_out(tree_page: NotebookPage) -> None:
    view = cleared(tree_page, 1)
    one_tab_in_and_one_out(tree_page, view)


def test_tree_keyboard_walking_keeps_the_card_as_high_as_it_is(
    tree: Locator, tree_page: NotebookPage
) -> None:
    heights = set()
    for key in ("1", "ArrowRight", "ArrowRight", "ArrowRight", "End"):
        tree_page.page.keyboard.press(key)
        heights.add(tree.locator(".tc-card").bounding_box()["height"])
    assert len(heights) == 1


def test_tree_large_opens_folded_and_walks_open_it(tree_page: NotebookPage) -> None:
    view = cleared(tree_page, 1)
    expect(view.locator('[role="row"][aria-level]')).to_have_count(31)
    tree_page.page.keyboard.press("1")
    for words in ("Sequential", "0", "Linear", "weight"):
        tree_page.page.keyboard.press("ArrowRight")
        expect(view.locator(".tc-here"), "the walk did not open what is around the step").to_contain_text(
            words
        )


def test_tree_touched_has_no_barriers_and_fits(tree: Locator, tree_page: NotebookPage) -> None:
    has_no_barriers_and_fits(tree_page, tree, "2", "ArrowRight", "ArrowRight", "ArrowRight")


def test_tree_left_no_trace(tree_page: NotebookPage) -> None:
    left_no_trace(tree_page)
