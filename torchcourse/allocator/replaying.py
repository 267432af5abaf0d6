"""Replay: the requests of a recorded trace, decided by the model, and where it and the record part.

From the trace come the requests, and what the driver and the GPU answered: where cudaMalloc put a segment,
that it refused, when a stream was done. Which block a request gets, whether the driver is asked, for how
much, and what is given back is the model's own choice, and is compared.
"""

from __future__ import annotations

from typing import Any

from torchcourse.allocator.record import read_record
from torchcourse.allocator.results import Replay
from torchcourse.allocator.state import TIES
from torchcourse.allocator.walk import Walk


def replay(snapshot: dict[str, Any], device: int = 0, tie: str | None = None) -> Replay:
    """Run the trace of one device through the model and compare, entry by entry.

    tie: as for `Allocator`; None takes the rule of the version that wrote the snapshot, as far as its keys
    tell. A snapshot with missing or mistyped fields raises SnapshotError (a ValueError). A record that
    contradicts itself raises nothing: its first contradiction is the first difference.
    """
    record = read_record(snapshot, device)
    if tie is not None and tie not in TIES:
        raise ValueError(f"tie is one of {', '.join(map(repr, TIES))}, or None, not {tie!r}.")
    return Walk(record, tie or record.tie).result()
