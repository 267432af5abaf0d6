"""Runs the course on other releases of torch, and writes which claim holds where: tests/claims.md.

    python -m tests.versions [RELEASE …] [--only STEM …] [--no-tests] [--env RELEASE=FOLDER] [--table]

RELEASE is 2.9, 2.14.1, oldest, stored, newest or nightly; none: oldest, stored and newest. Each gets an environment
in build/versions/, made with pip. What ran stays there, so that an interrupted run goes on; a notebook runs again
when it or the package has changed.
"""

import argparse
import os
import re
import subprocess
import sys
from pathlib import Path

from tests.notebooks import claims, files

from . import environments, page, results, seen
from .environments import BUILD, NotMade
from .observe import mark

NEWEST = results.FOLDER / "newest.txt"
# What no release of torch changes: the tools around the course, and what looks at sources only. The notebooks run
# cell by cell here.
ELSEWHERE = (
    *("tests/browser", "tests/web", "tests/classroom", "tests/notebooks", "tests/versions"),
    *("tests/test_static.py", "tests/test_run.py", "tests/test_contributing.py"),
)
UNIT = (
    *("tests", *(f"--ignore={place}" for place in ELSEWHERE)),
    *("-q", "-rfE", "--no-header", "--tb=line", "-p", "no:cacheprovider"),
    *("-n", "logical", "--maxprocesses", "4"),
)


def main(arguments: list[str] | None = None) -> int:
    asked = _parser().parse_args(arguments)
    if strange := [pair for pair in asked.env if "=" not in pair]:
        print(f"--env takes RELEASE=FOLDER, not {strange[0]!r}.", file=sys.stderr)
        return 2
    given = dict(pair.split("=", 1) for pair in asked.env)
    try:
        notebooks = files.find(asked.only)
        claims.rows()
    except files.NotebookError as error:
        print(error, file=sys.stderr)
        return 2
    names = [] if asked.table else asked.release or [*given] or ["oldest", "stored", "newest"]
    # A list, so that one release that can't be had does not keep the others from running.
    done = [_one(name, given, notebooks, not asked.no_tests) for name in names]
    _write_page()
    return 0 if all(done) else 1


def _one(name: str, given: dict[str, str], notebooks: list[Path], tests: bool) -> bool:
    """Runs one release and keeps its result; False where it could not be had or something did not run."""
    try:
        version = _version(name)
        python = _given(given[name], version) if name in given else environments.python_of(version)
        folder = BUILD / version
        print(f"torch {version}: {len(notebooks)} notebooks", flush=True)
        ran = [_observe(python, path, folder / f"{path.stem}.json") for path in notebooks]
        if tests:
            ran.append(_unit_tests(python, folder / "tests.txt"))
        kept = _keep(results.gather(folder))
    except (NotMade, ValueError) as error:
        print(f"torch {name} did not run: {error}", file=sys.stderr)
        return False
    print(f"torch {version}: kept in {kept.relative_to(files.ROOT)}", flush=True)
    return all(ran)


def _keep(new: results.Result) -> Path:
    folder = BUILD if new.release == "nightly" else results.FOLDER
    path = folder / f"{new.release}.json"
    before = results.read(path) if path.is_file() else None
    return results.write(results.merged(new, before, claims.rows()), folder)


def _version(name: str) -> str:
    if name == "newest":
        version = environments.newest()
        NEWEST.parent.mkdir(exist_ok=True)
        NEWEST.write_text(f"{version}\n", encoding="utf-8", newline="\n")
        return version
    words = {"oldest": environments.oldest, "stored": environments.stored, "nightly": lambda: "nightly"}
    if name not in words and not re.fullmatch(r"\d+(\.\d+){1,2}", name):
        raise NotMade(
            f"{name!r} is no release, such as 2.13 or 2.14.1, and none of {', '.join(words)}, newest."
        )
    return words[name]() if name in words else name


def _given(home: str, version: str) -> Path:
    """The Python of an environment that is there already, if it holds the release that it was named for."""
    python = _inside(home)
    ask = "import importlib.metadata as packages; print(packages.version('torch'))"
    told = subprocess.run([str(python), "-c", ask], capture_output=True, text=True).stdout.strip()
    due = version if version == "nightly" else results.release_of(version)
    if not told or results.release_of(told) != due:
        raise NotMade(f"--env names {home}, and there is {f'torch {told}' if told else 'no torch'}.")
    return python


def _inside(home: str) -> Path:
    """The Python of an environment that is there already."""
    for python in (Path(home, "bin/python"), Path(home, "Scripts/python.exe"), Path(home)):
        if python.is_file():
            return python
    raise NotMade(f"--env names {home}, and no Python is there (bin/python, Scripts/python.exe).")


def _observe(python: Path, notebook: Path, file: Path) -> bool:
    """Runs a notebook in its own process, unless what ran last time still holds."""
    before = seen.load(file)
    if before and before.mark == mark(notebook):
        return True
    command = [str(python), "-m", "tests.versions.observe", str(notebook), str(file)]
    code = subprocess.call(command, cwd=files.ROOT, env=_environment())
    found = seen.load(file)
    failed = sum(bool(cell.error) for cell in found.cells) if found and not code else None
    print(f"  {notebook.stem}: {'did not run' if failed is None else f'{failed} cells raise'}", flush=True)
    return failed is not None


def _unit_tests(python: Path, file: Path) -> bool:
    """Runs the unit tests; False where pytest did not come to its end. That some fail stands on the page."""
    with file.open("w", encoding="utf-8") as report:
        code = subprocess.call(
            [str(python), "-m", "pytest", *UNIT], cwd=files.ROOT, env=_environment(), stdout=report
        )
    said = file.read_text(encoding="utf-8").splitlines() or [f"pytest said nothing (exit code {code})"]
    print("  unit tests:", said[-1].strip("= "), flush=True)
    return code in (0, 1)


def _environment() -> dict[str, str]:
    """No GPU, and one thread, as where the outputs were stored."""
    return os.environ | {"CUDA_VISIBLE_DEVICES": "", "OMP_NUM_THREADS": "1"}


def _write_page() -> None:
    looked = NEWEST.read_text(encoding="utf-8").strip() if NEWEST.is_file() else ""
    kept = results.read_all()
    if (BUILD / "nightly.json").is_file():  # a build of one night: shown here, not kept in the repository
        extra = [*kept, results.read(BUILD / "nightly.json")]
        _store(BUILD / "claims.md", page.page(page.known_claims(), extra, looked))
    _store(page.PAGE, page.page(page.known_claims(), kept, looked))


def _store(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")
    print(f"{path.relative_to(files.ROOT)} is written.")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="run.py versions", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("release", nargs="*", help="2.9, 2.14.1, oldest, stored, newest or nightly")
    parser.add_argument(
        "--only", nargs="+", action="extend", default=[], metavar="STEM", help="these notebooks, not all"
    )
    parser.add_argument("--no-tests", action="store_true", help="leave out the unit tests")
    parser.add_argument("--table", action="store_true", help="run nothing; write the page from what is kept")
    parser.add_argument(
        "--env",
        action="append",
        default=[],
        metavar="RELEASE=FOLDER",
        help="an environment that is there already",
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
