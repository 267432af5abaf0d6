"""The table of numbers against PyTorch's own."""

import pytest
import torch

from torchcourse.allocator import Allocator
from torchcourse.allocator.sizes import GIB, MIB


@pytest.mark.parametrize("abbreviated", [False, True])
@pytest.mark.parametrize("count", [0, 3, 2000])
def test_the_summary_is_pytorchs_own(monkeypatch, abbreviated, count):
    model = Allocator(80 * GIB)
    for number in range(count):
        address = model.malloc(number * 3 * MIB % (70 * MIB) + 1)
        if number % 3:
            model.free(address)
    monkeypatch.setattr(torch.cuda.memory, "memory_stats", lambda device=None: model.memory_stats())
    assert model.memory_summary(abbreviated) == torch.cuda.memory.memory_summary(0, abbreviated)


def test_the_keys_are_those_of_the_documentation():
    stats = Allocator(GIB).memory_stats()
    assert len(stats) == 123
    assert stats["max_split_size"] == -1
    assert Allocator(GIB, "max_split_size_mb:64").memory_stats()["max_split_size"] == 64 * MIB
