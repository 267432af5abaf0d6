"""What is wrong with what was seen: plain data in, findings out."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from nbformat import NotebookNode

Facts = dict[str, Any]
GRAVE = ("serious", "critical")  # of axe's four: minor, moderate, serious, critical

# Complaints of JupyterLab itself that no notebook can help: a part of the text -> the reason.
ALLOWED: dict[str, str] = {}


@dataclass(frozen=True)
class Finding:
    """One fault: its kind (one word) and one sentence."""

    kind: str
    sentence: str

    def __str__(self) -> str:
        return f"[{self.kind}] {self.sentence}"


def place(cell: Facts) -> str:
    first = next((line.strip() for line in cell["source"].splitlines() if line.strip()), "")
    return f"cell {cell['number']} (`{first[:60]}`)"


def unfinished(cells: list[Facts]) -> list[Facts]:
    """Cells without a count, though they have code: the first is the one that ran or stopped last."""
    return [cell for cell in cells if cell["source"].strip() and cell["count"] is None]


def not_run(cells: list[Facts]) -> list[Finding]:
    return [Finding("run", f"{place(cell)} did not run to its end.") for cell in unfinished(cells)[:1]]


def errors(cells: list[Facts]) -> list[Finding]:
    """Error outputs, but for cells whose tag announces one."""
    return [
        Finding("error", f"{place(cell)} raised {output['ename']}: {output['evalue']}")
        for cell in cells
        if not {"raises-exception", "nbval-raises-exception"} & set(cell["tags"])
        for output in cell["outputs"]
        if output["output_type"] == "error"
    ]


def surprises(cells: list[Facts], stored: NotebookNode) -> list[Finding]:
    """Text on stderr where the notebook has none stored."""
    known = {number for number, cell in enumerate(stored.cells, 1) if _stderr(cell.get("outputs", []))}
    return [
        Finding("stderr", f"{place(cell)} wrote to stderr: {text.strip()[:200]!r}")
        for cell in cells
        if cell["number"] not in known and (text := _stderr(cell["outputs"])).strip()
    ]


def _stderr(outputs: Iterable[Facts]) -> str:
    texts = (output["text"] for output in outputs if output.get("name") == "stderr")
    return "".join(text if isinstance(text, str) else "".join(text) for text in texts)


def unseen(views: list[Facts]) -> list[Finding]:
    return [
        Finding("view", f"The view of cell {view['cell']} does not show. {view['text']}".strip())
        for view in views
        if not view["shown"]
    ]


def too_wide(views: list[Facts], page_over: int, width: int) -> list[Finding]:
    """Views that need more room than a narrow window has, and don't keep it inside their card."""
    wide = [(f"the view of cell {view['cell']}", view["over"]) for view in views] + [("the page", page_over)]
    return [
        Finding(
            "narrow",
            f"In a window of {width} px {what} is {over} px too wide: let its body scroll in the card.",
        )
        for what, over in wide
        if over > 1  # a pixel of rounding
    ]


def left_machine(addresses: Iterable[str]) -> list[Finding]:
    """Requests that are answered neither by this machine nor by the page itself."""
    foreign = sorted({address for address in addresses if not _is_local(address)})
    return [
        Finding("network", f"The page asked for {address[:200]}: nothing may leave the machine.")
        for address in foreign
    ]


def _is_local(address: str) -> bool:
    parts = urlsplit(address)
    if parts.scheme in ("data", "blob", "about"):
        return True
    return parts.scheme in ("http", "https", "ws", "wss") and parts.hostname in (
        "127.0.0.1",
        "localhost",
        "::1",
    )


def complaints(texts: Iterable[str]) -> list[Finding]:
    """Errors on the browser's console and exceptions in the page."""
    return [
        Finding("console", f"The page complained: {text[:400]}")
        for text in dict.fromkeys(texts)
        if not any(part in text for part in ALLOWED)
    ]


def barriers(violations: list[dict[str, str]], scheme: str) -> list[Finding]:
    """What axe calls serious or critical: some readers can't use the view."""
    return [
        Finding("axe", f"{found['id']} ({found['impact']}, {scheme}): {found['help']}: {found['html'][:160]}")
        for found in violations
        if found["impact"] in GRAVE
    ]
