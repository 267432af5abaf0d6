"""What every view must stand when it is touched, and the open page on which its tests touch it."""

from collections.abc import Iterator
from contextlib import contextmanager

import nbformat
from playwright.sync_api import Browser, Locator, expect

from . import checks
from .lab import Lab
from .page import NARROW, NotebookPage, opened
from .visit import SCHEMES


@contextmanager
def touching(browser: Browser, jupyter: Lab, name: str, *sources: str) -> Iterator[NotebookPage]:
    """A notebook of these cells, run and shown whole; each cell shows one view."""
    kernel = {"name": "torchcourse-cpu", "display_name": "torchcourse (CPU)", "language": "python"}
    cells = [nbformat.v4.new_code_cell(source) for source in sources]
    file = f"touch_{name}.ipynb"
    nbformat.write(
        nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel}), jupyter.root / file
    )
    with opened(browser, jupyter, file) as page:
        page.open(jupyter.url(file))
        assert page.run() == "ran", "the kernel died"
        assert checks.errors(page.cells()) == []
        assert [view["shown"] for view in page.views()] == [True] * len(sources), "not every view shows"
        page.show_whole()
        yield page


def say(view: Locator) -> Locator:
    """The one live sentence of a card."""
    return view.locator(".tc-say:not(.tc-measure)")


def one_tab_in_and_one_out(page: NotebookPage, view: Locator) -> None:
    """The view's body has the focus: one Tab leaves the view, one comes back, in both directions."""
    keys = page.page.keyboard
    inside = view.locator(":focus")
    for leave, enter in (("Tab", "Shift+Tab"), ("Shift+Tab", "Tab")):
        expect(view.locator(".tc-body"), "the body of the view takes the focus").to_be_focused()
        keys.press(leave)
        expect(inside, f"one {leave} did not leave the view").to_have_count(0)
        keys.press(enter)
        expect(inside, f"one {enter} did not come back").to_have_count(1)
        view.locator(".tc-body").focus()


def lists_its_keys(page: NotebookPage, view: Locator) -> None:
    """`?` opens the list of keys, Esc closes it."""
    page.page.keyboard.press("?")
    expect(view.locator(".tc-keys"), "? did not list the keys").to_be_visible()
    page.page.keyboard.press("Escape")
    expect(view.locator(".tc-keys"), "Esc did not close the list of keys").to_be_hidden()


def says_the_same_as_text(page: NotebookPage, view: Locator) -> None:
    """Under the card stands, folded, what the first cell's text/plain says."""
    page.page.keyboard.press("t")
    text = view.locator(".tc-twin pre").inner_text()
    page.page.keyboard.press("t")
    plain = page.cells()[0]["outputs"][0]["data"]["text/plain"]
    assert text == ("".join(plain) if isinstance(plain, list) else plain)


def has_no_barriers(page: NotebookPage, *keys: str) -> None:
    """axe finds nothing after these keys, and with the list of keys and the text open, in either theme."""
    found = _barriers(page, keys)
    page.page.keyboard.press("t")
    page.page.keyboard.press("Escape")
    assert not found, "\n".join(map(str, found))


def has_no_barriers_and_fits(page: NotebookPage, view: Locator, *keys: str) -> None:
    """The same, and a narrow window is not too narrow for it."""
    found = _barriers(page, keys)
    page.resize(*NARROW)
    found += checks.too_wide(page.views(), page.page_over(), NARROW[0])
    page.show_whole()
    view.locator(".tc-body").press("t")
    assert not found, "\n".join(map(str, found))


def _barriers(page: NotebookPage, keys: tuple[str, ...]) -> list[checks.Finding]:
    for key in (*keys, "?", "t"):
        page.page.keyboard.press(key)
    found = []
    for scheme in SCHEMES:
        page.theme(scheme)
        found += checks.barriers(page.violations(), scheme)
    page.theme("light")
    return found


def left_no_trace(page: NotebookPage) -> None:
    """After all that was done: nothing asked for elsewhere, no error."""
    found = checks.left_machine(page.requests) + checks.complaints(page.complaints)
    assert not found, "\n".join(map(str, found))
