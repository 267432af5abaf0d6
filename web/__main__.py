"""Builds the course as a web site: python -m web [--only STEM ...] [--out FOLDER]."""

import argparse
import os
import sys
from pathlib import Path

try:
    from tests.notebooks.files import ROOT, find

    from .build import NotebookError, SiteError, build
except ModuleNotFoundError as error:
    sys.exit(f"The package {error.name} is missing: `python3 run.py site` installs all that the site needs.")


def main() -> int:
    parser = argparse.ArgumentParser(prog="run.py site", description=__doc__)
    parser.add_argument(
        "--only", nargs="+", action="extend", default=[], metavar="STEM", help="these notebooks and the index"
    )
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "site", metavar="FOLDER")
    asked = parser.parse_args()
    # Two kernels at once, on two cores: threads that wait for one another would spin.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    try:
        build(find(asked.only), asked.out.resolve())
    except (NotebookError, SiteError, OSError) as error:
        said = f"{error.filename}: {error.strerror}." if isinstance(error, OSError) else error
        print(f"The site was not built. {said}", file=sys.stderr)
        return 1
    print(f"The site is in {asked.out}; open {asked.out / 'index.html'}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
