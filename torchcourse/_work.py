"""The learner's own copy of the notebooks: `work/`, which an update never overwrites.

`python run.py lab` calls this before Jupyter starts: `python -m torchcourse._work notebooks work`.
A small hidden file in `work/` remembers, for each file, what was last written there. From it follows
what may be refreshed: a notebook whose cells are still those that were written. Outputs, execution
counts and metadata do not count, since JupyterLab rewrites them by itself; a changed, added, moved or
deleted cell does, and such a file is never written to again.

Whatever moment this is interrupted at, the next call goes on from there: every write makes a whole
new file and then gives it its name, and the memory is written last.
"""

import argparse
import hashlib
import json
import os
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from datetime import date
from pathlib import Path

from ._course import in_full

MEMORY = ".torchcourse.json"


class WorkError(Exception):
    """One sentence for the learner: what could not be done, and what to do."""


@dataclass(frozen=True)
class Written:
    """What was last laid down under one name: digests of the cells, of the bytes, of a version offered."""

    cells: str
    exact: str
    offered: str = ""


@dataclass(frozen=True)
class Refreshed:
    """What one call did, as names relative to `work/`; `str()` is what the learner reads."""

    written: tuple[str, ...] = ()
    beside: tuple[tuple[str, str], ...] = field(default=())

    def __str__(self) -> str:
        news = [f"{len(self.written)} files are new or newer in your copy."] if self.written else []
        return "\n".join(
            news
            + [
                f"{mine} has changes of yours and stays as it is; the course's newer version is beside it: {new}."
                for mine, new in self.beside
            ]
        )


def refresh(source: Path, work: Path, today: date) -> Refreshed:
    """Lays `source` into `work` file by file; what the learner touched stays as it is.

    Raises `OSError` where a file cannot be read or written; all that was there is then still there.
    """
    remembered = _remembered(work)
    known = dict(remembered)
    written: list[str] = []
    beside: list[tuple[str, str]] = []
    for name in _names(source):
        new, before, mine = (source / name).read_bytes(), known.get(name), work / name
        known[name], action = _decide(name, new, before, mine)
        if action == "write":
            _write(mine, _for_here(new))
            written.append(name)
        elif action == "offer":
            beside.append((name, _offer(mine, _for_here(new), today)))
    if known != remembered:
        _remember(work, known)
    return Refreshed(tuple(written), tuple(beside))


def reset(source: Path, work: Path, chapter: str, today: date) -> str:
    """Starts a chapter anew. The learner's file gets a dated name first. Returns what to tell them.

    Raises `WorkError` for a chapter that there is not.
    """
    chapters = [name for name in _names(source) if "/" not in name and name.endswith(".ipynb")]
    asked = (chapter, in_full(chapter))
    matches = [name for name in chapters if {name, Path(name).stem, name.partition("_")[0]} & {*asked}]
    if not matches:
        there = ", ".join(Path(name).stem for name in chapters)
        raise WorkError(f"There is no chapter {chapter!r} to start anew. There are: {there}.")
    return "\n".join(_reset_one(source, work, name, today) for name in matches)


def _reset_one(source: Path, work: Path, name: str, today: date) -> str:
    mine, new = work / name, (source / name).read_bytes()
    laid, told = _for_here(new), f"{name} starts anew."
    if mine.exists() and mine.read_bytes() not in (new, laid):
        kept = _free_name(mine, f"before-{today}")
        mine.rename(kept)
        told += f" Your file is kept as {kept.name}."
    _write(mine, laid)
    known = _remembered(work)
    _remember(work, {**known, name: Written(_cells(new, name), _digest(new))})
    return told


def _decide(name: str, new: bytes, before: Written | None, mine: Path) -> tuple[Written, str]:
    """What to remember of `name` from now on, and what to do: "write", "offer" or "" (nothing)."""
    fresh = Written(_cells(new, name), _digest(new))
    if not mine.exists():
        return fresh, "write"
    if before and fresh.exact == before.exact:
        return before, ""  # nothing new from the course: outputs stay too
    cells = _cells(mine.read_bytes(), name)
    if cells == fresh.cells and not (before and cells == before.cells):
        return fresh, ""  # their cells are the newest already: keep the outputs
    if before and cells == before.cells:
        return fresh, "write"
    if before and before.offered == fresh.exact:
        return before, ""
    # `exact` stays what it was: the file under this name is not the new version.
    return Written(before.cells if before else "", before.exact if before else "", fresh.exact), "offer"


