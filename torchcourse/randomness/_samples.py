"""Data sets for experiments with workers: in a module, since a spawned worker can't import a notebook's cell."""

import random

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import Dataset, get_worker_info


class Rolls(Dataset[Tensor]):
    """Each sample rolls one number of torch's, NumPy's and Python's global generator, each of them in 0 … 1.

    rng: a NumPy generator of the data set's own; then a fourth number comes from it. A sample is float64.
    """

    def __init__(self, count: int, rng: np.random.Generator | None = None) -> None:
        self.count, self.rng = count, rng

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> Tensor:
        rolled = [torch.rand(1).item(), np.random.rand(), random.random()]
        if self.rng is not None:
            rolled.append(self.rng.random())
        return torch.tensor(rolled, dtype=torch.float64)


class RollsByIndex(Rolls):
    """Each sample rolls one number that depends on seed, epoch and index alone, whoever fetches it."""

    def __init__(self, count: int, seed: int, epoch: int = 0) -> None:
        super().__init__(count)
        self.seed, self.epoch = seed, epoch

    def __getitem__(self, index: int) -> Tensor:
        rng = np.random.default_rng([self.seed, self.epoch, index])
        return torch.tensor([rng.random()], dtype=torch.float64)


class WorkerSeeds(Rolls):
    """Each sample tells who fetched it: (worker, its seed); in the main process (-1, -1)."""

    def __getitem__(self, index: int) -> Tensor:
        info = get_worker_info()
        return torch.tensor([-1, -1] if info is None else [info.id, info.seed])


def same_for_all(worker: int) -> None:
    """A `worker_init_fn` that gives NumPy one state in all workers: as it was before PyTorch 1.9."""
    np.random.seed(1234)


def by_number(worker: int) -> None:
    """A `worker_init_fn` often seen: a constant seed for each worker."""
    np.random.seed(42 + worker)


def new_rng(worker: int) -> None:
    """A `worker_init_fn` that seeds the data set's own generator from the worker's seed."""
    info = get_worker_info()
    assert info is not None
    info.dataset.rng = np.random.default_rng(info.seed)  # type: ignore[attr-defined]
