"""DOT -> SVG with Graphviz, in this process where pygraphviz is there, else with the `dot` program."""

import contextlib
import os
import re
import sys
import threading
from collections.abc import Iterator
from html import escape

import graphviz

from torchcourse.autograd import Graph
from torchcourse.export import OnnxGraph

from .dot import caption, write
from .fold import Folded, fold

MOST = 500  # nodes or boxes that are drawn each; beyond that the graph is folded
MOST_EDGES = 3000  # edges that are drawn
_one_at_a_time = threading.Lock()  # Graphviz is not thread-safe


class NoGraphviz(RuntimeError):
    """Neither pygraphviz nor the `dot` program is there."""


def svg(graph: Graph | Folded | OnnxGraph) -> str:
    """The picture as SVG: one `<g class="node …">` per node, or per box of a fold.

    A graph of more than MOST nodes is folded, of more than MOST_EDGES edges only the first are drawn, and
    a line in the picture says so. Below a second by the sizes alone: what dot would take long for is placed
    by level. The same bytes in every process of one environment. Raises TypeError for anything but a graph
    or a fold, NoGraphviz without Graphviz.
    """
    if isinstance(graph, Graph) and len(graph.nodes) > MOST:
        graph = fold(graph)
    elif isinstance(graph, Folded) and len(graph.boxes) > MOST:
        graph = fold(graph.graph)
    return _named(run_graphviz(write(graph, MOST_EDGES), "svg"), graph)


def run_graphviz(text: str, form: str) -> str:
    """What Graphviz makes of DOT: in this process where pygraphviz is there, else by the `dot` program."""
    try:
        from pygraphviz import AGraph
    except ImportError:
        return _run_program(text, form)
    engine = "neato" if "layout=neato" in text else "dot"
    with _one_at_a_time, _muted():
        picture = AGraph(string=text)
        try:
            return bytes(picture.draw(format=form, prog=engine)).decode()
        finally:
            picture.close()


def _run_program(text: str, form: str) -> str:
    try:
        return str(graphviz.Source(text).pipe(format=form, encoding="utf-8", quiet=True))
    except graphviz.ExecutableNotFound:
        raise NoGraphviz(
            "Graphviz is not here, so nothing can be drawn. Run `pip install pygraphviz` (its wheels carry "
            "Graphviz) or install the dot program; str(graph) says the same as the picture."
        ) from None


@contextlib.contextmanager
def _muted() -> Iterator[None]:
    """Graphviz writes its notes to file descriptor 2; they would land in the reader's cell."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        sys.stderr.flush()
    try:
        before = os.dup(2)
    except OSError:  # a process without one
        yield
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(before, 2)
        os.close(before)
        os.close(nowhere)


def _named(picture: str, graph: Graph | Folded | OnnxGraph) -> str:
    """Without the prologue (Graphviz's version), and with a role and a name."""
    start = picture.index("<svg")
    body = re.sub(r"<!--.*?-->\n?", "", picture[start:], flags=re.DOTALL)
    whole = graph.graph if isinstance(graph, Folded) else graph
    name = caption(graph) or repr(whole)
    return body.replace("<svg ", f'<svg role="img" aria-label="{escape(name)}" ', 1)
