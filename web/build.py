"""From the notebooks to a finished folder of pages."""

import io
import json
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

from nbformat import NotebookNode
from sphinx.application import Sphinx
from sphinx.errors import SphinxError
from sphinx.util.docutils import docutils_namespace, patch_docutils

from tests.notebooks.files import NOTEBOOKS, ROOT, NotebookError, read
from torchcourse._course import LESSONS

from . import licences, pages
from .views import View, collect, pictures

FRONT = Path(__file__).with_name("front")
VIEWS = "torchcourse-views"  # the script and the style that all views share
INDEX = "index.ipynb"
FILES = (
    ".torchcourse-site"  # in a finished site: the names of its files, so that a new build deletes no others
)
AT_ONCE = 2  # notebooks that run at the same time; each takes up to 600 MB
Say = Callable[[str], None]


class SiteError(Exception):
    """One sentence: what keeps the site from being built, and what to do."""


def build(chosen: list[Path], out: Path, say: Say = print) -> None:
    """Builds the site of these notebooks into `out`, in place of the site that stood there.

    Raises NotebookError or SiteError (a sentence each); what stood in `out` is then as it was.
    """
    if strange := _strangers(out):
        raise SiteError(f"{out} holds something that no build put there ({strange[0]}): name another folder.")
    index = NOTEBOOKS / INDEX
    chosen = [index, *(path for path in chosen if path != index)]
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=".site-") as name:
        work = Path(name)
        stage(chosen, work / "source", say)
        run_sphinx(work, [path.stem for path in chosen])
        html = work / "html"
        (html / FILES).write_text("\n".join(_files(html)), encoding="utf-8")
        shutil.rmtree(out, ignore_errors=True)
        html.rename(out)


def _files(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def _strangers(out: Path) -> list[str]:
    """What stands in the place of the site and was not put there by the build before."""
    if not out.is_dir():
        return [out.name] if out.exists() else []
    ours = out / FILES
    known = ours.read_text(encoding="utf-8").splitlines() if ours.is_file() else []
    return [name for name in _files(out) if name not in {FILES, *known}]


def stage(chosen: list[Path], source: Path, say: Say) -> None:
    """Writes all that Sphinx reads into `source`."""
    notebooks = {f"notebooks/{path.name}": read(path) for path in chosen}
    with ThreadPoolExecutor(AT_ONCE) as pool:
        found = dict(
            zip(notebooks, pool.map(partial(_views, say=say), notebooks.values(), chosen), strict=True)
        )
    paged = pages.listed(NOTEBOOKS, chosen)
    for file, page in paged.items():
        if file in notebooks:
            text = pages.notebook_page(notebooks[file], found[file], file, paged)
        else:
            text = pages.relinked((ROOT / file).read_text(encoding="utf-8"), file, paged)
        (source / page).parent.mkdir(parents=True, exist_ok=True)
        (source / page).write_text(text, encoding="utf-8")
    write_front(
        source / "_static", [view for cells in found.values() for views in cells.values() for view in views]
    )
    (source / "licences.md").write_text(licences.write(source / "_static"), encoding="utf-8")
    _add_contents(source, list(paged.values()))


def _views(notebook: NotebookNode, path: Path, say: Say) -> dict[str, list[View]]:
    views = collect(notebook, path)
    for cell in notebook.cells:
        for stored, view in zip(pictures(cell), views.get(cell.get("id"), []), strict=False):
            if stored.data.get("text/plain") != view.twin:
                say(f"{path.name}: a view says other figures than the stored text, as after another run.")
    if views:
        say(f"{path.name}: {sum(map(len, views.values()))} views")
    return views


def write_front(static: Path, views: Iterable[View]) -> None:
    """The script and the style that all pages load: each view's own once."""
    static.mkdir(parents=True)
    scripts = {view.key: view.script for view in views}
    host = (FRONT / "host.js").read_text(encoding="utf-8")
    text = json.dumps(dict(sorted(scripts.items())), ensure_ascii=False, indent=1)
    (static / f"{VIEWS}.js").write_text(host.replace("SCRIPTS = {}", f"SCRIPTS = {text}"), encoding="utf-8")
    styles = sorted({view.style for view in views})
    site = (FRONT / "site.css").read_text(encoding="utf-8")
    (static / f"{VIEWS}.css").write_text("\n".join([*styles, site]), encoding="utf-8")


def _add_contents(source: Path, paged: list[str]) -> None:
    """The side bar's table of contents, at the end of the index."""
    lessons = [lesson.file for lesson in LESSONS if lesson.file in paged]
    notes = [page for page in paged if page.startswith("notes/")]
    rest = [page for page in paged if page not in (INDEX, *lessons, *notes)]
    parts = {"Notebooks": lessons, "Beside them": [*rest, "licences.md"], "For instructors": notes}
    index = json.loads((source / INDEX).read_text(encoding="utf-8"))
    text = "\n\n".join(pages.toctree(caption, names) for caption, names in parts.items() if names)
    index["cells"].append({"cell_type": "markdown", "id": "contents", "metadata": {}, "source": text})
    (source / INDEX).write_text(json.dumps(index), encoding="utf-8")


def settings(notebooks: list[str]) -> dict[str, Any]:
    """Sphinx's settings. Nothing that a page loads comes from elsewhere."""
    return {
        "project": "torchcourse",
        "extensions": ["myst_nb", "sphinx.ext.githubpages", "web.extension"],
        "torchcourse_notebooks": notebooks,
        "html_theme": "furo",
        "html_title": "torchcourse",
        "html_static_path": ["_static"],
        "html_css_files": [f"{VIEWS}.css"],
        "html_js_files": [(f"{VIEWS}.js", {"defer": "defer"})],
        "html_math_renderer": "mathml",
        "html_copy_source": False,
        "html_show_copyright": False,  # the page of licences says it
        "html_use_index": False,
        "html_show_search_summary": False,  # it would fetch pages, which a browser refuses on file://
        "suppress_warnings": ["misc.highlighting_failure"],  # a language that has no colours stays plain
        "smartquotes": False,
        "nb_execution_mode": "off",
        "nb_ipywidgets_js": {},
        "nb_merge_streams": True,
        "nb_code_prompt_show": "Show the code",
        "nb_code_prompt_hide": "Hide the code",
        "myst_enable_extensions": ["dollarmath"],
        "myst_heading_anchors": 4,
        "myst_heading_slug_func": "torchcourse._glossary.anchor",  # links name a heading as JupyterLab does
    }


def run_sphinx(work: Path, notebooks: list[str]) -> None:
    """Builds `work`/html from `work`/source; SiteError with what Sphinx complained about."""
    said = io.StringIO()
    source, html, trees = work / "source", work / "html", work / "doctrees"
    try:
        with patch_docutils(), docutils_namespace():  # a second build in one process finds a clean table
            app = Sphinx(source, None, html, trees, "html", settings(notebooks), status=None, warning=said)
            app.build(force_all=True)
    except (SphinxError, OSError) as error:
        raise SiteError(f"Sphinx stopped: {error}") from None
    complaints = re.sub(r"\x1b\[[0-9;]*m", "", said.getvalue()).replace(f"{source}{os.sep}", "").strip()
    if complaints:
        raise SiteError(
            f"The pages have faults; mend them where they are written, then build again:\n{complaints}"
        )


__all__ = ["NotebookError", "SiteError", "build"]
