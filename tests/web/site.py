"""A built site under a browser: pages opened from disk with the network off, and what stands in their HTML."""

from collections.abc import Iterator
from contextlib import contextmanager
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Browser, Locator, Page

from tests.browser import checks

LOADING = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src", "embed": "src"}
LOCAL = ("file", "data", "blob", "about")


class Opened:
    """A page of the site. `requests` holds what it asked for from elsewhere, `complaints` its errors."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.requests: list[str] = []
        self.complaints: list[str] = []
        page.route("**/*", self._answer)
        page.on("console", lambda said: said.type == "error" and self.complaints.append(said.text))
        page.on("pageerror", lambda error: self.complaints.append(f"uncaught {error}"))
        page.add_init_script(AXE_SCRIPT)

    def _answer(self, route: Any) -> None:
        if urlsplit(route.request.url).scheme in LOCAL:
            return route.continue_()
        self.requests.append(route.request.url)
        return route.abort()

    def open(self, file: Path, place: str = "") -> None:
        """The page, and all its views alive."""
        self.page.goto(file.as_uri() + place)
        for number in range(self.views.count()):
            self.views.nth(number).locator(".tc-live .tc-body").wait_for(timeout=30_000)

    @property
    def views(self) -> Locator:
        return self.page.locator(".tc-block[data-view]")

    def theme(self, wanted: str) -> None:
        """Presses the theme's own switch until it says `wanted`: "auto", "light" or "dark"."""
        for _ in range(3):
            if self.page.evaluate("document.body.dataset.theme") == wanted:
                return
            self.page.locator(".theme-toggle:visible").first.click()
        assert self.page.evaluate("document.body.dataset.theme") == wanted

    def barriers(self, scheme: str, *parts: str, leave_out: tuple[str, ...] = ()) -> list[checks.Finding]:
        """What axe finds grave on the page, or in these parts of it; coloured code takes it minutes."""
        where = {
            "include": [[part] for part in parts or ("html",)],
            "exclude": [[part] for part in leave_out],
        }
        # Without `preload` axe would read the style sheets by itself, which file:// refuses.
        options = {"resultTypes": ["violations"], "preload": False}
        ask = "([where, options]) => axe.run(where, options)"
        found = self.page.evaluate(ask, [where, options])["violations"]
        nodes = [rule | {"html": node["html"]} for rule in found for node in rule["nodes"]]
        return checks.barriers(nodes, scheme)

    def trouble(self) -> list[str]:
        return [f"asked for {url}" for url in self.requests] + self.complaints


@contextmanager
def opened(browser: Browser, scheme: str = "light", **options: Any) -> Iterator[Opened]:
    context = browser.new_context(
        viewport={"width": 1300, "height": 900},
        color_scheme=scheme,
        offline=True,
        reduced_motion="reduce",
        **options,
    )
    try:
        yield Opened(context.new_page())
    finally:
        context.close()


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.anchors: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.anchors |= {values[name] for name in ("id", "name") if name in values}
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        rel = values.get("rel", "").split()
        if LOADING.get(tag) in values and not (
            tag == "link" and {"next", "prev", "index", "search"} & set(rel)
        ):
            self.loads.append(values[LOADING[tag]])


def _read(file: Path) -> _Reader:
    reader = _Reader()
    reader.feed(file.read_text(encoding="utf-8"))
    return reader


def broken_links(site: Path) -> list[str]:
    """Internal links that lead to no file or no anchor, and all that a page loads from elsewhere."""
    read = {file: _read(file) for file in sorted(site.rglob("*.html"))}
    return [
        f"{file.relative_to(site)}: {fault}"
        for file, page in read.items()
        for fault in (*_astray(file, page, read), *_foreign(file, page))
    ]


def _astray(file: Path, page: _Reader, read: dict[Path, _Reader]) -> Iterator[str]:
    for link in page.links:
        parts = urlsplit(link)
        if parts.scheme or parts.netloc:
            continue
        there = (file.parent / unquote(parts.path)).resolve() if parts.path else file
        anchors = read[there].anchors if there in read else set()
        if not there.is_file():
            yield f"the link {link} leads nowhere"
        elif parts.fragment and unquote(parts.fragment) not in anchors:
            yield f"the link {link} leads to no anchor"


def _foreign(file: Path, page: _Reader) -> Iterator[str]:
    for address in page.loads:
        parts = urlsplit(address)
        if parts.scheme == "data":
            continue
        if parts.scheme or parts.netloc or not (file.parent / unquote(parts.path)).is_file():
            yield f"it loads {address[:100]}, which is not in the site"


LOOKS = "view => view.querySelector('.tc-live').innerHTML"
# What a pointer finds in a view: an element, a row, a box, a button of the player.
TOUCHED = ".tc-cell, [role=row], .node, button:not([disabled]):not(.tc-help)"


def reacts(view: Locator, keys: tuple[str, ...]) -> bool:
    """Whether one of the keys changes what the view shows."""
    body = view.locator(".tc-live .tc-body")
    body.focus()
    before = view.evaluate(LOOKS)
    return any(body.press(key) or view.evaluate(LOOKS) != before for key in keys)


def reacts_to_the_mouse(view: Locator) -> bool:
    """Whether a click on one of the first things in the view changes what it shows."""
    things = view.locator(".tc-live").locator(TOUCHED)
    before = view.evaluate(LOOKS)
    for number in range(min(6, things.count())):
        things.nth(number).click(force=True)
        if view.evaluate(LOOKS) != before:
            return True
    return False
