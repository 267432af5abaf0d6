"""Beside a GPU: the recorded peak against `torch.cuda.max_memory_allocated()` of the same step."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from torchcourse.memory import record_step

from .steps import CASES

pytestmark = pytest.mark.cuda
ROOT = Path(__file__).parents[2]
SIZES = {"MLP": 200_000, "CNN": 4096, "transformer": 2048}  # large enough that rounding does not decide

# Runs in a process of its own, whose allocator is untouched. A first step makes the state and the workspaces.
LIVE = """
import json, sys, torch
from tests.memory.steps import CASES
name, batch = sys.argv[1], int(sys.argv[2])
case = CASES[name](batch, device="cuda")
optimizer = torch.optim.Adam(case.model.parameters())
step = case.step(optimizer)
step()
torch.cuda.synchronize()
torch.cuda.reset_peak_memory_stats()
step()
torch.cuda.synchronize()
print(json.dumps(torch.cuda.max_memory_allocated()))
"""


@pytest.mark.parametrize("name", CASES)
def test_float32_peaks_agree(name):
    if not torch.cuda.is_available():
        pytest.skip("no CUDA GPU here: no step can be measured")
    done = subprocess.run(
        [sys.executable, "-c", LIVE, name, str(SIZES[name])],
        cwd=ROOT, capture_output=True, text=True, timeout=600, check=True,
    )  # fmt: skip
    measured = json.loads(done.stdout.splitlines()[-1])
    case = CASES[name](SIZES[name], device="meta")
    optimizer = torch.optim.Adam(case.model.parameters())
    step = case.step(optimizer)
    step()
    fit = record_step(step, case.model, optimizer).fit(1 << 50)
    low, high = fit.not_recorded
    print(f"\n{name}: measured {measured:,}, recorded {fit.peak_allocated:,}, besides {low:,} to {high:,}")
    assert 0.995 * (fit.peak_allocated + low) <= measured <= 1.005 * (fit.peak_allocated + high)
