"""Why an output differs: the first cause that the facts support, in one sentence."""

import re
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from . import _agree, _leaves, _reasons
from ._agree import Verdict
from ._data import Made, Way
from ._ways import Task


@dataclass(frozen=True)
class Eager:
    """What the eager model did with one input.

    error: what it raised; random: it drew random numbers; mode: in eval mode the output is another one;
    moved, written, attributes: the buffers, arguments and plain attributes that the call changed.
    """

    output: Any
    error: Exception | None
    random: bool
    mode: bool = False
    moved: tuple[str, ...] = ()
    written: tuple[str, ...] = ()
    attributes: tuple[str, ...] = ()


_ONNX = ("torchscript_onnx", "dynamo_onnx")
_TRACED = ("trace", "torchscript_onnx")


def differ(
    verdict: Verdict, made: Made, task: Task, eager: Eager, inputs: tuple[Any, ...], example_agrees: bool
) -> str:
    """ "<kind>: <cause>; <what differs>.", the last only where the numbers alone don't tell it."""
    cause = (
        _state(made.way, eager, example_agrees)
        or _complex(verdict, eager)
        or _argument(made.way, task, inputs)
        or _warning(made)
        or _guard(made, task, inputs)
        or _size(made.way, task, inputs, example_agrees)
        or ("constant baked in: something of the example became part of the graph" if example_agrees else "")
        or "other arithmetic: an operator computes otherwise than in eager mode, already on the example"
    )
    return f"{cause}; {verdict.sentence}." if verdict.sentence else f"{cause}."


def _state(way: Way, eager: Eager, example_agrees: bool) -> str:
    if eager.random and (way == "dynamo_onnx" or (way == "torchscript_onnx" and not eager.mode)):
        dropout = " (dropout is on, since the model is in training mode)" if eager.mode else ""
        return f"random numbers: onnxruntime draws from a generator of its own{dropout}"
    if way in _ONNX and eager.mode:
        if way == "torchscript_onnx":
            return "training mode: torch.onnx.export(dynamo=False) switches to eval mode, and the eager model trains"
        return "training mode: the file computes as in eval mode, and the eager model trains; export after model.eval()"
    if way in _TRACED and eager.moved and not example_agrees:
        return (
            f"buffer moved: tracing ran the model, and its buffer {eager.moved[0]} is no longer what it was"
        )
    return ""


def _complex(verdict: Verdict, eager: Eager) -> str:
    complex_ = any(isinstance(leaf, Tensor) and leaf.is_complex() for leaf in _leaves.of_output(eager.output))
    if complex_ and verdict.what in ("shape", "dtype"):
        return "dtype: ONNX has no complex numbers, and the file returns pairs of real ones"
    return ""


def _argument(way: Way, task: Task, inputs: tuple[Any, ...]) -> str:
    """A Python value among the arguments that is not the example's."""
    mine, theirs = _leaves.of_arguments(task.model, task.example), _leaves.of_arguments(task.model, inputs)
    for path, leaf in theirs.items():
        if path in mine and not isinstance(leaf, Tensor) and not _agree.equal(mine[path], leaf):
            return f"constant baked in: {path} is {mine[path]!r} in the graph, as in the example, and here {leaf!r}"
    return "" if way in _TRACED else _twice(mine, theirs)


def _twice(mine: _leaves.Leaves, theirs: _leaves.Leaves) -> str:
    """torch.export takes two arguments for one where the example passes one tensor twice."""
    first: dict[int, str] = {}
    for path, leaf in mine.items():
        other = first.setdefault(id(leaf), path) if isinstance(leaf, Tensor) else path
        if other != path and theirs.get(path) is not theirs.get(other):
            return f"constant baked in: the example passes one tensor as {other} and {path}, and so does the graph"
    return ""


def _warning(made: Made) -> str:
    for warned in made.warnings if made.way in _TRACED else ():
        if warned.line:
            return f"{warned.kind}: at line {warned.line}, `{warned.code}`, {warned.sentence.rstrip('.')}"
    return ""


def _guard(made: Made, task: Task, inputs: tuple[Any, ...]) -> str:
    """The ONNX file forgets what torch.export found out; the program that it was made from has not."""
    if made.way != "dynamo_onnx" or made.program is None:
        return ""
    try:
        made.program.module()(*inputs)
    except Exception as error:
        reason = _reasons.of_run(error, task.axes).rstrip(".")
        if re.match("dynamic shape|constant baked", reason):
            return f"{reason}, which the ONNX file does not check"
    return ""


def _size(way: Way, task: Task, inputs: tuple[Any, ...], example_agrees: bool) -> str:
    mine, theirs = _leaves.of_arguments(task.model, task.example), _leaves.of_arguments(task.model, inputs)
    for path, axes in task.axes.items():
        tensor = theirs.get(path)
        sizes = tensor.shape if isinstance(tensor, Tensor) else ()
        for axis in axes:
            size = sizes[axis] if axis < len(sizes) else None
            if way not in _TRACED and size in (0, 1) and mine[path].shape[axis] > 1:
                return (
                    f"dynamic shape specialised: a dynamic dimension counts as 2 or more while the graph is made, and "
                    f"{path}.shape[{axis}] is {size} here"
                )
    other = any(
        isinstance(a, Tensor) and isinstance(theirs.get(path), Tensor) and a.shape != theirs[path].shape
        for path, a in mine.items()
    )
    return (
        "dynamic shape specialised: a size of the example became a constant of the graph"
        if other and example_agrees
        else ""
    )
