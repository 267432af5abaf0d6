"""Export: four ways out of Python, each held to the eager model on other inputs than the example."""

from ._agree import TOLERANCES
from ._compare import compare
from ._coverage import BakedIn, Coverage, GraphNode, Line, Source
from ._data import WAYS, Comparison, Made, Row, Warned
from ._frames import Frame
from ._onnx_graph import Baked, Initialiser, OnnxGraph, OnnxNode, OnnxValue
from ._onnx_read import onnx_graph
from ._runtime import run
from ._source import coverage

__all__ = [
    "TOLERANCES",
    "WAYS",
    "Baked",
    "BakedIn",
    "Comparison",
    "Coverage",
    "Frame",
    "GraphNode",
    "Initialiser",
    "Line",
    "Made",
    "OnnxGraph",
    "OnnxNode",
    "OnnxValue",
    "Row",
    "Source",
    "Warned",
    "compare",
    "coverage",
    "onnx_graph",
    "run",
]
