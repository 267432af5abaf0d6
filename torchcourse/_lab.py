"""Opens the course in JupyterLab: what `run.py lab` hands over to, inside the environment that it made.

    python -m torchcourse._lab [--source | --reset NN | --teach NN] [more for Jupyter]

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

FIRST_PAGE = "/lab/tree/index.ipynb"
OURS = ("--source", "--reset", "--teach", "--wheels")


def main(arguments: Sequence[str] | None = None) -> int:
    """Bring the copy up to date, then become JupyterLab; 1 where a sentence said why not, 2 for a wrong call."""
    parser = _parser()
    asked, rest = parser.parse_known_args(arguments)
    if slip := _slip(rest):
        parser.error(slip)
    reset = ["--reset", asked.reset] if asked.reset else []
    if not asked.source and _work.main(["notebooks", "work", *reset]):
        return 1
    try:
        opened = _teaching(asked.teach) if asked.teach else [f"--LabApp.default_url={FIRST_PAGE}"]
    except _teach.TeachError as error:
        print(error, file=sys.stderr)
        return 1
    root = Path.cwd() / ("notebooks" if asked.source else "work")
    sys.argv = ["jupyter-lab", f"--ServerApp.root_dir={root}", *opened, *_as_root(), *rest]
    runpy.run_module("jupyterlab", run_name="__main__")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="run.py lab", add_help=False, allow_abbrev=False)
    either = parser.add_mutually_exclusive_group()
    either.add_argument("--source", action="store_true")
    either.add_argument("--reset", metavar="NN")
    either.add_argument("--teach", metavar="NN")
    return parser


def _slip(rest: Sequence[str]) -> str:
    """What is wrong with words that would go to Jupyter but are nearly ours; Jupyter passes over them in silence."""
    for word in rest:
        near = difflib.get_close_matches(word.partition("=")[0], OURS, n=1, cutoff=0.8)
        if near and word.startswith("--"):
            return f"there is no {word}; did you mean {near[0]}?"
    return ""


def _teaching(chapter: str) -> list[str]:
    """What Jupyter is started with for lesson and notes side by side."""
    return _teach.opening(Path("work"), chapter)


def _as_root() -> list[str]:
    """In a container one is root, and there is nobody to protect from."""
    return ["--allow-root"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []


if __name__ == "__main__":
    sys.exit(main())
