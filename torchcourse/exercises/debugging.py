"""Checks of chapter 11: keep only what is needed, name a bottleneck, and a rebuilt leak finder beside `leaks`."""

import gc
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from torchcourse.debugging import diagnose, leaks
from torchcourse.exercises import Verdict, almost, check, rebuild, right, wrong

__all__ = ["bottleneck", "compare_finder", "remember"]

STEPS, ROWS, WIDTH = 3, 32, 16


# --- keep only what is needed -------------------------------------------------------------------------------


@check
def remember(answer: Callable[..., Any]) -> Iterator[Verdict]:
    """remember(log, loss, output) adds two losses and a row, and keeps nothing else alive."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        net = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.Tanh(), nn.Linear(WIDTH, WIDTH))
        given = [torch.randn(ROWS, WIDTH) for _ in range(STEPS)]
    log: dict[str, Any] = {"losses": [], "samples": [], "total": 0.0}
    losses, rows, returned = [], [], None
    for batch in given:
        output = net(batch)
        loss = output.square().mean()
        losses.append(loss.item())
        rows.append(output[0].detach().clone())
        returned = answer(log, loss, output)
        if loss.grad_fn is None or output.grad_fn is None:
            yield wrong(
                "`loss` or `output` lost its graph, and the caller needs it: `detach()`, not `detach_()`."
            )
        output.detach().zero_()  # the next batch may reuse this memory: a copy doesn't notice
    yield from _judge_kept(log)
    yield from _judge_values(log, losses, rows)
    if returned is not log:
        yield almost("the log is right; return it at the end.")
    yield right("the numbers are right, and no graph and no storage of a batch stays alive.")


def _judge_kept(log: dict[str, Any]) -> Iterator[Verdict]:
    kept = {'log["total"]': log["total"]}
    kept |= {f'log["{part}"][{k}]': one for part in ("losses", "samples") for k, one in enumerate(log[part])}
    tensors = {name: one for name, one in kept.items() if isinstance(one, Tensor)}
    for name, one in tensors.items():
        if one.grad_fn is not None:
            yield wrong(f"`{name}` has a grad_fn: it holds the graph of its step.")
    for name, one in tensors.items():
        needs, holds = one.nbytes, one.untyped_storage().nbytes()
        if holds > needs:
            yield wrong(f"`{name}` needs {needs} bytes, and its storage has {holds:,}: it is a view.")


def _judge_values(log: dict[str, Any], losses: list[float], rows: list[Tensor]) -> Iterator[Verdict]:
    counts = len(log["losses"]), len(log["samples"])
    if counts != (STEPS, STEPS):
        yield wrong(
            f"after {STEPS} steps there are {counts[0]} losses and {counts[1]} samples; expected {STEPS}."
        )
    if not _close(log["losses"], losses):
        yield wrong("the losses are not those of the steps.")
    if not all(_close(one, row.tolist()) for one, row in zip(log["samples"], rows, strict=True)):
        yield wrong(
            "a sample is not the first row of its output, or it changed when `output` was overwritten."
        )
    if not _close([log["total"]], [sum(losses)]):
        yield wrong(f"the total is {float(log['total']):.4f}; the losses add up to {sum(losses):.4f}.")


def _close(found: Any, wanted: list[float]) -> bool:
    numbers = [float(one) for one in found]
    return len(numbers) == len(wanted) and torch.allclose(torch.tensor(numbers), torch.tensor(wanted))


# --- name the bottleneck ------------------------------------------------------------------------------------


def _row(name: str, kind: str, cpu: float, device: float = 0.0) -> dict[str, Any]:
    return {"name": name, "kind": kind, "count": 100, "self_cpu_us": cpu, "self_device_us": device}


def _data(us: float) -> dict[str, Any]:
    return _row("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", "data", us)


def _launch(us: float) -> dict[str, Any]:
    return _row("cudaLaunchKernel", "runtime", us)


def _wait(us: float) -> dict[str, Any]:
    return _row("cudaStreamSynchronize", "runtime", us)


def _gpu(us: float) -> dict[str, Any]:
    return _row("gemm", "kernel", 0, us)


def _operator(us: float, device: float = 0.0) -> dict[str, Any]:
    return _row("aten::mm", "operator", us, device)


# what this case asks -> rows; what is right, `diagnose` says
_PROFILES = {
    "the loop waits for data": [_data(700), _operator(300)],
    "data and a busy GPU": [_data(600), _operator(400), _gpu(900)],
    "data below a third": [_data(300), _launch(700), _gpu(100)],
    "the GPU is busy": [_launch(100), _gpu(950)],
    "busy, with one wait at the end": [_wait(900), _operator(100), _gpu(900)],
    "many waits": [_wait(400), _operator(600), _gpu(200)],
    "waits below a tenth": [_wait(50), _launch(950), _gpu(200)],
    "an operator's device time is its kernels'": [_operator(1000, 400), _gpu(400)],
}


@check
def bottleneck(answer: Callable[..., Any]) -> Iterator[Verdict]:
    """bottleneck(rows) -> "loader-bound", "compute-bound", "sync-bound" or "launch-bound", as `diagnose` says."""
    for case, rows in _PROFILES.items():
        got, wanted = answer([dict(row) for row in rows]), diagnose(rows).kind
        if got != wanted:
            yield wrong(
                f"{case}: yours says {str(got)[:40]!r}, diagnose says {wanted!r}. {diagnose(rows).sentence}"
            )
    yield right(f"{len(_PROFILES)} profiles, and diagnose agrees with each.")


# --- Rebuild it ---------------------------------------------------------------------------------------------


@contextmanager
def _only_new_objects() -> Iterator[None]:
    """The collector leaves older objects alone: a census of a large process is quick."""
    frozen = gc.get_freeze_count()
    gc.freeze()
    try:
        yield
    finally:
        if not frozen:
            gc.unfreeze()


def _rows_of_batches() -> Callable[[], Any]:
    kept: list[Tensor] = []
    return lambda: kept.append(torch.ones(64, 16)[0])


def _by_key() -> Callable[[], Any]:
    cache: dict[int, Tensor] = {}
    return lambda: cache.update({len(cache): torch.ones(50)})


def _losses_after_backward() -> Callable[[], Any]:
    weight, kept = torch.ones(100, requires_grad=True), []

    def step() -> None:
        kept.append((weight * 2).exp().sum())
        kept[-1].backward()

    return step


def _two_views_of_one() -> Callable[[], Any]:
    kept: list[Any] = []

    def step() -> None:
        whole = torch.ones(30)
        kept.append((whole[:10], whole[10:]))

    return step


def _only_the_last() -> Callable[[], Any]:
    latest: dict[str, Tensor] = {}
    return lambda: latest.update(output=torch.ones(1000))


def _bounded() -> Callable[[], Any]:
    recent: deque[Tensor] = deque(maxlen=1)
    return lambda: recent.append(torch.ones(1000))


def _in_a_cycle() -> Callable[[], Any]:
    def step() -> None:
        one: dict[str, Any] = {"tensor": torch.ones(100)}
        one["self"] = one

    return step


_STEPS = {
    "rows of batches": _rows_of_batches,
    "a dictionary by key": _by_key,
    "losses after backward": _losses_after_backward,
    "two views of one storage": _two_views_of_one,
    "only the last output": _only_the_last,
    "a deque with maxlen": _bounded,
    "a cycle": _in_a_cycle,
    "nothing": lambda: lambda: None,
}


@rebuild
def compare_finder(held_per_step: Callable[[Callable[[], Any]], Any]) -> Verdict:
    """Bytes that a step leaves behind, by the rebuilt census and by `leaks`, on eight steps."""
    leaking = 0
    for name, make in _STEPS.items():
        with _only_new_objects():
            wanted = sum(leak.nbytes_per_step for leak in leaks(make()))
            found = held_per_step(make())
        if found != wanted:
            return wrong(f"{name}: yours finds {found} bytes per step, leaks finds {wanted}.")
        leaking += wanted > 0
    return right(f"{len(_STEPS)} steps, {leaking} of them leak; both find the same bytes.")
