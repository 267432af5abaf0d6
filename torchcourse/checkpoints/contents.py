"""What a file of tensors contains, as data: looked at from outside, so nothing in it can run.

Mirrors the layout that `torch.save` writes (torch/serialization.py, `_save`): a zip with one pickle that is only
structure, and one raw record per storage. Also reads safetensors files.
"""

from __future__ import annotations

import os
import zipfile
from _compat_pickle import IMPORT_MAPPING, NAME_MAPPING
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import IO, Any

import torch

from torchcourse.checkpoints.errors import CheckpointError, first_line, named
from torchcourse.checkpoints.pickle_tree import Call, Name, read_tree, walk
from torchcourse.checkpoints.read import beginning, open_plain

LARGEST_PICKLE = 256 << 20  # bytes

_KINDS = {
    "data.pkl": "the pickle: structure only",
    "byteorder": "the byte order",
    "version": "the version of the format",
    ".format_version": "the version of the layout",
    ".storage_alignment": "the alignment of storages",
    "serialization_id": "a fingerprint of the file",
}


@dataclass(frozen=True)
class Entry:
    """One record of the zip: its name, its size in bytes, and what it is."""

    name: str
    nbytes: int
    what: str


@dataclass(frozen=True)
class StoredTensor:
    """One tensor of the file. Strides and offset are elements; sizes are bytes."""

    name: str  # the path of keys that leads to it
    dtype: str
    shape: tuple[int, ...]
    stride: tuple[int, ...]
    offset: int
    storage: str  # the record that holds its storage
    nbytes: int  # what a contiguous copy takes
    storage_nbytes: int  # what the file keeps for it

    @property
    def drags(self) -> bool:
        """Whether its storage holds more than the tensor itself."""
        return self.storage_nbytes > self.nbytes


@dataclass(frozen=True, repr=False)
class Contents:
    """What stands in a file of tensors."""

    format: str  # "torch zip", "torch zip of TorchScript", "safetensors"
    nbytes: int  # the whole file
    entries: tuple[Entry, ...]
    tensors: tuple[StoredTensor, ...]
    names: tuple[str, ...]  # what its pickle imports
    forbidden: tuple[str, ...]  # those of them that torch.load(weights_only=True) refuses
    others: tuple[str, ...] = ()  # tensors of a kind that isn't taken apart here (sparse, quantized, …)

    @property
    def shared(self) -> tuple[tuple[str, ...], ...]:
        """Groups of tensors that read the same storage: views of one another, or tied weights."""
        groups: dict[str, list[str]] = defaultdict(list)
        for tensor in self.tensors:
            groups[tensor.storage].append(tensor.name)
        return tuple(tuple(group) for group in groups.values() if len(group) > 1)

    @property
    def dragging(self) -> tuple[str, ...]:
        """Tensors whose storage holds more elements than all tensors on it together."""
        used: dict[str, int] = defaultdict(int)
        for tensor in self.tensors:
            used[tensor.storage] += tensor.nbytes
        return tuple(t.name for t in self.tensors if t.storage_nbytes > used[t.storage])

    @property
    def storage_nbytes(self) -> int:
        """Bytes of all storages, each counted once."""
        return sum({t.storage: t.storage_nbytes for t in self.tensors}.values())

    def __str__(self) -> str:
        lines = [f"{self.format}, {self.nbytes:,} bytes, {len(self.tensors)} tensors"]
        lines += [_row(tensor) for tensor in self.tensors[:12]]
        lines += [f"… and {len(self.tensors) - 12} more tensors"] * (len(self.tensors) > 12)
        lines += [f"one storage: {', '.join(group)}" for group in self.shared[:6]]
        lines += [f"drags more than it needs: {name}" for name in self.dragging[:6]]
        lines += [f"not taken apart: {', '.join(self.others[:6])}"] * bool(self.others)
        lines += [f"would run on loading: {', '.join(self.forbidden[:6])}"] * bool(self.forbidden)
        return "\n".join(lines)

    __repr__ = __str__


