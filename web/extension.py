"""What the course adds to Sphinx: formulas that need no script, and a line on each page of what it can't do."""

import re
from html import escape
from typing import Any

from docutils import nodes  # type: ignore[import-untyped]
from docutils.utils.math import MathError  # type: ignore[import-untyped]
from docutils.utils.math.latex2mathml import tex2mathml  # type: ignore[import-untyped]
from sphinx.application import Sphinx
from sphinx.util import logging

BINDER = "https://mybinder.org/v2/gh/torchcourse/torchcourse/HEAD?urlpath=lab/tree/notebooks/"
NOTE = (
    '<p class="tc-kernel-note">You read this without a kernel: views react, code does not run. '
    'Run it: on <a href="{binder}">Binder</a>, or with <code>python3 run.py lab</code>.</p>\n'
)
TEXTTT = re.compile(r"\\texttt\{([^{}]*)\}")
log = logging.getLogger(__name__)


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_config_value("torchcourse_notebooks", [], "html")
    app.add_html_math_renderer("mathml", (_inline_math, None), (_block_math, None))
    app.connect("html-page-context", _finish, priority=900)  # after the theme
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _inline_math(writer: Any, node: nodes.math) -> None:
    _math(writer, node, as_block=False)


def _block_math(writer: Any, node: nodes.math_block) -> None:
    _math(writer, node, as_block=True)


def _math(writer: Any, node: nodes.Element, as_block: bool) -> None:
    """The formula as MathML, which browsers draw themselves."""
    try:
        drawn = mathml(node.astext(), as_block)
        # A long formula scrolls in a narrow window, and what scrolls must be reached by Tab.
        frame = '<div class="tc-formula" tabindex="0" role="group" aria-label="Formula">{}</div>'
        writer.body.append(frame.format(drawn) if as_block else drawn)
    except MathError as error:
        log.warning("the formula %r has no MathML: %s", node.astext(), error, location=node)
    raise nodes.SkipNode


def mathml(formula: str, as_block: bool) -> str:
    r"""MathML for LaTeX. docutils knows no `\texttt`: here it is text of a class of its own."""
    codes = {code.replace(r"\_", "_") for code in TEXTTT.findall(formula)}
    plain = TEXTTT.sub(lambda code: rf"\text{{{code[1]}}}".replace(r"\_", "_"), formula)
    drawn: str = tex2mathml(plain, as_block)
    for code in map(escape, codes):
        drawn = drawn.replace(f"<mtext>{code}</mtext>", f'<mtext class="tc-code">{code}</mtext>')
    return drawn


def _finish(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """The line under a notebook's title; and a level for the side bar's headings, which Sphinx leaves out."""
    tree = context.get("furo_navigation_tree", "")
    context["furo_navigation_tree"] = tree.replace('role="heading"', 'role="heading" aria-level="2"')
    if page in app.config.torchcourse_notebooks:
        note = NOTE.format(binder=f"{BINDER}{page}.ipynb")
        context["body"] = context["body"].replace("</h1>", f"</h1>\n{note}", 1)
