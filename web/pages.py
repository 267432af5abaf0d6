"""The course as Sphinx shall read it: notebooks with their stored outputs, views as blocks of HTML, links mended."""

import base64
import json
import re
from collections.abc import Iterable
from html import escape
from pathlib import Path
from posixpath import dirname, normpath

from nbformat import NotebookNode

from tests.notebooks.files import ROOT, tags
from torchcourse._releases import HOME

from .views import SVG, View, pictures

PNG = "image/png"
REPOSITORY = f"{HOME}/blob/HEAD/"
# Texts that become pages too, where they are there.
BESIDE = ("notebooks/glossary.md", "tests/claims.md", "CONTRIBUTING.md", "CHANGELOG.md")
_LINK = re.compile(r"(?<=\]\()(?!\w+:|#)([^)\s#]+)(#[^)\s]*)?(?=\))")


def notebook_page(
    notebook: NotebookNode, views: dict[str, list[View]], source: str, pages: dict[str, str]
) -> str:
    """A notebook as the site shows it, as JSON. pages: file of the repository -> page of the site."""
    cells = [cell for cell in notebook.cells if "nav" not in tags(cell)]  # the theme has its own bars
    for cell in cells:
        if cell.cell_type == "markdown":
            cell.source = relinked(cell.source, source, pages)
            continue
        if cell.metadata.get("jupyter", {}).get("source_hidden"):
            cell.metadata["tags"] = [*tags(cell), "hide-input"]
        _show(cell, views.get(cell.id, []))
    return json.dumps(notebook | {"cells": cells}, ensure_ascii=False)


def relinked(text: str, source: str, pages: dict[str, str]) -> str:
    """Markdown whose links lead to the site's pages, and for files that are no page to the repository.

    source: the file that holds the text. What names no file of the repository stays as it is.
    """

    def mended(link: re.Match[str]) -> str:
        there = normpath(f"{dirname(source)}/{link[1]}").lstrip("/")
        if there in pages:
            up = "../" * pages[source].count("/")
            return f"{up}{pages[there]}{link[2] or ''}"
        outside = there.startswith("..") or not (ROOT / there).exists()
        return link[0] if outside else f"{REPOSITORY}{there}{link[2] or ''}"

    return _LINK.sub(mended, text)


def _show(cell: NotebookNode, views: list[View]) -> None:
    """Pictures become blocks of HTML: alive where there is a view, with a name and a text twin in any case."""
    for number, output in enumerate(pictures(cell)):
        output.data = {"text/html": block(output.data, views[number] if views else None)}
    for output in cell.outputs:
        if PNG in output.get("data", {}):
            output.data = {"text/html": _plotted(output.data, cell.source)}


def block(stored: NotebookNode, view: View | None) -> str:
    """The static picture and its text, and beside them what the view needs to come alive."""
    name = re.search(r'aria-label="([^"]*)"', stored[SVG])
    data = base64.b64encode(stored[SVG].encode()).decode()
    twin = f"<summary>As text</summary><pre>{escape(stored['text/plain'])}</pre>"
    static = (
        f'<div class="tc-static">{_image("svg+xml", data, name[1] if name else "A picture")}'
        f'<details class="tc-astext">{twin}</details></div>'
    )
    if view is None:
        return f'<div class="tc-block">{static}</div>'
    # As JSON in a page, `<` would end the script or open a comment.
    state = json.dumps(view.state, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    return (
        f'<div class="tc-block" data-view="{view.key}">{static}'
        f'<script type="application/json">{state}</script></div>'
    )


def _plotted(stored: NotebookNode, source: str) -> str:
    """A plot. Its name is what the cell's first comment says."""
    comment = re.search(r"^\s*# (?:measured: )?(.+)", source, re.MULTILINE)
    name = f"Plot: {comment[1]}" if comment else "The plot that this cell draws"
    return f'<div class="tc-block">{_image("png", stored[PNG].replace(chr(10), ""), escape(name))}</div>'


def _image(kind: str, data: str, name: str) -> str:
    # As an image, not inline: the style and the ids of an inline SVG would reach all others on the page.
    return f'<img class="tc-picture" alt="{name}" src="data:image/{kind};base64,{data}">'


def toctree(caption: str, entries: Iterable[str]) -> str:
    """A hidden table of contents, for the theme's side bar."""
    return "\n".join(["```{toctree}", ":hidden:", f":caption: {caption}", "", *entries, "```"])


def listed(folder: Path, chosen: list[Path]) -> dict[str, str]:
    """File of the repository -> page of the site: the chosen notebooks, their notes, the texts beside them."""
    notebooks = {f"notebooks/{path.name}": path.name for path in chosen}
    names = [f"notes/{path.stem}.md" for path in chosen if (folder / f"notes/{path.stem}.md").is_file()]
    notes = {f"notebooks/{name}": name for name in names}
    texts = {name: Path(name).name.lower() for name in BESIDE if (ROOT / name).is_file()}
    return notebooks | notes | texts
