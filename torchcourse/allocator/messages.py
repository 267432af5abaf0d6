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
    def outside(self) -> int | None:
        """What this process holds beside PyTorch's memory: the CUDA context, libraries. None: not printed."""
        if self.this_process is None:
            return None
        return max(
            self.this_process - (self.allocated or 0) - (self.private_pools or 0) - (self.cached or 0), 0
        )

    @property
    def rows(self) -> tuple[tuple[str, int, str], ...]:
        """(name, bytes, what it counts) for each number that the message has, and for those that follow from it."""
        values = [(name, getattr(self, name.replace(" ", "_")), what) for name, what in _MEANINGS]
        return tuple((name, value, what) for name, value, what in values if value is not None)

    @property
    def cause(self) -> str:
        """The probable cause, in a sentence."""
        return _cause(self)

    def __str__(self) -> str:
        lines = [f"{name:13} {format_size(value):>11}  {what}" for name, value, what in self.rows]
        return "\n".join([*lines, f"Probable cause: {self.cause}"])


# name of a number -> what it counts
_MEANINGS = (
    ("tried", "the new segment that the driver refused; the tensor itself may be smaller"),
    ("total", "the card"),
    ("free", "what the driver had left, after PyTorch had given back what it could"),
    ("this process", "all that this process holds: PyTorch's memory, CUDA context, libraries"),
    ("outside", "of this, not PyTorch's: CUDA context and libraries"),
    ("others", "what other processes hold"),
    ("allowed", "the limit of set_per_process_memory_fraction"),
    ("allocated", "blocks in use: memory_allocated()"),
    ("private pools", "in use in private pools, such as those of CUDA graphs"),
    ("cached", "reserved and not in use: memory_reserved() - memory_allocated()"),
)


def read_oom_message(text: str) -> OutOfMemoryNumbers:
    """Take a message of `torch.OutOfMemoryError` apart, however its lines are broken; ValueError: it is none."""
    text = " ".join(text.split())
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
    allocated, cached, free = numbers.allocated or 0, numbers.cached or 0, numbers.free or 0
    if total and tried > total:
        return "One request is larger than the card: no setting helps, the tensor must shrink."
    if numbers.allowed is not None and tried + allocated + cached > numbers.allowed:
        return "The limit of set_per_process_memory_fraction is reached, not the card's."
    if total and allocated > total:
        return "More is allocated than the card has: the driver spilled into the main memory, and even that is full."
    if others and tried + allocated + cached <= total and others > total // 10:
        return "Other processes hold the memory that is missing: see nvidia-smi."
    if free >= tried:
        return "The driver had room a moment later: another process came and went, or the driver keeps a reserve."
    if cached + free >= tried and (not total or allocated <= 0.9 * total):
        return "Enough is cached or free, but not in one piece: fragmentation. Try expandable_segments:True."
    return (
        "Tensors fill the card. In the first steps: a smaller batch, or another remedy. "
        "After many good steps: something grows, a leak."
    )
