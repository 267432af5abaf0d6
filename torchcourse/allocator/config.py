"""The settings of the caching allocator, read from the string that PYTORCH_ALLOC_CONF holds.

Mirrors `c10/core/AllocatorConfig.cpp` and `c10/cuda/CUDAAllocatorConfig.cpp` (PyTorch 2.14): the same
keys and limits. Where PyTorch is silent (a key without a value, a list that is not closed, a number
with letters behind it), the model refuses with a sentence.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import isfinite
from typing import Any

from torchcourse.allocator.sizes import INTERVALS, LARGE_SEGMENT, MIB

UNLIMITED = 1 << 63  # larger than any block
_LARGEST_MB = UNLIMITED // MIB


@dataclass(frozen=True)
class AllocConf:
    """What an allocator was told: sizes in bytes, `UNLIMITED` where there is no limit."""

    expandable_segments: bool = False
    max_split_size: int = UNLIMITED
    max_non_split_rounding: int = LARGE_SEGMENT
    large_segment_size: int = LARGE_SEGMENT
    garbage_collection_threshold: float = 0.0
    per_process_memory_fraction: float = 1.0
    roundup_power2_divisions: tuple[int, ...] = ()
    text: str = ""

    def __str__(self) -> str:
        return self.text or "the default settings"


def parse_conf(text: str) -> AllocConf:
    """Read `text` ("key:value,key:value"); a ValueError says in one sentence what is wrong with it."""
    if not isinstance(text, str):
        raise TypeError(f"The configuration is a string such as 'max_split_size_mb:128', not {text!r}.")
    values: dict[str, Any] = {}
    for key, value in _pairs(text):
        if key not in _READERS:
            raise ValueError(f"Unknown key {key!r} in {text!r}. Known keys: {', '.join(sorted(_READERS))}.")
        if key in values:
            raise ValueError(f"The key {key!r} stands twice in {text!r}. Say it once.")
        values[key] = _READERS[key](key, value)
    return _settled(values, text)


def _settled(values: dict[str, Any], text: str) -> AllocConf:
    large = values.get("large_segment_size_mb", LARGE_SEGMENT)
    for key in ("max_split_size_mb", "max_non_split_rounding_mb"):
        if values.get(key, large) < large:
            raise ValueError(f"{key} must be at least the large segment, {large // MIB} MiB, in {text!r}.")
    return AllocConf(
        expandable_segments=values.get("expandable_segments", False),
        max_split_size=values.get("max_split_size_mb", UNLIMITED),
        max_non_split_rounding=values.get("max_non_split_rounding_mb", large),
        large_segment_size=large,
        garbage_collection_threshold=values.get("garbage_collection_threshold", 0.0),
        per_process_memory_fraction=values.get("per_process_memory_fraction", 1.0),
        roundup_power2_divisions=values.get("roundup_power2_divisions", ()),
        text=text,
    )


def _pairs(text: str) -> Iterator[tuple[str, str]]:
    """The pairs of the string; commas inside brackets separate nothing."""
    if text.count("[") != text.count("]"):
        raise ValueError(
            f"A list in {text!r} is not closed. Write roundup_power2_divisions:[256:1,512:2,>:4]."
        )
    for part in _split_outside_brackets(text):
        key, colon, value = (piece.strip() for piece in part.partition(":"))
        if not (key and colon and value):
            raise ValueError(f"{part.strip()!r} in {text!r} is no key:value pair.")
        yield key, value


def _split_outside_brackets(text: str) -> list[str]:
    parts, depth = [""], 0
    for sign in text:
        depth += (sign == "[") - (sign == "]")
        if sign == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += sign
    if parts[-1].strip() == "":  # PyTorch takes a comma behind the last pair
        parts.pop()
    return parts


# --- one reader for each kind of value ------------------------------------------------------------


def _flag(key: str, value: str) -> bool:
    if value not in ("True", "False"):
        raise ValueError(f"{key} is True or False, not {value!r}.")
    return value == "True"


def _never(key: str, value: str) -> bool:
    if _flag(key, value):
        raise ValueError(f"The model does not know what {key}:True changes. Leave the key out.")
    return False


def _whole(key: str, value: str) -> int:
    if not (value.isascii() and value.isdigit() and len(value) < 20):
        raise ValueError(f"{key} needs a whole number of at most 19 digits, not {value!r}.")
    return int(value)


def _megabytes(key: str, value: str) -> int:
    return min(_whole(key, value), _LARGEST_MB) * MIB


def _large_segment(key: str, value: str) -> int:
    size = _megabytes(key, value)
    if size <= 10 * MIB:
        raise ValueError(f"{key} must be more than 10, not {value}.")
    return size


def _number(key: str, value: str) -> float:
    try:
        number = float(value)
    except ValueError:
        number = float("nan")
    if not isfinite(number):
        raise ValueError(f"{key} needs a number, not {value!r}.")
    return number


def _threshold(key: str, value: str) -> float:
    number = _number(key, value)
    if not 0 < number < 1:
        raise ValueError(f"{key} must lie strictly between 0 and 1, not at {value}.")
    return number


def _fraction(key: str, value: str) -> float:
    number = _number(key, value)
    if not 0 <= number <= 1:
        raise ValueError(f"{key} must lie between 0 and 1, not at {value}.")
    return number


def _backend(key: str, value: str) -> str:
    if value != "native":
        raise ValueError(f"The model is of the native backend; {key}:{value} has other rules.")
    return value


def _divisions(key: str, value: str) -> tuple[int, ...]:
    if not value.startswith("["):
        if value == "0":
            raise ValueError(f"{key}:0 is not taken by PyTorch. Leave the key out for no rounding.")
        return (_power_of_two(key, value),) * INTERVALS
    if not value.endswith("]"):
        raise ValueError(f"{key} has something behind its list: {value!r}.")
    return tuple(_interval_list(key, [entry for entry in value[1:-1].split(",") if entry.strip()]))


def _interval_list(key: str, entries: list[str]) -> list[int]:
    """The first boundary also fills all below it, `>` all above the last one, the rest stays 0."""
    filled, last, first = [0] * INTERVALS, 0, True
    for entry in entries:
        boundary, _, steps = (piece.strip() for piece in entry.partition(":"))
        value = _power_of_two(key, steps)
        if boundary == ">":
            filled[last + 1 :] = [value] * (INTERVALS - last - 1)
            continue
        last = _interval(key, boundary)
        below = 0 if first else last
        filled[below : last + 1] = [value] * (last + 1 - below)
        first = False
    return filled


def _interval(key: str, boundary: str) -> int:
    size = _whole(key, boundary)
    if size == 0 or size & (size - 1):
        raise ValueError(f"A boundary of {key} is a power of two in MiB, not {boundary}.")
    return min(size.bit_length() - 1, INTERVALS - 1)


def _power_of_two(key: str, value: str) -> int:
    number = _whole(key, value)
    if number & (number - 1):
        raise ValueError(f"{key} takes a power of two, or 0 for no rounding, not {value}.")
    return number


# Keys of the pinned host allocator and of locking change nothing on the device: read, then left aside.
_READERS: dict[str, Callable[[str, str], Any]] = {
    "backend": _backend,
    "expandable_segments": _flag,
    "garbage_collection_threshold": _threshold,
    "graph_capture_record_stream_reuse": _flag,
    "large_segment_size_mb": _large_segment,
    "max_non_split_rounding_mb": _megabytes,
    "max_split_size_mb": _megabytes,
    "per_process_memory_fraction": _fraction,
    "pinned_free_catch_all": _flag,
    "pinned_max_cached_size_mb": _whole,
    "pinned_max_round_threshold_mb": _whole,
    "pinned_num_register_threads": _whole,
    "pinned_reserve_segment_size_mb": _whole,
    "pinned_use_background_threads": _flag,
    "pinned_use_cuda_host_register": _flag,
    "release_lock_on_cudamalloc": _flag,
    "roundup_power2_divisions": _divisions,
    "throw_on_cudamalloc_oom": _never,
}
