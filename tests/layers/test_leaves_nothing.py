"""xray changes no value, gradient, random state, mode or hook, prints nothing and keeps nothing."""

import gc
import os
import subprocess
import sys
import weakref

import psutil
import pytest
import torch
from torch.nn.modules import module as hooks
from torch.utils._python_dispatch import TorchDispatchMode, _get_current_dispatch_mode_stack

from torchcourse.layers import xray

from .snippets import cnn, mlp, transformer


def modes() -> tuple[int, list[TorchDispatchMode], int, int, bool]:
    return (
        torch._C._len_torch_function_stack(),
        _get_current_dispatch_mode_stack(),
        len(hooks._global_forward_pre_hooks),
        len(hooks._global_forward_hooks),
        torch._C._autograd._profiler_enabled(),
    )


CLEAN = (0, [], 0, 0, False)


def gradients(model: torch.nn.Module, batch: torch.Tensor, watched: bool) -> list[torch.Tensor]:
    def step() -> torch.Tensor:
        loss = torch.nn.functional.dropout(model(batch), 0.5).square().mean()
        loss.backward()
        return loss

    torch.manual_seed(0)
    model.zero_grad()
    loss = xray_of(step) if watched else step()
    return [
        loss.detach(),
        torch.get_rng_state(),
        *(p.grad.clone() for p in model.parameters() if p.grad is not None),
    ]


def xray_of(step: object) -> torch.Tensor:
    with xray():
        return step()  # type: ignore[operator,no-any-return]


@pytest.mark.parametrize("make", [mlp, cnn, transformer])
def test_values_gradients_and_random_state_are_the_same(make: object) -> None:
    model, batch = make()  # type: ignore[operator]
    truth = gradients(model, batch, watched=False)
    seen = gradients(model, batch, watched=True)
    assert len(truth) == len(seen) > 2
    assert all(torch.equal(a, b) for a, b in zip(truth, seen, strict=True))
    assert modes() == CLEAN


def test_a_first_gradient_is_stolen_as_without_xray() -> None:
    x = torch.ones(3, requires_grad=True)
    with xray() as seen:
        (x * 2).sum().backward()
    assert [o.name for o in seen.operators][-1] == "aten::detach"


def test_no_tensor_is_kept_alive() -> None:
    x = torch.ones(1000, requires_grad=True)
    with xray() as seen:
        y = (x * 2).exp()
        y.sum().backward()
    gone = [weakref.ref(y), weakref.ref(y.untyped_storage()), weakref.ref(x)]
    del y, x
    assert [ref() for ref in gone] == [None, None, None]
    assert seen.operators


def test_a_thousand_xrays_leave_the_memory_flat() -> None:
    x = torch.ones(10, requires_grad=True)

    def many(times: int) -> int:
        for _ in range(times):
            with xray():
                (x * 2).sum().backward()
        gc.collect()
        return int(psutil.Process().memory_info().rss)

    many(200)
    before = many(10)
    after = many(1000)
    assert after - before < 4_000_000  # bytes
    assert modes() == CLEAN


def printed(code: str) -> str:
    """What a fresh process writes to descriptors 1 and 2."""
    environment = {k: v for k, v in os.environ.items() if k != "KINETO_LOG_LEVEL"}
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True
    )
    return run.stdout + run.stderr


BEGIN = """
import os, torch
from torchcourse.layers import xray
from torch.profiler import profile
x = torch.ones(3, requires_grad=True)
"""


def test_nothing_is_printed_not_even_on_descriptor_2() -> None:
    code = """
for _ in range(3):
    with xray() as seen:
        (x * 2).sum().backward()
with profile() as p:
    with xray() as seen: x + 1
with xray() as seen:
    with profile() as p: x + 1
str(seen)
"""
    assert printed(BEGIN + code) == ""


def test_nothing_is_printed_after_a_profile_of_the_readers() -> None:
    code = """
with profile() as p: x + 1
os.write(2, b"here")
for _ in range(3):
    with xray() as seen: x + 1
os.write(2, b"there")
"""
    assert printed(BEGIN + code).endswith("herethere")


def test_a_block_that_raises_is_reported_up_to_there() -> None:
    x = torch.ones(2, 3, requires_grad=True)
    with pytest.raises(RuntimeError, match="shapes cannot be multiplied"), xray() as seen:
        y = x + 1
        y @ y
    assert seen.operators[0].name == "aten::add"
    assert "aten::mm" in [o.name for o in seen.operators]
    assert [n.name for n in seen.nodes] == ["AddBackward0"]
    assert modes() == CLEAN


def test_a_function_that_raises_hands_its_xray_on() -> None:
    def wrong() -> None:
        torch.ones(2) + 1
        raise ValueError("mine")

    with pytest.raises(ValueError, match="mine") as caught:
        xray(wrong)
    assert "aten::add" in [o.name for o in caught.value.seen.operators]  # type: ignore[attr-defined]
    assert modes() == CLEAN


def test_a_module_that_raises_leaves_no_module_path() -> None:
    model = torch.nn.Sequential(torch.nn.Linear(2, 2))
    with xray() as seen:
        with pytest.raises(RuntimeError):
            model(torch.ones(3, 3))
        torch.ones(1) + 1
    assert seen.operators[-1].module is None
    assert modes() == CLEAN
