"""`svg`: every node up to 500, a fold that says so beyond, by one of two ways or with one sentence."""

import builtins
import os
import sys
import xml.etree.ElementTree as ET
from typing import Any

import graphviz
import pytest

from tests.graphs.drawings import chain, made_up, transformer
from torchcourse.autograd import Graph, graph
from torchcourse.graphs import fold, svg
from torchcourse.graphs.svg import NoGraphviz


def drawn(picture: str) -> int:
    """`<g>` elements whose class has the word node."""
    root = ET.fromstring(picture)
    return sum("node" in (g.get("class") or "").split() for g in root.iter("{http://www.w3.org/2000/svg}g"))


@pytest.mark.parametrize(("nodes", "edges"), [(1, 0), (60, 90), (200, 900), (500, 499), (500, 5000)])
def test_every_node_is_drawn(nodes: int, edges: int) -> None:
    assert drawn(svg(made_up(nodes, edges))) == nodes


def test_more_is_folded_and_says_so() -> None:
    found = chain(600)
    picture = svg(found)
    assert drawn(picture) == len(fold(found).boxes)
    assert "boxes stand for 1,201 nodes" in picture


def test_too_many_edges_are_cut_and_it_says_so() -> None:
    assert "Of 5,000 edges, the first 3,000 are drawn." in svg(made_up(500, 5000))


def test_the_same_bytes_every_time() -> None:
    assert svg(transformer(1)) == svg(transformer(1))


def test_it_has_a_name_and_no_prologue() -> None:
    picture = svg(transformer(1))
    assert picture.startswith('<svg role="img" aria-label="Graph of ') and "<!--" not in picture


def test_a_graph_without_nodes_is_a_picture_that_says_so() -> None:
    import torch

    picture = svg(graph(torch.ones(2)))
    assert drawn(picture) == 0 and "no nodes" in picture
    assert drawn(svg(Graph((), (), ()))) == 0


def test_graphviz_is_silent(capfd: pytest.CaptureFixture[str]) -> None:
    svg(made_up(200, 900))
    os.write(2, b"heard")
    assert capfd.readouterr().err == "heard"


def _without_pygraphviz(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def refuse(name: str, *args: Any, **kwargs: Any) -> Any:
        if name == "pygraphviz":
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.delitem(sys.modules, "pygraphviz", raising=False)
    monkeypatch.setattr(builtins, "__import__", refuse)


def test_the_dot_program_is_the_other_way(monkeypatch: pytest.MonkeyPatch) -> None:
    _without_pygraphviz(monkeypatch)
    asked: list[str] = []

    def pipe(self: graphviz.Source, **kwargs: Any) -> str:
        asked.append(self.source)
        return '<?xml version="1.0"?>\n<svg width="1pt"></svg>'

    monkeypatch.setattr(graphviz.Source, "pipe", pipe)
    assert svg(made_up(3, 2)).startswith('<svg role="img"') and len(asked) == 1


def test_neither_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    _without_pygraphviz(monkeypatch)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(NoGraphviz, match="pip install pygraphviz"):
        svg(made_up(3, 2))
