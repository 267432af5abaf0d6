"""A view lives on a slide of jupyterlab-rise too, though the page of slides is not JupyterLab's."""

import re
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import Browser, expect

from . import checks
from .lab import Lab
from .page import NotebookPage, opened

pytestmark = pytest.mark.slow
SCREEN = {"width": 1280, "height": 720}
EXPLORE = "import torch\nimport torchcourse as tc\nx = torch.arange(12).reshape(3, 4)\ntc.explore(x, x.t())"


@pytest.fixture(scope="module")
def slides(browser: Browser, jupyter: Lab) -> Iterator[NotebookPage]:
    kernel = {"name": "torchcourse-cpu", "display_name": "torchcourse (CPU)", "language": "python"}
    cells = [
        nbformat.v4.new_markdown_cell("# First"),
        nbformat.v4.new_code_cell(EXPLORE),
        nbformat.v4.new_markdown_cell("## Second"),
    ]
    for cell, kind in zip(cells, ("slide", "subslide", "slide"), strict=True):
        cell.metadata["slideshow"] = {"slide_type": kind}
    file = "on_slides.ipynb"
    nbformat.write(
        nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel}), jupyter.root / file
    )
    with opened(browser, jupyter, file) as page:
        page.page.set_viewport_size(SCREEN)
        page.page.goto(f"{jupyter.address}/rise/{file}?token={jupyter.token}", wait_until="commit")
        expect(page.page.locator(".reveal section.present h1")).to_be_visible(timeout=90_000)
        yield page


def go_on(slides: NotebookPage) -> None:
    slides.page.keyboard.press("Escape")
    slides.page.evaluate("document.activeElement?.blur()")
    slides.page.keyboard.press("Space")


def run_cell(slides: NotebookPage) -> None:
    """The slides are there before the kernel is, and a key pressed before that is lost."""
    cell = slides.page.locator("section.present:not(.stack) .jp-CodeCell")
    for _ in range(60):
        cell.locator(".cm-content").click()
        slides.page.keyboard.press("Control+Enter")
        slides.page.wait_for_timeout(1_000)
        if cell.locator(".jp-InputPrompt", has_text=re.compile(r"\[(\*|\d+)\]")).count():
            return


def test_slides_show_a_view_that_answers(slides: NotebookPage, pictures: Path | None) -> None:
    go_on(slides)
    run_cell(slides)
    view = slides.page.locator("section.present:not(.stack) div.tc-view")
    expect(view, "the view does not live on the slide").to_be_visible(timeout=90_000)
    view.locator(".tc-cell").nth(6).hover()
    expect(view.locator(".tc-say:not(.tc-measure)")).to_contain_text(re.compile(r"x\[1, 2\]"))
    bottom = slides.page.locator("section.present:not(.stack)").bounding_box()
    assert bottom and bottom["y"] + bottom["height"] <= SCREEN["height"], "the slide does not fit on a screen"
    if pictures:
        slides.picture(pictures / "slide.png")


def test_slides_go_on(slides: NotebookPage) -> None:
    go_on(slides)
    expect(slides.page.locator("section.present h2", has_text="Second")).to_be_visible(timeout=30_000)
    assert not (found := checks.left_machine(slides.requests)), "\n".join(map(str, found))
