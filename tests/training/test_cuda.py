"""On a GPU: the observers read there, and the scan puts the GPU's generator back, too."""

from contextlib import ExitStack

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from torchcourse.training import ActivationStats, GradientNorms, StepTimes, UpdateRatios, learning_rate_range

from . import loops

pytestmark = [
    pytest.mark.cuda,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA GPU"),
]


def started():
    model = nn.Sequential(nn.Linear(6, 16), nn.BatchNorm1d(16), nn.Dropout(0.3), nn.Linear(16, 3)).cuda()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    batches = [tuple(part.cuda() for part in loops.data(16))] * 4
    loops.train(model, optimizer, batches)
    return model, optimizer, batches


def state(model, optimizer):
    values = [v.cpu() for v in model.state_dict().values()]
    values += [v.cpu() for s in optimizer.state.values() for v in s.values()]
    return [v.tolist() for v in [*values, torch.cuda.get_rng_state(), torch.get_rng_state()]]


def test_the_scan_leaves_everything_as_it_was():
    model, optimizer, batches = started()
    before = state(model, optimizer)
    found = learning_rate_range(model, batches, F.cross_entropy, optimizer, steps=40)
    assert state(model, optimizer) == before and len(found.losses) > 10


def test_observers_agree_with_the_cpu_and_change_nothing():
    runs = []
    for watch in (False, True):
        torch.manual_seed(0)
        model, optimizer, batches = started()
        times = StepTimes()
        norms, ratios, stats = (
            GradientNorms(model, optimizer),
            UpdateRatios(model, optimizer),
            ActivationStats(model),
        )
        with ExitStack() as stack:
            for observer in (norms, ratios, stats) if watch else ():
                stack.enter_context(observer)
            losses = loops.train(model, optimizer, times.data(batches) if watch else batches)
        runs.append(losses)
    assert runs[0] == runs[1]
    last = torch.cat([p.grad.flatten() for p in model[3].parameters()]).norm().item()
    assert norms.seen.last()["3"] == pytest.approx(last, rel=1e-4)
    assert ratios.seen.last()["3"] > 0 and stats.seen.of("1").stds[-1] == pytest.approx(1, abs=0.2)
