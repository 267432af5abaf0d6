"""The four ways: each makes its thing of a model, and gives back how to run it."""

import io
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import torch
from torch import Tensor, nn

from . import _keep, _leaves, _reasons, _runtime, _shapes, _warned
from ._data import Made, Way

Run = Callable[[tuple[Any, ...]], Any]


@dataclass(frozen=True)
class Task:
    """What is exported: copies are made of `model` and `example`, so that neither is touched."""

    model: nn.Module
    example: tuple[Any, ...]
    dynamic_shapes: Any = None
    axes: _shapes.Axes = field(default_factory=dict)
    opset: int | None = None

    def leaves(self, inputs: tuple[Any, ...], defaults: bool = False) -> _leaves.Leaves:
        """The leaves by the example's paths. Raises Refused where the structure is another one.

        defaults: with those of `forward`, which torch.onnx.export(dynamo=False) makes inputs of as well.
        """
        mine = _leaves.of_arguments(self.model, self.example, defaults)
        theirs = _leaves.of_arguments(self.model, inputs, defaults)
        if mine.keys() != theirs.keys():
            odd = sorted(mine.keys() ^ theirs.keys())[0]
            raise _reasons.Refused(
                f"input structure: {odd} is {'new' if odd in theirs else 'absent'} here, and the graph has the "
                "example's inputs only."
            )
        for path, leaf in mine.items():
            if isinstance(leaf, Tensor) != isinstance(theirs[path], Tensor):
                raise _reasons.Refused(
                    f"input structure: {path} was {type(leaf).__name__} in the example, and is "
                    f"{type(theirs[path]).__name__} here."
                )
        return {path: theirs[path] for path in mine}


@dataclass(frozen=True)
class Attempt:
    """made: what the way made; run: None where it made nothing, or what it made does not load (then `refused`)."""

    made: Made
    run: Run | None = None
    refused: str = ""


def attempt(way: Way, task: Task) -> Attempt:
    """One way, whatever happens: a refusal becomes a sentence."""
    make = {"trace": _trace, "export": _export, "torchscript_onnx": _torchscript, "dynamo_onnx": _dynamo}[way]
    with _keep.silence() as caught:
        try:
            made, run = make(task)
        except Exception as error:
            reason = _reasons.of_export(error)
            return Attempt(Made(way, warnings=_warned.read(caught), refused=reason), refused=reason)
        made = Made(way, made.program, made.onnx, _warned.read(caught))
        if run is not None:
            return Attempt(made, run)
        try:
            return Attempt(made, _runner(made, task))
        except Exception as error:
            return Attempt(made, None, _reasons.of_file(error))


def _trace(task: Task) -> tuple[Made, Run]:
    traced = torch.jit.trace(_keep.twin(task.model), _keep.fresh(task.example))
    rewound = _keep.Rewound(traced)
    return Made("trace", traced), lambda inputs: rewound(*inputs)


def _export(task: Task) -> tuple[Made, Run]:
    shapes = _shapes.for_export(task.dynamic_shapes)
    program = torch.export.export(_keep.twin(task.model), _keep.fresh(task.example), dynamic_shapes=shapes)
    rewound = _keep.Rewound(program.module())
    return Made("export", program), lambda inputs: rewound(*inputs)


def _torchscript(task: Task) -> tuple[Made, None]:
    _known_opset(task.opset)
    file = io.BytesIO()
    torch.onnx.export(
        _keep.twin(task.model),
        _positional(_keep.fresh(task.example)),
        file,  # type: ignore[arg-type]  # a documented leftover: the TorchScript exporter writes to any file
        dynamo=False,
        input_names=[name for name, leaf in task.leaves(task.example, True).items() if _is_input(leaf)],
        dynamic_axes=task.axes or None,
        opset_version=task.opset,
    )
    return Made("torchscript_onnx", None, file.getvalue()), None


def _dynamo(task: Task) -> tuple[Made, None]:
    import_module("onnx"), import_module("onnxscript")  # their absence is told before any work
    _known_opset(task.opset)
    program = torch.onnx.export(
        _keep.twin(task.model),
        _positional(_keep.fresh(task.example)),
        dynamo=True,
        dynamic_shapes=task.dynamic_shapes,
        opset_version=task.opset,
        verbose=False,
    )
    assert program is not None
    onnx = program.model_proto.SerializeToString()
    return Made("dynamo_onnx", program.exported_program, onnx), None


def _positional(example: tuple[Any, ...]) -> tuple[Any, ...]:
    """torch.onnx.export reads a last dict as keyword arguments; an empty one behind it keeps it an argument."""
    return (*example, {}) if example and isinstance(example[-1], dict) else example


def _known_opset(opset: int | None) -> None:
    """The dynamo exporter takes any number and silently writes another opset."""
    if opset is None:
        return
    newest = import_module("onnx").defs.onnx_opset_version()
    if not 1 <= opset <= newest:
        raise _reasons.Refused(
            f"unknown opset: there is no opset {opset}; the installed onnx knows 1 to {newest}."
        )


def _is_input(leaf: Any) -> bool:
    """The TorchScript exporter makes inputs of tensors, and of Python numbers too."""
    return isinstance(leaf, Tensor) or _leaves.number(leaf)


def _runner(made: Made, task: Task) -> Run:
    assert made.onnx is not None
    opened = _runtime.session(made.onnx)
    feed = _feed_torchscript if made.way == "torchscript_onnx" else _feed_dynamo
    names = [entry.name for entry in opened.get_inputs()]
    defaults = made.way == "torchscript_onnx"
    return lambda inputs: _runtime.call(opened, feed(made.program, names, task.leaves(inputs, defaults)))


def _feed_torchscript(_: Any, names: list[str], leaves: _leaves.Leaves) -> dict[str, Any]:
    return {name: leaf for name, leaf in leaves.items() if _is_input(leaf)}


def _feed_dynamo(program: Any, names: list[str], leaves: _leaves.Leaves) -> dict[str, Any]:
    """The graph's inputs are those leaves of the arguments that torch.export did not take as constants."""
    specs = [spec for spec in program.graph_signature.input_specs if spec.kind.name == "USER_INPUT"]
    variable = [type(spec.arg).__name__ != "ConstantArgument" for spec in specs]
    given = [leaf for leaf, varies in zip(leaves.values(), variable, strict=True) if varies]
    return {name: _real(leaf) for name, leaf in zip(names, given, strict=True)}


def _real(leaf: Any) -> Any:
    """ONNX has no complex numbers: a complex tensor goes in as pairs, as torch's own ONNXProgram does it."""
    return torch.view_as_real(leaf.resolve_conj()) if isinstance(leaf, Tensor) and leaf.is_complex() else leaf
