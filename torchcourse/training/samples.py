"""Data sets for experiments with workers: in a module, since a spawned worker can't import a notebook's cell."""

import os
import time
from collections.abc import Iterator

from torch.utils.data import Dataset, IterableDataset, get_worker_info


class Items(Dataset[dict[str, int]]):
    """Sample i tells who fetched it: its index, the worker (-1: the main process), and the process id.

    seconds: how long one sample takes to arrive, as from a slow disk. calls: how often *this* copy was asked.
    """

    def __init__(self, count: int, seconds: float = 0.0) -> None:
        self.count, self.seconds, self.calls = count, seconds, 0

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> dict[str, int]:
        self.calls += 1
        if self.seconds:
            time.sleep(self.seconds)
        info = get_worker_info()
        return {"index": index, "worker": -1 if info is None else info.id, "process": os.getpid()}


class Stream(IterableDataset[int]):
    """The numbers 0 … count − 1 without an index. split: each worker takes its own share of them."""

    def __init__(self, count: int, split: bool = False) -> None:
        self.count, self.split = count, split

    def __iter__(self) -> Iterator[int]:
        info = get_worker_info()
        mine = (info.id, info.num_workers) if self.split and info is not None else (0, 1)
        yield from range(mine[0], self.count, mine[1])
