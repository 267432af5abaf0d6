"""The checks of chapter 03 on right answers, and on the wrong answers that people really give."""

from random import Random

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from torchcourse.devices.queue import clock, synchronize
from torchcourse.exercises import devices as check

from .rebuilt import rebuilt, rebuilt_lines

NEEDS = {"cu130": (13, (7, 5)), "cu126": (12, (5, 0))}


def pick(cuda, capability):
    for index, (major, least) in NEEDS.items():
        if (
            int(cuda.split(".")[0]) >= major
            and capability >= least
            and not (index == "cu126" and capability >= (10, 0))
        ):
            return index
    return None


def move(batch, device):
    if isinstance(batch, Tensor):
        return batch.to(device)
    if isinstance(batch, dict):
        return {key: move(value, device) for key, value in batch.items()}
    if isinstance(batch, list | tuple):
        return type(batch)(move(value, device) for value in batch)
    return batch


def timed(work):
    return [synchronize(), clock("t0"), *work, synchronize(), clock("t1", since="t0")]


RIGHT = [
    (check.pick_build, pick),
    (check.move, move),
    (check.add_positions, lambda x: x + torch.arange(x.shape[-1], device=x.device)),
    (check.add_positions, lambda x: x + torch.arange(x.shape[-1], device=x.device, dtype=x.dtype)),
    (check.mean_loss, lambda losses: torch.stack(losses).mean().item()),
    (check.mean_loss, lambda losses: float(sum(losses) / len(losses))),
    (check.measured, timed),
]
WRONG = {
    "the stub": (check.pick_build, lambda cuda, capability: ..., "not yet", "still returns"),
    "always the newest": (
        check.pick_build,
        lambda cuda, capability: "cu130",
        "wrong",
        "needs a driver for CUDA 13",
    ),
    "the driver alone": (
        check.pick_build,
        lambda cuda, _: {"13": "cu130", "12": "cu126"}.get(cuda[:2]),
        "almost",
        "no code for this GPU",
    ),
    "always the oldest": (check.pick_build, lambda cuda, capability: "cu126", "wrong", "a newer build fits"),
    "higher than the driver": (
        check.pick_build,
        lambda cuda, capability: "cu130" if cuda < "13" else "cu126",
        "wrong",
        "CUDA 13.0",
    ),
    "not assigned": (
        check.move,
        lambda batch, device: [batch["x"].to(device), batch][1],
        "wrong",
        "did not arrive",
    ),
    "tensors of the dict alone": (
        check.move,
        lambda batch, device: {k: v.to(device) if isinstance(v, Tensor) else v for k, v in batch.items()},
        "almost",
        "inside a list",
    ),
    "everything becomes a list": (
        check.move,
        lambda b, d: {
            "x": b["x"].to(d),
            "parts": [b["parts"][0].to(d), [b["parts"][1][0].to(d), "name"]],
            "step": 7,
        },
        "almost",
        "as a tuple",
    ),
    "numbers become tensors": (
        check.move,
        lambda b, d: {k: torch.as_tensor(v).to(d) if k != "parts" else v for k, v in b.items()},
        "wrong",
        "is no tensor must stay",
    ),
    "on the CPU": (
        check.add_positions,
        lambda x: x + torch.arange(x.shape[-1]),
        "almost",
        "make them on x's device",
    ),
    "float32 for all": (
        check.add_positions,
        lambda x: x.float() + torch.arange(x.shape[-1], device=x.device),
        "almost",
        "float64 went in",
    ),
    "from one": (
        check.add_positions,
        lambda x: x + torch.arange(1, x.shape[-1] + 1, device=x.device),
        "wrong",
        "must be 1, 2, 3",
    ),
    "an item each": (
        check.mean_loss,
        lambda losses: sum(v.item() for v in losses) / 10,
        "almost",
        "waited 10 times",
    ),
    "a tensor": (check.mean_loss, lambda losses: sum(losses) / 10, "almost", "still a tensor"),
    "the sum": (check.mean_loss, lambda losses: sum(losses).item(), "wrong", "is 4.5"),
    "no wait": (
        check.measured,
        lambda work: [clock("t0"), *work, clock("t1", since="t0")],
        "wrong",
        "nobody waited",
    ),
    "one wait": (
        check.measured,
        lambda work: [clock("t0"), *work, synchronize(), clock("t1", since="t0")],
        "almost",
        "older work is in it",
    ),
    "the wait outside": (
        check.measured,
        lambda work: [synchronize(), clock("t0"), *work, clock("t1", since="t0"), synchronize()],
        "wrong",
        "nobody waited",
    ),
    "no clock": (check.measured, lambda work: [*work, synchronize()], "wrong", "nothing is timed"),
    "no work": (
        check.measured,
        lambda work: [clock("t0"), clock("t1", since="t0"), *work],
        "wrong",
        "whole work",
    ),
    "no list": (check.measured, lambda work: 120, "not yet", "a list of steps"),
}


@pytest.mark.parametrize(("judge", "answer"), RIGHT)
def test_right_answers_are_green(judge, answer):
    verdict = judge(answer)
    assert verdict.state == "right", verdict


@pytest.mark.parametrize("mistake", WRONG)
def test_typical_mistakes_stay_red_and_are_named(mistake):
    judge, answer, state, words = WRONG[mistake]
    verdict = judge(answer)
    assert verdict.state == state and words in verdict.why, verdict


@pytest.mark.parametrize("name", ["move", "add_positions", "mean_loss", "measured"])
def test_an_untouched_stub_says_not_yet(name):
    assert getattr(check, name)(lambda *args: ...).state == "not yet"


OURS = rebuilt("03b_behind_python")


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32))
def test_the_rebuilt_queue_agrees_with_the_model(seed):
    verdict = check.compare_queue(OURS["simulate"], Random(seed), programs=20)
    assert verdict.state == "right", verdict


@pytest.mark.parametrize("method", ["wait", "launch"])
def test_a_fault_in_the_rebuilt_queue_is_found(method, monkeypatch):
    monkeypatch.setattr(OURS["Queue"], method, lambda self, *args: None)
    assert check.compare_queue(OURS["simulate"], Random(0), programs=50).state == "wrong"


def test_the_rebuilt_queue_stays_short_enough_to_read_in_class():
    assert 20 < rebuilt_lines("03b_behind_python") <= 40


def test_nonsense_is_no_queue():
    assert check.compare_queue(lambda program: (0.0, []), Random(0), programs=20).state == "wrong"
    assert "can't be followed" in check.compare_queue(lambda program: None, Random(0)).why
