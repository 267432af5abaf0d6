"""An ONNX graph as a picture: the common `dot` and `svg` draw it, node for node, the same bytes every time."""

import xml.etree.ElementTree as ET
from itertools import pairwise

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from torchcourse.export import OnnxGraph, onnx_graph
from torchcourse.graphs import dot, svg
from torchcourse.graphs.onnx import MOST, caption, parts

from .test_svg import drawn


def value(name: str, *shape: int | str) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, list(shape))


def model(nodes: list[onnx.NodeProto], *stored: onnx.TensorProto) -> OnnxGraph:
    graph = helper.make_graph(nodes, "g", [value("x", "b", 4)], [value("y", "b", 4)], list(stored))
    return onnx_graph(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)]))


def chain(length: int) -> OnnxGraph:
    names = ["x", *(f"h{i}" for i in range(length - 1)), "y"]
    nodes = [helper.make_node("Relu", [a], [b]) for a, b in pairwise(names)]
    return model(nodes)


@pytest.fixture(scope="module")
def branching() -> OnnxGraph:
    """y = If(x.sum() > 0, x + 3, -x), the 3 a constant."""
    three = numpy_helper.from_array(np.array(3.0, np.float32), "three")
    then = helper.make_graph(
        [
            helper.make_node("Constant", [], ["c"], value=three),
            helper.make_node("Add", ["x", "c"], ["p"]),
        ],
        "then",
        [],
        [value("p", "b", 4)],
    )
    other = helper.make_graph([helper.make_node("Neg", ["x"], ["q"])], "else", [], [value("q", "b", 4)])
    zero = numpy_helper.from_array(np.array(0.0, np.float32), "zero")
    return model(
        [
            helper.make_node("ReduceSum", ["x"], ["s"], keepdims=0),
            helper.make_node("Greater", ["s", "zero"], ["c"]),
            helper.make_node("If", ["c"], ["y"], then_branch=then, else_branch=other),
        ],
        zero,
    )


@pytest.mark.parametrize("length", [1, 40, MOST - 2])
def test_every_node_is_drawn(length: int) -> None:
    assert drawn(svg(chain(length))) == length + 2  # the input and the output, too


def test_branches_stand_before_their_if(branching: OnnxGraph) -> None:
    shapes, edges = parts(branching)
    names = [shape.label.splitlines()[0] for shape in shapes]
    assert names == [
        "x float32 [b, 4]",
        "ReduceSum",
        "Greater",
        "Neg",
        "Add",
        "If",
        "y float32 [b, 4]",
    ]
    at = {name: k for k, name in enumerate(names)}
    assert {(at["Add"], at["If"], "then"), (at["Neg"], at["If"], "else")} < set(edges)
    assert (0, at["Add"], "") in edges, "a branch reads what is outside of it"
    assert "✎ 3" in shapes[at["Add"]].label and "then branch of If" in shapes[at["Add"]].label
    assert shapes[at["Neg"]].dashed and not shapes[at["If"]].dashed


def test_stored_tensors_are_lines_of_a_box() -> None:
    weight = numpy_helper.from_array(np.ones((4, 4), np.float32), "lin.weight")
    shapes, _ = parts(model([helper.make_node("MatMul", ["x", "lin.weight"], ["y"])], weight))
    assert len(shapes) == 3 and shapes[1].label.splitlines() == [
        "MatMul",
        "float32 [b, 4]",
        "lin.weight [4, 4]",
    ]


def test_more_is_folded_and_says_so() -> None:
    long = chain(MOST + 100)
    picture = svg(long)
    assert drawn(picture) <= MOST and f"boxes stand for {MOST + 102} nodes" in picture
    assert caption(chain(10)) == ""


def test_the_same_bytes_and_a_whole_document(branching: OnnxGraph) -> None:
    assert svg(branching) == svg(branching) and dot(branching) == dot(branching)
    ET.fromstring(svg(branching))
    assert svg(branching).startswith('<svg role="img" aria-label="')


def test_odd_names_are_only_text() -> None:
    odd = '<b>"\\N{x}\\l'
    nodes = [helper.make_node("Relu", ["x"], [odd], name=odd), helper.make_node("Relu", [odd], ["y"])]
    picture = svg(model(nodes))
    assert drawn(picture) == 4 and "<b>" not in picture


def test_other_things_get_a_sentence() -> None:
    with pytest.raises(TypeError, match=r"export\.onnx_graph\(…\), not of a dict"):
        dot({})  # type: ignore[arg-type]
