"""A profile of torch.profiler, read into the same lanes that the model gives.

The format is the Chrome trace that `export_chrome_trace` writes (`torch/csrc/profiler`, libkineto's
`output_json.cpp`): complete events ("ph": "X") in microseconds; a call of the CUDA runtime and what it put into a
stream carry the same `correlation`.
"""

from __future__ import annotations

import gzip
import json
import os
import tempfile
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any

from torchcourse.devices.running import clean

from .lanes import HOST, Interval, Lanes

LARGEST = 200 * 2**20  # bytes of a trace file: a longer profile is better looked at in a trace viewer
MOST = 400  # operators that a picture can show

_GPU = {"kernel": "kernel", "gpu_memcpy": "copy", "gpu_memset": "kernel"}
_CALLS = ("cuda_runtime", "cuda_driver")
_LAUNCHES = ("Launch", "Memcpy", "Memset")
_WAITS = ("Synchronize",)


def read_profile(profile: Any, *, title: str = "A profile", at_most: int = MOST) -> Lanes:
    """Lanes of a finished `torch.profiler.profile`, or of a trace file (`.json`, `.json.gz`), or of its dict.

    Only the first `at_most` operators are kept; `.cut` says so. TypeError: none of the three. ValueError: a file
    that holds no trace, or that is larger than 200 MiB.
    """
    events = [event for entry in _entries(profile) if (event := _event(entry))]
    if not events:
        return Lanes(title, "profile", (), (), cut="The profile holds no operator and no kernel.")
    lines = _Lines([event for event in events if event.category == "cpu_op"], at_most)
    names = tuple(op.name for op in lines.events)
    return Lanes(title, "profile", names, tuple(_intervals(events, lines)), cut=lines.cut)


def _entries(profile: Any) -> list[Any]:
    if isinstance(profile, str | os.PathLike):
        trace = _load(Path(profile))
    elif isinstance(profile, Mapping):
        trace = profile
    elif hasattr(profile, "export_chrome_trace"):
        trace = _exported(profile)
    else:
        raise TypeError(
            f"read_profile takes a finished torch.profiler.profile, a trace file or its dict; "
            f"got {type(profile).__name__}."
        )
    entries = trace.get("traceEvents") if isinstance(trace, Mapping) else trace
    if not isinstance(entries, list):
        raise ValueError("this is no trace: it has no list called 'traceEvents'.")
    return entries


def _exported(profile: Any) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "trace.json")
        try:
            profile.export_chrome_trace(str(path))
        except (AssertionError, AttributeError, RuntimeError):
            raise ValueError("this profile can't be written yet; leave its `with` block first.") from None
        return _load(path)


