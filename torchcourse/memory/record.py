"""Record one training step without a GPU: what it allocates, whose it is, when it goes."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import torch
from torch import nn

from .data import Event, Recording, Stored
from .ledger import Raw
from .stand import standing
from .watch import Watch


def record_step(
    step: Callable[[], Any],
    model: nn.Module | None = None,
    optimizer: torch.optim.Optimizer | None = None,
    *,
    as_cuda: bool = True,
) -> Recording:
    """Call `step()` once and record every storage that it meets, with its owner.

    model, optimizer: whose parameters, buffers and state are there before the step. Left out, they are
    learned when the step uses them. The step runs as it is, on real tensors, on "meta" ones (no bytes at all;
    autocast does nothing there) or inside a FakeTensorMode. Adam makes its state in its first step, so call step()
    once before to record the steady state.

    as_cuda: where a GPU is known to allocate otherwise, do as it does: dropout's mask takes a byte an element, an
    optimizer's `foreach=None` means True while the step runs (the numbers stay the same), its step counts stay on
    the host, attention on "meta" tensors is fused, and code under `torch.autocast("cpu")` follows the GPU's float32
    list (so it rounds as there).

    Nothing of yours is changed besides what step() does, and no mode or hook stays. When step() raises, its error
    goes on to you, with what had happened as `error.record`.
    TypeError, ValueError: no function, no module, no optimizer, no parameters, or a step that ran nothing.
    """
    _check(step, model, optimizer)
    watch = Watch(as_cuda)
    with standing(watch, as_cuda):
        if model is not None:
            watch.adopt(model)
        if optimizer is not None:
            watch.adopt_optimizer(optimizer)
        try:
            step()
        except BaseException as error:
            with suppress(AttributeError):  # an exception with slots
                error.record = _recording(watch, error)  # type: ignore[attr-defined]
            raise
        recording = _recording(watch)
    if not watch.ran:
        raise ValueError(
            "step() allocated nothing: it ran no operator on a tensor. Let it run the forward, the backward and "
            "the optimizer's step."
        )
    return recording


def _check(step: object, model: object, optimizer: object) -> None:
    if not callable(step):
        raise TypeError(
            f"step is a function without arguments that does one training step, not {_kind(step)}."
        )
    if model is not None and not isinstance(model, nn.Module):
        raise TypeError(f"model is an nn.Module or None, not {_kind(model)}.")
    if isinstance(model, nn.Module) and next(model.parameters(), None) is None:
        raise ValueError(
            f"{type(model).__name__} has no parameters, so there is nothing to train. Pass the model whose "
            "parameters the optimizer has, or leave model out."
        )
    if optimizer is not None and not isinstance(optimizer, torch.optim.Optimizer):
        raise TypeError(f"optimizer is a torch.optim.Optimizer or None, not {_kind(optimizer)}.")


def _kind(value: object) -> str:
    return f"{value} (a class)" if isinstance(value, type) else f"a {type(value).__name__}"


def _recording(watch: Watch, error: BaseException | None = None) -> Recording:
    """Plain data out of the notes; what a GPU step keeps on the host, and empty storages, are left out."""
    raws, events = watch.ledger.raws, _added_in_place(watch.ledger.raws, watch.ledger.whole())
    kept = [k for k, raw in enumerate(raws) if raw.nbytes and not raw.on_host]
    place = {old: new for new, old in enumerate(kept)}
    lines = str(error).splitlines() if error is not None else []
    said = f"{type(error).__name__}: {lines[0] if lines else ''}".rstrip(": ") if error is not None else None
    return Recording(
        storages=tuple(_stored(raws[k]) for k in kept),
        events=tuple(Event(place[k], frees, phase) for k, frees, phase in events if k in place),
        products=frozenset(watch.products),
        convolves=watch.convolves,
        scores=watch.scores,
        kept_scores=watch.kept_scores,
        raised=said,
    )


def _stored(raw: Raw) -> Stored:
    owner = raw.owner or "temporary"
    return Stored(raw.nbytes, owner, raw.module, raw.operator, raw.phase, not raw.gone)


def _added_in_place(raws: list[Raw], events: list[tuple[int, bool, str]]) -> list[tuple[int, bool, str]]:
    """Where two gradients meet, the engine adds onto one that nobody else holds (`InputBuffer::accumulate`).

    Under a dispatch mode it makes a new tensor instead. So where a summand goes right after the sum came, it is
    taken to go right before.
    """
    made = list(events)
    for at, (number, frees, _) in enumerate(events):
        summands = () if frees else raws[number].inputs
        for after in range(at + 1, len(events) if summands else 0):
            if not events[after][1]:
                break
            if events[after][0] in summands and raws[events[after][0]].nbytes == raws[number].nbytes:
                made[at : after + 1] = [events[after], *events[at:after]]
                break
    return made
