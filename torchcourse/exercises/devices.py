"""Checks of chapter 03. No GPU is needed: the `meta` device, recorded facts and the queue's model stand in."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import torch
from torch import Tensor

from torchcourse.devices.needs import covered, major
from torchcourse.devices.queue import (
    Step,
    copy,
    item,
    kernel,
    python,
    record,
    run,
    stream_waits,
    synchronize,
)
from torchcourse.exercises import Verdict, almost, check, not_yet, rebuild, right, wrong
from torchcourse.layers import xray

__all__ = ["add_positions", "compare_queue", "mean_loss", "measured", "move", "pick_build"]

# index -> (CUDA of its builds, the GPUs that they hold code for), newest first: PyTorch 2.13
BUILDS = {
    "cu130": ("13.0", ("sm_75", "sm_80", "sm_86", "sm_90", "sm_100", "sm_120", "compute_120")),
    "cu126": ("12.6", ("sm_50", "sm_60", "sm_70", "sm_75", "sm_80", "sm_86", "sm_90")),
}
_CASES = (
    ("13.0", (9, 0)), ("12.4", (8, 6)), ("13.0", (6, 1)), ("11.4", (7, 0)), ("13.2", (7, 5)), ("12.8", (12, 0)),
    ("12.2", (5, 2)), ("13.0", (3, 5)),
)  # fmt: skip


@check
def pick_build(answer: Any) -> Iterator[Verdict]:
    """The index for a driver's CUDA and a GPU's compute capability, or None where no build fits."""
    for cuda, capability in _CASES:
        given, expected = answer(cuda, capability), _pick(cuda, capability)
        if given == expected:
            continue
        asked = f"for a driver with CUDA {cuda} and a GPU of capability {capability[0]}.{capability[1]}"
        told = f"{asked} you say {given!r}; {_why(cuda, capability, given, expected)}"
        if expected == "cu126" and given == "cu130" and major(cuda) == 13:
            yield almost(told)
        yield wrong(told)
    yield right("the driver runs it, the GPU's code is in it, and it is the newest such build.")


def _pick(cuda: str, capability: tuple[int, int]) -> str | None:
    fits = (
        i for i, (made, archs) in BUILDS.items() if major(made) <= major(cuda) and covered(archs, capability)
    )
    return next(fits, None)


def _why(cuda: str, capability: tuple[int, int], given: object, expected: str | None) -> str:
    made, archs = BUILDS.get(str(given), ("", ()))
    if not made:
        return f"expected {expected!r}."
    if major(made) > major(cuda):
        return f"that build needs a driver for CUDA {major(made)}."
    if not covered(archs, capability):
        return "that build holds no code for this GPU."
    return f"a newer build fits, too: {expected!r}."


@check
def move(answer: Any) -> Iterator[Verdict]:
    """Move every tensor of a nested batch; all else stays as it is."""
    x, y = torch.arange(6.0).reshape(2, 3), torch.tensor([0, 1])
    given = answer({"x": x, "parts": [y, (x, "name")], "step": 7}, torch.device("meta"))
    if not isinstance(given, dict) or set(given) != {"x", "parts", "step"}:
        yield wrong(
            f"a dict goes in, so a dict with the same keys must come out; got {type(given).__name__}."
        )
        return
    if x.device.type != "cpu":
        yield wrong("the batch that was handed over must stay as it was: .to gives new tensors.")
    if not (isinstance(given["x"], Tensor) and given["x"].device.type == "meta"):
        yield wrong("the tensor under 'x' did not arrive. Remember that .to() returns the moved tensor.")
        return
    if isinstance(given["step"], Tensor) or given["step"] != 7:
        yield wrong("what is no tensor must stay as it was: the 7 under 'step' came back changed.")
    yield from _nested(given["parts"])
    yield right("tensors at any depth are on the device, and all else is as it was.")


def _nested(parts: Any) -> Iterator[Verdict]:
    if not isinstance(parts, list) or len(parts) != 2:
        yield almost(f"lists inside the batch must come back as lists; got {type(parts).__name__}.")
    elif not (isinstance(parts[0], Tensor) and parts[0].device.type == "meta"):
        yield almost("a tensor inside a list stayed behind: go into lists and tuples, too.")
    elif not isinstance(parts[1], tuple) or parts[1][1:] != ("name",):
        yield almost("a tuple inside a list must come back as a tuple, with its text as it was.")
    elif parts[1][0].device.type != "meta":
        yield almost("a tensor two levels down stayed behind: let your function call itself.")


@check
def add_positions(answer: Any) -> Iterator[Verdict]:
    """Add 0, 1, 2 … along the last dimension, on whatever device and in whatever dtype the input has."""
    x = torch.ones(2, 3)
    given = answer(x)
    if not isinstance(given, Tensor) or not torch.equal(given, torch.tensor([[1.0, 2, 3], [1.0, 2, 3]])):
        yield wrong(f"for ones of shape (2, 3) each row must be 1, 2, 3; got {_shown(given)}.")
        return
    try:
        elsewhere = answer(torch.ones(2, 3, device="meta"))
        half = answer(torch.ones(2, 3, dtype=torch.float64))
    except Exception:
        yield almost(
            "right on the CPU. On another device the positions stayed on the CPU: make them on x's device."
        )
        return
    if elsewhere.device.type != "meta":
        yield almost("right on the CPU; for an input elsewhere the result came back to the CPU.")
    if half.dtype != torch.float64:
        yield almost(
            f"right devices; but float64 went in and {str(half.dtype).removeprefix('torch.')} came out."
        )
    yield right("the positions are made where x is, and nothing is copied.")


@check
def mean_loss(answer: Any) -> Iterator[Verdict]:
    """The mean of many losses as a Python number, with one wait."""
    losses = [torch.tensor(float(k)) for k in range(10)]
    with xray() as seen:
        given = answer(losses)
    if isinstance(given, Tensor):
        yield almost("the value is still a tensor; the log wants a Python number: .item(), once, at the end.")
        return
    if not isinstance(given, float | int) or abs(given - 4.5) > 1e-6:
        yield wrong(f"the mean of 0, 1, … 9 is 4.5; got {_shown(given)}.")
        return
    waits = len(seen.waits)
    if waits > 1:
        yield almost(
            f"right, but Python waited {waits} times. Sum on the device first, and ask for one value."
        )
    yield right("right, and Python waited once.")


@check
def measured(answer: Any) -> Iterator[Verdict]:
    """A program that times its work with Python's clock, t0 to t1, and gets it right."""
    before, work = [kernel("left over", 300)], [kernel("y = x @ w", 80), kernel("z = y.relu()", 40)]
    program = answer(list(work))
    if not isinstance(program, list) or not all(isinstance(step, Step) for step in program):
        yield not_yet("return a list of steps: clocks, synchronize(), and the work in between.")
        return
    lanes = run(before + program)
    timing = next((t for t in lanes.timings if t.by == "clock"), None)
    if timing is None:
        yield wrong("nothing is timed: clock('t0') before the work, and clock('t1', since='t0') after it.")
        return
    if timing.gpu_us != 120:
        yield wrong("the whole work must stand between the two clocks, and nothing else.")
        return
    first_launch = 10.0
    if timing.us < 120:
        yield wrong(f"the clock says {timing.us:g} µs for 120 µs of work: nobody waited before t1 was read.")
    elif timing.us > 120 + first_launch:
        yield almost(
            f"the clock says {timing.us:g} µs for 120 µs of work: older work is in it. Empty the queue before t0."
        )
    yield right(f"{timing.us:g} µs for 120 µs of work: only the first launch is in it, too.")


