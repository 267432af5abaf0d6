"""The out-of-memory error: PyTorch's own text with every number in it, and the numbers back out of a text."""

from __future__ import annotations

import re
from dataclasses import dataclass

from torchcourse.allocator.sizes import GIB, KIB, MIB, format_size

_DOCUMENTATION = "https://pytorch.org/docs/stable/notes/cuda.html#environment-variables"
_ADVICE = (
    "If reserved but unallocated memory is large try setting PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True "
    f"to avoid fragmentation.  See documentation for Memory Management  ({_DOCUMENTATION})"
)


class OutOfMemoryError(RuntimeError):
    """The request fits neither a cached block nor the card. A RuntimeError, as `torch.OutOfMemoryError` is."""


def oom_message(
    *, tried: int, total: int, free: int, allowed: int | None, allocated: int, reserved: int, device: int = 0
) -> str:
    """The text of `torch.OutOfMemoryError` (sizes in bytes), less its sentences about processes.

    `tried` is the size of the segment that was refused, not of the request. `free`, `allocated` and
    `reserved` are the values after the cache was given back.
    """
    limit = f"{format_size(allowed)} allowed; " if allowed is not None else ""
    return (
        f"CUDA out of memory. Tried to allocate {format_size(tried)}. GPU {device} has a total capacity of "
        f"{format_size(total)} of which {format_size(free)} is free. {limit}"
        f"Of the allocated memory {format_size(allocated)} is allocated by PyTorch, "
        f"and {format_size(reserved - allocated)} is reserved by PyTorch but unallocated. {_ADVICE}"
    )


# --- and back: the numbers of a message -----------------------------------------------------------

_SIZE = r"([\d.]+) (bytes|KiB|MiB|GiB)"
_UNITS = {"bytes": 1, "KiB": KIB, "MiB": MIB, "GiB": GIB}
# Each number of the message: since PyTorch 2.1 ("capacty" until 2.1), and the short form before it.
_NUMBERS = {
    "tried": (rf"Tried to allocate {_SIZE}",),
    "total": (rf"has a total capaci?ty of {_SIZE}", rf"{_SIZE} total capacity"),
    "free": (rf"of which {_SIZE} is free", rf"; {_SIZE} free"),
    "this_process": (rf"this process has {_SIZE} memory in use",),
    "allowed": (rf"{_SIZE} allowed",),
    "allocated": (rf"memory {_SIZE} is allocated by PyTorch", rf"{_SIZE} already allocated"),
    "private_pools": (rf"with {_SIZE} allocated in private pools",),
    "cached": (rf"and {_SIZE} is reserved by PyTorch but unallocated",),
    "reserved": (rf"{_SIZE} (?:reserved in total|cached)",),
}


@dataclass(frozen=True)
class OutOfMemoryNumbers:
    """The numbers of an out-of-memory message in bytes, as exact as it prints them; None: it has no such number.

    `tried`: the refused segment. `free`: what the driver had after the cache went back. `allocated`: blocks in
    use. `cached`: reserved, not in use. `others`: what other processes hold.
    """

    device: int | None
    tried: int
    total: int | None
    free: int | None
    this_process: int | None
    others: int | None
    allowed: int | None
    allocated: int | None
    private_pools: int | None
    cached: int | None

    @property
    def cause(self) -> str:
        """The probable cause, in a sentence."""
        return _cause(self)

    def __str__(self) -> str:
        shown = [
            f"{name} {format_size(value)}"
            for name, value in vars(self).items()
            if value is not None and name != "device"
        ]
        return f"{', '.join(shown)}: {self.cause}"


def read_oom_message(text: str) -> OutOfMemoryNumbers:
    """Take a message of `torch.OutOfMemoryError` apart; ValueError where the text is none."""
    found = {name: _first(patterns, text) for name, patterns in _NUMBERS.items()}
    reserved, tried = found.pop("reserved"), found.pop("tried")
    if tried is None or "out of memory" not in text:
        raise ValueError("This is no out-of-memory message of PyTorch: it says no 'Tried to allocate …'.")
    if found["cached"] is None and reserved is not None:  # before 2.1 the sum was printed
        found["cached"] = max(reserved - (found["allocated"] or 0), 0)
    device = re.search(r"GPU (\d{1,4})\b", text)
    others = [_bytes(*match) for match in re.findall(rf"Process \d+ has {_SIZE} memory in use", text)]
    return OutOfMemoryNumbers(
        device=int(device[1]) if device else None,
        tried=tried,
        others=sum(others) if others else None,
        **found,
    )


def _first(patterns: tuple[str, ...], text: str) -> int | None:
    for pattern in patterns:
        match = re.search(pattern, text)
        if match:
            return _bytes(match[1], match[2])
    return None


def _bytes(number: str, unit: str) -> int:
    if not re.fullmatch(r"\d{1,15}(\.\d{1,6})?", number):
        raise ValueError(f"The message has a number that is none: {number[:20]!r}.")
    return round(float(number) * _UNITS[unit])


def _cause(numbers: OutOfMemoryNumbers) -> str:
    """The first reason that holds, from the one that no setting helps to the one that a setting may cure."""
    tried, total, others = numbers.tried, numbers.total or 0, numbers.others or 0
    allocated, cached = numbers.allocated or 0, numbers.cached or 0
    if total and tried > total:
        return "One request is larger than the card: no setting helps, the tensor must shrink."
    if numbers.allowed is not None and tried + allocated + cached > numbers.allowed:
        return "The limit of set_per_process_memory_fraction is reached, not the card's."
    if total and allocated > total:
        return "More is allocated than the card has: the driver spilled into the main memory, and even that is full."
    if others and tried + allocated + cached <= total and others > total // 10:
        return "Other processes hold the memory that is missing: see nvidia-smi."
    if cached >= tried:
        return "Enough is cached, but not in one piece: fragmentation. Try expandable_segments:True."
    return "Tensors fill the card: a smaller batch, or one of the other remedies."
