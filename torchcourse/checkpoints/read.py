"""Reading a file of `save` without trusting it: nothing in it runs, and damage is found before it is used."""

from __future__ import annotations

import errno
import os
import pickle
import stat
import zipfile
from typing import IO, Any

import torch

from torchcourse.checkpoints.errors import CheckpointError, CheckpointFileError, first_line, named, some
from torchcourse.checkpoints.write import FORMAT, HEADER

_CHUNK = 1 << 20  # bytes

# How files begin that are taken for checkpoints now and then.
_BEGINNINGS = {
    b"\x89PNG": "a PNG picture",
    b"\xff\xd8\xff": "a JPEG picture",
    b"\x93NUMPY": "a NumPy array",
    b"\x89HDF": "an HDF5 file",
    b"\x1f\x8b": "a gzip archive; unpack it first",
    b"GGUF": "a GGUF file",
    b"version https://git-lfs": "a pointer of Git LFS; fetch the file itself",
    b"<!DOCTYPE": "a web page, not what stood behind the link",
    b"<html": "a web page, not what stood behind the link",
}


def read(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The parts and the header of a checkpoint, with all tensors on the CPU.

    Each record's checksum is compared first: torch.load would not notice a changed byte. Raises CheckpointError
    for whatever is no whole file of `save`, CheckpointFileError where it can't be opened.
    """
    with open_plain(path) as file:
        check_whole(file, path)
        content = _load(file, path)
    header = content.get(HEADER) if isinstance(content, dict) else None
    if not isinstance(header, dict) or not isinstance(header.get("kinds"), dict):
        raise CheckpointError(_not_ours(path, content))
    if header.get("format") != FORMAT:
        raise CheckpointError(
            f"{named(path)} has format {header.get('format')}; this torchcourse reads format {FORMAT}."
        )
    parts = {name: value for name, value in content.items() if name != HEADER}
    if set(parts) != set(header["kinds"]):
        raise CheckpointError(f"{named(path)} is damaged: its list of parts does not fit its parts.")
    return parts, header


def open_plain(path: str | os.PathLike[str]) -> IO[bytes]:
    """An ordinary file, opened for reading; a pipe that nobody writes to must not hang the reader."""
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"path must be a string or a Path, not {type(path).__name__}.")
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        handle = os.open(path, flags)
    except ValueError as error:  # a zero byte in the name
        raise CheckpointFileError(f"{named(path)} is no name for a file: {first_line(error)}.") from error
    except OSError as error:
        raise CheckpointFileError(f"{named(path)} can't be opened: {_why(error)}.", error.errno) from error
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise CheckpointFileError(
            f"{named(path)} is no ordinary file; name the checkpoint itself.", errno.EINVAL
        )
    return os.fdopen(handle, "rb")


def _why(error: OSError) -> str:
    return {errno.ENOENT: "no such file", errno.EACCES: "reading it is not permitted"}.get(
        error.errno or 0, error.strerror or first_line(error)
    )


def beginning(file: IO[bytes]) -> str | None:
    """What a file is that does not begin like a zip; None where it does. The file is back at its start then."""
    head = file.read(512)
    file.seek(0)
    if head[:4] == b"PK\x03\x04":
        return None
    if not head:
        return "empty"
    for start, name in _BEGINNINGS.items():
        if head.startswith(start):
            return name
    if head[:1] == b"\x80":
        return "a bare pickle, as torch.save wrote before version 1.6. It was not read, and nothing in it ran"
    printable = sum(32 <= byte < 127 or byte in b"\t\r\n" for byte in head)
    return "a text file" if printable > 0.9 * len(head) else "no file of torch.save"


def check_whole(file: IO[bytes], path: object) -> None:
    """Raise CheckpointError unless the file is a whole zip as PyTorch writes it, with every checksum right."""
    what = beginning(file)
    if what:
        raise CheckpointError(
            f"{named(path)} is {what}. Name a file that torchcourse.checkpoints.save has written."
        )
    try:
        _check_records(file)
    except (zipfile.BadZipFile, NotImplementedError, EOFError, ValueError, RuntimeError, OSError) as error:
        raise CheckpointError(
            f"{named(path)} is damaged or cut short ({first_line(error)}). Take the checkpoint before it."
        ) from error
    file.seek(0)


def _check_records(file: IO[bytes]) -> None:
    size = os.fstat(file.fileno()).st_size
    with zipfile.ZipFile(file) as archive:
        records = archive.infolist()
        if any(record.compress_type != zipfile.ZIP_STORED for record in records):
            raise ValueError("a record is compressed, and PyTorch compresses none")
        if sum(record.file_size for record in records) > size:
            raise ValueError("its records announce more bytes than it has")
        for record in records:
            with archive.open(record) as stream:
                while stream.read(_CHUNK):  # the end of a record raises where its checksum is wrong
                    pass


def _load(file: IO[bytes], path: object) -> Any:
    try:
        return torch.load(file, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError as error:
        names = _forbidden(file)
        wants = f"wants to call {some(names)}" if names else f"is no plain checkpoint ({first_line(error)})"
        raise CheckpointError(
            f"{named(path)} {wants}. A checkpoint needs none of that, so it was not loaded, and nothing in it ran."
        ) from None
    except Exception as error:
        what = f"{type(error).__name__}: {first_line(error)}"
        raise CheckpointError(f"{named(path)} can't be read as a checkpoint ({what}).") from error


def _forbidden(file: IO[bytes]) -> list[str]:
    """What the pickle wants to import, beyond what torch.load allows."""
    from torchcourse.checkpoints.contents import forbidden_names

    return forbidden_names(file)


def _not_ours(path: object, content: object) -> str:
    if isinstance(content, dict):
        keys = some([str(key) for key in content])
        what = f"holds a dictionary with {keys}" if content else "holds an empty dictionary"
    else:
        what = f"holds a {type(content).__name__}"
    return (
        f"{named(path)} {what}, and was not written by torchcourse.checkpoints.save. "
        "Read it with torch.load(path, weights_only=True)."
    )
