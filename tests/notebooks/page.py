"""What a reader sees of a notebook's texts: headings, pictures, links."""

from dataclasses import dataclass, field
from html.parser import HTMLParser

import mistune
from nbformat import NotebookNode

# escape=False: HTML inside Markdown counts, as it does in JupyterLab.
_html = mistune.create_markdown(escape=False, plugins=["table", "strikethrough", "math"])


@dataclass
class Page:
    """Headings (level, text), pictures (source, alt text or None), links' targets, and names to link to."""

    headings: list[tuple[int, str]] = field(default_factory=list)
    pictures: list[tuple[str, str | None]] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    anchors: set[str] = field(default_factory=set)


class _Reader(HTMLParser):
    def __init__(self, page: Page) -> None:
        super().__init__()
        self.page = page
        self.heading: list[str] | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.page.anchors.update(filter(None, (given.get("id"), given.get("name"))))
        if _level(tag):
            self.heading = []
        elif tag == "img":
            self.page.pictures.append((given.get("src") or "", given.get("alt")))
        elif tag == "a" and given.get("href"):
            self.page.links.append(given["href"] or "")

    def handle_data(self, data: str) -> None:
        if self.heading is not None:
            self.heading.append(data)

    def handle_endtag(self, tag: str) -> None:
        if _level(tag) and self.heading is not None:
            text = "".join(self.heading).strip()
            self.page.headings.append((_level(tag), text))
            self.page.anchors.add(text.replace(" ", "-"))  # the name that Jupyter gives to a heading
            self.heading = None


def _level(tag: str) -> int:
    return int(tag[1]) if len(tag) == 2 and tag[0] == "h" and tag[1] in "123456" else 0


def page_of(notebook: NotebookNode) -> Page:
    """Markdown cells and HTML outputs, read in order; headings come from Markdown cells only."""
    page = Page()
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            _Reader(page).feed(str(_html(cell.source)))
        for output in cell.get("outputs", []):
            shown = Page()
            _Reader(shown).feed(output.get("data", {}).get("text/html", ""))
            page.pictures += shown.pictures
            page.links += shown.links
    return page
