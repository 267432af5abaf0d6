"""An environment per release of torch, made with pip beside the checkout, in build/versions/."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

from packaging.requirements import Requirement

import run
from tests.notebooks import files

BUILD = files.ROOT / "build" / "versions"
NIGHTLY = "https://download.pytorch.org/whl/nightly/cpu"


class NotMade(Exception):
    """One sentence: which environment there is not, and why."""


def supported() -> Requirement:
    """What pyproject.toml asks of torch."""
    return next(one for one in _requirements("dependencies") if one.name == "torch")


def oldest() -> str:
    """The lowest release of the declared range: "2.9"."""
    return next(part.version for part in supported().specifier if part.operator == ">=")


def stored() -> str:
    """The release with which the outputs are stored."""
    from torchcourse._releases import STORED

    return STORED


def newest() -> str:
    """The newest torch that pip knows of, in full: "2.15.0"."""
    told = _pip(Path(sys.executable), "index", "versions", "torch")
    found = re.search(r"^torch \((\d[\w.]*)\)", told.stdout, re.M)
    if found is None:
        raise NotMade("pip can't tell which torch is the newest: no network, or no package index.")
    return found[1]


def python_of(version: str) -> Path:
    """The Python of the environment for a release, made where there is none, or one that lacks something."""
    home = BUILD / f"torch-{version}"
    python = home / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    done = home / "torchcourse.done"
    wanted = "\n".join(_others())
    made = done.read_text(encoding="utf-8") if done.is_file() else None
    if made != wanted or version == "nightly":  # a nightly build is another one each night
        _make(home, python, version)
        done.write_text(wanted, encoding="utf-8")
    return python


def _make(home: Path, python: Path, version: str) -> None:
    if not python.exists() and subprocess.call([sys.executable, "-m", "venv", home]):
        raise NotMade(f"Python could not make an environment for torch {version}; the reason is above.")
    steps = [_torch(version), [*_others()], ["--no-deps", "-e", str(files.ROOT)]]
    for step in steps:
        if code := _pip(python, "install", *step, show=True).returncode:
            raise NotMade(
                f"pip could not install {step[-1]} for torch {version} (exit code {code}); see above."
            )


def _torch(version: str) -> list[str]:
    """torch alone comes first, so that nothing else brings another one."""
    if version == "nightly":
        return ["--pre", "--upgrade", "--index-url", NIGHTLY, "torch"]
    wanted = f"torch=={version}" if version.count(".") > 1 else f"torch=={version}.*"
    return [*(["--extra-index-url", run.CPU_WHEELS] if run.wants_cpu_wheels() else []), wanted]


def _others() -> list[str]:
    """What the course's tests need besides torch; numpy and such come in the versions that pip finds."""
    found = [one for part in ("dependencies", "lab", "teach", "test") for one in _requirements(part)]
    return [str(one) for one in found if one.name not in ("torch", "torchcourse")]


def _requirements(part: str) -> list[Requirement]:
    project = tomllib.loads((files.ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    listed = project["dependencies"] if part == "dependencies" else project["optional-dependencies"][part]
    return [Requirement(one) for one in listed]


def _pip(python: Path, *words: str, show: bool = False) -> subprocess.CompletedProcess[str]:
    command = [python, "-m", "pip", *words, "--no-input", "--disable-pip-version-check"]
    return subprocess.run(command, text=True, capture_output=not show, check=False)
