"""A folder of wheels for a room without internet: `run.py download FOLDER`, and there `run.py lab --wheels FOLDER`.

    python -m torchcourse._wheels FOLDER [--python 3.12] [--platform windows-x86_64]     fills FOLDER
    python -m torchcourse._wheels --check FOLDER       says what is wrong with FOLDER for this Python, if anything is

Runs before anything is installed, with any Python from 3.11 on that has pip or ensurepip. What is fetched is
what `run.py lab` installs: the lists stand in pyproject.toml alone.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import platform
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1] / "pyproject.toml"
MANIFEST = "torchcourse-wheels.json"
EXTRA = "lab"
# hatchling asks for `editables` when it is asked for an editable install; pip, so that an old one can be replaced.
TO_BUILD = ("editables", "pip")
HERE = f"{sys.version_info[0]}.{sys.version_info[1]}"

# What the markers of a requirement (`; sys_platform == "win32"`) ask, for each system.
MARKERS = {
    "linux": {"os_name": "posix", "sys_platform": "linux", "platform_system": "Linux"},
    "macos": {"os_name": "posix", "sys_platform": "darwin", "platform_system": "Darwin"},
    "windows": {"os_name": "nt", "sys_platform": "win32", "platform_system": "Windows"},
}
_GLIBC = [f"manylinux_2_{minor}" for minor in range(28, 16, -1)] + [
    "manylinux2014",
    "manylinux2010",
    "manylinux1",
]
# Platform -> the machine as markers spell it, and the tags that its wheels bear. PyTorch has wheels for these.
PLATFORMS = {
    "linux-x86_64": ("x86_64", [f"{glibc}_x86_64" for glibc in _GLIBC]),
    "linux-arm64": ("aarch64", [f"{glibc}_aarch64" for glibc in _GLIBC]),
    "macos-arm64": (
        "arm64",
        [f"macosx_{n}_0_{cpu}" for n in (14, 13, 12, 11) for cpu in ("arm64", "universal2")],
    ),
    "windows-x86_64": ("AMD64", ["win_amd64"]),
}
# pip asks the markers of the Python that runs it, also when it downloads for another. This asks the other's.
_PIP = """\
import json, runpy, sys
from pip._vendor.packaging import markers
own, other = markers.default_environment, json.loads(sys.argv.pop(1))
markers.default_environment = lambda: {**own(), **other}
runpy.run_module("pip", run_name="__main__", alter_sys=True)
"""


class WheelsError(Exception):
    """One sentence: what is wrong, and what to do."""


@dataclass(frozen=True)
class Room:
    """The Python ("3.12"), the platform (a key of PLATFORMS) and the requirement of torch that a folder is for."""

    python: str
    platform: str
    torch: str

    def markers(self) -> dict[str, str]:
        """What a marker sees in that room; its Python's last number is taken to be 0."""
        machine = {"platform_machine": PLATFORMS[self.platform][0]}
        python = {"python_version": self.python, "python_full_version": f"{self.python}.0"}
        return {**MARKERS[self.platform.partition("-")[0]], **machine, **python}

    def words(self) -> list[str]:
        """pip's options for a room that is not this machine's kind."""
        tags = [word for tag in PLATFORMS[self.platform][1] for word in ("--platform", tag)]
        return ["--python-version", self.python, "--implementation", "cp", *tags]


def this_platform() -> str:
    """This machine's platform, "linux-x86_64"; also one that PLATFORMS does not hold."""
    system = {"darwin": "macos", "win32": "windows"}.get(sys.platform, sys.platform)
    machine = platform.machine().lower()
    return f"{system}-{ {'amd64': 'x86_64', 'aarch64': 'arm64'}.get(machine, machine) }"


def requirements(torch: str, project: Path = PROJECT) -> list[str]:
    """All that `run.py lab` asks pip for, by name. WheelsError: this is no checkout of the course."""
    try:
        asked = tomllib.loads(project.read_text(encoding="utf-8"))
    except OSError:
        raise WheelsError(f"{project} is not there: download from a checkout of the course.") from None
    told = asked["project"]
    return [
        torch,
        *told["dependencies"],
        *told["optional-dependencies"][EXTRA],
        *asked["build-system"]["requires"],
        *TO_BUILD,
    ]


