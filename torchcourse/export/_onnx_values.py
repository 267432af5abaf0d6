"""The small parts of an ONNX file: types, sizes, and the elements of small tensors."""

import re
from math import prod
from typing import Any

from ._onnx_graph import Dim, OnnxValue

FEW = 8  # elements of a constant that are written out


def value_of(value: Any) -> OnnxValue:
    if not value.type.HasField("tensor_type"):
        return OnnxValue(
            value.name, value.type.WhichOneof("value").removesuffix("_type") if _typed(value) else ""
        )
    tensor = value.type.tensor_type
    shape = tuple(map(_size, tensor.shape.dim)) if tensor.HasField("shape") else None
    return OnnxValue(value.name, dtype_of(tensor.elem_type), shape)


def _typed(value: Any) -> bool:
    return bool(value.type.WhichOneof("value"))


def _size(dim: Any) -> Dim:
    which = dim.WhichOneof("value")
    return int(dim.dim_value) if which == "dim_value" else dim.dim_param or None if which else None


def properties_of(item: Any) -> dict[str, str]:
    return {entry.key: entry.value for entry in item.metadata_props}


def dtype_of(number: int) -> str:
    """ONNX's number of a type -> its name in numpy and PyTorch's way: "float32"."""
    import onnx

    names = {"FLOAT": "float32", "DOUBLE": "float64", "UNDEFINED": ""}
    try:
        name = onnx.TensorProto.DataType.Name(number)
    except ValueError:
        return f"type {number}"
    return names.get(name, name.lower())


def _item_bytes(tensor: Any) -> float:
    """Bytes of one element; 0 where ONNX gives none (strings, unknown types)."""
    name = dtype_of(tensor.data_type)
    bits = re.search(r"(\d+)", name)
    if name == "bool":
        return 1
    return int(bits[1]) / 8 if bits and not name.startswith("type") else 0


def nbytes_of(tensor: Any) -> int:
    """Bytes of a tensor's elements; types of less than a byte are packed."""
    elements = prod(int(size) for size in tensor.dims)
    if tensor.string_data:
        return sum(map(len, tensor.string_data))
    return -int(-elements * _item_bytes(tensor) // 1)


def text_of(tensor: Any) -> str:
    """The elements of a small tensor, "3.0" or "[1, 2]"; else empty."""
    from onnx import numpy_helper

    if tensor.external_data or prod(int(size) for size in tensor.dims) > FEW:
        return ""
    try:
        values = numpy_helper.to_array(tensor).tolist()
    except Exception:  # a type that numpy has no name for
        return ""
    return re.sub(r"\d+\.\d+(e[+-]?\d+)?", lambda m: f"{float(m[0]):.6g}", str(values))


def attribute_of(attribute: Any) -> str:
    import onnx

    if attribute.HasField("t"):
        tensor = attribute.t
        return text_of(tensor) or f"{dtype_of(tensor.data_type)} {[int(size) for size in tensor.dims]}"
    value = onnx.helper.get_attribute_value(attribute)
    if value is None:  # a damaged file: it says no type
        return "?"
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    if not isinstance(value, int | float):
        return str(list(value))
    return f"{value:.6g}" if value % 1 else str(value)
