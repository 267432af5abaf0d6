"""The checks of chapter 11: right answers are green, the wrong ones that people really give stay red."""

import gc
import weakref
from collections.abc import Callable
from typing import Any

import pytest
import torch

from torchcourse.exercises import debugging as checks

Log = dict[str, Any]


def add(log: Log, loss: Any, row: Any, total: Any = None) -> Log:
    log["losses"].append(loss)
    log["samples"].append(row)
    log["total"] += loss if total is None else total
    return log


def with_numbers(log: Log, loss: Any, output: Any) -> Log:
    return add(log, loss.item(), output[0].detach().clone())


def on_the_device(log: Log, loss: Any, output: Any) -> Log:
    log["losses"].append(loss.detach())
    log["samples"].append(output[0].clone().detach())
    log["total"] = log["total"] + loss.detach()
    return log


def with_lists(log: Log, loss: Any, output: Any) -> Log:
    return add(log, float(loss), output[0].tolist())


def with_graphs(log: Log, loss: Any, output: Any) -> Log:
    return add(log, loss, output[0].detach().clone())


def total_with_graph(log: Log, loss: Any, output: Any) -> Log:
    return add(log, loss.item(), output[0].detach().clone(), total=loss)


def with_a_view(log: Log, loss: Any, output: Any) -> Log:
    return add(log, loss.item(), output[0].detach())


def clone_without_detach(log: Log, loss: Any, output: Any) -> Log:
    return add(log, loss.item(), output[0].clone())


def as_array(log: Log, loss: Any, output: Any) -> Log:
    return add(log, loss.item(), output[0].detach().numpy())


def in_place(log: Log, loss: Any, output: Any) -> Log:
    return add(log, loss.detach_().item(), output[0].detach().clone())


def without_return(log: Log, loss: Any, output: Any) -> None:
    with_numbers(log, loss, output)


def without_total(log: Log, loss: Any, output: Any) -> Log:
    return add(log, loss.item(), output[0].detach().clone(), total=0.0)


@pytest.mark.parametrize(
    ("answer", "state", "why"),
    [
        (with_numbers, "right", "no storage of a batch"),
        (on_the_device, "right", "no storage of a batch"),
        (with_lists, "right", "no storage of a batch"),
        (with_graphs, "wrong", "has a grad_fn"),
        (total_with_graph, "wrong", '`log["total"]` has a grad_fn'),
        (with_a_view, "wrong", '`log["samples"][0]` needs 64 bytes, and its storage has 2,048'),
        (clone_without_detach, "wrong", '`log["samples"][0]` has a grad_fn'),
        (as_array, "wrong", "changed when `output` was overwritten"),
        (in_place, "wrong", "lost its graph"),
        (without_return, "almost", "return it"),
        (without_total, "wrong", "the total is 0.0000"),
        (lambda log, loss, output: log, "wrong", "0 losses and 0 samples"),
        (lambda log, loss, output: ..., "not yet", "still returns"),
    ],
)
def test_remember(answer: Callable[..., Any], state: str, why: str) -> None:
    before = torch.get_rng_state()
    verdict = checks.remember(answer)
    assert verdict.state == state and why in verdict.why, str(verdict)
    assert torch.equal(before, torch.get_rng_state())


def named(rows: list[dict[str, Any]], order: str = "lcs", operators: bool = False) -> str:
    """Right with the default; order: which rule is asked first."""
    kinds = ("kernel", "operator") if operators else ("kernel",)
    cpu = sum(row["self_cpu_us"] for row in rows)
    device = sum(row["self_device_us"] for row in rows if row["kind"] in kinds)
    passed = max(cpu, device)
    data = sum(row["self_cpu_us"] for row in rows if row["kind"] == "data")
    waits = sum(row["self_cpu_us"] for row in rows if row["name"] == "cudaStreamSynchronize")
    rules = {
        "l": ("loader-bound", data > passed / 3),
        "c": ("compute-bound", device >= 0.7 * passed),
        "s": ("sync-bound", waits > 0.1 * passed),
    }
    return next((rules[rule][0] for rule in order if rules[rule][1]), "launch-bound")


@pytest.mark.parametrize(
    ("answer", "state", "why"),
    [
        (named, "right", "diagnose agrees"),
        (lambda rows: named(rows, "cls"), "wrong", "data and a busy GPU"),
        (lambda rows: named(rows, "lsc"), "wrong", "one wait at the end"),
        (lambda rows: named(rows, operators=True), "wrong", "an operator's device time"),
        (lambda rows: named(rows, "lc"), "wrong", "many waits"),
        (
            lambda rows: max(rows, key=lambda row: row["self_cpu_us"])["name"],
            "wrong",
            "the loop waits for data",
        ),
        (lambda rows: ..., "not yet", "still returns"),
    ],
)
def test_bottleneck(answer: Callable[..., Any], state: str, why: str) -> None:
    verdict = checks.bottleneck(answer)
    assert verdict.state == state and why in verdict.why, str(verdict)


def census(collect: bool = True) -> dict[int, Any]:
    if collect:
        gc.collect()
    return {id(one): one for one in gc.get_objects() if issubclass(type(one), torch.Tensor)}


def finder(step: Any, n: int = 5, collect: bool = True, first: int = 2, storages: bool = True) -> int:
    known, born = {key: weakref.ref(one) for key, one in census(collect).items()}, []
    for number in range(n):
        step()
        new = [one for key, one in census(collect).items() if key not in known or known[key]() is not one]
        known |= {id(one): weakref.ref(one) for one in new}
        born += [weakref.ref(one) for one in new if first <= number < n - 1]
        del new
    left = [ref() for ref in born if ref() is not None]
    if not storages:
        return sum(one.nbytes for one in left) // (n - 3)
    held = [one.untyped_storage() for one in left]
    return sum({one.data_ptr(): one.nbytes() for one in held}.values()) // (n - 3)


@pytest.mark.parametrize(
    ("answer", "state", "why"),
    [
        (finder, "right", "8 steps, 4 of them leak"),
        (lambda step: finder(step, storages=False), "wrong", "rows of batches: yours finds 4160 bytes"),
        (lambda step: finder(step, first=0), "wrong", "rows of batches"),
        (lambda step: finder(step, collect=False), "wrong", "a cycle"),
        (lambda step: 0, "wrong", "leaks finds 4096"),
        (lambda step: step.missing, "wrong", "can't be followed"),
    ],
)
def test_compare_finder(answer: Callable[..., Any], state: str, why: str) -> None:
    verdict = checks.compare_finder(answer)
    assert verdict.state == state and why in verdict.why, str(verdict)
    assert not gc.get_freeze_count()
