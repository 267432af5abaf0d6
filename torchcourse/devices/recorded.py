"""Machines that were written down: what `diagnose` makes of other people's computers."""

from __future__ import annotations

import tomllib
from importlib.resources import files
from typing import Any

from .facts import GPU, Build, Driver, Machine

_FILE = "machines.toml"


def recorded_machines() -> dict[str, Machine]:
    """Name -> facts, for the machines of `machines.toml` beside this file, in its order."""
    data = _data()
    return {entry["name"]: _machine(entry, data["build"]) for entry in data["machine"]}


def recorded_kinds() -> dict[str, str]:
    """Name -> the kind that `diagnose` must give it."""
    return {entry["name"]: entry["kind"] for entry in _data()["machine"]}


def _data() -> dict[str, Any]:
    return tomllib.loads(files(__package__).joinpath(_FILE).read_text(encoding="utf-8"))


def _machine(entry: dict[str, Any], builds: dict[str, Any]) -> Machine:
    gpus = (_gpu(entry["gpu"]),) if "gpu" in entry else ()
    build = builds[entry["build"]] | entry.get("torch", {})
    seen = gpus if build.get("available") else ()
    return Machine(
        build=Build(**{**build, "arch_list": tuple(build.get("arch_list", ())), "gpus": seen}),
        driver=Driver(**entry["driver"], gpus=gpus),
        system=entry.get("system", "Linux 6.8"),
        wsl=entry.get("wsl", False),
        container=entry.get("container", False),
        visible=entry.get("visible"),
    )


def _gpu(facts: dict[str, Any]) -> GPU:
    major, minor = facts["capability"]
    return GPU(facts["name"], facts["memory_bytes"], (major, minor))
