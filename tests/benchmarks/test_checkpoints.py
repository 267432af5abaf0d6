"""What `save` costs, side by side in one run with torch.save of the same parts, in the same folder.

Times are printed (`pytest -s`), never asserted: they are the disk's. Peak memory is asserted: it can't depend on
the machine, for neither way copies a tensor.
"""

import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from torchcourse.checkpoints import load, save

ROUNDS = 9


def large() -> dict[str, Any]:
    """15 matrices of 4 MiB, and Adam's two for each: 180 MiB."""
    model = nn.Sequential(*[nn.Linear(1024, 1024, bias=False) for _ in range(15)])
    return _with_adam(model)


def small() -> dict[str, Any]:
    """A transformer's many small tensors."""
    return _with_adam(nn.TransformerEncoder(nn.TransformerEncoderLayer(64, 4, 128, batch_first=True), 6))


def _with_adam(model: nn.Module) -> dict[str, Any]:
    optimizer = torch.optim.Adam(model.parameters())
    for parameter in model.parameters():
        parameter.grad = torch.zeros_like(parameter)
    optimizer.step()
    optimizer.zero_grad()
    return {"model": model, "optimizer": optimizer, "epoch": 3}


def plainly(parts: dict[str, Any], path: Path) -> None:
    """The same parts by hand, as the recipe in PyTorch's tutorials does."""
    states = {
        name: part.state_dict() if hasattr(part, "state_dict") else part for name, part in parts.items()
    }
    torch.save(states, path)


@pytest.mark.parametrize("make", [small, large])
@pytest.mark.parametrize("where", ["a new file", "over the old file"])
def test_saving_side_by_side(make: Callable[[], dict[str, Any]], where: str, tmp_path: Path) -> None:
    torch.set_num_threads(1)
    parts = make()
    ways: dict[str, Callable[[Path], None]] = {
        "torch.save": lambda path: plainly(parts, path),
        "save": lambda path: save(path, **parts),
        "save, durable": lambda path: save(path, durable=True, **parts),
    }
    seconds: dict[str, list[float]] = {way: [] for way in ways}
    for turn in range(ROUNDS):
        for way, write in ways.items():
            path = tmp_path / (f"{turn}.pt" if where == "a new file" else f"{way}.pt")
            start = time.perf_counter()
            write(path)
            seconds[way].append(time.perf_counter() - start)
            if where == "a new file":
                path.unlink()
    median = {way: statistics.median(times) for way, times in seconds.items()}
    ratios = [mine / theirs for mine, theirs in zip(seconds["save"], seconds["torch.save"], strict=True)]
    told = ", ".join(f"{way} {1000 * time:.0f} ms" for way, time in median.items())
    print(f"\n{make.__name__}, {where}: {told}; save / torch.save {statistics.median(ratios):.2f}")
    save(tmp_path / "last.pt", **parts)
    del parts["epoch"]
    assert load(tmp_path / "last.pt", **parts) == {"epoch": 3}


PEAK = """
import resource, sys, torch
from pathlib import Path
from tests.benchmarks.test_checkpoints import nn, plainly, save
parts = {"model": nn.Sequential(*[nn.Linear(1024, 1024, bias=False) for _ in range(45)])}
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
path = Path(sys.argv[2])
plainly(parts, path) if sys.argv[1] == "torch.save" else save(path, **parts)
print(before, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no getrusage")
def test_peak_memory_side_by_side(tmp_path: Path) -> None:
    peaks = {}
    for way in ("torch.save", "save"):
        done = subprocess.run(
            [sys.executable, "-c", PEAK, way, tmp_path / "run.pt"],
            cwd=Path(__file__).parents[2],
            capture_output=True,
            text=True,
            check=True,
        )
        peaks[way] = [int(number) for number in done.stdout.split()]
    ratio = peaks["save"][1] / peaks["torch.save"][1]
    print(f"\npeak memory (before, after, in kB): {peaks}; save / torch.save {ratio:.3f}")
    assert ratio <= 1.05
