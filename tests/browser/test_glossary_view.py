"""The course's words: what a view says of them, by mouse and by keyboard; and the page that JupyterLab shows."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Locator, expect

from torchcourse._glossary import terms

from .lab import Lab
from .page import NARROW, NotebookPage
from .touch import has_no_barriers, left_no_trace, one_tab_in_and_one_out, say, touching

QUEUE = """\
from torchcourse.devices.queue import item, kernel
from torchcourse.widgets import queue
queue([kernel("matmul", 40), item("x")])
"""
TERMS = {term.name: term for term in terms()}
expect.set_options(timeout=20_000)


@pytest.fixture(scope="module")
def glossary_page(browser: Browser, jupyter: Lab) -> Iterator[NotebookPage]:
    with touching(browser, jupyter, "glossary", QUEUE) as page:
        yield page


@pytest.fixture
def shown(glossary_page: NotebookPage) -> Locator:
    """The view at its second moment, with nothing open; `frames` counts from here."""
    glossary_page.page.mouse.move(0, 0)
    view = glossary_page.page.locator(".tc-queue")
    view.locator(".tc-body").focus()
    for key in ("Escape", "Home", "ArrowRight", "ArrowRight"):
        glossary_page.page.keyboard.press(key)
    expect(say(view)).to_have_text("At 10 µs: matmul runs on the default stream. Python launches x.")
    glossary_page.frames.clear()
    return view


def meaning(view: Locator) -> Locator:
    return view.get_by_role("status").locator("div")


def explains(view: Locator, name: str) -> None:
    """The box says what the table says, and nothing of it is cut off by the card."""
    expect(meaning(view).locator("b")).to_have_text(name)
    expect(meaning(view).locator("p")).to_have_text(TERMS[name].meaning.replace("`", ""))
    expect(meaning(view).locator("small")).to_have_text(f"Explained in {TERMS[name].place}")
    box, card = meaning(view).bounding_box(), view.locator(".tc-card").bounding_box()
    assert card["x"] <= box["x"] and box["x"] + box["width"] <= card["x"] + card["width"], "cut off aside"
    assert card["y"] <= box["y"] and box["y"] + box["height"] <= card["y"] + card["height"], (
        "cut off in height"
    )


def test_glossary_mouse(shown: Locator, glossary_page: NotebookPage) -> None:
    assert say(shown).locator(".tc-word").all_inner_texts() == ["stream", "launches"]
    assert shown.locator(".tc-legend .tc-word").all_inner_texts() == ["launches", "waits", "kernel"]
    places = ".tc-card, .tc-body, .tc-foot, .tc-say:not(.tc-measure)"
    before = [part.bounding_box() for part in shown.locator(places).all()]
    say(shown).get_by_text("stream", exact=True).hover()
    explains(shown, "stream")
    assert [part.bounding_box() for part in shown.locator(places).all()] == before, "the view moved"
    meaning(shown).hover()
    explains(shown, "stream")
    glossary_page.page.mouse.move(0, 0)
    expect(meaning(shown), "the box stays when the mouse leaves").to_have_count(0)
    shown.locator(".tc-legend").get_by_text("kernel", exact=True).hover()
    explains(shown, "kernel")
    glossary_page.page.keyboard.press("Escape")
    expect(meaning(shown), "Esc did not close the box").to_have_count(0)
    assert glossary_page.frames == [], "pointing at a word sent a message to the kernel"


def test_glossary_keyboard(shown: Locator, glossary_page: NotebookPage) -> None:
    keys = glossary_page.page.keyboard
    for key, name in (("w", "stream"), ("w", "launch"), ("w", "launch"), ("w", "wait"), ("W", "launch")):
        keys.press(key)
        explains(shown, name)
    keys.press("Escape")
    expect(meaning(shown), "Esc did not close the box").to_have_count(0)
    expect(say(shown), "Esc did more than close the box").to_contain_text("At 10 µs")
    keys.press("W")
    explains(shown, "kernel")
    keys.press("ArrowLeft")
    expect(meaning(shown), "a step left the box open").to_have_count(0)
    expect(say(shown)).to_contain_text("At 0 µs")
    keys.press("?")
    expect(shown.locator(".tc-keys"), "? does not list the key").to_contain_text("dotted word")
    keys.press("Escape")
    one_tab_in_and_one_out(glossary_page, shown)
    assert glossary_page.frames == [], "a key sent a message to the kernel"


def test_glossary_keyboard_in_a_narrow_window(shown: Locator, glossary_page: NotebookPage) -> None:
    glossary_page.resize(*NARROW)
    for name in ("stream", "launch", "launch", "wait", "kernel"):
        glossary_page.page.keyboard.press("w")
        explains(shown, name)
    glossary_page.page.keyboard.press("Escape")
    glossary_page.show_whole()


def test_glossary_touched_has_no_barriers(shown: Locator, glossary_page: NotebookPage) -> None:
    has_no_barriers(glossary_page, "w")


def test_glossary_left_no_trace(glossary_page: NotebookPage) -> None:
    left_no_trace(glossary_page)


def test_the_page_opens_as_a_page_and_leads_to_the_heading(browser: Browser, jupyter: Lab) -> None:
    page = browser.new_page(viewport={"width": 1100, "height": 900})
    try:
        page.goto(jupyter.url("glossary.md"))
        entry = page.locator(".jp-MarkdownViewer h3", has_text="AccumulateGrad")
        expect(entry, "JupyterLab shows no page, but its source").to_be_visible(timeout=60_000)
        heading = expect(page.locator(".jp-Notebook h2", has_text=TERMS["AccumulateGrad"].heading))
        # JupyterLab opens a notebook at its top, whatever the link says; once it is open, the link leads on.
        for seen in (heading.to_be_attached, heading.to_be_in_viewport):
            page.locator(".lm-TabBar-tab", has_text="glossary.md").click()
            page.locator(".jp-MarkdownViewer a", has_text="02 Autograd").first.click()
            seen(timeout=60_000)
    finally:
        page.close()
