"""A profile as rows: read from torch.profiler, from an exported Chrome trace, or from plain data."""

from __future__ import annotations

import gzip
import json
import math
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

LIMIT = 256 * 2**20  # bytes of a trace, unpacked
_SHAPE = "a row is a mapping with name, count, self_cpu_us, and, where known, cpu_us, self_device_us, device_us, kind"
KINDS = ("operator", "kernel", "runtime", "copy", "data", "annotation")


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a profile. Times are microseconds, over all `count` calls; self: without what it called."""

    name: str
    count: int
    self_cpu_us: float
    cpu_us: float
    self_device_us: float
    device_us: float
    kind: str  # "operator" | "kernel" | "copy" (on the device) | "runtime" | "data" | "annotation"

    @property
    def on_device(self) -> bool:
        return self.kind == "kernel" or (self.kind == "copy" and not self.self_cpu_us)


@dataclass(frozen=True, slots=True)
class Rows:
    """All rows, and the span from the first event to the last in microseconds; None where it isn't known."""

    rows: tuple[Row, ...]
    wall_us: float | None


def read(profile: Any) -> Rows:
    """The rows of anything that `diagnose` takes. Raises TypeError or ValueError with a sentence."""
    if isinstance(profile, (str, Path)):
        return _chrome(Path(profile))
    if hasattr(profile, "key_averages") and not isinstance(profile, list):
        return _finished(profile)
    if isinstance(profile, Iterable) and not isinstance(profile, (bytes, dict)):
        items = list(_averages(profile))
        if all(hasattr(one, "self_cpu_time_total") for one in items):
            return Rows(tuple(_averaged(one) for one in items), None)
        return Rows(tuple(_given(one) for one in items), None)
    raise TypeError(
        "diagnose takes a finished torch.profiler.profile, its key_averages(), the path of a trace that "
        f"export_chrome_trace wrote, or a list of rows ({_SHAPE}); got a {type(profile).__name__}."
    )


def _averages(rows: Any) -> Any:
    """The averages of `profile.events()`, which are single events still; anything else as it is."""
    single = (
        isinstance(rows, list)
        and hasattr(rows, "key_averages")
        and any(hasattr(e, "time_range") for e in rows[:1])
    )
    return rows.key_averages() if single else rows


def kind_of(name: str) -> str:
    """What a row is, by its name."""
    if name.startswith("enumerate(DataLoader)"):
        return "data"
    if name.startswith(("ProfilerStep", "Optimizer.", "## ")):
        return "annotation"
    if name.startswith(("Memcpy", "Memset")):
        return "copy"
    if name.startswith(("cuda", "cuLaunch", "cuda_", "hip")) and "::" not in name:
        return "runtime"
    return "operator"


# --- torch.profiler --------------------------------------------------------------------------------------


def _finished(profile: Any) -> Rows:
    try:
        averages = profile.key_averages()
        events = list((profile.events() if hasattr(profile, "events") else profile.function_events) or ())
    except (AssertionError, AttributeError, RuntimeError):
        raise ValueError(
            "This profile has no events: leave its `with` block first, and with a schedule, read it in on_trace_ready."
        ) from None
    ranges = [event.time_range for event in events]
    wall = max(r.end for r in ranges) - min(r.start for r in ranges) if ranges else None
    return Rows(tuple(_averaged(one) for one in averages), wall)


def _averaged(event: Any) -> Row:
    """A FunctionEventAvg. The rows of kernels carry device time; an operator's is that of its kernels again."""
    name, device = str(event.key), getattr(event.device_type, "name", "CPU") != "CPU"
    kind = kind_of(name)
    if getattr(event, "is_user_annotation", False) and kind != "data":
        kind = "annotation"
    if device and kind not in ("annotation", "copy"):
        kind = "kernel"
    cpu, self_cpu = (0.0, 0.0) if device else (event.cpu_time_total, event.self_cpu_time_total)
    return Row(
        name, int(event.count), self_cpu, cpu, event.self_device_time_total, event.device_time_total, kind
    )


# --- plain data ------------------------------------------------------------------------------------------


def _given(row: Any) -> Row:
    if isinstance(row, Row):
        return row
    try:
        name, count, self_cpu = str(row["name"]), int(row["count"]), float(row["self_cpu_us"])
        cpu, device = float(row.get("cpu_us", self_cpu)), float(row.get("self_device_us", 0.0))
        total, kind = (
            float(row.get("device_us", device)),
            str(row.get("kind") or _guess(name, self_cpu, device)),
        )
    except (TypeError, KeyError, ValueError, AttributeError):
        raise ValueError(f"This row can't be read: {str(row)[:80]}; {_SHAPE}.") from None
    if kind not in KINDS:
        raise ValueError(f"The kind of a row is one of {', '.join(KINDS)}; got {kind[:40]!r}.")
    if count < 0 or not all(math.isfinite(t) and t >= 0 for t in (self_cpu, cpu, device, total)):
        raise ValueError(f"Counts and times of a row are 0 or more: {str(row)[:80]}.")
    return Row(name, count, self_cpu, cpu, device, total, kind)


