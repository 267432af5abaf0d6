"""Run an ONNX file with onnxruntime; what it can't load or take becomes one sentence."""

import os
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy
import torch
import torch.utils.dlpack
from torch import Tensor

from . import _keep, _reasons

# onnx element types (onnx.TensorProto.DataType) of what NumPy has no dtype for.
_ONNX_ONLY = {torch.bfloat16: 16, torch.float8_e4m3fn: 17, torch.float8_e5m2: 19}
_NUMBERS = {bool: torch.bool, int: torch.int64, float: torch.float64}


def run(onnx: str | os.PathLike[str] | bytes | bytearray | memoryview, *inputs: Tensor) -> tuple[Tensor, ...]:
    """The outputs of an ONNX file, given its inputs in the file's order, computed on the CPU.

    onnx: the path of a file, or its bytes; external data is looked for beside the file.
    Raises ValueError with one sentence for a file that is missing, truncated or of an unknown opset, whose external
    data is missing, or that does not take these inputs; ImportError where onnxruntime is not installed.
    """
    if isinstance(onnx, (bytearray, memoryview)):
        onnx = bytes(onnx)
    if not isinstance(onnx, (str, os.PathLike, bytes)):
        raise TypeError(
            f"run takes the path of an ONNX file, or its bytes, not {_reasons.article(type(onnx).__name__)}."
        )
    if wrong := [value for value in inputs if not isinstance(value, Tensor)]:
        raise TypeError(
            f"An ONNX file takes tensors, not {_reasons.article(type(wrong[0]).__name__)}: torch.tensor(…) makes one."
        )
    for place, value in enumerate(inputs):
        if strange := _strange(value):
            raise ValueError(f"inputs[{place}] is {strange}; an ONNX file takes dense tensors with values.")
    if not isinstance(onnx, bytes) and not Path(onnx).is_file():
        raise ValueError(f"There is no file {os.fspath(onnx)!r}.")
    with _keep.silence():
        try:
            opened = session(onnx)
            return call(opened, dict(zip(_names(opened, len(inputs)), inputs, strict=True)))
        except ImportError:
            reason: Exception = ImportError(_reasons.missing("onnxruntime"))
        except Exception as error:
            reason = ValueError(_reasons.of_file(error))
    raise reason


def _strange(value: Tensor) -> str:
    """What no ONNX input can be, or empty."""
    if value.is_meta:
        return "on the device meta, which has no values"
    if value.layout != torch.strided:
        return f"{str(value.layout).removeprefix('torch.')}: call .to_dense() first"
    if value.is_quantized:
        return "quantized: call .dequantize() first"
    return (
        "complex: ONNX has no complex numbers, torch.view_as_real(…) gives pairs"
        if value.is_complex()
        else ""
    )


def _names(opened: Any, given: int) -> list[str]:
    names = [entry.name for entry in opened.get_inputs()]
    if len(names) != given:
        listed = ", ".join(names) or "none"
        raise _reasons.Refused(f"inputs: the file takes {len(names)} inputs ({listed}), and got {given}.")
    return names


def session(onnx: str | os.PathLike[str] | bytes) -> Any:
    """An onnxruntime session on the CPU, silent and with one thread, so that it computes alike every time."""
    runtime = import_module("onnxruntime")
    options = runtime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    content = onnx if isinstance(onnx, bytes) else os.fspath(onnx)
    return runtime.InferenceSession(content, options, providers=["CPUExecutionProvider"])


def call(opened: Any, feeds: dict[str, Any]) -> tuple[Tensor, ...]:
    """Names and tensors (or Python numbers) in, tensors out; a name that the file does not have is left out."""
    runtime = import_module("onnxruntime")
    options = runtime.RunOptions()
    options.log_severity_level = 4
    names = {entry.name for entry in opened.get_inputs()}
    values = {name: _to_value(runtime, given) for name, given in feeds.items() if name in names}
    if absent := sorted(names - set(values)):
        raise _reasons.Refused(f"input structure: the file's input {absent[0]!r} gets no value.")
    return tuple(_from_value(value) for value in opened.run_with_ort_values(None, values, options))


def _to_value(runtime: Any, given: Any) -> Any:
    tensor = given if isinstance(given, Tensor) else torch.tensor(given, dtype=_NUMBERS[type(given)])
    plain = tensor.detach().cpu().contiguous()
    if (code := _ONNX_ONLY.get(plain.dtype)) is not None:
        bits = torch.uint16 if plain.element_size() == 2 else torch.uint8
        return runtime.OrtValue.ortvalue_from_numpy_with_onnx_type(plain.view(bits).numpy(), code)
    return runtime.OrtValue.ortvalue_from_numpy(plain.resolve_conj().resolve_neg().numpy())


def _from_value(value: Any) -> Tensor:
    if value.element_type() in _ONNX_ONLY.values():
        return torch.utils.dlpack.from_dlpack(value._get_c_value()).clone()  # as torch's own ONNXProgram does
    array = value.numpy()
    if not isinstance(array, numpy.ndarray):
        raise _reasons.Refused(
            f"output not a tensor: the file returns {_reasons.article(type(array).__name__)}."
        )
    return torch.from_numpy(array.copy())
