"""Opens the course in JupyterLab: what `run.py lab` hands over to, inside the environment that it made.

    python -m torchcourse._lab [--source | --reset NN | --teach NN] [more for Jupyter]

Stands in the folder that holds `notebooks/` and lays the learner's copy, `work/`, beside it.
"""

from __future__ import annotations

import argparse
import os
import runpy
import sys
from collections.abc import Sequence
from pathlib import Path

from . import _teach, _work

FIRST_PAGE = "/lab/tree/index.ipynb"


def main(arguments: Sequence[str] | None = None) -> int:
    """Bring the copy up to date, then become JupyterLab; 1 where a sentence said why not, 2 for a wrong call."""
    asked, rest = _parser().parse_known_args(arguments)
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


def _teaching(chapter: str) -> list[str]:
    """What Jupyter is started with for lesson and notes side by side."""
    return _teach.opening(Path("work"), chapter)


def _as_root() -> list[str]:
    """In a container one is root, and there is nobody to protect from."""
    return ["--allow-root"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []


if __name__ == "__main__":
    sys.exit(main())