def _row(t: StoredTensor) -> str:
    place = f"offset {t.offset}, " if t.offset else ""
    held = f"{t.nbytes:,} of {t.storage_nbytes:,} bytes in {t.storage}"
    return f"{t.name or '(itself)'}: {t.dtype} {t.shape}, {place}{held}"


def contents(path: str | os.PathLike[str]) -> Contents:
    """Look into a file of torch.save or safetensors, without unpickling and without reading a storage.

    Raises CheckpointError (a ValueError) with a sentence for any other file, CheckpointFileError where it can't
    be opened.
    """
    with open_plain(path) as file:
        what = beginning(file)
        if what is None:
            return _of_zip(file, path)
        if _is_safetensors(file):
            return _of_safetensors(path, os.fstat(file.fileno()).st_size)
    raise CheckpointError(
        f"{named(path)} is {what}. Name a file of torch.save (since 1.6) or of safetensors."
    )


# --- a zip of torch.save ------------------------------------------------------------------------------------


def _of_zip(file: IO[bytes], path: object) -> Contents:
    try:
        with zipfile.ZipFile(file) as archive:
            sizes = {info.filename: info.file_size for info in archive.infolist()}
            pickle_name = _pickle_name(sizes)
            if sizes[pickle_name] > LARGEST_PICKLE:
                raise ValueError(f"its pickle has {sizes[pickle_name]} bytes")
            tree, names = read_tree(archive.read(pickle_name))
        folder = pickle_name.removesuffix("data.pkl")
        tensors, others = _tensors(tree, folder, sizes)
    except (zipfile.BadZipFile, NotImplementedError, EOFError, ValueError, RuntimeError, OSError) as error:
        raise CheckpointError(f"{named(path)} can't be looked into: {first_line(error)}.") from error
    script = any(name.startswith(f"{folder}code/") for name in sizes)
    return Contents(
        format="torch zip of TorchScript" if script else "torch zip",
        nbytes=os.fstat(file.fileno()).st_size,
        entries=tuple(Entry(name, size, _kind(name, folder)) for name, size in sizes.items()),
        tensors=tuple(tensors),
        names=tuple(map(_today, names)),
        forbidden=tuple(name for name in map(_today, names) if not _is_allowed(name)),
        others=tuple(others),
    )


def _pickle_name(names: dict[str, int]) -> str:
    for name in names:
        if name.endswith("/data.pkl"):
            return name
    raise ValueError("it is a zip, but none of torch.save: it has no data.pkl")


def _kind(name: str, folder: str) -> str:
    inner = name.removeprefix(folder)
    if inner.startswith("data/"):
        return "a storage: raw bytes"
    return _KINDS.get(inner.rpartition("/")[2], "something else")


_SIZES = {str(d).removeprefix("torch."): d for d in vars(torch).values() if isinstance(d, torch.dtype)}
_STORAGES = {
    "FloatStorage": "float32",
    "DoubleStorage": "float64",
    "HalfStorage": "float16",
    "BFloat16Storage": "bfloat16",
    "LongStorage": "int64",
    "IntStorage": "int32",
    "ShortStorage": "int16",
    "CharStorage": "int8",
    "ByteStorage": "uint8",
    "BoolStorage": "bool",
    "ComplexFloatStorage": "complex64",
    "ComplexDoubleStorage": "complex128",
    "UntypedStorage": "uint8",
}


def _tensors(tree: Any, folder: str, sizes: dict[str, int]) -> tuple[list[StoredTensor], list[str]]:
    found, others = [], []
    for path, here in walk(tree):
        if not isinstance(here, Call) or not isinstance(here.function, Name):
            continue
        if not here.function.name.startswith("_rebuild_") or here.function.module != "torch._utils":
            continue
        name = _readable(path)
        tensor = _tensor(name, here, folder, sizes)
        if tensor:
            found.append(tensor)
        else:
            others.append(name)
    return found, others


