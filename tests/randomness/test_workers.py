"""What chapter 10b says of workers: who seeds what, and that the way of starting them changes nothing."""

import multiprocessing
from typing import Any

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader

from torchcourse.randomness import Rolls, RollsByIndex, WorkerSeeds, by_number, new_rng, same_for_all


def rolled(dataset: Any, workers: int, seed: int | None = 3, **settings: Any) -> torch.Tensor:
    if seed is not None:
        torch.manual_seed(seed)
    return torch.stack(list(DataLoader(dataset, batch_size=None, num_workers=workers, **settings)))


@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods()[1:])
def test_every_start_method_gives_the_same_numbers(method: str) -> None:
    default = rolled(Rolls(2), 1)
    assert torch.equal(rolled(Rolls(2), 1, multiprocessing_context=method), default)


def test_torchs_seed_alone_fixes_all_three_in_workers() -> None:
    assert torch.equal(rolled(Rolls(4), 2), rolled(Rolls(4), 2))
    assert not torch.equal(rolled(Rolls(4), 1), rolled(Rolls(4), 2))


def test_seeds_are_the_base_seed_and_the_number() -> None:
    torch.manual_seed(3)
    base = int(torch.empty((), dtype=torch.int64).random_())
    assert rolled(WorkerSeeds(4), 2).tolist() == [[0, base], [1, base + 1]] * 2
    assert rolled(WorkerSeeds(2), 0).tolist() == [[-1, -1]] * 2


def test_an_own_generator_is_a_twin_until_new_rng() -> None:
    twins = rolled(Rolls(4, np.random.default_rng(0)), 2)[:, 3]
    assert twins[0] == twins[1] and twins[2] == twins[3]
    single = rolled(Rolls(4, np.random.default_rng(0)), 2, worker_init_fn=new_rng)[:, 3]
    assert len(set(single.tolist())) == 4


def test_constants_in_worker_init_fn() -> None:
    same = rolled(Rolls(2), 2, worker_init_fn=same_for_all)[:, 1]
    assert same[0] == same[1]
    first, second = (rolled(Rolls(2), 2, seed, worker_init_fn=by_number)[:, 1] for seed in (1, 2))
    assert torch.equal(first, second)


def test_numbers_by_index_know_no_workers() -> None:
    alone = rolled(RollsByIndex(4, seed=7), 0)
    assert torch.equal(rolled(RollsByIndex(4, seed=7), 2), alone)
    assert not torch.equal(rolled(RollsByIndex(4, seed=7, epoch=1), 0), alone)
