"""The doctor's answer as aligned text and as JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import asdict

from .doctor import Check, Report
from .facts import Driver, Machine, gib
from .running import clean

# A folder of a person, on the three systems; its name is nobody's business where the report is pasted.
_HOME = re.compile(r"(?:[A-Za-z]:)?(?:[\\/]+)(?:home|Users)[\\/]+[^\\/\s\"']+|/root(?=/)")


def render(report: Report) -> str:
    """Plain text: musts, mays, the machine, the questions about the GPU, the verdict."""
    musts = [check for check in report.checks if check.must]
    mays = [check for check in report.checks if not check.must]
    path = [(step.question, step.answer) for step in report.diagnosis.path]
    blocks = [
        ("must (the course does not run without)", _checks(musts, "ok", "FAILS")),
        ("may (nice to have)", _checks(mays, "ok", "no")),
        ("the machine", _aligned(_facts(report.machine))),
        ("can the GPU be used?", _aligned(path)),
        ("verdict", [report.verdict, *_to_do(report)]),
    ]
    # An environment variable or a version may hold anything: a terminal would obey its control characters.
    told = clean("\n\n".join("\n".join([title, *(f"  {line}" for line in lines)]) for title, lines in blocks))
    return without_names(told)


def without_names(text: str) -> str:
    """The text with `~` for each home folder, since errors of libraries name the files that they met."""
    return _HOME.sub("~", text)


def as_json(report: Report) -> str:
    """The same as JSON: `healthy`, `verdict`, `checks`, `diagnosis`, `machine`."""
    facts = {"healthy": report.healthy, "verdict": report.verdict, **asdict(report)}
    facts["diagnosis"]["path"] = [step._asdict() for step in report.diagnosis.path]
    return without_names(json.dumps(facts, indent=2, ensure_ascii=True))


def _checks(checks: list[Check], good: str, bad: str) -> list[str]:
    width = max(len(check.name) for check in checks)
    return [f"{good if c.passed else bad:<5}  {c.name:<{width}}  {c.found}" for c in checks]


def _to_do(report: Report) -> list[str]:
    return [
        f"{'must' if check.must else 'may'}: {check.name}: {check.mend}"
        for check in report.checks
        if check.mend and not check.passed
    ]


def _aligned(rows: Iterable[tuple[str, str]]) -> list[str]:
    rows = list(rows)
    width = max(len(name) for name, _ in rows)
    return [f"{name:<{width}}  {value}" for name, value in rows]


def _driver(driver: Driver) -> str:
    if driver.state == "absent":
        return "no nvidia-smi" + (", though the driver's library loads" if driver.library else "")
    return f"{driver.version or 'version unknown'} ({driver.said or driver.state})"


def _facts(machine: Machine) -> Iterable[tuple[str, str]]:
    build, driver = machine.build, machine.driver
    hints = [word for word, true in (("WSL", machine.wsl), ("container", machine.container)) if true]
    yield "system", ", ".join([machine.system, *hints])
    yield "Python", machine.python or "unknown"
    yield "torch", build.version or "missing"
    yield "torch's build", build.name
    yield "CUDA of the build", build.cuda or "none"
    yield "GPUs of the build", " ".join(build.arch_list) or "none"
    yield "driver", _driver(driver)
    yield "CUDA of the driver", driver.cuda or "unknown"
    yield from ((f"GPU {i}", str(gpu)) for i, gpu in enumerate(build.gpus or driver.gpus))
    yield "CUDA_VISIBLE_DEVICES", "not set" if machine.visible is None else f"“{machine.visible}”"
    yield "TORCHCOURSE_DEVICE", machine.wanted or "not set"
    yield "Apple's GPU (mps)", "there; the course does not use it" if build.mps else "none"
    yield "packages", ", ".join(f"{part.name} {part.version or 'missing'}" for part in machine.parts)
    yield "kernels", ", ".join(machine.kernelspecs) or "none"
    yield "memory", f"{gib(machine.memory_bytes)}, {gib(machine.memory_free_bytes)} free"
    yield "disk", f"{gib(machine.disk_free_bytes)} free"
