"""Snapshots in and out: PyTorch's own file format, read without trusting the file."""

from __future__ import annotations

import os
import pickle
import stat
from pathlib import Path
from typing import Any

from torchcourse.allocator.unpickle import SnapshotError, read_plain

LARGEST_FILE = 128 << 20  # bytes; `limit` raises it


def load_snapshot(path: str | os.PathLike[str], limit: int = LARGEST_FILE) -> dict[str, Any]:
    """The snapshot in a file of `torch.cuda.memory._dump_snapshot`, from whomever it came.

    Raises SnapshotError (a ValueError) where the file is larger than `limit` bytes, holds anything but plain
    values, is damaged, or is no snapshot. Nothing in the file runs. Memory: at most 200 times the file.
    """
    snapshot = read_plain(_read_file(Path(path), limit))
    if not isinstance(snapshot, dict):
        raise SnapshotError(f"The file holds a {type(snapshot).__name__}, and a snapshot is a dictionary.")
    for key in ("segments", "device_traces"):
        if not isinstance(snapshot.get(key), list):
            raise SnapshotError(
                f"The file is no snapshot of PyTorch's CUDA allocator: it has no list {key!r}. "
                f"Write one with torch.cuda.memory._dump_snapshot."
            )
    return snapshot


def save_snapshot(snapshot: dict[str, Any], path: str | os.PathLike[str]) -> None:
    """Write a snapshot that PyTorch's viewers open: a pickle of protocol 4, the newest that they read."""
    try:
        data = pickle.dumps(snapshot, protocol=4)
    except (RecursionError, pickle.PicklingError, TypeError, AttributeError) as error:
        raise SnapshotError(f"This is no snapshot that can be written: {error}.") from None
    Path(path).write_bytes(data)


def _read_file(path: Path, limit: int) -> bytes:
    try:
        with open(path, "rb", opener=_open_without_waiting) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise SnapshotError(f"{path} is no ordinary file.")
            data = file.read(limit + 1)
    except OSError as error:
        raise SnapshotError(f"Cannot read {path}: {error.strerror}.") from error
    if len(data) > limit:
        raise SnapshotError(
            f"{path} is larger than {limit} bytes. If you trust its size, pass limit= with a larger one."
        )
    return data


def _open_without_waiting(path: str, flags: int) -> int:
    """A pipe that nobody writes to must not hang the reader."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
