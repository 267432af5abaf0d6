"""Opens the course in JupyterLab: what `run.py lab` hands over to, inside the environment that it made.

    python -m torchcourse._lab [NN] [--source | --reset NN | --teach NN] [more for Jupyter]

Stands in the folder that holds `notebooks/` and lays the learner's copy, `work/`, beside it.
"""

from __future__ import annotations

import argparse
import difflib
import os
import runpy
import sys
from collections.abc import Sequence
from pathlib import Path

from . import _teach, _work
from ._course import NUMBERS, called

FIRST_PAGE = "index.ipynb"
OURS = ("--source", "--reset", "--teach", "--wheels")


def main(arguments: Sequence[str] | None = None) -> int:
    """Bring the copy up to date, then become JupyterLab; 1 where a sentence said why not, 2 for a wrong call."""
    parser = _parser()
    asked, rest = parser.parse_known_args(arguments)
    page = _page(rest)
    if slip := _slip(rest):
        parser.error(slip)
    reset = ["--reset", asked.reset] if asked.reset is not None else []
    if not asked.source and _work.main(["notebooks", "work", *reset]):
        return 1
    try:
        opened = [f"--LabApp.default_url=/lab/tree/{page}"]
        if asked.teach is not None:
            opened = _teach.opening(Path("work"), asked.teach)
    except _teach.TeachError as error:
        print(error, file=sys.stderr)
        return 1
    root = Path.cwd() / ("notebooks" if asked.source else "work")
    sys.argv = ["jupyter-lab", f"--ServerApp.root_dir={root}", *opened, *_as_root(), *rest]
    runpy.run_module("jupyterlab", run_name="__main__")
    return 0


def _parser() -> argparse.ArgumentParser:
    usage = "run.py lab [NN] [--source | --reset NN | --teach NN] [--wheels FOLDER] [more for JupyterLab]"
    more = "NN is a chapter, 01 or 02b. Other words go to JupyterLab: --no-browser, --port=9000 and more."
    parser = argparse.ArgumentParser(prog="run.py lab", usage=usage, epilog=more, allow_abbrev=False)
    either = parser.add_mutually_exclusive_group()
    either.add_argument("--source", action="store_true", help="opens notebooks/, for authors")
    either.add_argument("--reset", metavar="NN", help="starts a chapter anew and keeps your file")
    either.add_argument("--teach", metavar="NN", help="opens lesson and notes side by side")
    return parser


def _page(rest: list[str]) -> str:
    """The notebook to open; a chapter named among Jupyter's words is taken out of them."""
    for place, word in enumerate(rest):
        first = place == 0 or rest[place - 1] == "--no-browser"  # else it may be the value of an option
        if first and (lesson := called(word)):
            del rest[place]
            return lesson.file
    return FIRST_PAGE


def _slip(rest: Sequence[str]) -> str:
    """What is wrong with words that would go to Jupyter but are nearly ours; Jupyter passes over them in silence."""
    if rest and not rest[0].startswith("-") and not Path(rest[0]).exists():
        return f"there is no chapter and no file {rest[0]!r}. Chapters: {NUMBERS}"
    for word in rest:
        near = difflib.get_close_matches(word.partition("=")[0], OURS, n=1, cutoff=0.8)
        if near and word.startswith("--"):
            return f"there is no {word}; did you mean {near[0]}?"
    return ""


def _as_root() -> list[str]:
    """In a container one is root, and there is nobody to protect from."""
    return ["--allow-root"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []


if __name__ == "__main__":
    sys.exit(main())