def _load(path: Path) -> Any:
    try:
        data = path.read_bytes() if path.stat().st_size <= LARGEST else None
        if data is not None and data[:2] == b"\x1f\x8b":
            with gzip.open(path) as packed:
                data = packed.read(LARGEST + 1)
        if data is None or len(data) > LARGEST:
            raise ValueError(f"{path.name} is larger than {LARGEST // 2**20} MiB; profile fewer steps.")
        return json.loads(data)
    except (OSError, EOFError, UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise ValueError(
            f"{path.name} can't be read as a trace: {str(error) or type(error).__name__}."
        ) from None


@dataclass(frozen=True)
class _Event:
    category: str
    name: str
    start: float
    end: float
    lane: str
    correlation: int | None


def _event(entry: Any) -> _Event | None:
    """A complete event of a kind that is drawn, or None; nonsense is passed over."""
    if not isinstance(entry, Mapping) or entry.get("ph") != "X":
        return None
    args, times = entry.get("args", {}), _times(entry)
    known = entry.get("cat") in ("cpu_op", *_CALLS, *_GPU)
    if times is None or not known or not isinstance(args, Mapping):
        return None
    category, number = str(entry["cat"]), args.get("correlation")
    stream = args.get("stream", entry.get("tid"))
    lane = f"stream {stream}" if category in _GPU else f"thread {entry.get('tid')}"
    name = clean(str(entry.get("name", "?"))).replace("\n", " ") or "?"
    return _Event(category, name, *times, clean(lane), number if isinstance(number, int) else None)


def _times(entry: Mapping[str, Any]) -> tuple[float, float] | None:
    """Beginning and end in µs; None where they are no numbers."""
    try:
        start, us = float(entry["ts"]), float(entry.get("dur", 0))
    except (KeyError, TypeError, ValueError):
        return None
    return (start, start + us) if isfinite(start) and isfinite(us) and us >= 0 else None


class _Lines:
    """The outermost operators, in order of start: what lines of Python called."""

    def __init__(self, operators: list[_Event], at_most: int) -> None:
        found: list[_Event] = []
        open_until: dict[str, float] = {}
        for event in sorted(operators, key=lambda e: (e.start, -e.end)):
            if event.start >= open_until.get(event.lane, float("-inf")):
                found.append(event)
                open_until[event.lane] = event.end
        self.events = found[:at_most]
        self.cut = (
            f"The first {at_most:,} of {len(found):,} operators are shown." if len(found) > at_most else ""
        )
        self.threads = _thread_names(self.events)
        self._of_lane: dict[str, list[tuple[float, int]]] = {lane: [] for lane in self.threads}
        for number, event in enumerate(self.events):
            self._of_lane[event.lane].append((event.start, number))

    def of(self, call: _Event) -> int:
        """The number of the operator that made this call, or -1."""
        own = self._of_lane.get(call.lane, [])
        place = bisect_right(own, (call.start, len(self.events))) - 1
        number = own[place][1] if place >= 0 else -1
        return number if number >= 0 and call.end <= self.events[number].end else -1


def _thread_names(lines: list[_Event]) -> dict[str, str]:
    """The first thread is the host; backward runs on a second one."""
    lanes = dict.fromkeys(op.lane for op in lines)
    return {lane: HOST if k == 0 else f"{HOST} {k + 1}" for k, lane in enumerate(lanes)}


def _intervals(events: list[_Event], lines: _Lines) -> Iterator[Interval]:
    zero = min((e.start for e in lines.events), default=min(e.start for e in events))
    for number, op in enumerate(lines.events):
        lane = lines.threads[op.lane]
        yield Interval(lane, "python", _short(op.name), op.start - zero, op.end - zero, number)
    calls = {e.correlation: e for e in events if e.category in _CALLS and e.correlation is not None}
    for event in events:
        if event.category in _CALLS:
            yield from _call(event, lines, zero)
        elif event.category in _GPU:
            yield from _work(event, calls.get(event.correlation or -1), lines, zero)


def _call(event: _Event, lines: _Lines, zero: float) -> Iterator[Interval]:
    """A launch inside of an operator; a wait may stand by itself, as torch.cuda.synchronize() does."""
    waits = any(word in event.name for word in _WAITS)
    step = lines.of(event)
    alone = waits and not lines.cut and event.start >= zero
    if event.lane in lines.threads and (step >= 0 or alone) and (waits or _launches(event)):
        kind = "wait" if waits else "launch"
        lane = lines.threads[event.lane]
        yield Interval(lane, kind, event.name, event.start - zero, event.end - zero, step)


def _launches(event: _Event) -> bool:
    return any(word in event.name for word in _LAUNCHES)


def _work(event: _Event, call: _Event | None, lines: _Lines, zero: float) -> Iterator[Interval]:
    """What a stream did. Where operators are known, only work that one of them launched."""
    step = lines.of(call) if call else -1
    if step >= 0 or not lines.events:
        start, queued = event.start - zero, (call.end if call else event.start) - zero
        kind, label = _GPU[event.category], _short(event.name)
        yield Interval(event.lane, kind, label, start, event.end - zero, step, min(queued, start))


def _short(name: str) -> str:
    """A kernel's C++ name without its template and arguments; an operator's without aten::."""
    bare = name.split("<")[0].split("(")[0].removeprefix("void ").strip()
    return bare.split("::")[-1] or name
