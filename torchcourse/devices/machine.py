"""Reading the machine: every fact that the doctor prints. Nothing here needs a torch that works."""

from __future__ import annotations

import os
import platform
import shutil
import sys
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from .build import read_build
from .driver import library_loads, read_driver
from .facts import Build, Machine, Part
from .running import Run, run, telling_line

# Packages whose versions the doctor compares with what the course asks for, and those it only mentions.
PARTS = (
    "torchcourse",
    "jupyterlab",
    "ipykernel",
    "anywidget",
    "ipywidgets",
    "numpy",
    "matplotlib",
    "graphviz",
)
IMPORTED = ("pygraphviz",)  # compiled: installed does not mean that it loads

_BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")


def read_machine(run: Run = run, build: Build | None = None) -> Machine:
    """Gather the facts. `run` starts nvidia-smi, and a Python that tells about its torch.

    Given a `build`, torch is not asked again: the kernel knows its own.
    """
    total, free = _memory()
    return Machine(
        build=build if build is not None else read_build(run),
        driver=read_driver(run, library_loads()),
        system=_system(),
        python=platform.python_version(),
        wsl=_is_wsl(),
        container=_is_container(),
        visible=os.environ.get("CUDA_VISIBLE_DEVICES"),
        wanted=os.environ.get("TORCHCOURSE_DEVICE"),
        parts=(*map(_part, PARTS), *map(_imported, IMPORTED)),
        kernelspecs=_kernelspecs(),
        browser=next((name for name in _BROWSERS if shutil.which(name)), None),
        memory_bytes=total,
        memory_free_bytes=free,
        disk_free_bytes=_disk_free(),
    )


def _system() -> str:
    if sys.platform == "darwin":
        return f"macOS {platform.mac_ver()[0]} ({platform.machine()})"
    return f"{platform.system()} {platform.release()} ({platform.machine()})"


def _is_wsl() -> bool:
    return "microsoft" in platform.release().lower() or os.path.exists("/usr/lib/wsl/lib")


def _is_container() -> bool:
    return any(os.path.exists(mark) for mark in ("/.dockerenv", "/run/.containerenv"))


def _part(name: str) -> Part:
    try:
        return Part(name, version(name))
    except PackageNotFoundError:
        return Part(name)


def _imported(name: str) -> Part:
    part = _part(name)
    try:
        import_module(name)
    except Exception as error:  # a compiled package may fail in any way; the doctor says how
        return Part(name, part.version, telling_line(str(error)) if part.version else "")
    return part


def _kernelspecs() -> tuple[str, ...]:
    """The kernels of the course that Jupyter finds."""
    try:
        from jupyter_client.kernelspec import KernelSpecManager

        found = set(KernelSpecManager().find_kernel_specs())
    except Exception:  # Jupyter is missing or broken: what lies in this environment still counts
        folder = Path(sys.prefix, "share", "jupyter", "kernels")
        found = {spec.parent.name for spec in folder.glob("*/kernel.json")}
    return tuple(sorted(name for name in found if name.startswith("torchcourse-")))


def _memory() -> tuple[int | None, int | None]:
    """Memory in bytes, whole and free; a container's limit counts where it is lower."""
    try:
        psutil = import_module("psutil")  # comes with ipykernel
    except ImportError:
        return None, None
    memory = psutil.virtual_memory()
    limit = _container_limit() or memory.total
    return min(memory.total, limit), min(memory.available, limit)


def _container_limit() -> int | None:
    for place in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        try:
            text = Path(place).read_text().strip()
        except OSError:
            continue
        return int(text) if text.isdecimal() else None
    return None


def _disk_free() -> int | None:
    try:
        return shutil.disk_usage(os.getcwd()).free
    except OSError:
        return None
