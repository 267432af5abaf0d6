"""An ONNX graph that is a cell's value shows itself: a picture, and the same facts as text."""

import onnx
import pytest
from IPython.core.interactiveshell import InteractiveShell
from onnx import TensorProto, helper

from torchcourse._ipython import register
from torchcourse.export import onnx_graph
from torchcourse.graphs.svg import NoGraphviz
from torchcourse.widgets import onnx as card


@pytest.fixture
def graph():
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["rows", 2]) for name in "xy"]
    node = helper.make_node("Relu", ["x"], ["y"])
    model: onnx.ModelProto = helper.make_model(helper.make_graph([node], "one", ends[:1], ends[1:]))
    return onnx_graph(model)


def test_in_ipython(graph):
    shell = InteractiveShell()
    assert register(shell)
    bundle, _ = shell.display_formatter.format(graph)
    assert "<svg" in bundle["image/svg+xml"] and "Relu" in bundle["image/svg+xml"]
    assert bundle["text/plain"] == str(graph) == repr(card.view(graph))


def test_without_graphviz_the_text_stands_alone(graph, monkeypatch):
    def none(_):
        raise NoGraphviz("neither")

    monkeypatch.setattr(card, "svg", none)
    assert card.view(graph)._repr_mimebundle_() == {"text/plain": str(graph)}
