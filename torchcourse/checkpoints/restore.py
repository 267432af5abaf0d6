"""Resuming: everything is read and checked before the first object changes."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from torchcourse.checkpoints.errors import CheckpointError, first_line, named, some
from torchcourse.checkpoints.generators import random_states, restore_random_states
from torchcourse.checkpoints.parts import PLAIN, check_fits, restore, undo_of
from torchcourse.checkpoints.read import read


def load(path: str | os.PathLike[str], rng: bool = True, **parts: Any) -> dict[str, Any]:
    """Restore the given parts in place from a file of `save`, and return its plain values as a dict.

    rng: also put every random generator back (PyTorch's, NumPy's legacy one, Python's), so that the run draws
    what it would have drawn. Parts of the file that are not asked for stay out. Tensors among the plain values
    come back on the CPU. Nothing in the file runs.

    Raises CheckpointError (a ValueError) or CheckpointFileError; all objects are then as they were.
    """
    saved, header = read(path)
    kinds = header["kinds"]
    for name, part in parts.items():
        if name not in saved:
            raise CheckpointError(
                f"{named(path)} has no part `{name}`. It has {some(list(saved), at_most=10)}."
            )
        _check(path, name, part, kinds[name], saved[name])
    _restore_all(path, parts, saved, header.get("random") if rng else None)
    return {name: value for name, value in saved.items() if kinds[name] == PLAIN}


def _check(path: object, name: str, part: object, kind: str, state: Any) -> None:
    """Whether the state fits the object; a file may hold anything where a state should be."""
    try:
        check_fits(name, part, kind, state)
    except CheckpointError:
        raise
    except Exception as error:
        said = f"{type(error).__name__}: {first_line(error)}"
        raise CheckpointError(f"{named(path)}: part `{name}` is no state of {kind} ({said}).") from error


def _restore_all(path: object, parts: dict[str, Any], saved: dict[str, Any], states: Any) -> None:
    """Restore one after the other; an object's own code may still refuse, and then all go back."""
    undo: list[Callable[[], None]] = []
    now = ""
    try:
        for name, part in parts.items():
            now = name
            undo.append(undo_of(part))
            restore(part, saved[name])
        if states is not None:
            now = "random"
            before = random_states()
            undo.append(lambda: restore_random_states(before))
            restore_random_states(states)
    except BaseException as error:
        for put_back in reversed(undo):
            put_back()
        if not isinstance(error, Exception):
            raise
        said = f"{type(error).__name__}: {first_line(error)}"
        raise CheckpointError(
            f"{named(path)}: part `{now}` was refused ({said}). Everything is as it was."
        ) from error
