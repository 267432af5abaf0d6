"""A snapshot as typed data: what `replay` reads of it, checked field by field."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from torchcourse.allocator.config import UNLIMITED, AllocConf, parse_conf
from torchcourse.allocator.sizes import INTERVALS
from torchcourse.allocator.unpickle import SnapshotError

_LARGEST = 1 << 62  # addresses and sizes lie below
GIVES_BACK = ("segment_free", "segment_unmap")
GETS = ("segment_alloc", "segment_map")
SILENT = ("snapshot", "annotate", "user_defined")  # entries that change nothing
ACTIONS = (
    "alloc", "free_requested", "free_completed", "segment_alloc", "segment_free", "segment_map", "segment_unmap",
    "oom", *SILENT,
)  # fmt: skip


class RecordedEntry(NamedTuple):
    """One entry of a recorded trace; `addr` is the driver's free bytes where `action` is "oom"."""

    action: str
    addr: int
    size: int
    stream: int


class RecordedBlock(NamedTuple):
    """One block of a recorded segment."""

    address: int
    size: int
    requested: int
    state: str


@dataclass(frozen=True)
class RecordedSegment:
    """One segment of the final layout."""

    address: int
    size: int
    stream: int
    is_small: bool
    is_expandable: bool
    blocks: tuple[RecordedBlock, ...]


@dataclass(frozen=True)
class Record:
    """One device of a snapshot. `tie`: the rule that the version which wrote it had, as far as its keys tell."""

    entries: tuple[RecordedEntry, ...]
    segments: tuple[RecordedSegment, ...]
    conf: AllocConf
    tie: str


def read_record(snapshot: Any, device: int = 0) -> Record:
    """Check and read one device; SnapshotError names the field that is missing or mistyped."""
    _need(isinstance(snapshot, dict), "A snapshot is a dictionary", snapshot)
    traces = _list(snapshot, "device_traces", "The snapshot")
    if isinstance(device, bool) or not isinstance(device, int) or not 0 <= device < max(len(traces), 1):
        raise SnapshotError(
            f"The snapshot has {len(traces)} devices, counted from 0; there is no {device!r}."
        )
    trace = traces[device] if traces else []
    _need(isinstance(trace, list), f"The trace of device {device} is a list", trace)
    segments = list(_segments(_list(snapshot, "segments", "The snapshot"), device))
    conf = _conf(snapshot.get("allocator_settings"))
    has_pools = bool(trace) and isinstance(trace[0], dict) and "pool_id" in trace[0]
    entries = tuple(_entry(entry, f"Entry {number} of the trace") for number, entry in enumerate(trace))
    if any(segment.is_expandable for segment in segments) or any(e.action == "segment_map" for e in entries):
        conf = replace(conf, expandable_segments=True)
    return Record(entries, tuple(segments), conf, "segment" if has_pools else "address")


def _entry(entry: Any, where: str) -> RecordedEntry:
    _need(isinstance(entry, dict), f"{where} is a dictionary", entry)
    action = entry.get("action")
    _need(isinstance(action, str), f"{where}: action is a string", action)
    if action not in ACTIONS:
        raise SnapshotError(
            f"{where} has the action {action[:80]!r}, which PyTorch's CUDA allocator does not record. "
            f"The snapshot is of another backend or of a version that the model does not know."
        )
    if action in SILENT:
        return RecordedEntry(action, 0, 0, 0)
    address = _number(entry, "device_free" if action == "oom" and "addr" not in entry else "addr", where)
    return RecordedEntry(action, address, _number(entry, "size", where), _stream(entry, where))


def _segments(segments: list[Any], device: int) -> Iterator[RecordedSegment]:
    lists: set[int] = set()
    for number, segment in enumerate(segments):
        where = f"Segment {number}"
        _need(isinstance(segment, dict), f"{where} is a dictionary", segment)
        if _number(segment, "device", where) != device:
            continue
        blocks = _list(segment, "blocks", where)
        if id(blocks) in lists:
            raise SnapshotError(f"{where} shares its list of blocks with another segment.")
        lists.add(id(blocks))
        kind = segment.get("segment_type")
        _need(kind in ("small", "large"), f"{where}: segment_type is 'small' or 'large'", kind)
        address = _number(segment, "address", where)
        yield RecordedSegment(
            address=address,
            size=_number(segment, "total_size", where),
            stream=_stream(segment, where),
            is_small=kind == "small",
            is_expandable=segment.get("is_expandable") is True,
            blocks=tuple(_blocks(blocks, address, where)),
        )


def _blocks(blocks: list[Any], address: int, where: str) -> Iterator[RecordedBlock]:
    for number, block in enumerate(blocks):
        what = f"Block {number} of {where.lower()}"
        _need(isinstance(block, dict), f"{what} is a dictionary", block)
        size = _number(block, "size", what)
        requested = _number(block, "requested_size", what) if "requested_size" in block else 0
        state = block.get("state")
        _need(isinstance(state, str), f"{what}: state is a string", state)
        yield RecordedBlock(address, size, requested, state)
        address += size


def _conf(found: Any) -> AllocConf:
    """The settings, where the snapshot holds them (since early 2024)."""
    if not isinstance(found, dict):
        return AllocConf()
    try:
        conf = parse_conf(found.get("PYTORCH_CUDA_ALLOC_CONF", ""))
    except (TypeError, ValueError):
        conf = AllocConf()
    limit = found.get("max_split_size", -1)
    if type(limit) is int:
        conf = replace(conf, max_split_size=limit if 0 < limit < UNLIMITED else UNLIMITED)
    if isinstance(found.get("expandable_segments"), bool):
        conf = replace(conf, expandable_segments=found["expandable_segments"])
    steps = _divisions(found.get("roundup_power2_divisions"))
    return replace(conf, roundup_power2_divisions=steps) if any(steps) else conf


def _divisions(found: Any) -> tuple[int, ...]:
    """The 16 divisions; none where they are not as PyTorch writes them: {"1": 4, "2": 4, …, "32768": 4}."""
    if not isinstance(found, dict):
        return ()
    steps = [found.get(str(1 << power)) for power in range(INTERVALS)]
    powers = [step for step in steps if type(step) is int and 0 <= step < _LARGEST and not step & (step - 1)]
    return tuple(powers) if len(powers) == INTERVALS else ()


# --- fields ---------------------------------------------------------------------------------------


def _need(holds: bool, what: str, found: object) -> None:
    if not holds:
        found = found[:80] if isinstance(found, str) else found
        plain = isinstance(found, str | int | float | None)
        shown = repr(found) if plain else f"a {type(found).__name__}"
        raise SnapshotError(f"{what}, not {shown}.")


def _list(holder: dict[str, Any], key: str, where: str) -> list[Any]:
    if key not in holder:
        raise SnapshotError(f"{where} has no {key!r}.")
    _need(isinstance(holder[key], list), f"{where}: {key} is a list", holder[key])
    found: list[Any] = holder[key]
    return found


def _number(holder: dict[str, Any], key: str, where: str) -> int:
    if key not in holder:
        raise SnapshotError(f"{where} has no {key!r}.")
    value = holder[key]
    fits = type(value) is int and 0 <= value < _LARGEST
    _need(fits, f"{where}: {key} is a whole number from 0 to 2**62", value)
    return int(value)


def _stream(holder: dict[str, Any], where: str) -> int:
    value = holder.get("stream", 0)
    _need(type(value) is int and abs(value) < _LARGEST, f"{where}: stream is a whole number", value)
    return int(value)
