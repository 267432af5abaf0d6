"""Opening an ONNX model, whatever it comes as, and saying in one sentence what is wrong with it."""

import os
from pathlib import Path
from typing import Any

MOST_BYTES = 2 << 30  # protobuf's own limit for one message


def model_of(source: Any) -> tuple[Any, Path | None]:
    """The ModelProto, and the folder in which its external data lies (None: it came without one).

    Raises TypeError for what is no model, ValueError for a file that can't be read.
    """
    if isinstance(source, str | os.PathLike):
        path = Path(source)
        return _parsed(_bytes_of(path), path.name), path.parent
    if isinstance(source, bytes | bytearray | memoryview):
        return _parsed(bytes(source), "These bytes"), None
    proto = getattr(source, "model_proto", source)  # an ONNXProgram has one
    if type(proto).__name__ != "ModelProto" or not hasattr(proto, "SerializeToString"):
        raise TypeError(
            f"onnx_graph takes a path, bytes, a ModelProto or what torch.onnx.export(…, dynamo=True) returns, "
            f"not a {type(source).__name__}."
        )
    return _whole(proto, "This model"), None


def _bytes_of(path: Path) -> bytes:
    if path.is_dir():
        raise ValueError(f"{path.name or path} is a folder; give the .onnx file in it.")
    if "\0" in str(path):
        raise ValueError(f"{str(path)!r} is no path: a zero character is in it.")
    try:
        if path.stat().st_size > MOST_BYTES:
            raise ValueError(
                f"{path.name} is larger than 2 GiB, which no ONNX file can be: tensors lie beside it."
            )
        return path.read_bytes()
    except OSError as error:
        raise ValueError(f"{path.name} can't be read: {error.strerror or error}.") from None


def _parsed(data: bytes, what: str) -> Any:
    import onnx
    from google.protobuf.message import DecodeError  # type: ignore[import-untyped]

    if not data:
        raise ValueError(f"{what}: nothing is in it, 0 bytes; an ONNX model has a graph.")
    proto = onnx.ModelProto()
    try:
        proto.ParseFromString(data)
    except (DecodeError, RuntimeError, RecursionError):
        raise ValueError(
            f"{what} can't be read as ONNX: it is not an ONNX model, or it is cut off. Export it again."
        ) from None
    return _whole(proto, what)


def _whole(proto: Any, what: str) -> Any:
    if not proto.HasField("graph") or not proto.ir_version:
        raise ValueError(
            f"{what} can't be read as ONNX: it has no graph. Is it a checkpoint or another file?"
        )
    if not proto.opset_import:
        raise ValueError(f"{what} names no opset, so its nodes mean nothing: it is cut off. Export it again.")
    known = {entry.domain or "ai.onnx" for entry in proto.opset_import}
    lost = [node.op_type for node in proto.graph.node if (node.domain or "ai.onnx") not in known]
    if lost:
        raise ValueError(
            f"{what} names no opset for the domain of {lost[0]!r}: it is cut off. Export it again."
        )
    _check_texts(proto, what)
    return proto


def _check_texts(message: Any, what: str) -> None:
    """Raises ValueError for a text that is none: protobuf gives such bytes as they are."""
    for field, value in message.ListFields():
        if field.type not in (field.TYPE_STRING, field.TYPE_MESSAGE):
            continue
        for one in [value] if isinstance(value, str | bytes) or not hasattr(value, "__len__") else value:
            if isinstance(one, bytes):
                raise ValueError(f"{what} is damaged: its {field.name} is no text. Export it again.")
            if not isinstance(one, str):
                _check_texts(one, what)


def external_file(tensor: Any, folder: Path | None) -> str | None:
    """The name of the file that holds a tensor, checked to be there and long enough; None: it is inside.

    Raises ValueError where it is missing, too short, or outside of the model's own folder.
    """
    if not tensor.external_data:
        return None
    entries = {entry.key: entry.value for entry in tensor.external_data}
    name = entries.get("location", "")
    if Path(name).is_absolute() or ".." in Path(name).parts or not name:
        raise ValueError(
            f"Tensor {tensor.name} lies outside of the model's folder, which ONNX does not allow."
        )
    if folder is not None:
        _check_there(tensor.name, folder / name, entries)
    return name


def _check_there(tensor: str, path: Path, entries: dict[str, str]) -> None:
    if not path.is_file():
        raise ValueError(
            f"External data is missing: tensor {tensor} is in {path.name}, and no such file lies beside the model. "
            "The two files belong together; copy both."
        )
    try:
        end = int(entries.get("offset", 0)) + int(entries.get("length", 0))
    except ValueError:
        raise ValueError(f"Tensor {tensor} says no number where its external data begins or ends.") from None
    if end > path.stat().st_size:
        raise ValueError(
            f"External data is cut off: tensor {tensor} ends at byte {end:,} of {path.name}, "
            f"which has {path.stat().st_size:,}."
        )
