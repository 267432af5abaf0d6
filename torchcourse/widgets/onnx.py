"""How an ONNX graph shows itself as a cell's value: a static picture with its text twin."""

from typing import Any

from torchcourse.export import OnnxGraph
from torchcourse.graphs.svg import NoGraphviz, svg


def view(graph: OnnxGraph) -> "OnnxCard":
    """Show nodes, stored tensors and sizes."""
    return OnnxCard(graph)


class OnnxCard:
    """The card of one graph: a picture, and `str()`, its text twin. Without Graphviz the text stands alone."""

    def __init__(self, graph: OnnxGraph) -> None:
        self.graph = graph

    def __str__(self) -> str:
        return str(self.graph)

    __repr__ = __str__

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        text = {"text/plain": str(self.graph)}
        try:
            return text | {"image/svg+xml": svg(self.graph)}
        except NoGraphviz:
            return text
