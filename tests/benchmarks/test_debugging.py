"""What the NaN finder costs, side by side in one run with the plain step and with anomaly mode.

Figures are CPU time, the least disturbed of interleaved rounds; printed (`pytest -s`), never asserted.
What is asserted can't depend on the machine: the finder sees nothing in a sound net, and the operator in a bad one.
"""

import time
import warnings
from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from torchcourse.debugging import find_nan, leaks

from .nets import NETS, Net

ROUNDS = 15


def wide_mlp() -> Net:
    layers = [nn.Linear(784, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 10)]
    return nn.Sequential(*layers), torch.randn(256, 784)


def wide_transformer() -> Net:
    layer = nn.TransformerEncoderLayer(256, 8, 1024, batch_first=True)
    return nn.TransformerEncoder(layer, 4, enable_nested_tensor=False), torch.randn(8, 64, 256)


MODELS = {"MLP, 1024 wide": wide_mlp, "transformer, 256 wide": wide_transformer} | {
    name: NETS[name] for name in ("small MLP", "ResNet-18", "ResNet-50", "transformer, 6 layers")
}


def anomaly(model: nn.Module, x: Tensor, backward: bool) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # anomaly mode warns that it is on
        with torch.autograd.detect_anomaly():
            plain(model, x, backward)


def plain(model: nn.Module, x: Tensor, backward: bool) -> None:
    out = model(x)
    if backward:
        model.zero_grad()
        out.sum().backward()


def forward_only(model: nn.Module, x: Tensor) -> None:
    with torch.no_grad():
        assert find_nan(model, x) is None


def ways(model: nn.Module, x: Tensor) -> dict[str, Callable[[], object]]:
    return {
        "forward": lambda: torch.no_grad()(plain)(model, x, False),
        "find_nan, forward": lambda: forward_only(model, x),
        "anomaly mode, forward": lambda: anomaly(model, x, False),
        "forward and backward": lambda: plain(model, x, True),
        "find_nan": lambda: find_nan(model, x),
        "anomaly mode": lambda: anomaly(model, x, True),
    }


def least(functions: dict[str, Callable[[], object]]) -> dict[str, float]:
    """CPU milliseconds of one call."""
    found: dict[str, list[float]] = {name: [] for name in functions}
    for _ in range(ROUNDS):
        for name, function in functions.items():
            start = time.process_time()
            function()
            found[name].append((time.process_time() - start) * 1e3)
    return {name: min(times) for name, times in found.items()}


@pytest.mark.parametrize("name", MODELS)
def test_the_nan_finder_beside_anomaly_mode(name: str) -> None:
    torch.manual_seed(0)
    torch.set_num_threads(1)
    model, x = MODELS[name]()
    model.eval()
    times = least(ways(model, x))
    for base, others in (("forward", 2), ("forward and backward", 2)):
        names = list(times)[list(times).index(base) + 1 :][:others]
        shown = ", ".join(f"{other} × {times[other] / times[base]:.2f}" for other in names)
        print(f"\n{name}: {base} {times[base]:.2f} ms; {shown}", end="")
    bad = nn.Sequential(model, nn.Softplus(), nn.LayerNorm(x.shape[-1]) if x.dim() == 3 else nn.Identity())
    found = find_nan(lambda given: (bad(given).detach() - 1e9).log(), x)
    assert found is not None and found.operator == "aten::log"


def test_the_leak_watch() -> None:
    """Seconds of five steps under watch, beside the five alone."""
    model, x = NETS["ResNet-18"]()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)

    def step() -> None:
        optimizer.zero_grad()
        model(x).sum().backward()
        optimizer.step()

    times = least({"alone": lambda: [step() for _ in range(5)], "watched": lambda: leaks(step)})
    print(f"\nleaks, ResNet-18: five steps {times['alone']:.0f} ms, watched {times['watched']:.0f} ms")
    assert not leaks(step)
