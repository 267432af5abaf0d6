"""Can this machine's GPU be used, and if not, what hinders it? A pure function of the facts.

The questions are asked in the order in which torch.cuda.is_available() meets them; the last two go beyond
it, since is_available() may be True where no kernel runs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from . import complaints
from . import findings as no
from .facts import GPU, Machine
from .findings import Finding
from .needs import covered, minimum_driver, new_enough
from .visible import visible_gpus


class Step(NamedTuple):
    """One question on the way, and its answer, which begins with "yes", "no" or "not known"."""

    question: str
    answer: str

    @property
    def passed(self) -> bool:
        return not self.answer.startswith("no:")


@dataclass(frozen=True)
class Diagnosis:
    """What the facts say about the GPU. `kind` is one of `KINDS`; "works" has nothing to mend.

    `sentence` says what is the case, `mend` what to do (an imperative without a full stop), `path` the
    questions asked, up to the first that fails.
    """

    kind: str
    sentence: str
    mend: str
    path: tuple[Step, ...]

    @property
    def works(self) -> bool:
        return self.kind == "works"

    @property
    def advice(self) -> str:
        """Sentence and mend in one."""
        return f"{self.sentence.removesuffix('.')}; {self.mend}." if self.mend else self.sentence

    def __str__(self) -> str:
        return "\n".join([*(f"{step.question} {step.answer}" for step in self.path), self.advice])


KINDS = ("works", *no.KINDS)

Check = Callable[[Machine], "str | Finding"]


def diagnose(machine: Machine) -> Diagnosis:
    """Follow the questions until one is answered with no. Never raises, whatever the facts are."""
    path: list[Step] = []
    for question, check in _ROCM if machine.build.hip else _CUDA:
        found = check(machine)
        if isinstance(found, Finding) and machine.build.computes and machine.build.version:
            found = "yes: a tensor was computed on the GPU, whatever else was found"
        if isinstance(found, Finding):
            path.append(Step(question, f"no: {found.kind.replace('-', ' ')}"))
            return Diagnosis(found.kind, found.sentence, found.mend, tuple(path))
        path.append(Step(question, found))
    return Diagnosis("works", _works(machine), "", tuple(path))


def _works(machine: Machine) -> str:
    gpu = _first_gpu(machine)
    return f"torch {machine.build.version} computes on {gpu or 'the GPU'}."


def _first_gpu(machine: Machine) -> GPU | None:
    """The GPU that torch calls cuda:0, by torch itself, else by the driver's list."""
    seen = machine.build.gpus or visible_gpus(machine.visible, machine.driver.gpus)
    return seen[0] if seen else None


def _imports(machine: Machine) -> str | Finding:
    build = machine.build
    if build.error and build.version:
        return no.torch_broken(build)
    if build.error or not build.version:
        return no.no_torch(build.error)
    return f"yes: torch {build.version}"


def _built(machine: Machine) -> str | Finding:
    build = machine.build
    if build.cuda or build.hip:
        return f"yes: {'ROCm ' + build.hip if build.hip else f'CUDA {build.cuda}'}"
    if machine.system.startswith(("macOS", "Darwin")):
        return no.macos(build)
    return no.other_build(build) if build.name == "xpu" else no.cpu_build(machine)


def _has_driver(machine: Machine) -> str | Finding:
    driver = machine.driver
    if driver.state in ("answers", "no devices"):
        return f"yes: {driver.version or 'its version is not known'}"
    if driver.state == "absent" and driver.library:
        return "yes: its library is there, though nvidia-smi is not"
    return no.no_driver(machine) if driver.state == "absent" else no.bad_driver(machine)


def _loads(machine: Machine) -> str | Finding:
    if machine.driver.library is None:
        return "not known: not tried"
    return "yes" if machine.driver.library else no.no_library(machine)


def _new_enough(machine: Machine) -> str | Finding:
    driver, cuda = machine.driver, machine.build.cuda or ""
    enough = new_enough(driver, cuda, machine.windows_driver)
    least = minimum_driver(cuda, machine.windows_driver)
    if enough is None:
        return "not known: the driver named no version"
    if not enough:
        return no.driver_too_old(machine, least)
    return f"yes: it supports CUDA {driver.cuda}" if driver.cuda else f"yes: {least} is needed"


def _sees_one(machine: Machine) -> str | Finding:
    driver = machine.driver
    if driver.state == "no devices":
        return no.no_devices()
    # Enough GPUs for any number: does the setting leave none, however many there are?
    any_gpus = driver.gpus or (GPU("?"),) * 64
    if not visible_gpus(machine.visible, any_gpus):
        return no.hidden(machine)
    if driver.mig_empty and not machine.build.available:
        return no.mig_empty()
    seen = machine.build.gpus or visible_gpus(machine.visible, driver.gpus)
    return f"yes: {len(seen)}" if seen else "not known: the driver listed none"


def _holds_code(machine: Machine) -> str | Finding:
    gpu, arch_list = _first_gpu(machine), machine.build.arch_list
    if not gpu or not gpu.capability or not arch_list:
        return "not known: " + ("the GPU's compute capability was not told" if arch_list else "no list")
    major, minor = gpu.capability
    if not covered(arch_list, gpu.capability):
        return no.not_in_build(machine.build, gpu)
    return f"yes: for compute capability {major}.{minor}"


def _computes(machine: Machine) -> str | Finding:
    build = machine.build
    if build.computes:
        return "yes"
    if build.available and build.computes is None:
        return "not known: not tried"
    return complaints.explain(build.said)


def _rocm_sees_one(machine: Machine) -> str | Finding:
    count = len(machine.build.gpus)
    return f"yes: {count or 'torch says so'}" if machine.build.available else no.rocm(machine.build)


_FIRST: tuple[tuple[str, Check], ...] = (
    ("Does torch import?", _imports),
    ("Was this torch built for a GPU?", _built),
)
_LAST: tuple[tuple[str, Check], ...] = (("Does a small tensor compute there?", _computes),)

_CUDA: tuple[tuple[str, Check], ...] = (
    *_FIRST,
    ("Is there an NVIDIA driver?", _has_driver),
    ("Does the driver's library load?", _loads),
    ("Is the driver new enough for the build?", _new_enough),
    ("Is a GPU there and visible?", _sees_one),
    ("Does the build hold code for this GPU?", _holds_code),
    *_LAST,
)
QUESTIONS = tuple(question for question, _ in _CUDA)  # of a CUDA build, in their order

_ROCM: tuple[tuple[str, Check], ...] = (*_FIRST, ("Does torch see an AMD GPU?", _rocm_sees_one), *_LAST)