def _shown(value: Any) -> str:
    return (
        str(value.tolist())[:80]
        if isinstance(value, Tensor) and value.device.type != "meta"
        else repr(value)[:80]
    )


@rebuild
def compare_queue(simulate: Callable[[list[Step]], Any], rng: Random, programs: int = 200) -> Verdict:
    """Run random programs on the rebuilt queue and on the course's model.

    simulate(program) -> (when Python is done, [(stream, start, end) of each piece of work, in launch order]).
    """
    pieces = 0
    for number in range(programs):
        program = _random_program(rng)
        host, ran = simulate(list(program))
        lanes = run(program)
        expected = [(i.lane, i.start, i.end) for i in lanes.intervals if i.kind in ("kernel", "copy")]
        told = f"program {number + 1} ({'; '.join(step.code for step in program)})"
        for ours, theirs in zip(ran, expected, strict=False):
            if tuple(ours) != theirs:
                return wrong(f"{told}: you say {tuple(ours)}, the model {theirs}.")
        if len(ran) != len(expected):
            return wrong(f"{told}: you ran {len(ran)} pieces of work, the model {len(expected)}.")
        if host != lanes.host_end:
            return wrong(
                f"{told}: Python is done at {host:g} µs by yours, at {lanes.host_end:g} µs by the model."
            )
        pieces += len(expected)
    return right(f"{programs} random programs agree with the model, in all {pieces} pieces of work.")


def _random_program(rng: Random) -> list[Step]:
    program: list[Step] = [record("e0", stream="side")]
    events = ["e0"]
    for k in range(rng.randint(1, 10)):
        stream, us = rng.choice(["default", "side"]), rng.randint(1, 60)
        step = rng.choice(
            [
                kernel(f"kernel {k}", us, stream=stream),
                copy(
                    f"copy {k}", us, stream=stream, pinned=rng.random() < 0.5, non_blocking=rng.random() < 0.5
                ),
                item(f"item {k}", stream=stream),
                python(f"python {k}", us),
                record(f"e{k + 1}", stream=stream),
                stream_waits(rng.choice(events), stream=stream),
                synchronize(),
            ]
        )
        events += [step.event] if step.kind == "record" else []
        program.append(step)
    return program
