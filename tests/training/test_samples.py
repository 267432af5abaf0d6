"""The data sets for experiments tell who fetched what."""

import os

import pytest
import torch
from torch.utils.data import DataLoader

from torchcourse.training import Items, Stream, one_thread


def test_items_without_workers_come_from_here():
    dataset = Items(3)
    assert [dataset[k] for k in range(2)] == [
        {"index": 0, "worker": -1, "process": os.getpid()},
        {"index": 1, "worker": -1, "process": os.getpid()},
    ]
    assert (len(dataset), dataset.calls) == (3, 2)


def test_items_of_a_worker():
    dataset = Items(4)
    batches = list(DataLoader(dataset, batch_size=2, num_workers=1))
    assert [batch["worker"].tolist() for batch in batches] == [[0, 0], [0, 0]]
    assert int(batches[0]["process"][0]) != os.getpid() and dataset.calls == 0


@pytest.mark.parametrize(("split", "expected"), [(False, [0, 0, 1, 1, 2, 2]), (True, [0, 1, 2])])
def test_a_stream_comes_once_per_worker_unless_it_is_split(split, expected):
    batches = DataLoader(Stream(3, split), batch_size=2, num_workers=2)
    assert sorted(number for batch in batches for number in batch.tolist()) == expected


def test_one_thread_is_for_the_block_only():
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    with pytest.raises(KeyError), one_thread():
        assert torch.get_num_threads() == 1
        raise KeyError
    assert one_thread()(torch.get_num_threads)() == 1 and torch.get_num_threads() == 2
    torch.set_num_threads(before)