@contextmanager
def a_pip() -> Iterator[Path | str]:
    """A Python that has pip: this one, or a passing environment of its own."""
    if importlib.util.find_spec("pip"):
        yield sys.executable
        return
    if not importlib.util.find_spec("ensurepip"):
        raise WheelsError(
            f"This Python has no pip; Debian, Ubuntu: `sudo apt install python{HERE}-venv`, then again."
        )
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        yield Path(folder, "Scripts/python.exe" if sys.platform == "win32" else "bin/python")


def fill(folder: Path, room: Room, index: str | None = None) -> None:
    """Put every wheel into the folder that the room needs; the manifest, written last, says that it is whole.

    index: an index asked for torch first, and for nothing else; where it fails, pip's own has torch.
    WheelsError: pip could not get them all.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / MANIFEST).unlink(missing_ok=True)
    with a_pip() as python:
        get = [*_download(python, room), "--only-binary=:all:", "--dest", str(folder)]
        if index:
            subprocess.call([*get, "--no-deps", "--index-url", index, room.torch])
        # Found in the folder, that torch goes first: 2.13.0+cpu is newer than 2.13.0.
        code = subprocess.call([*get, "--find-links", folder.resolve().as_uri(), *requirements(room.torch)])
    if code:
        raise WheelsError(
            f"{folder} is not whole: pip's exit code is {code}, its own words are above. Mend that and try again."
        )
    told = asdict(room) | {"wheels": sorted(wheel.name for wheel in folder.glob("*.whl"))}
    (folder / MANIFEST).write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")


def _download(python: Path | str, room: Room) -> list[str]:
    command = ["download", "--disable-pip-version-check"]
    if (room.python, room.platform) == (HERE, this_platform()):
        return [str(python), "-m", "pip", *command]
    if room.platform not in PLATFORMS:
        raise WheelsError(f"For {room.platform} one can only download with the very Python of the room.")
    return [str(python), "-c", _PIP, json.dumps(room.markers()), *command, *room.words()]


def misfit(folder: Path, torch: str) -> str:
    """Why this folder does not serve this Python here, in a sentence; "" where it does."""
    try:
        told = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        missing = [name for name in told.pop("wheels") if not (folder / name).is_file()]
        room = Room(**told)
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return (
            f"{folder} holds no whole set of wheels, {MANIFEST} is missing or broken: run `download` for it."
        )
    if missing:
        return (
            f"{folder} lacks {len(missing)} of its wheels, first {missing[0]}: copy the whole folder again."
        )
    for filled, here, mend in (
        (f"Python {room.python}", f"Python {HERE}", f"start run.py with Python {room.python}"),
        (room.platform, this_platform(), f"run `download` with --platform {this_platform()}"),
        (room.torch, torch, "set TORCHCOURSE_TORCH to the same, here and there"),
    ):
        if filled != here:
            return f"{folder} was filled for {filled}, and here it is {here}: {mend}."
    return ""


def main(arguments: Sequence[str] | None = None) -> int:
    """Fill or check a folder; 0: it is whole and fits, 1: a sentence on stderr says why not."""
    asked = _parser().parse_args(arguments)
    try:
        if asked.check:
            if wrong := misfit(asked.folder, asked.torch):
                raise WheelsError(wrong)
            return 0
        fill(asked.folder, Room(asked.python, asked.platform, asked.torch), asked.index)
    except OSError as error:
        print(f"{asked.folder} can't be filled: {error.strerror}. Name another folder.", file=sys.stderr)
        return 1
    except (WheelsError, subprocess.SubprocessError) as error:
        print(error, file=sys.stderr)
        return 1
    wheels = list(asked.folder.glob("*.whl"))
    size = sum(wheel.stat().st_size for wheel in wheels) / 1e9
    print(
        f"{asked.folder}: {len(wheels)} wheels, {size:.1f} GB, for Python {asked.python} on {asked.platform}."
    )
    print("Carry it beside the course; there, `run.py lab --wheels FOLDER` needs no network.")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="run.py download", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument(
        "--python", default=HERE, choices=("3.11", "3.12", "3.13"), help="of the room; this one's"
    )
    parser.add_argument(
        "--platform", default=this_platform(), choices=PLATFORMS, help="of the room; this machine's"
    )
    parser.add_argument("--torch", default="torch", help="the requirement for torch")
    parser.add_argument("--index", metavar="URL", help="an index that is asked for torch first")
    parser.add_argument("--check", action="store_true", help="only say whether the folder fits this machine")
    return parser


if __name__ == "__main__":
    sys.exit(main())
