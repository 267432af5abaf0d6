"""What watching a training loop costs, side by side in one run with the plain step.

Figures are CPU time of one step, the least disturbed of interleaved rounds; printed (`pytest -s`), never asserted.
What is asserted can't depend on the machine: the watched steps train exactly as the plain ones.
"""

import time
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from torchcourse.training import ActivationStats, GradientNorms, StepTimes, UpdateRatios

ROUNDS, STEPS = 15, 2

Watch = Callable[[nn.Module, torch.optim.Optimizer], list[AbstractContextManager[object]]]


def cnn() -> tuple[nn.Module, Tensor]:
    body = [nn.Conv2d(1, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2)]
    body += [nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2)]
    return nn.Sequential(*body, nn.Flatten(), nn.Linear(32 * 7 * 7, 10)), torch.randn(64, 1, 28, 28)


class Transformer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        layer = nn.TransformerEncoderLayer(128, 4, 256, batch_first=True)
        self.body = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(128, 10)

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.head(self.body(x).mean(1))
        return out


MODELS: dict[str, Callable[[], tuple[nn.Module, Tensor]]] = {
    "cnn": cnn,
    "transformer": lambda: (Transformer(), torch.randn(32, 32, 128)),
}
WATCHES: dict[str, Watch] = {
    "plain": lambda model, optimizer: [],
    "gradient norms": lambda model, optimizer: [GradientNorms(model, optimizer)],
    "update ratios": lambda model, optimizer: [UpdateRatios(model, optimizer)],
    "activations": lambda model, optimizer: [ActivationStats(model)],
    "step times": lambda model, optimizer: [],
    "all": lambda model, optimizer: [
        GradientNorms(model, optimizer),
        UpdateRatios(model, optimizer),
        ActivationStats(model),
    ],
}


class Run:
    """One model in training, watched or not."""

    def __init__(self, name: str, watch: str) -> None:
        torch.manual_seed(0)
        self.model, self.x = MODELS[name]()
        self.y = torch.arange(len(self.x)) % 10
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-3)
        self.watch, self.clock = WATCHES[watch], watch in ("step times", "all")
        self.seed = 0

    def steps(self, count: int) -> float:
        """CPU milliseconds per step."""
        torch.manual_seed(self.seed)  # dropout draws from torch's generator, which all runs share
        self.seed += 1
        with ExitStack() as stack:
            for observer in self.watch(self.model, self.optimizer):
                stack.enter_context(observer)
            start = time.process_time()
            (self._timed if self.clock else self._plain)(count)
            return (time.process_time() - start) / count * 1e3

    def _plain(self, count: int) -> None:
        for _ in range(count):
            loss = F.cross_entropy(self.model(self.x), self.y)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()

    def _timed(self, count: int) -> None:
        times = StepTimes()
        for _ in times.data(range(count)):
            with times.forward:
                loss = F.cross_entropy(self.model(self.x), self.y)
            self.optimizer.zero_grad()
            with times.backward:
                loss.backward()
            with times.step:
                self.optimizer.step()


@pytest.mark.parametrize("name", MODELS)
def test_the_cost_of_watching_a_step(name: str) -> None:
    torch.set_num_threads(1)
    runs = {watch: Run(name, watch) for watch in WATCHES}
    times: dict[str, list[float]] = {watch: [] for watch in WATCHES}
    for _ in range(ROUNDS):
        for watch, run in runs.items():
            times[watch].append(run.steps(STEPS))
    plain = min(times["plain"])
    shown = {watch: f"× {min(found) / plain:.3f}" for watch, found in times.items()}
    print(f"\n{name}: plain {plain:.2f} ms of CPU; {shown}")
    weights = [torch.cat([p.detach().flatten() for p in run.model.parameters()]) for run in runs.values()]
    assert all(torch.equal(weights[0], other) for other in weights)
