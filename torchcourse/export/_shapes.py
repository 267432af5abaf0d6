"""`dynamic_shapes`, as each exporter wants to hear it. Mirrors torch/export/dynamic_shapes.py."""

from collections.abc import Mapping
from typing import Any

from torch import Tensor, nn
from torch.export import Dim

from . import _leaves

Axes = dict[str, dict[int, str]]  # path of a tensor → dimension → name


def axes(model: nn.Module, example: tuple[Any, ...], dynamic_shapes: Any) -> Axes:
    """Which dimensions of which tensor are dynamic, by path; torch.onnx.export(dynamo=False) takes these.

    Raises TypeError or ValueError with one sentence where `dynamic_shapes` does not fit the example.
    """
    if dynamic_shapes is None:
        return {}
    found: Axes = {}
    arguments = _leaves.arguments(model, example)
    for name, spec in _by_argument(list(arguments), dynamic_shapes).items():
        _walk(arguments[name], spec, name, found)
    return found


def _by_argument(names: list[str], shapes: Any) -> dict[str, Any]:
    if isinstance(shapes, Mapping):
        if unknown := [name for name in shapes if name not in names]:
            raise ValueError(
                f"dynamic_shapes names {unknown[0]!r}, and the example gives {', '.join(names) or 'nothing'}."
            )
        return dict(shapes)
    if not isinstance(shapes, (tuple, list)):
        raise TypeError(
            f"dynamic_shapes is a tuple, one entry an argument, or a dict by name, not a "
            f"{type(shapes).__name__}: write ({{0: torch.export.Dim('batch')}},)."
        )
    if len(shapes) != len(names):
        raise ValueError(f"dynamic_shapes has {len(shapes)} entries, and the example {len(names)} arguments.")
    return dict(zip(names, shapes, strict=True))


def _walk(value: Any, spec: Any, path: str, found: Axes) -> None:
    if isinstance(value, Tensor):
        if named := {d: _name(s, path, d) for d, s in _dimensions(value, spec, path).items() if _dynamic(s)}:
            found[path] = named
    elif isinstance(value, Mapping) and isinstance(spec, Mapping):
        for key, part in value.items():
            _walk(part, spec.get(key), f"{path}[{key!r}]", found)
    elif isinstance(value, (tuple, list)) and isinstance(spec, (tuple, list)):
        for number, (part, inner) in enumerate(zip(value, spec, strict=False)):
            _walk(part, inner, f"{path}[{number}]", found)


def _dimensions(tensor: Tensor, spec: Any, path: str) -> dict[int, Any]:
    if spec is None:
        return {}
    if not isinstance(spec, (Mapping, tuple, list)):
        raise TypeError(
            f"dynamic_shapes for {path} is {spec!r}: a dict from dimension to torch.export.Dim is expected."
        )
    dimensions = dict(spec) if isinstance(spec, Mapping) else dict(enumerate(spec))
    for dimension in dimensions:
        if not isinstance(dimension, int) or not 0 <= dimension < tensor.dim():
            raise ValueError(
                f"dynamic_shapes names dimension {dimension!r} of {path}, which has {tensor.dim()} of them, from 0 on."
            )
    return dimensions


def _dynamic(entry: Any) -> bool:
    if entry is not None and not isinstance(entry, (int, str, Dim, type(Dim.AUTO))):
        raise TypeError(
            f"dynamic_shapes has {entry!r} for a dimension: torch.export.Dim('name'), Dim.AUTO, Dim.DYNAMIC, "
            "Dim.STATIC, a name, or None is expected."
        )
    return entry is not None and not isinstance(entry, int) and entry != Dim.STATIC


def _name(entry: Any, path: str, dimension: int) -> str:
    if isinstance(entry, str):
        return entry
    return getattr(entry, "__name__", None) or f"{path}_{dimension}"


def for_export(dynamic_shapes: Any) -> Any:
    """The same with `Dim.DYNAMIC` for a string, which torch.onnx.export takes and torch.export does not."""
    if isinstance(dynamic_shapes, str):
        return Dim.DYNAMIC
    if isinstance(dynamic_shapes, Mapping):
        return {key: for_export(entry) for key, entry in dynamic_shapes.items()}
    if isinstance(dynamic_shapes, (tuple, list)):
        return type(dynamic_shapes)(for_export(entry) for entry in dynamic_shapes)
    return dynamic_shapes
