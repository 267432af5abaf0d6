"""What the processes of a class hold in memory, and the processor time they used."""

import re
import threading
from collections import defaultdict
from dataclasses import dataclass, fields
from pathlib import Path

import psutil

STEP = 2.0  # seconds between two looks; a shorter peak is seen only in `resident`
Part = tuple[str, str]  # a learner's name and "server" or "kernel"; ("", "hub") is the hub with its proxy


@dataclass(frozen=True)
class Memory:
    """Bytes. own: nobody else has them (USS). shared: this one's part of what several have (PSS - USS).

    resident: all pages that are in memory for it, its own and shared ones (RSS), at the highest.
    """

    own: int = 0
    shared: int = 0
    resident: int = 0

    def __add__(self, other: "Memory") -> "Memory":
        return Memory(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(Memory)))

    def highest(self, other: "Memory") -> "Memory":
        return Memory(*(max(getattr(self, f.name), getattr(other, f.name)) for f in fields(Memory)))


class Watch:
    """Looks at all processes under the hub from a thread, every STEP seconds, until it is left."""

    def __init__(self, hub: int) -> None:
        self._hub = psutil.Process(hub)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._go, daemon=True)
        self.peak: dict[Part, Memory] = defaultdict(Memory)
        self.now: dict[Part, Memory] = {}
        self.together = 0  # the highest sum over all processes: each page counted once

    def __enter__(self) -> "Watch":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def look(self) -> None:
        now = {part: _sum(processes) for part, processes in parts(self._hub).items()}
        for part, memory in now.items():
            self.peak[part] = self.peak[part].highest(memory)
        self.now, self.together = now, max(self.together, sum(m.own + m.shared for m in now.values()))

    def _go(self) -> None:
        while not self._stop.wait(STEP):
            self.look()


def parts(hub: psutil.Process) -> dict[Part, list[psutil.Process]]:
    """Every process under the hub with the part that it belongs to. What a kernel starts is the kernel's."""
    found: dict[Part, list[psutil.Process]] = {("", "hub"): [hub]}
    for child in _children(hub):
        name = _user(child)
        if name is None:
            found["", "hub"] += [child, *_children(child, recursive=True)]
            continue
        found[name, "server"] = [child]
        found[name, "kernel"] = _children(child, recursive=True)
    return found


def processor_seconds(hub: int, name: str | None = None) -> float:
    """Seconds of one core that a learner's processes used so far, ended children included; None: all."""
    found = parts(psutil.Process(hub))
    return sum(
        _seconds(process) for (who, _), each in found.items() if name in (who, None) for process in each
    )


def _sum(processes: list[psutil.Process]) -> Memory:
    total = Memory()
    for process in processes:
        try:
            seen = process.memory_full_info()
        except (psutil.Error, OSError):  # it has just ended
            continue
        shared = getattr(seen, "pss", seen.uss) - seen.uss  # only Linux knows pss
        total += Memory(seen.uss, shared, max(seen.rss, _highest_resident(process.pid)))
    return total


def _highest_resident(pid: int) -> int:
    """What Linux remembers as the most that was ever resident, in bytes; 0 elsewhere."""
    try:
        found = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    except OSError:
        return 0
    return int(found[1]) * 1024 if found else 0


def _children(process: psutil.Process, recursive: bool = False) -> list[psutil.Process]:
    try:
        return process.children(recursive)
    except psutil.Error:
        return []


def _user(process: psutil.Process) -> str | None:
    try:
        return process.environ().get("JUPYTERHUB_USER")
    except (psutil.Error, OSError):
        return None


def _seconds(process: psutil.Process) -> float:
    try:
        times = process.cpu_times()
    except psutil.Error:
        return 0.0
    return times.user + times.system + times.children_user + times.children_system
