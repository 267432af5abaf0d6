"""The instructor's screen for real: lesson and notes side by side, letters and views half as large again."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import nbformat
import pytest
from playwright.sync_api import Browser

from torchcourse import _course, _teach

from . import checks
from .lab import Lab
from .page import NotebookPage, opened

CELLS = (
    """\
import torch
import torchcourse as tc
from torchcourse._ipython import register
register()
x = torch.arange(12).reshape(3, 4)
y = x.t()
tc.explore(x, y)""",
    "w = torch.ones(3, requires_grad=True)\ntc.step_backward(((w * 2).relu() ** 2).sum())",
    """\
from torchcourse.allocator import Allocator
card = Allocator(64 * 2**20)
first, second = card.malloc(4 * 2**20), card.malloc(8 * 2**20)
card.free(first)
tc.timeline(card)""",
    "tc.tree(torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.BatchNorm1d(8)))",
    "tc.xray(lambda: x.t().reshape(12).sum().item())",
)
SCREEN = (1280, 720)
THEMES = "@jupyterlab/apputils-extension:themes"
# Each text of a view: its height on the screen, its colour as a pixel of a canvas has it, and which text.
TEXTS = """() => [...document.querySelectorAll("div.tc-view")].map((view) => {
  const pen = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgb = (colour) => {
    pen.fillStyle = colour;
    pen.fillRect(0, 0, 1, 1);
    return [...pen.getImageData(0, 0, 1, 1).data];
  };
  const walk = document.createTreeWalker(view, NodeFilter.SHOW_TEXT), texts = [];
  while (walk.nextNode()) {
    const text = walk.currentNode.data.trim(), parent = walk.currentNode.parentElement;
    const hidden = parent.closest("button:disabled, [aria-hidden=true], details:not([open]) pre, style");
    if (!text || hidden || !parent.checkVisibility()) continue;
    const style = getComputedStyle(parent), colour = parent instanceof SVGElement ? style.fill : style.color;
    texts.push({ text, size: parseFloat(style.fontSize) * (parent.currentCSSZoom ?? 1), colour: rgb(colour) });
  }
  const card = view.querySelector(".tc-card"), { right } = card.getBoundingClientRect();
  const over = [...card.children].map((part) => [part.className, part.getBoundingClientRect().right - right]);
  const lines = [...card.querySelectorAll(".tc-head, .tc-tools, .tc-foot")];
  const look = getComputedStyle(view), meanings = ["base", "view", "now", "run", "wait", "rest"];
  return {
    texts, over, zoom: view.currentCSSZoom,
    wide: lines.map((part) => [part.className, part.scrollWidth - part.clientWidth]),
    page: rgb(getComputedStyle(card).backgroundColor),
    fills: meanings.map((name) => rgb(look.getPropertyValue(`--tc-${name}-fill`))),
  };
})"""


@dataclass
class Seen:
    """What stands on the screen: at a size that JupyterLab comes with, then on the instructor's, by theme."""

    normal: list[dict[str, Any]]
    large: dict[str, list[dict[str, Any]]]
    themes: dict[str, str]
    notes: str
    left: list[checks.Finding]


@pytest.fixture(scope="module")
def seen(browser: Browser, jupyter: Lab) -> Iterator[Seen]:
    lesson = replace(_course.LESSONS[0], stem="projector_lesson")
    kernel = {"name": "torchcourse-cpu", "display_name": "torchcourse (CPU)", "language": "python"}
    cells = [nbformat.v4.new_code_cell(source) for source in CELLS]
    nbformat.write(
        nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel}), jupyter.root / lesson.file
    )
    (jupyter.root / lesson.notes).write_text("# Notes for a class\n\nAsk first.\n", encoding="utf-8")
    with opened(browser, jupyter, lesson.file) as page:
        page.open(jupyter.url(lesson.file))
        normal = measured(page)
        save_settings(page, _teach.SETTINGS)
        try:
            yield on_the_screen(page, jupyter, lesson, normal)
        finally:
            save_settings(page, {})


def save_settings(page: NotebookPage, values: dict[str, Any]) -> None:
    page.page.evaluate(
        "([name, text]) => jupyterapp.serviceManager.settings.save(name, text)", [THEMES, json.dumps(values)]
    )


def on_the_screen(page: NotebookPage, jupyter: Lab, lesson: _course.Lesson, normal: list[Any]) -> Seen:
    name = _teach.name_of(lesson)
    page.page.evaluate(
        "([name, layout]) => jupyterapp.serviceManager.workspaces.save(name, layout)",
        [name, _teach.workspace(lesson)],
    )
    page.resize(*SCREEN)
    page.open(f"{jupyter.address}/lab/workspaces/{name}?token={jupyter.token}")
    large, themes = {}, {}
    for scheme in ("light", "dark"):
        page.theme(scheme)
        large[scheme] = measured(page)
        themes[scheme] = page.page.evaluate("document.body.dataset.jpThemeName")
    preview = page.page.locator(".jp-MarkdownViewer .jp-RenderedMarkdown")
    left = checks.left_machine(page.requests) + checks.complaints(page.complaints)
    return Seen(normal, large, themes, preview.inner_text(), left)


def measured(page: NotebookPage) -> list[dict[str, Any]]:
    if not page.page.locator("div.tc-view").count():
        assert page.run() == "ran", "the kernel died"
        assert checks.errors(page.cells()) == []
        assert [view["shown"] for view in page.views()] == [True] * len(CELLS), "not every view shows"
    return page.page.evaluate(TEXTS)


def contrast(one: list[int], other: list[int]) -> float:
    """WCAG 2's contrast of two colours, 1 to 21."""

    def light(colour: list[int]) -> float:
        parts = [c / 255 for c in colour[:3]]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    dark, bright = sorted((light(one), light(other)))
    return (bright + 0.05) / (dark + 0.05)


def test_projector_opens_lesson_and_notes(seen: Seen) -> None:
    assert seen.notes.split("\n")[0].startswith("Notes for a class")
    assert seen.themes == {"light": "JupyterLab Light", "dark": "JupyterLab Dark High Contrast"}
    assert not seen.left, "\n".join(map(str, seen.left))


def test_projector_nothing_is_changed_at_the_normal_size(seen: Seen) -> None:
    assert [view["zoom"] for view in seen.normal] == [1] * len(CELLS)
    colours = {tuple(text["colour"]) for view in seen.normal for text in view["texts"]}
    assert (0x59, 0x63, 0x6E, 255) in colours, "the second ink is not what the table of colours says"


def test_projector_texts_of_views_are_half_as_large_again(seen: Seen) -> None:
    for view in seen.large.values():
        for before, after in zip(seen.normal, view, strict=True):
            sizes = {text["text"]: text["size"] for text in before["texts"]}
            small = [text for text in after["texts"] if text["size"] < 1.5 * sizes[text["text"]]]
            assert len(sizes) > 5 and not small


def test_projector_nothing_leaves_its_card(seen: Seen) -> None:
    for view in (view for scheme in seen.large.values() for view in scheme):
        assert [part for part in view["over"] + view["wide"] if part[1] > 1] == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_projector_contrast(seen: Seen, scheme: str) -> None:
    """Every text, on the page and on whichever fill it could stand on."""
    for view in seen.large[scheme]:
        grounds = [view["page"], *view["fills"]]
        weak = {
            text["text"]: round(low, 1)
            for text in view["texts"]
            if (low := min(contrast(text["colour"], ground) for ground in grounds)) < 7
        }
        assert not weak