def _readable(path: str) -> str:
    """The path of a parameter inside a whole module, as state_dict would call it."""
    return ".".join(part for part in path.split(".") if part not in ("_modules", "_parameters", "_buffers"))


def _tensor(name: str, call: Call, folder: str, sizes: dict[str, int]) -> StoredTensor | None:
    try:
        if call.function.name.startswith("_rebuild_parameter"):
            return _tensor(name, call.arguments[0], folder, sizes)
        stored, offset, shape, stride = call.arguments[:4]
        _, kind, key, _, _ = stored.key[:5]
        dtype = call.arguments[6].name if call.function.name == "_rebuild_tensor_v3" else _STORAGES[kind.name]
        record = f"{folder}data/{key}"
        nbytes = prod(int(n) for n in shape) * _SIZES[dtype].itemsize
        place = (tuple(shape), tuple(stride), int(offset))
        return StoredTensor(name, dtype, *place, record, nbytes, sizes[record])
    except (AttributeError, KeyError, IndexError, TypeError, ValueError):
        return None  # another kind of tensor, or a file that contradicts itself


def _today(name: Name) -> str:
    """The name as Python 3 knows it: protocol 2 writes Python 2's."""
    module, word = NAME_MAPPING.get((name.module, name.name), (name.module, name.name))
    return f"{IMPORT_MAPPING.get(module, module)}.{word}"


def _is_allowed(name: str) -> bool:
    """Whether torch.load(weights_only=True) accepts this name."""
    from torch import _weights_only_unpickler as rules

    return name in rules._get_allowed_globals() or name in rules._get_user_allowed_globals()


def forbidden_names(file: IO[bytes]) -> list[str]:
    """What the pickle of a zip wants to import beyond what torch.load allows; empty where it can't be told."""
    try:
        file.seek(0)
        return list(_of_zip(file, "").forbidden)
    except ValueError:
        return []


# --- safetensors --------------------------------------------------------------------------------------------


def _is_safetensors(file: IO[bytes]) -> bool:
    """Eight bytes that say how long the header is, and a header in JSON."""
    head = file.read(9)
    file.seek(0)
    size = os.fstat(file.fileno()).st_size
    return len(head) == 9 and head[8:] == b"{" and int.from_bytes(head[:8], "little") + 8 <= size


_SAFE_DTYPES = {"F64": "float64", "F32": "float32", "F16": "float16", "BF16": "bfloat16", "BOOL": "bool"}
_SAFE_DTYPES |= {f"I{n}": f"int{n}" for n in (8, 16, 32, 64)} | {f"U{n}": f"uint{n}" for n in (8, 16, 32, 64)}


def _of_safetensors(path: str | os.PathLike[str], nbytes: int) -> Contents:
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(os.fspath(path), framework="pt") as archive:
            tensors = tuple(_safe_tensors(archive))
    except (SafetensorError, OSError, ValueError) as error:
        raise CheckpointError(f"{named(path)} can't be looked into: {first_line(error)}.") from error
    header = nbytes - sum(tensor.nbytes for tensor in tensors)
    entries = [Entry("header", header, "JSON: names, dtypes, shapes, places")]
    entries += [Entry(tensor.storage, tensor.nbytes, "one tensor: raw bytes") for tensor in tensors]
    return Contents("safetensors", nbytes, tuple(entries), tensors, names=(), forbidden=())


def _safe_tensors(archive: Any) -> Iterator[StoredTensor]:
    for name in archive.keys():  # noqa: SIM118 (no mapping)
        piece = archive.get_slice(name)
        shape = tuple(piece.get_shape())
        dtype = _SAFE_DTYPES.get(piece.get_dtype(), str(piece.get_dtype()))
        itemsize = _SIZES[dtype].itemsize if dtype in _SIZES else 1
        nbytes = prod(shape) * itemsize
        stride = tuple(prod(shape[k + 1 :]) for k in range(len(shape)))
        yield StoredTensor(name, dtype, shape, stride, 0, name, nbytes, nbytes)
