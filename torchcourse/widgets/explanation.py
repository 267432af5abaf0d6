"""An explanation as a folded card, and the switch that puts one under each traceback in IPython."""

import contextlib
from html import escape
from typing import Any

from torchcourse._magic import running_shell
from torchcourse.errors import Explanation, explain

_BOX = (
    "border:1px solid var(--jp-border-color2,#D1D9E0);border-radius:8px;padding:6px 14px;margin:4px 0;"
    "max-width:52rem;color:var(--jp-ui-font-color1,inherit)"
)
_PRE = "white-space:pre-wrap;margin:2px 0 6px 1em;font-size:.92em"


def view(explanation: Explanation) -> "ExplanationCard":
    """Show an explanation, unfolded."""
    return ExplanationCard(explanation, folded=False)


class ExplanationCard:
    """The card of one explanation: static HTML, one <details>; `str()` is its text twin."""

    def __init__(self, explanation: Explanation, folded: bool = True) -> None:
        self.explanation = explanation
        self.folded = folded

    def __str__(self) -> str:
        return str(self.explanation)

    __repr__ = __str__

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/plain": str(self), "text/html": self.html()}

    def html(self) -> str:
        """The card; every text in it is escaped."""
        seen = self.explanation
        title = _title(seen)
        parts = "".join(_part(name, text) for name, text in seen.parts())
        error = (
            f'<p style="margin:6px 0;font-size:.92em"><code>{escape(seen.error)}</code></p>'
            if seen.error
            else ""
        )
        return (
            f'<details class="tc-explanation" style="{_BOX}"{"" if self.folded else " open"}>'
            f'<summary style="cursor:pointer;padding:3px 0">{escape(title)}</summary>{error}{parts}</details>'
        )


def explain_errors(on: bool = True) -> None:
    """Put a folded card with an explanation under each traceback of this notebook; `on=False`: no more.

    The traceback stays as it is. Works in IPython and Jupyter, any number of times; elsewhere it does nothing.
    A cell that raises nothing costs one look at its result.
    """
    shell = running_shell()
    if shell is None:
        return
    with contextlib.suppress(ValueError):  # not registered
        shell.events.unregister("post_run_cell", _after_cell)
    if on:
        shell.events.register("post_run_cell", _after_cell)


def _after_cell(result: Any) -> None:
    error = getattr(result, "error_in_exec", None)
    if not isinstance(error, Exception):  # nothing, or an interrupt
        return
    try:
        from IPython.display import display

        bundle = ExplanationCard(explain(error))._repr_mimebundle_()
        display(bundle, raw=True)
    except Exception:  # a card that can't be shown must not add a second error
        pass


def _title(seen: Explanation) -> str:
    if not seen.known:
        return "Not known to this course"
    return f"What this error means ({seen.chapter})" if seen.chapter else "What this error means"


def _part(name: str, text: str) -> str:
    heading = f"<b>{escape(name.strip())}</b>"
    if name.endswith("\n"):
        tag = f'<pre style="{_PRE}">{escape(text)}</pre>'
        return f'<p style="margin:6px 0 0">{heading}</p>{tag}'
    return f'<p style="margin:6px 0">{heading} {escape(text)}</p>'
