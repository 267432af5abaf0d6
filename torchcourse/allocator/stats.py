"""The statistics of `torch.cuda.memory_stats()`, summed up from the log.

Every statistic rises or falls by one amount per log entry. So `current` is a sum of these amounts,
`peak` the largest sum on the way, `allocated` the sum of the rises, `freed` of the falls: four lines of
numpy over whole columns, and the allocator itself keeps no counter.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from torchcourse.allocator import events
from torchcourse.allocator.events import Log

Column = npt.NDArray[np.int64]

GROUPS = (
    "allocation", "segment", "active", "inactive_split", "allocated_bytes", "reserved_bytes", "active_bytes",
    "inactive_split_bytes", "requested_bytes",
)  # fmt: skip
OVERSIZE = ("oversize_allocations", "oversize_segments")
_PIECE = 1 << 16  # entries
POOLS = ("all", "small_pool", "large_pool")


@dataclass
class Stat:
    """One statistic: the number now, its highest value, and all that was ever added and taken away."""

    current: int = 0
    peak: int = 0
    allocated: int = 0
    freed: int = 0

    def change(self, amounts: Column) -> None:
        """Apply the amounts, one after the other."""
        if amounts.size == 0:
            return
        self.peak = max(self.peak, self.current + int(amounts.cumsum().max()))
        self.allocated += int(amounts[amounts > 0].sum())
        self.freed -= int(amounts[amounts < 0].sum())
        self.current += int(amounts.sum())


class Stats:
    """All statistics of one allocator. `max_split_size`: from where a block counts as oversize."""

    def __init__(self, max_split_size: int) -> None:
        self._max_split_size = max_split_size
        self._read = 0  # how many entries of the log are summed up
        self._stats = {f"{group}.{pool}": Stat() for group in GROUPS for pool in POOLS}
        self._stats |= {name: Stat() for name in OVERSIZE}
        self.counts = {"num_alloc_retries": 0, "num_ooms": 0, "num_sync_all_streams": 0, "num_device_alloc": 0,
                       "num_device_free": 0, "num_oom_rejections": 0}  # fmt: skip

    def read(self, log: Log) -> dict[str, int]:
        """Sum up what is new in the log; the flat dictionary under the keys of `torch.cuda.memory_stats()`."""
        self._catch_up(log)
        flat = {
            f"{name}.{part}": value
            for name, stat in self._stats.items()
            for part, value in vars(stat).items()
        }
        return flat | self.counts

    def reset_peaks(self, log: Log) -> None:
        """Every peak becomes the current value."""
        self._catch_up(log)
        for stat in self._stats.values():
            stat.peak = stat.current

    def reset_accumulated(self, log: Log) -> None:
        """Every `allocated`, `freed` and event count becomes 0."""
        self._catch_up(log)
        for stat in self._stats.values():
            stat.allocated = stat.freed = 0
        self.counts = dict.fromkeys(self.counts, 0)

    def _catch_up(self, log: Log) -> None:
        """A piece at a time, so that the columns stay small however long the log is."""
        for start in range(self._read, len(log), _PIECE):
            self._sum_up(_Columns(log[start : start + _PIECE]))
        self._read = len(log)

    def _sum_up(self, columns: _Columns) -> None:
        for group in GROUPS:
            amounts = getattr(columns, group)()
            for pool, chosen in columns.pools.items():
                self._stats[f"{group}.{pool}"].change(amounts[chosen])
        large = columns.block >= self._max_split_size
        for name, group in zip(OVERSIZE, ("allocation", "segment"), strict=True):
            self._stats[name].change(getattr(columns, group)() * large)
        self._count(columns)

    def _count(self, columns: _Columns) -> None:
        for name, kinds in (
            ("num_ooms", (events.OOM,)),
            ("num_device_alloc", (events.SEGMENT_ALLOC, events.SEGMENT_MAP)),
            ("num_device_free", (events.SEGMENT_FREE, events.SEGMENT_UNMAP)),
        ):
            self.counts[name] += int(columns.of(*kinds).sum())


class _Columns:
    """New entries of the log as columns, and for each group by how much each entry moves it."""

    def __init__(self, new: Log) -> None:
        table = np.fromiter(chain.from_iterable(new), np.int64, 8 * len(new)).reshape(-1, 8)
        self.kind, self.size, self.flags = table[:, 0], table[:, 2], table[:, 4]
        self.block, self.before, self.rest = table[:, 5], table[:, 6], table[:, 7]
        small = (self.flags & events.IN_SMALL_POOL) != 0
        self.pools: dict[str, Any] = {"all": slice(None), "small_pool": small, "large_pool": ~small}
        self._given = self.of(events.ALLOC)
        self._wanted_back = self.of(events.FREE_AT_ONCE, events.FREE_REQUESTED)
        self._back = self.of(events.FREE_AT_ONCE, events.FREE_COMPLETED)
        self._is_split = self._flag(events.WAS_SPLIT)
        self._fixed = 1 - self._flag(events.IS_EXPANDABLE)

    def of(self, *kinds: int) -> Column:
        """1 for the entries of these kinds, 0 for the others."""
        return np.isin(self.kind, kinds).astype(np.int64)

    def _flag(self, flag: int) -> Column:
        found: Column = ((self.flags & flag) != 0).astype(np.int64)
        return found

    def allocation(self) -> Column:
        return self._given - self._wanted_back

    def allocated_bytes(self) -> Column:
        return self.allocation() * self.block

    def active(self) -> Column:
        return self._given - self._back

    def active_bytes(self) -> Column:
        return self.active() * self.block

    def requested_bytes(self) -> Column:
        return self.active() * self.size

    def segment(self) -> Column:
        return self.of(events.SEGMENT_ALLOC) - self.of(events.SEGMENT_FREE)

    def reserved_bytes(self) -> Column:
        up = self.of(events.SEGMENT_ALLOC, events.SEGMENT_MAP)
        return (up - self.of(events.SEGMENT_FREE, events.SEGMENT_UNMAP)) * self.size

    def inactive_split(self) -> Column:
        """Free blocks that cannot go back to the driver, since a neighbour stands beside them."""
        was_split = self._is_split
        given = np.where(self.rest > 0, 1 - was_split, -was_split)
        back = was_split - (self.before > 0) - (self.rest > 0)
        return (self._given * given + self._back * back) * self._fixed

    def inactive_split_bytes(self) -> Column:
        given = np.where(self._is_split > 0, -self.block, self.rest)
        back = np.where(self._is_split > 0, self.block, -(self.before + self.rest))
        return (self._given * given + self._back * back) * self._fixed
