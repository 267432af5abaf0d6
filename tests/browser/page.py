"""One notebook, open in a JupyterLab, in a browser; every question to it has a limit and a sentence."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Browser, Error, Page, TimeoutError

from .lab import Lab

WIDE, NARROW = (1100, 900), (420, 900)
TALLEST = 12_000  # pixels; browsers paint no more than 16,384
LANE = Path(__file__).with_name("lane.js").read_text(encoding="utf-8")


class Late(Exception):
    """One sentence on what did not happen in time."""


@dataclass(frozen=True)
class Limits:
    """Seconds. Generous ones: a loaded machine is no fault of a notebook."""

    open: float = 90
    run: float = 240
    show: float = 30
    answer: float = 30


class NotebookPage:
    """`requests`, `complaints` and `frames` fill by themselves, from the first request of the page on."""

    def __init__(self, page: Page, name: str, limits: Limits) -> None:
        self.page = page
        self.name = name
        self.limits = limits
        self.requests: list[str] = []  # every address that was asked for
        self.complaints: list[str] = []  # errors of the console, exceptions and crashes of the page
        self.frames: list[str] = []  # what the page sent to the server's sockets: messages to the kernel
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("websocket", self._watch_socket)
        page.on("console", self._read_console)
        page.on("pageerror", lambda error: self.complaints.append(f"uncaught {error}"))
        page.on("crash", lambda _: self.complaints.append("the page crashed"))
        self._asked = 0
        self._answers: dict[int, Any] = {}
        page.expose_function("laneAnswer", self._take_answer)
        page.add_init_script(LANE)
        page.add_init_script(AXE_SCRIPT)

    def _take_answer(self, number: int, answer: Any) -> None:
        self._answers[number] = answer

    def _watch_socket(self, socket: Any) -> None:
        self.requests.append(socket.url)
        socket.on("framesent", lambda payload: self.frames.append(str(payload)))

    def _read_console(self, message: Any) -> None:
        if message.type == "error":
            self.complaints.append(f"{message.text} ({message.location.get('url', '')})")

    def ask(self, question: str, seconds: float, sentence: str) -> Any:
        """The answer of `lane.<question>`; Late, with the sentence, where none comes in time."""
        # `evaluate` would wait for ever for a page that hangs; this call has a limit outside of the page.
        # Reading its result has none, so the page hands the answer over before the call ends.
        self._asked += 1
        script = f"async () => {{ await laneAnswer({self._asked}, await lane.{question}); return true; }}"
        try:
            self.page.wait_for_function(script, timeout=seconds * 1000)
        except TimeoutError:
            raise Late(f"{self.name}: {sentence} within {seconds:g} s.") from None
        return self._answers.pop(self._asked)

    def hangs(self) -> bool:
        """Whether the page answers nothing any more."""
        try:
            self.page.wait_for_function("true", timeout=self.limits.answer * 1000)
        except TimeoutError:
            return True
        except Error:  # it crashed, or was closed
            pass
        return False

    def open(self, url: str) -> None:
        try:
            self.page.goto(url, timeout=self.limits.open * 1000, wait_until="commit")
        except Error as error:
            raise Late(f"{self.name}: the address did not open: {error.message.splitlines()[0]}.") from None
        try:
            self.ask("ready()", self.limits.open, "the notebook was not open with a kernel that answers")
        except Late as late:
            raise Late(f"{late} {self._dialog()}".strip()) from None

    def _dialog(self) -> str:
        text = self.ask("dialog()", self.limits.answer, "the page did not say whether a dialog is open")
        return f"A dialog is open: {' '.join(text.split())!r}." if text else ""

    def run(self) -> str:
        """Runs all cells: "ran", or the state of the kernel that died."""
        return self.ask("run()", self.limits.run, "the cells did not end")

    def cells(self) -> list[dict[str, Any]]:
        return self.ask("cells()", self.limits.answer, "the page did not list its cells")

    def views(self) -> list[dict[str, Any]]:
        """All widget views of the notebook, as soon as all of them show or the time for it is over."""
        with suppress(Late):  # what doesn't show is in the list
            self.ask("viewsShown()", self.limits.show, "not all views showed")
        return self.ask("views()", self.limits.answer, "the page did not list its views")

    def theme(self, scheme: str) -> None:
        """`scheme` is "light" or "dark", as the reader's system would say it."""
        self.page.emulate_media(color_scheme=scheme)
        light = "true" if scheme == "light" else "false"
        self.ask(
            f"theme({light})",
            self.limits.answer,
            f"JupyterLab did not follow the system to its {scheme} theme",
        )

    def resize(self, width: int, height: int) -> None:
        self.page.set_viewport_size({"width": width, "height": height})
        self.ask("settled()", self.limits.answer, "the page did not follow a change of the window's size")

    def show_whole(self) -> None:
        """Makes the window as high as the notebook, or as high as a picture can be."""
        self.resize(*WIDE)
        height = self.ask("wholeHeight()", self.limits.answer, "the page did not say how high it is")
        self.resize(WIDE[0], min(height, TALLEST))
        self.turn_to(0)

    def turn_to(self, number: int) -> bool:
        """Shows the windowful of that number (from 0) of a long notebook; whether there is one more."""
        return self.ask(f"turnTo({number})", self.limits.answer, "the page did not scroll")

    def violations(self) -> list[dict[str, str]]:
        return self.ask("violations()", 4 * self.limits.answer, "axe did not end")

    def page_over(self) -> int:
        """Pixels by which the page is wider than the window."""
        return self.ask("pageOver()", self.limits.answer, "the page did not say how wide it is")

    def picture(self, file: Path, view: int | None = None) -> None:
        """A picture of the window, or of the view with that number (from 1)."""
        file.parent.mkdir(parents=True, exist_ok=True)
        target = self.page if view is None else self.page.locator(f'[data-lane-view="{view}"]')
        try:
            target.screenshot(path=file, timeout=self.limits.answer * 1000, animations="disabled")
        except TimeoutError:
            raise Late(f"{self.name}: no picture {file.name} within {self.limits.answer:g} s.") from None


@contextmanager
def opened(browser: Browser, lab: Lab, notebook: str, limits: Limits | None = None) -> Iterator[NotebookPage]:
    """A notebook (a path below the lab's root) in a profile of its own; its kernel ends with it."""
    context = browser.new_context(
        viewport={"width": WIDE[0], "height": WIDE[1]}, color_scheme="light", reduced_motion="reduce"
    )
    page = NotebookPage(context.new_page(), notebook, limits or Limits())
    try:
        yield page
    finally:
        if page.hangs():
            _end_renderers(browser)
        context.close()
        lab.end_kernel(notebook)


def _end_renderers(browser: Browser) -> None:
    """Closing a page that hangs would wait for it, without a limit; closing one that crashed does not."""
    session = browser.new_browser_cdp_session()
    for process in session.send("SystemInfo.getProcessInfo")["processInfo"]:
        if process["type"] == "renderer":
            with suppress(OSError):  # it ended by itself
                os.kill(process["id"], signal.SIGTERM)
    session.detach()
