"""What one notebook did on one release of torch: plain data, kept as JSON between two runs."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True)
class Cell:
    """A code cell that ran: what it is for, how it ended, and its text where that is not the stored one."""

    number: int  # among all cells, from 1
    claims: tuple[str, ...]
    makes: tuple[str, ...]  # names that it binds at its top level
    error: str = ""  # the exception's class; "" where none was raised that the cell does not foresee
    says: str = ""  # the exception's message
    stored: tuple[str, ...] = ()  # lines of text that the notebook holds and that did not come
    here: tuple[str, ...] = ()  # lines that came in their place


@dataclass(frozen=True)
class Seen:
    """A notebook on a release."""

    torch: str
    notebook: str  # its stem
    mark: str  # of the notebook's and the package's sources: another mark, another run
    cells: tuple[Cell, ...]


def load(path: Path) -> Seen | None:
    """What a run left; None where there is nothing, or nothing whole."""
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
        return Seen(
            **{
                **told,
                "cells": tuple(Cell(**{key: _frozen(v) for key, v in c.items()}) for c in told["cells"]),
            }
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None


def store(path: Path, seen: Seen) -> None:
    """In one step, so that an interrupted run leaves all of it or nothing of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_suffix(".tmp")
    draft.write_text(json.dumps(asdict(seen), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    draft.replace(path)


def _frozen(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value
