"""What the course must have and what it may have, checked against a machine's facts.

What the course asks for stands in one place, pyproject.toml; it is read from the installed package.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, metadata, requires

from .diagnosis import Diagnosis, diagnose
from .facts import Machine, gib

LEAST_MEMORY = 2**30  # no notebook needs more
LEAST_DISK = 2**29  # a learner's copy, checkpoints and traces of the chapters

# Parts of Jupyter without which a notebook or a view does not open.
JUPYTER = ("jupyterlab", "ipykernel", "ipywidgets", "anywidget")
KERNELS = ("torchcourse-cpu", "torchcourse-cuda")

_AGAIN = "run python3 run.py lab again, or pip install torchcourse[lab] here"


@dataclass(frozen=True)
class Check:
    """One line of the report. `must`: without it the course does not run; `mend` is "" where all is well."""

    name: str
    must: bool
    passed: bool
    found: str
    mend: str = ""


@dataclass(frozen=True)
class Report:
    """The doctor's whole answer; `str()` is what `torchcourse doctor` prints."""

    machine: Machine
    diagnosis: Diagnosis
    checks: tuple[Check, ...]

    @property
    def healthy(self) -> bool:
        """Every *must* is met."""
        return all(check.passed for check in self.checks if check.must)

    @property
    def verdict(self) -> str:
        failed = [check.name for check in self.checks if check.must and not check.passed]
        if failed:
            return f"The course can't run yet: {', '.join(failed)}."
        where = "on the GPU and on the CPU" if self.diagnosis.works else "on the CPU"
        return f"Everything that the course needs is here; it runs {where}."

    def __str__(self) -> str:
        from .report import render

        return render(self)


def course_needs() -> dict[str, str]:
    """Package -> range (">=2.9,<2.15") as pyproject.toml has it, and "python".

    Empty when it can't be read: torchcourse is not installed, or packaging is missing.
    """
    try:
        from packaging.requirements import Requirement

        wanted = [Requirement(line) for line in requires("torchcourse") or []]
        needs = {"python": metadata("torchcourse")["Requires-Python"]}
    except (PackageNotFoundError, ImportError):
        return {}
    for requirement in wanted:
        needs.setdefault(requirement.name, str(requirement.specifier))
    return {name: _from_below(specifier) for name, specifier in needs.items()}


def _from_below(specifier: str) -> str:
    """ "<3.14,>=3.11" -> ">=3.11,<3.14": packaging sorts the bounds by their signs."""
    return ",".join(sorted(specifier.split(","), reverse=True))


def examine(machine: Machine, needs: Mapping[str, str] | None = None) -> Report:
    """Compare the machine with what the course asks for.

    `needs`: package -> range, as `course_needs` reads it from the installed package.
    """
    needs = course_needs() if needs is None else needs
    diagnosis = diagnose(machine)
    checks = (*_musts(machine, needs), *_mays(machine, diagnosis))
    return Report(machine, diagnosis, checks)


def in_range(version: str | None, wanted: str) -> bool:
    """Does the version lie in the range?

    Development builds count too; an unknown range ("") holds every version.
    """
    if version is None or not wanted:
        return version is not None
    from packaging.specifiers import SpecifierSet
    from packaging.version import InvalidVersion

    try:
        return SpecifierSet(wanted).contains(version, prereleases=True)
    except InvalidVersion:
        return False


def _musts(machine: Machine, needs: Mapping[str, str]) -> list[Check]:
    return [
        _package("Python", machine.python, needs.get("python", ""), "install Python 3.11, 3.12 or 3.13"),
        _course(machine, needs),
        _torch(machine, needs),
        *(_package(name, machine.part(name).version, needs.get(name, "")) for name in JUPYTER),
        _kernels(machine),
        _enough(
            "memory", machine.memory_bytes, LEAST_MEMORY, "close other programs, or use a larger machine"
        ),
        _enough("disk", machine.disk_free_bytes, LEAST_DISK, "free some space"),
    ]


def _package(name: str, version: str | None, wanted: str, mend: str = _AGAIN) -> Check:
    passed = in_range(version, wanted)
    found = f"{version or 'missing'} (needs {wanted or 'any version'})"
    return Check(name, True, passed, found, "" if passed else mend)


def _course(machine: Machine, needs: Mapping[str, str]) -> Check:
    """The course itself, which also says what to ask of the others."""
    version = machine.part("torchcourse").version
    if version and needs:
        return Check("torchcourse", True, True, version)
    found = (
        "it can't be read what it needs (packaging is missing)" if version else "not installed in this Python"
    )
    return Check("torchcourse", True, False, found, _AGAIN)


def _torch(machine: Machine, needs: Mapping[str, str]) -> Check:
    build = machine.build
    if build.error or build.version is None:
        sick = diagnose(machine)
        return Check("torch", True, False, sick.sentence, f"{sick.mend}; {_AGAIN}")
    return _package("torch", build.version, needs.get("torch", ""))


def _kernels(machine: Machine) -> Check:
    missing = [name for name in KERNELS if name not in machine.kernelspecs]
    found = f"{', '.join(missing)} missing" if missing else ", ".join(KERNELS)
    mend = "pip install --force-reinstall --no-deps torchcourse (pip install -e . in a checkout)"
    return Check("kernels", True, not missing, found, mend if missing else "")


def _enough(name: str, nbytes: int | None, least: int, mend: str) -> Check:
    """What can't be read is not held against the machine."""
    passed = nbytes is None or nbytes >= least
    return Check(name, True, passed, f"{gib(nbytes)} (needs {gib(least)})", "" if passed else mend)


def _mays(machine: Machine, diagnosis: Diagnosis) -> list[Check]:
    graphviz = machine.part("pygraphviz")
    drawn = graphviz.version is not None and not graphviz.error
    return [
        Check("GPU", False, diagnosis.works, diagnosis.sentence, diagnosis.mend),
        Check(
            "Graphviz", False, drawn, str(graphviz), "" if drawn else "pip install pygraphviz, to draw graphs"
        ),
        Check(
            "browser",
            False,
            machine.browser is not None,
            machine.browser or "no Chromium found",
            "" if machine.browser else "install Chromium, only to run the project's own browser tests",
        ),
    ]
