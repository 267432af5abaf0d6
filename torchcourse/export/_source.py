"""A model's source beside the graph that an exporter makes of it, line by line."""

import io
import traceback
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from . import _fx_graph, _jit_graph, _onnx_drawn, _reasons
from ._baked import baked
from ._coverage import Coverage
from ._frames import Frame, own
from ._fx_graph import Drawn
from ._judge import judged, placed
from ._keep import fresh, random_kept, silence, twin
from ._reading import Forward, forwards, watched

Maker = Callable[[nn.Module, tuple[Any, ...], Any], list[Drawn]]


def coverage(model: nn.Module, example: Any, way: str = "export", dynamic_shapes: Any = None) -> Coverage:
    """What one way of exporting takes from the source of `forward`, for this example.

    example: the tuple of arguments, or one tensor. way: "export" (`torch.export.export`), "trace"
    (`torch.jit.trace`), "dynamo_onnx" or "torchscript_onnx" (`torch.onnx.export`). dynamic_shapes: as in
    `torch.export.export`; the two that trace know none. The forward runs once inside of the exporter, on a copy
    of the model, with its prints muted; while it runs, `sys.settrace` notes the lines. A value counts as read
    from the example where its line reads a size or a value of a tensor (`x.shape`, `len(x)`, `.item()`), itself
    or through a name that holds one, and does not write the number. A way that refuses gives `.refused`.
    TypeError: model is no module, example no tuple and no tensor. ValueError: an unknown way.
    """
    example = _checked(model, example, way)
    mine = twin(model)
    found = forwards(mine)
    try:
        with silence(), random_kept(), watched(found):
            drawn = _MAKERS[way](mine, fresh(example), dynamic_shapes)
    except Exception as error:
        return _refused(type(model).__name__, way, found, error)
    nodes = placed(drawn, found)
    constants = baked(drawn, nodes, found, mine)
    return Coverage(type(model).__name__, way, judged(found, nodes), nodes, constants)


def _checked(model: Any, example: Any, way: str) -> tuple[Any, ...]:
    if isinstance(model, type) and issubclass(model, nn.Module):
        raise TypeError(
            f"coverage takes a model, and got the class {model.__name__}: make one, {model.__name__}(…)."
        )
    if not isinstance(model, nn.Module):
        raise TypeError(f"coverage takes a model, an nn.Module, not a {type(model).__name__}.")
    if way not in _MAKERS:
        raise ValueError(f"There is no way {way!r} that knows lines. There are: {', '.join(_MAKERS)}.")
    if isinstance(example, torch.Tensor):
        return (example,)
    if not isinstance(example, tuple):
        raise TypeError(
            f"example is the tuple of the model's arguments, (x,), not a {type(example).__name__}."
        )
    return example


def _trace(model: nn.Module, example: tuple[Any, ...], dynamic_shapes: Any) -> list[Drawn]:
    return _jit_graph.read(torch.jit.trace(model, example, check_trace=False))


def _export(model: nn.Module, example: tuple[Any, ...], dynamic_shapes: Any) -> list[Drawn]:
    return _fx_graph.read(torch.export.export(model, example, dynamic_shapes=dynamic_shapes))


def _onnx(model: nn.Module, example: tuple[Any, ...], dynamic_shapes: Any) -> list[Drawn]:
    program = torch.onnx.export(model, example, dynamo=True, dynamic_shapes=dynamic_shapes, verbose=False)
    return _onnx_drawn.read(program)


def _torchscript(model: nn.Module, example: tuple[Any, ...], dynamic_shapes: Any) -> list[Drawn]:
    file: Any = io.BytesIO()  # it takes a file, whatever its annotation says
    torch.onnx.export(
        model, example, file, dynamo=False, verbose=True
    )  # verbose: lines go into the file, too
    return _onnx_drawn.read(file.getvalue())


_MAKERS: dict[str, Maker] = {
    "trace": _trace,
    "torchscript_onnx": _torchscript,
    "export": _export,
    "dynamo_onnx": _onnx,
}


def _refused(name: str, way: str, found: list[Forward], error: Exception) -> Coverage:
    stack = [Frame(f.filename, f.lineno or 0, f.name) for f in _stack(error)]
    stop = next((f for f in reversed(own(stack)) if any(one.holds(f.file, f.line) for one in found)), None)
    where = (stop.file, stop.line) if stop else ("", 0)
    sources = judged(found, (), where)
    return Coverage(name, way, sources, refused=_upper(_reasons.of_export(error)))


def _stack(error: BaseException | None) -> list[traceback.FrameSummary]:
    """The frames that an error and the errors behind it went through, those of the first error last."""
    found: list[traceback.FrameSummary] = []
    while error is not None and len(found) < 10_000:
        found += traceback.extract_tb(error.__traceback__)
        error = error.__cause__
    return found


def _upper(text: str) -> str:
    return text[:1].upper() + text[1:]
