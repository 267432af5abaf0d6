"""Saving so that a crash in the middle loses nothing: write beside the old file, then replace it at once."""

from __future__ import annotations

import errno
import io
import os
import platform
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

import torch

from torchcourse.checkpoints.errors import CheckpointError, CheckpointFileError, first_line, named
from torchcourse.checkpoints.generators import random_states
from torchcourse.checkpoints.parts import kind_of, state_of

HEADER = "torchcourse"  # the key beside the parts: the format, the kind of each part, the random states
FORMAT = 1
RESERVED = (HEADER, "path", "rng", "durable")

_BUFFER = 1 << 20  # bytes
_writing: set[str] = set()  # the unfinished files of this process


def save(path: str | os.PathLike[str], *, durable: bool = False, **parts: Any) -> None:
    """Write the parts and the state of every random generator to one file, atomically.

    A part is an object with state_dict() and load_state_dict(), a random generator (torch.Generator,
    random.Random, numpy.random.Generator), or a plain value: numbers, strings, tensors, lists, tuples,
    dictionaries. `torch.load(path, weights_only=True)` reads the file too: it is a dict of the parts.

    Until the last moment the new bytes stand in a hidden file beside `path`, so whatever stops the process leaves
    the previous checkpoint whole. durable=True waits for the disk (fsync), so that this holds for a power failure
    on every file system. Raises CheckpointError (a ValueError), or CheckpointFileError (an OSError too).
    """
    target = _target(path)
    content = _content(parts)
    with _one_at_once(target, durable) as file:
        torch.save(content, file)


def _content(parts: dict[str, Any]) -> dict[str, Any]:
    if not parts:
        raise CheckpointError("Nothing to save: name the parts, as in save(path, model=model, epoch=3).")
    for name in RESERVED:
        if name in parts:
            raise CheckpointError(f"No part can be called `{name}`; give it another name.")
    states = {name: state_of(name, part) for name, part in parts.items()}
    kinds = {name: kind_of(part) for name, part in parts.items()}
    header = {"format": FORMAT, "torch": str(torch.__version__), "kinds": kinds, "random": random_states()}
    return {HEADER: header, **states}


def _target(path: str | os.PathLike[str]) -> Path:
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"path must be a string or a Path, not {type(path).__name__}.")
    try:
        target = Path(os.path.realpath(path))  # behind a symbolic link stands the file that is to be replaced
        said, number = _refusal(target)
    except (OSError, ValueError) as error:  # a name too long, or with a zero byte in it
        raise CheckpointFileError(
            f"{named(path)[:40]!r} is no name for a file: {first_line(error)}."
        ) from error
    if said:
        raise CheckpointFileError(f"{named(path)} {said}", number)
    return target


def _refusal(target: Path) -> tuple[str, int]:
    if target.is_dir():
        return "is a folder; name a file in it.", errno.EISDIR
    if target.exists() and not target.is_file():
        return "is a device or a pipe, no file that could be replaced.", errno.EINVAL
    if not target.parent.is_dir():
        return f"is in the folder {target.parent}, which is not there; make it first.", errno.ENOENT
    return "", 0


# --- the file -----------------------------------------------------------------------------------------------


@contextmanager
def _one_at_once(target: Path, durable: bool) -> Iterator[IO[bytes]]:
    """A file to write to, which takes the target's place when the block ends, and vanishes when it fails."""
    _clear_leftovers(target)
    fresh = target.with_name(f"{_stem(target)}{os.getpid()}-{secrets.token_hex(4)}.part")
    _writing.add(fresh.name)
    failed: BaseException | None = None
    raw = None
    try:
        raw = _Remembering(_open(fresh, target))
        file = io.BufferedWriter(raw, _BUFFER)
        yield file
        _finish(file, raw, durable)
        os.replace(fresh, target)
        if durable:
            _sync_folder(target.parent)
    except BaseException as error:
        failed = raw.error if raw and raw.error else error
    finally:
        if failed:
            if raw:
                with suppress(OSError):
                    raw.close()  # not through the buffer: what it still holds is of no use
            with suppress(OSError):
                fresh.unlink()
        _writing.discard(fresh.name)
    if failed:
        told = _told(failed, target)
        raise told from (None if told is failed else failed)


class _Remembering(io.RawIOBase):
    """A file that remembers its first error: PyTorch's writer turns it into one about a position.

    It stands below the buffer, so that the many small writes of a checkpoint stay out of Python.
    """

    def __init__(self, file: io.FileIO) -> None:
        self.file = file
        self.error: OSError | None = None

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        try:
            return self.file.write(data)
        except OSError as error:
            self.error = self.error or error
            raise

    def fileno(self) -> int:
        return self.file.fileno()

    def close(self) -> None:
        self.file.close()
        super().close()


def _finish(file: IO[bytes], raw: _Remembering, durable: bool) -> None:
    if raw.error:
        raise raw.error
    file.flush()
    if durable:
        os.fsync(raw.fileno())
    file.close()


def _open(fresh: Path, target: Path) -> io.FileIO:
    """A new file with the rights of the old one, or those that the process gives to new files."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    mode = target.stat().st_mode & 0o777 if target.exists() else None
    file = io.FileIO(os.open(fresh, flags, 0o666), "wb")
    if mode is not None:
        with suppress(OSError):
            os.chmod(fresh, mode)
    return file


def _sync_folder(folder: Path) -> None:
    """The new name itself stands in the folder; Windows opens no folders, and needs no such call."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


# --- what a killed process leaves ---------------------------------------------------------------------------


def _stem(target: Path) -> str:
    """Names the machine too: on a shared disk another machine may be writing now."""
    return f".{target.name}.{platform.node()}-"


def _clear_leftovers(target: Path) -> None:
    stem = _stem(target)
    with suppress(OSError):
        for entry in os.scandir(target.parent):
            if entry.name.startswith(stem) and entry.name.endswith(".part") and _is_left(entry.name, stem):
                with suppress(OSError):
                    os.unlink(entry.path)


def _is_left(name: str, stem: str) -> bool:
    number = name.removeprefix(stem).split("-")[0]
    if not number.isdigit():
        return False
    if int(number) == os.getpid():
        return name not in _writing
    if os.name == "nt":  # Windows removes no file that is being written
        return True
    try:
        os.kill(int(number), 0)  # asks whether the process is there
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):
        return False
    return False


# --- what went wrong ----------------------------------------------------------------------------------------

_REASONS = {
    errno.ENOSPC: "the disk is full",
    getattr(errno, "EDQUOT", -1): "your quota on that disk is used up",
    errno.EFBIG: "the file would be larger than allowed there",
    errno.EACCES: "writing there is not permitted",
    errno.EPERM: "writing there is not permitted",
    errno.EROFS: "that disk can only be read",
    errno.ENAMETOOLONG: "the name is too long",
}


def _told(error: BaseException, target: Path) -> BaseException:
    """The error with a sentence; an interrupt and the like stay what they are."""
    if not isinstance(error, Exception):
        return error
    kept = "The previous checkpoint is untouched." if target.exists() else "No file was left behind."
    if isinstance(error, OSError):
        reason = _REASONS.get(error.errno or 0, error.strerror or first_line(error))
        return CheckpointFileError(f"{target.name} was not written: {reason}. {kept}", error.errno)
    said = f"{type(error).__name__}: {first_line(error)}"
    return CheckpointError(f"{target.name} was not written: {said}. {kept}")
