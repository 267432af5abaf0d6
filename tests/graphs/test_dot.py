"""`dot`: one node statement per node, one edge per edge, nothing foreign in the text."""

import re

import pytest

from tests.graphs.drawings import made_up, transformer
from torchcourse.autograd import Edge, Graph, Node, Output, Root
from torchcourse.graphs import dot, fold


def statements(text: str) -> tuple[int, int]:
    return len(re.findall(r"^\t[nb]\d+ \[", text, re.M)), len(
        re.findall(r"^\t[nb]\d+ -> [nb]\d+", text, re.M)
    )


@pytest.mark.parametrize(("nodes", "edges"), [(1, 0), (7, 6), (100, 300), (800, 2000)])
def test_it_draws_what_it_is_given(nodes: int, edges: int) -> None:
    assert statements(dot(made_up(nodes, edges))) == (nodes, edges)


def test_a_fold_draws_its_boxes() -> None:
    folded = fold(transformer(4))
    assert statements(dot(folded)) == (len(folded.boxes), len(folded.edges))
    assert "boxes stand for" in dot(folded)


def test_the_same_text_every_time() -> None:
    assert dot(made_up(50, 80)) == dot(made_up(50, 80))


def test_a_name_is_text_and_no_markup() -> None:
    name = '<b>"x\\n'
    leaf = Node(
        0, "AccumulateGrad", "AccumulateGrad", (Output((2,), "float32"),), (), False, False, None, name, None
    )
    text = dot(Graph((Root(name, 0),), (leaf,), ()))
    assert statements(text) == (1, 0) and 'label="<b>\\"x\\\\n\n[2]"' in text


def test_damage_and_freed_are_marked() -> None:
    made = (Output((2,), "float32"),)
    stale = Node(0, "ExpBackward0", "operator", made, (), True, False, None, None, None)
    freed = Node(1, "MulBackward0", "operator", made, (), False, True, None, None, None)
    text = dot(Graph((Root("y", 0),), (stale, freed), (Edge(0, 1),)))
    assert "✕ ExpBackward0" in text and "· MulBackward0" in text and "dashed" in text


def test_anything_else_is_one_sentence() -> None:
    with pytest.raises(TypeError, match="A drawing is made of"):
        dot("x")  # type: ignore[arg-type]
