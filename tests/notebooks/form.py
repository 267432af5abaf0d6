"""The stored form of a notebook and the rules for its cells: everything that shows without running it."""

import ast
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from urllib.parse import unquote

from IPython.core.inputtransformer2 import TransformerManager
from nbformat import NotebookNode

from . import files
from .files import NotebookError, code_cells, place, tags
from .kernel import CPU
from .nbval_lane import NOT_COMPARED
from .normalise import WIDGET_VIEW, normalise, source_mark
from .page import Page, page_of

MAX_BYTES = 600_000
LONG = 24  # lines; a cell should stay within 20
LONG_SHARE = 0.03  # of a course's code cells
EXEMPT = {NOT_COMPARED, "rerun-ignore-output"}
EXEMPT_SHARE, EXEMPT_AT_LEAST = 0.02, 2
SKIPS = {"nbval-skip", "skip-execution"}
# What a cell is; the index and the bars between chapters are made from these.
PARTS = {
    "nav",
    "opening",
    "contents",
    "goals",
    "predict",
    "exercise",
    "solution",
    "quiz",
    "rebuild",
    "recap",
}
KNOWN_TAGS = EXEMPT | PARTS | {"measured", "raises-exception"}
_CLAIM = re.compile(r"claim:[A-Za-z0-9][A-Za-z0-9.-]*")
_REASON = re.compile(r"#\s*not compared:\s*\S")
_ALLOWED = re.compile(r"#\s*allowed:\s*\S")
_MARKER = re.compile(r"^\s*#\s*(?:NBVAL_|PYTEST_VALIDATE)\w+", re.M)


def faults(path: Path, course: list[Path] | None = None) -> list[str]:
    """Sentences on what is wrong with one stored notebook; `course`: the notebooks that share the quotas."""
    try:
        notebook = files.read(path)
    except NotebookError as error:
        return [str(error)]
    found = [said for rule in RULES for said in rule(path, notebook)]
    return found + _quotas(path, notebook, course or [path])


# --- the file ---------------------------------------------------------------------------------------


def _counts(path: Path, notebook: NotebookNode) -> Iterator[str]:
    for cell in code_cells(notebook):
        if not cell.source.strip():
            yield f"{place(notebook, cell)} is an empty code cell; take it out."
        elif not isinstance(cell.get("execution_count"), int):
            yield f"{place(notebook, cell)} has no execution count, so nothing is compared; run the writer."


def _widgets(path: Path, notebook: NotebookNode) -> Iterator[str]:
    if "widgets" in notebook.get("metadata", {}):
        yield "the notebook holds saved widget state; run the writer, which leaves it out."
    for cell in code_cells(notebook):
        if any(WIDGET_VIEW in output.get("data", {}) for output in cell.get("outputs", [])):
            yield f"{place(notebook, cell)} holds a saved widget view; run the writer, which leaves it out."


def _size(path: Path, notebook: NotebookNode) -> Iterator[str]:
    size = path.stat().st_size
    if size >= MAX_BYTES:
        yield f"the file has {size:,} bytes; it must stay below {MAX_BYTES:,}. Show less."


def _kernelspec(path: Path, notebook: NotebookNode) -> Iterator[str]:
    name = notebook.get("metadata", {}).get("kernelspec", {}).get("name")
    if name != CPU:
        yield f"the kernelspec is {name!r}; it must be {CPU!r}."


def _stored_form(path: Path, notebook: NotebookNode) -> Iterator[str]:
    stored = normalise(notebook)
    if path.read_text(encoding="utf-8") == files.as_text(stored):
        return
    differing = [
        place(notebook, old) for old, new in zip(notebook.cells, stored.cells, strict=True) if old != new
    ]
    where = ", ".join(differing[:3]) or "the metadata or the layout of the file"
    yield f"not in the stored form ({where}); store it with python -m tests.notebooks.write {path.stem}."


def _measured(path: Path, notebook: NotebookNode) -> Iterator[str]:
    for cell in code_cells(notebook):
        if "measured" in tags(cell) and cell.metadata.get("measured_source") != source_mark(cell):
            yield f"{place(notebook, cell)} shows what another source measured; run the writer."


# --- texts ------------------------------------------------------------------------------------------


def _headings(path: Path, notebook: NotebookNode) -> Iterator[str]:
    headings = page_of(notebook).headings
    first = [text for level, text in headings if level == 1]
    if len(first) != 1:
        yield f"one first-level heading is wanted, {len(first)} found: {first}."
    before = 0
    for level, text in headings:
        if level > before + 1:
            yield f"the heading {text!r} jumps from level {before} to level {level}."
        before = level


def _pictures(path: Path, notebook: NotebookNode) -> Iterator[str]:
    for source, alt in page_of(notebook).pictures:
        if not (alt or "").strip():
            yield f"the picture {source[:60]!r} has no alt text."


def _links(path: Path, notebook: NotebookNode) -> Iterator[str]:
    page = page_of(notebook)
    for link in page.links + [source for source, _ in page.pictures]:
        if not re.match(r"(?:https?|mailto|data|attachment):", link) and (said := _broken(path, page, link)):
            yield f"the link {link!r} {said}."