def _names(source: Path) -> Iterator[str]:
    """The files of the course, as relative names with forward slashes; no hidden ones, no caches."""
    if not source.is_dir():
        raise WorkError(
            f"There is no folder {source} with the course's notebooks: is this the whole checkout?"
        )
    for path in sorted(source.rglob("*")):
        inside = path.relative_to(source)
        if path.is_file() and not any(part.startswith((".", "__pycache__")) for part in inside.parts):
            yield inside.as_posix()


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _cells(content: bytes, name: str) -> str:
    """A digest of what a person can write in a notebook: types, texts and attachments of its cells.

    Another file, or one that is no notebook (any more), counts byte by byte.
    """
    if not name.endswith(".ipynb"):
        return _digest(content)
    try:
        cells = [
            [cell["cell_type"], "".join(cell["source"]), cell.get("attachments", {})]
            for cell in json.loads(content)["cells"]
        ]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return _digest(content)
    return _digest(json.dumps(cells, sort_keys=True).encode())


_SPOKEN = re.compile(rb'"language_info": \{\s*"name": "python"\s*\}')


def _for_here(new: bytes) -> bytes:
    """A file of the course as this machine's kernel would save it: it says which Python it speaks.

    Without that JupyterLab puts it in by itself on opening, and asks on closing whether to save a
    notebook in which nobody changed a thing.
    """
    try:
        from ipykernel.ipkernel import IPythonKernel
    except ImportError:
        return new
    spoken = f'"language_info": {json.dumps(IPythonKernel.language_info)}'.encode()
    return _SPOKEN.sub(lambda _: spoken, new)


def _remembered(work: Path) -> dict[str, Written]:
    """The memory of `work`; empty where it is missing or damaged, and then every file counts as touched."""
    try:
        files = json.loads((work / MEMORY).read_bytes())["files"]
        return {name: Written(**entry) for name, entry in files.items()}
    except FileNotFoundError:
        return {}
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return {}


def _remember(work: Path, known: dict[str, Written]) -> None:
    files = {name: asdict(known[name]) for name in sorted(known)}
    _write(work / MEMORY, json.dumps({"files": files}, indent=1).encode())


def _write(path: Path, content: bytes) -> None:
    """The whole file or nothing: a new one, safely on the disk, then takes the name."""
    path.parent.mkdir(parents=True, exist_ok=True)
    half = path.with_name(f".{path.name}.half")
    try:
        with half.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(half, path)
    except OSError:
        half.unlink(missing_ok=True)  # on a full disk it would take the last room
        raise


def _offer(mine: Path, new: bytes, today: date) -> str:
    """Lays the newer version beside the learner's file, once, and returns its name."""
    for there in sorted(mine.parent.glob(f"{mine.stem}.new-*{mine.suffix}")):
        if there.read_bytes() == new:  # laid there by a call that was interrupted
            return there.name
    beside = _free_name(mine, f"new-{today}")
    _write(beside, new)
    return beside.name


def _free_name(path: Path, mark: str) -> Path:
    """`01.ipynb` and `new-2026-11-29` give `01.new-2026-11-29.ipynb`, or with -2, -3 … where that is taken."""
    count = 1
    while True:
        number = f"-{count}" if count > 1 else ""
        free = path.with_name(f"{path.stem}.{mark}{number}{path.suffix}")
        if not free.exists():
            return free
        count += 1


def _trust(notebooks: Iterable[Path]) -> None:
    """What `jupyter trust` does: JupyterLab shows stored pictures only of notebooks signed on this machine.

    Without a signature they show after the first run, so a failure here is no reason to stop.
    """
    try:
        import nbformat
        from nbformat.sign import NotebookNotary

        notary = NotebookNotary()
        for path in notebooks:
            notary.sign(nbformat.read(path, as_version=4))
    except Exception:  # no nbformat, a locked database, a notebook that is none (each fails in its own way)
        return


def main(arguments: list[str] | None = None) -> int:
    """The command that `run.py lab` calls; its exit code is 1 when a sentence says why not."""
    parser = argparse.ArgumentParser(prog="python -m torchcourse._work", description=__doc__)
    parser.add_argument("source", type=Path, help="the course's notebooks")
    parser.add_argument("work", type=Path, help="the learner's copy")
    parser.add_argument("--reset", metavar="NN", help="start this chapter anew and keep the file")
    asked = parser.parse_args(arguments)
    try:
        if asked.reset is not None:
            print(reset(asked.source, asked.work, asked.reset, date.today()))
        done = refresh(asked.source, asked.work, date.today())
    except WorkError as error:
        print(error, file=sys.stderr)
        return 1
    except OSError as error:
        print(
            f"Your copy could not be brought up to date: {error.strerror or error} ({error.filename or asked.work}). "
            "Nothing of yours was changed. Free some space, or make the folder writable, and start again.",
            file=sys.stderr,
        )
        return 1
    if done.written:
        _trust(asked.work / name for name in done.written if name.endswith(".ipynb"))
    if str(done):
        print(done)
    return 0


if __name__ == "__main__":
    sys.exit(main())
