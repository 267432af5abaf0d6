"""One sentence when the last kernel of this notebook vanished: that it did, in which cell, most likely why.

JupyterLab starts a kernel that died again, under the same connection file, and says that it died, not why.
A small file beside the connection file is there while a kernel lives. A shutdown, a restart or an exit
takes it away; a kernel that the system killed cannot, so the next one finds it. Only Jupyter's runtime
folder is written to.
"""

import atexit
import json
import os
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_SUFFIX = ".torchcourse"
_LIMITS = ("memory.max", "memory.limit_in_bytes")  # cgroup v2, v1
_COUNTS = ("memory.events", "memory.oom_control")
_LARGEST = 2**50  # bytes; a cgroup's "no limit" is a larger number, or the word max
# A kernel inside of native code hears of no restart: it is killed after a while, and leaves its mark.
_SILENT = "memory runs out, native code crashes, or a restart finds the kernel too busy to answer"
_watched: set[Path] = set()  # marks of this process


def watch(shell: Any) -> None:
    """Say what became of the last kernel, if it vanished, and leave the mark for the next one. Never raises."""
    file = _connection_file(shell)
    if file is None:
        return
    mark = file.with_suffix(_SUFFIX)
    if mark in _watched:
        return
    _watched.add(mark)
    try:
        _sweep(file.parent)
        before = _read(mark)
        if before is not None:
            print(_sentence(before, _number(counter(), "oom_kill") or 0, limit()), file=sys.stderr)
        _stay(shell, mark)
    except OSError:  # no room, no right: then nothing is told, and nothing breaks
        return


def counter(groups: tuple[Path, ...] | None = None) -> Path:
    """Where Linux counts the processes that it killed for memory: in this control group, else on this machine."""
    for folder in _groups() if groups is None else groups:
        for name in _COUNTS:
            if _number(folder / name, "oom_kill") is not None:
                return folder / name
    return Path("/proc/vmstat")


def limit(groups: tuple[Path, ...] | None = None) -> int | None:
    """The memory in bytes that a hub (MEM_LIMIT) or the control group allows, or None."""
    told = os.environ.get("MEM_LIMIT", "")
    found = [int(told)] if told.isdigit() else []
    for folder in _groups() if groups is None else groups:
        found += [number for name in _LIMITS if (number := _number(folder / name)) is not None]
    found = [number for number in found if 0 < number < _LARGEST]
    return min(found) if found else None


def _sentence(before: dict[str, Any], kills_now: int, allowed: int | None) -> str:
    """What the learner reads."""
    at = f" in the cell `{before['cell']}`" if before.get("cell") else ""
    most = f" (limit {allowed / 2**30:.1f} GiB)" if allowed else ""
    ended, why = "ended without a word", f", as when {_SILENT}"
    kills = before.get("kills")
    if isinstance(kills, int) and kills_now > kills:
        ended, why = "was most likely ended by the system", f" for lack of memory{most}"
    return f"The last kernel of this notebook {ended}{at}{why}: its variables are gone, run the cells from the top."


def _stay(shell: Any, mark: Path) -> None:
    """Keeps the mark up to date at each cell, and takes it away at every orderly end."""
    here = _Mark(mark, counter(), os.getpid())
    here.note()
    atexit.register(here.forget)
    shell.events.register("pre_run_cell", here.note)
    shell.events.register("post_run_cell", here.clear)
    shutdown = shell.kernel.do_shutdown

    def do_shutdown(restart: bool) -> Any:  # asked for; a busy kernel may still be killed after it
        here.forget()
        return shutdown(restart)

    shell.kernel.do_shutdown = do_shutdown


@dataclass
class _Mark:
    file: Path
    counter: Path
    process: int  # a forked child ends too, and the kernel lives on
    ending: bool = False

    def note(self, info: Any = None) -> None:
        """Which cell runs now, and how many kills there were before it."""
        if not self.ending:
            content = {"kills": _number(self.counter, "oom_kill") or 0, "cell": _begins(info)}
            with suppress(OSError):
                self.file.write_text(json.dumps(content), encoding="utf-8")

    def clear(self, _: Any) -> None:
        self.note()

    def forget(self) -> None:
        if os.getpid() == self.process:
            self.ending = True
            with suppress(OSError):
                self.file.unlink(missing_ok=True)


def _begins(info: Any) -> str:
    """How a cell begins: its first line, cut to a length that a sentence bears; "" without a cell."""
    lines = str(getattr(info, "raw_cell", "")).strip().splitlines() or [""]
    return lines[0] if len(lines) == 1 and len(lines[0]) <= 60 else f"{lines[0][:60].rstrip()} …"


def _sweep(folder: Path) -> None:
    """Takes away the marks of kernels whose connection file is gone: nothing will start under it again."""
    for mark in folder.glob(f"kernel-*{_SUFFIX}"):
        if not mark.with_suffix(".json").exists():
            mark.unlink(missing_ok=True)


def _connection_file(shell: Any) -> Path | None:
    """The connection file of a kernel that a Jupyter server looks after (only those come back), or None."""
    name = getattr(getattr(getattr(shell, "kernel", None), "parent", None), "abs_connection_file", None)
    file = Path(name) if isinstance(name, str) else Path()
    return file if file.match("kernel-*.json") and file.is_file() else None


def _groups() -> tuple[Path, ...]:
    """The folders that may hold this process's memory control group: its own, and a container's root."""
    try:
        lines = Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines()
    except OSError:
        return ()
    found = []
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controllers in ("", "memory"):
            root = Path("/sys/fs/cgroup") / controllers
            found += [root / path.lstrip("/"), root]
    return tuple(dict.fromkeys(found))


def _number(file: Path, key: str = "") -> int | None:
    """The number that a file holds, alone or after `key`."""
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except OSError:
        return None
    words = [line.split() for line in lines]
    values = [word[-1] for word in words if word and (not key or word[0] == key)]
    return int(values[0]) if values and values[0].isdigit() else None


def _read(mark: Path) -> dict[str, Any] | None:
    """What the last kernel left, {} where it was cut off in the middle of writing, None without a mark."""
    try:
        content = json.loads(mark.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}