def _broken(path: Path, page: Page, link: str) -> str:
    target, _, anchor = unquote(link).partition("#")
    if re.match(r"\w+:|/", target):
        return "names a place on one machine; say it relative to the notebook"
    there = path.parent / target if target else path
    if not there.exists():
        return "leads nowhere"
    if not anchor:
        return ""
    if target and there.suffix == ".ipynb":
        page = page_of(files.read(there))
    return "" if anchor in page.anchors or there.suffix != ".ipynb" else "names a heading that is not there"


# --- cells ------------------------------------------------------------------------------------------


def _tags(path: Path, notebook: NotebookNode) -> Iterator[str]:
    known = ", ".join(sorted(KNOWN_TAGS))
    for cell in notebook.cells:
        where = place(notebook, cell)
        for tag in tags(cell):
            if tag in SKIPS:
                yield f"{where} is skipped (tag {tag}); no cell is skipped."
            elif tag not in KNOWN_TAGS and not _CLAIM.fullmatch(tag):
                yield f"{where} carries the unknown tag {tag!r}; known are claim:<id>, {known}."
        if cell.cell_type == "code" and "tc.predict(" in cell.source and "predict" not in tags(cell):
            yield f"{where} asks a question: tag it `predict`, so that its source, with the answer, is folded."
        if cell.cell_type == "code" and _MARKER.search(cell.source):
            yield f"{where} carries a marker of nbval as a comment; say it with a tag, which the lanes count."


def _exemptions(path: Path, notebook: NotebookNode) -> Iterator[str]:
    for cell in code_cells(notebook):
        if EXEMPT & set(tags(cell)) and not _REASON.search(cell.source):
            yield f"{place(notebook, cell)} is not compared; say why: `# not compared: <reason>`."


def _code(path: Path, notebook: NotebookNode) -> Iterator[str]:
    for cell in code_cells(notebook):
        try:
            tree = ast.parse(TransformerManager().transform_cell(cell.source))
        except SyntaxError as error:
            yield f"{place(notebook, cell)} is not Python: {error.msg} (line {error.lineno})."
            continue
        for line, what in _dangers(tree):
            if not _is_allowed(cell.source.splitlines(), line):
                yield f"{place(notebook, cell)} uses {what}; take it out, or say why: `# allowed: <reason>`."


def _dangers(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Calls that can run what a reader did not read: (line, name)."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = re.sub(r"\(.*?\)", "()", ast.unparse(node.func), flags=re.S)
        if name in DANGEROUS or name.startswith("subprocess."):
            yield node.lineno, name
        elif name == "torch.load" and not _weights_only(node):
            yield node.lineno, "torch.load without weights_only=True"


DANGEROUS = {
    "eval",
    "exec",
    "builtins.eval",
    "builtins.exec",
    "pickle.load",
    "pickle.loads",
    "pickle.Unpickler",
}
DANGEROUS |= {"os.system", "os.popen", "get_ipython().system", "get_ipython().getoutput"}


def _weights_only(call: ast.Call) -> bool:
    return any(
        word.arg == "weights_only" and isinstance(word.value, ast.Constant) and word.value.value is True
        for word in call.keywords
    )


def _is_allowed(lines: list[str], number: int) -> bool:
    """The reason stands on the line or just above."""
    return any(_ALLOWED.search(line) for line in lines[max(0, number - 2) : number])


RULES: tuple[Callable[[Path, NotebookNode], Iterator[str]], ...] = (
    _counts,
    _widgets,
    _size,
    _kernelspec,
    _stored_form,
    _measured,
    _headings,
    _pictures,
    _links,
    _tags,
    _exemptions,
    _code,
)


# --- the course's quotas ----------------------------------------------------------------------------


def _quotas(path: Path, notebook: NotebookNode, course: list[Path]) -> list[str]:
    """Quotas hold for the course; where one is overdrawn, each notebook names its own part."""
    counted = [_count(other, other.stat().st_mtime_ns) for other in course]
    total, long, exempt = (sum(column) for column in zip(*counted, strict=True))
    found = []
    if long > LONG_SHARE * total:
        found += [
            f"{place(notebook, cell)} has {_lines(cell)} lines; {long} of the course's {total} code cells "
            f"have more than {LONG}, at most {LONG_SHARE:.0%} may."
            for cell in code_cells(notebook)
            if _lines(cell) > LONG
        ]
    if exempt > max(EXEMPT_AT_LEAST, EXEMPT_SHARE * total):
        found += [
            f"{place(notebook, cell)} is exempt from comparison; {exempt} of the course's {total} code cells "
            f"are, at most {EXEMPT_SHARE:.0%} ({EXEMPT_AT_LEAST} in a small course) may be."
            for cell in code_cells(notebook)
            if EXEMPT & set(tags(cell))
        ]
    return found


def _lines(cell: NotebookNode) -> int:
    return len(cell.source.splitlines())


@cache
def _count(path: Path, modified: int) -> tuple[int, int, int]:
    """Code cells, long ones, exempt ones; nothing for a notebook that its own lane calls unreadable."""
    try:
        cells = code_cells(files.read(path))
    except NotebookError:
        return 0, 0, 0
    return len(cells), sum(_lines(c) > LONG for c in cells), sum(bool(EXEMPT & set(tags(c))) for c in cells)
