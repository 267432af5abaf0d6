"""The recorded machines of tests/data/doctor/cases.toml, made into facts the way the doctor makes them."""

import json
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from torchcourse.devices import Machine
from torchcourse.devices.build import read_build
from torchcourse.devices.driver import read_driver
from torchcourse.devices.running import Answer, Run

FOLDER = Path(__file__).parents[1] / "data" / "doctor"
RECORDED: dict[str, Any] = tomllib.loads((FOLDER / "cases.toml").read_text(encoding="utf-8"))
CASES: list[dict[str, Any]] = RECORDED["case"]

_RAISED = {
    "missing": FileNotFoundError(2, "No such file or directory"),
    "permission": PermissionError(13, "Permission denied"),
    "timeout": TimeoutError("nvidia-smi gave no answer in 30 s"),
    "format": OSError(8, "Exec format error"),
}


def smi_text(name: str) -> str:
    """The recorded text, decoded as `running.run` decodes it."""
    return (FOLDER / f"{name}.txt").read_bytes().decode("utf-8", "replace")


def recorded_run(case: dict[str, Any]) -> Run:
    """A stand-in for `running.run`: answers as the recorded machine did."""

    def run(command: Sequence[str], seconds: float) -> Answer:
        if "torchcourse.devices.build" in command[-1]:
            return Answer(0, "a line that torch prints\n" + json.dumps(torch_facts(case)) + "\n")
        if case.get("raises"):
            raise _RAISED[case["raises"]]
        if len(command) == 1:
            return Answer(case.get("status", 0), smi_text(case["smi"]))
        if "query" in case:
            return Answer(0, case["query"] + "\n")
        return Answer(2, 'Field "compute_cap" is not a valid field to query.\n')

    return run


def torch_facts(case: dict[str, Any]) -> dict[str, Any]:
    return RECORDED["build"][case["build"]] | case.get("torch", {})


def machine(case: dict[str, Any]) -> Machine:
    """The facts of a recorded machine."""
    run = recorded_run(case)
    build = read_build(run)
    return Machine(
        build=build,
        driver=read_driver(run, case.get("library", True)),
        system=case.get("system", "Linux 6.8"),
        wsl=case.get("wsl", False),
        container=case.get("container", False),
        visible=case.get("visible"),
        wanted=case.get("wanted"),
    )