def _guess(name: str, self_cpu: float, device: float) -> str:
    kind = kind_of(name)
    return "kernel" if kind == "operator" and device and not self_cpu else kind


# --- Chrome traces ---------------------------------------------------------------------------------------

_CATEGORIES = {"cpu_op": "operator", "kernel": "kernel", "gpu_memcpy": "copy", "gpu_memset": "copy",
               "cuda_runtime": "runtime", "cuda_driver": "runtime", "user_annotation": "annotation"}  # fmt: skip


def _chrome(path: Path) -> Rows:
    events = [event for event in map(_event, _trace_events(path)) if event is not None]
    if not events:
        raise ValueError(
            f"{path.name} holds no operator and no kernel: export_chrome_trace writes what diagnose reads."
        )
    wall = max(e[1] + e[2] for e in events) - min(e[1] for e in events)
    found: dict[tuple[str, str], list[float]] = defaultdict(lambda: [0, 0.0, 0.0])
    for lane in _lanes(events).values():
        for (name, _, length, kind, _), (own, again) in zip(lane, _self_times(lane), strict=True):
            total = found[name, kind]
            # An operator that calls itself, as `sum` does, counts once: so does torch.profiler.
            total[:] = total[0] + (not again), total[1] + own, total[2] + (0.0 if again else length)
    return Rows(tuple(_summed(name, kind, *total) for (name, kind), total in found.items()), wall)


def _summed(name: str, kind: str, count: float, own: float, total: float) -> Row:
    if kind in ("kernel", "copy"):
        return Row(name, int(count), 0.0, 0.0, own, total, kind)
    return Row(name, int(count), own, total, 0.0, 0.0, kind)


Event = tuple[str, float, float, str, Any]  # name, start, length, kind, lane


def _trace_events(path: Path) -> list[Any]:
    """`traceEvents` of the file; it is data, and nothing in it runs."""
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            text = file.read(LIMIT + 1)
    except (OSError, EOFError, ValueError) as error:
        raise ValueError(f"{path.name} can't be read: {error}.") from None
    if len(text) > LIMIT:
        raise ValueError(f"{path.name} is larger than {LIMIT // 2**20} MiB: profile fewer steps.")
    try:
        events = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path.name} is no JSON: {str(error)[:80]}.") from None
    events = events.get("traceEvents") if isinstance(events, dict) else events
    if not isinstance(events, list):
        raise ValueError(f"{path.name} has no list `traceEvents`: export_chrome_trace writes one.")
    return events


def _event(event: Any) -> Event | None:
    if not isinstance(event, dict) or event.get("ph") != "X":
        return None
    name, start, length = event.get("name"), event.get("ts"), event.get("dur")
    kind = _CATEGORIES.get(str(event.get("cat")).lower())
    if kind is None or not isinstance(name, str) or not _number(start) or not _number(length):
        return None
    if kind in ("operator", "annotation") and kind_of(name) in ("data", "annotation"):
        kind = kind_of(name)
    return name, float(start), max(0.0, float(length)), kind, (str(event.get("pid")), str(event.get("tid")))  # type: ignore[arg-type]


def _number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 1e18


def _lanes(events: list[Event]) -> dict[Any, list[Event]]:
    """Per thread or stream, in order of start, the longer ones first."""
    lanes: dict[Any, list[Event]] = defaultdict(list)
    for event in sorted(events, key=lambda e: (e[1], -e[2])):
        lanes[event[4], event[3] in ("kernel", "copy")].append(event)
    return lanes


def _self_times(lane: list[Event]) -> list[tuple[float, bool]]:
    """Of each event its length without those that lie inside of it; and whether it lies in one of the same name."""
    own, again = [event[2] for event in lane], [False] * len(lane)
    open_: list[int] = []
    for at, (name, start, length, _, _) in enumerate(lane):
        while open_ and lane[open_[-1]][1] + lane[open_[-1]][2] <= start:
            open_.pop()
        if open_:
            own[open_[-1]] = max(0.0, own[open_[-1]] - length)
            again[at] = lane[open_[-1]][0] == name
        open_.append(at)
    return list(zip(own, again, strict=True))
