"""Mixed precision: the float32 list of the GPU, on the CPU."""

import pytest
import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.overrides import _get_current_function_mode_stack

from torchcourse.memory import record_step

ROWS, WIDTH = 50, 16
HALF, FLOAT = 2, 4


def mixed():
    model = nn.Sequential(
        nn.Linear(WIDTH, WIDTH), nn.LayerNorm(WIDTH), nn.Linear(WIDTH, WIDTH), nn.Softmax(-1)
    )
    x = torch.ones(ROWS, WIDTH)

    def step():
        with torch.autocast("cpu", dtype=torch.bfloat16):
            out = model(x)
        out.sum().backward()

    return step, model


# What a GPU keeps, worked out by hand.
KEPT = {
    "the input in half, for linear 1": HALF * ROWS * WIDTH,
    "the norm's input in float32, its mean and deviation": FLOAT * ROWS * (WIDTH + 2),
    "the norm's output in half, for linear 2": HALF * ROWS * WIDTH,
    "softmax's output in float32": FLOAT * ROWS * WIDTH,
    "the weights in half": 2 * HALF * WIDTH * WIDTH,
}


@pytest.mark.parametrize("fake", [False, True])
def test_the_float32_list_of_the_gpu(fake):
    if fake:
        with FakeTensorMode():
            held = record_step(*mixed()).by_owner
    else:
        held = record_step(*mixed()).by_owner
    # The first weight needs no gradient for the input, so no node keeps its half; the cache does.
    assert held["activation"] == sum(KEPT.values()) - HALF * WIDTH * WIDTH
    assert held["parameter"] == held["gradient"] == FLOAT * (2 * (WIDTH + 1) * WIDTH + 2 * WIDTH)


def test_as_the_cpu_does_it():
    step, model = mixed()
    held = record_step(step, model, as_cuda=False).by_owner
    assert held["activation"] < sum(KEPT.values()) - HALF * WIDTH * WIDTH


def test_as_the_cpu_keeps_masks_and_counts_as_they_are():
    x = torch.ones(100, 50, requires_grad=True)
    step = lambda: nn.functional.dropout(x).sum().backward()  # noqa: E731
    assert record_step(step, as_cuda=False).by_owner["activation"] == 100 * 50 * FLOAT
    layer = nn.Linear(3, 3)
    optimizer = torch.optim.Adam(layer.parameters())

    def train():
        layer(torch.ones(1, 3)).sum().backward()
        optimizer.step()

    held = record_step(train, layer, optimizer, as_cuda=False).by_owner
    assert held["optimizer state"] == 2 * 12 * FLOAT + 2 * FLOAT


def test_no_mode_stays():
    step, model = mixed()
    record_step(step, model)
    assert not _get_current_function_mode_stack()
