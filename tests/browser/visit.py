"""The lane's walk through one notebook: open, run, look at it in both themes and in a narrow window."""

from pathlib import Path

import nbformat
from playwright.sync_api import Browser

from . import checks
from .checks import Finding
from .lab import Lab
from .page import NARROW, Late, Limits, NotebookPage, opened

SCHEMES = ("light", "dark")


def visit(
    browser: Browser, lab: Lab, notebook: str, pictures: Path | None = None, limits: Limits | None = None
) -> list[Finding]:
    """All faults of a notebook (a path below the lab's root); none is green. Pictures go to the folder."""
    with opened(browser, lab, notebook, limits) as page:
        try:
            findings = _walk(page, lab, pictures)
        except Late as late:
            findings = [Finding("late", str(late))]
        return findings + checks.left_machine(page.requests) + checks.complaints(page.complaints)


def _walk(page: NotebookPage, lab: Lab, pictures: Path | None) -> list[Finding]:
    stored = nbformat.read(lab.root / page.name, as_version=4)
    page.open(lab.url(page.name))
    stopped = _run(page)
    cells = page.cells()
    findings = stopped + checks.errors(cells) + checks.surprises(cells, stored)
    if stopped:
        return findings
    return findings + checks.not_run(cells) + _look(page, pictures)


def _run(page: NotebookPage) -> list[Finding]:
    try:
        state = page.run()
    except Late as late:
        return [Finding("late", f"{late} It stands at {_standing(page)}.")]
    if state == "ran":
        return []
    return [Finding("kernel", f"{page.name}: the kernel died ({state}) at {_standing(page)}.")]


def _standing(page: NotebookPage) -> str:
    left = checks.unfinished(page.cells())
    return checks.place(left[0]) if left else "its end"


def _look(page: NotebookPage, pictures: Path | None) -> list[Finding]:
    views = page.views()
    findings = checks.unseen(views)
    shown = [number for number, view in enumerate(views, 1) if view["shown"]]
    for scheme in SCHEMES:
        page.theme(scheme)
        page.show_whole()
        findings += checks.barriers(page.violations(), scheme)
        if pictures:
            _keep(page, pictures, shown, scheme)
    if shown:
        findings += _look_narrow(page, pictures, shown)
    return findings


def _keep(page: NotebookPage, pictures: Path, shown: list[int], scheme: str) -> None:
    stem = Path(page.name).stem
    part, more = 0, True
    while more:
        more = page.turn_to(part)
        page.picture(pictures / f"{stem}-{scheme}{f'-{part + 1}' if part else ''}.png")
        part += 1
    for number in shown:
        page.picture(pictures / f"{stem}-view{number}-{scheme}.png", number)


def _look_narrow(page: NotebookPage, pictures: Path | None, shown: list[int]) -> list[Finding]:
    page.theme("light")
    page.resize(*NARROW)
    views = page.views()
    for number in shown if pictures else ():
        page.picture(pictures / f"{Path(page.name).stem}-view{number}-narrow.png", number)
    return checks.unseen(views) + checks.too_wide(views, page.page_over(), NARROW[0])
