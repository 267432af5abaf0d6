"""Two forwards in eval mode, without gradients: is dropout still on, and does a sample see its neighbours?

The second forward gets a batch in which every sample is replaced by one of them, which stands where it stood.
Its output must not change: nothing else about it did.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from torchcourse.modules import Finding

from .given import Given, tensors
from .keep import Keep
from .watch import Watch, source_line, where

TOLERANCE = 1e-3  # of the output's size


@dataclass(frozen=True)
class Probe:
    """dropped: findings; mixed: (sample, the most that its output changed, size of the outputs), or None.

    ignored: other samples, and not one number of the output changed.
    """

    dropped: tuple[Finding, ...] = ()
    mixed: tuple[int, float, float] | None = None
    ignored: bool = False


def probe(given: Given, keep: Keep) -> Probe:
    """What eval mode shows; an empty answer where the model can't run in it."""
    watch = Watch(keep)
    watch.phase = "eval"
    modes = [(m, m.training) for m in given.model.modules() if not isinstance(m, torch.jit.ScriptModule)]
    changes: list[_Change] = []
    try:
        for module, _ in modes:
            module.training = False
        with torch.no_grad(), watch:
            changes = _changes(given, keep)
    except Exception:  # the model is written for training alone, or for one batch size
        changes = []
    finally:
        for module, mode in modes:
            module.training = mode
    mixed = all(one.of_kept > TOLERANCE * one.scale for one in changes)
    last = changes[-1] if changes and mixed else None
    return Probe(
        _dropped(watch),
        None if last is None else (last.kept, last.of_kept, last.scale),
        bool(changes) and all(one.ignored for one in changes),
    )


def _dropped(watch: Watch) -> tuple[Finding, ...]:
    return tuple(
        Finding(
            "dropout-in-eval",
            where(place),
            f"in eval mode a dropout with p={p:g} still draws numbers{source_line(place)}: "
            "the same input gives another output every time.",
            "F.dropout(x, p, training=self.training), or an nn.Dropout; dropout_p=p if self.training else 0.0.",
        )
        for place, p in watch.dropped.items()
    )


class _Change(NamedTuple):
    """What the output did when all samples but `kept` were exchanged."""

    kept: int
    of_kept: float  # the most that the kept sample's output changed
    scale: float
    ignored: bool  # the input changed, and the output of no sample did


def _changes(given: Given, keep: Keep) -> list[_Change]:
    """One for each dimension that may be the batch, up to the first in which the kept sample stays what it was."""
    first = _run(given, keep, lambda value: value)
    out = next((t for t in tensors(first) if t.is_floating_point()), None)
    dims = _batch_dimensions(given, out)
    if out is None or not dims or _couples(given, out.shape[dims[0]]) or out.shape == 2 * (len(out),):
        return []
    found: list[_Change] = []
    for dim in dims:
        one = _compare(given, keep, out, dim)
        if one is None:
            return []
        found.append(one)
        if one.of_kept <= TOLERANCE * one.scale:
            break
    return found


def _run(given: Given, keep: Keep, change: Callable[[Any], Any]) -> Any:
    """Each forward begins alike: with the state that the model carried, and the same random numbers for a VAE."""
    modes = [m.training for m in given.model.modules()]
    keep.rewind()
    for module, mode in zip(given.model.modules(), modes, strict=True):
        module.training = mode
    return given.call(change(given.input))


def _compare(given: Given, keep: Keep, out: Tensor, dim: int) -> _Change | None:
    """None: the two outputs can't be compared."""
    size, kept = out.shape[dim], out.shape[dim] // 2
    others = _others_replaced(given.input, dim, size, kept)
    again = _run(given, keep, lambda value: _others_replaced(value, dim, size, kept))
    other = next((t for t in tensors(again) if t.is_floating_point()), None)
    if other is None or other.shape != out.shape or not bool(torch.isfinite(out).all()):
        return None
    change = float((other.select(dim, kept) - out.select(dim, kept)).abs().max())
    told_apart = bool((out != out.select(dim, kept).unsqueeze(dim)).any())
    ignored = told_apart and bool((other == out).all()) and not _alike(given.input, others)
    return _Change(kept, change, float(out.abs().max()), ignored)


def _alike(one: Any, other: Any) -> bool:
    return all(bool((a == b).all()) for a, b in zip(tensors(one), tensors(other), strict=True))


def _batch_dimensions(given: Given, out: Tensor | None) -> list[int]:
    """Dimensions that may be the batch: the same size in every input, in the target and in the output.

    Empty where something else comes with the batch, such as the edges of a graph: then samples may see each other.
    """
    inputs, targets = list(tensors(given.input)), list(tensors(given.target))
    if out is None or not inputs:
        return []
    every = [out, *inputs, *targets]
    least = min((t.ndim for t in every), default=0)
    dims = [d for d in range(min(least, 2)) if len({t.shape[d] for t in every}) == 1 and out.shape[d] > 1]
    return dims if 0 in dims or not targets else []


def _couples(given: Given, size: int) -> bool:
    """A model that is about pairs of samples (who is whose neighbour), or normalises over the batch on purpose."""
    model, inputs = given.model, list(tensors(given.input))
    pairs = [*model.buffers(), *(inputs if len(inputs) > 1 else ())]
    if any(t.shape == (size, size) for t in pairs):
        return True
    return any(
        isinstance(m, nn.modules.batchnorm._BatchNorm) and not m.track_running_stats for m in model.modules()
    )


def _others_replaced(value: Any, dim: int, size: int, kept: int) -> Any:
    """The same nesting, every sample a copy of the kept one."""
    if isinstance(value, Tensor):
        if value.ndim > dim and value.shape[dim] == size:
            return value.select(dim, kept).unsqueeze(dim).expand(value.shape).clone()
        return value
    if isinstance(value, dict):
        return type(value)((key, _others_replaced(one, dim, size, kept)) for key, one in value.items())
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(_others_replaced(one, dim, size, kept) for one in value))
    if isinstance(value, (tuple, list)):
        return type(value)(_others_replaced(one, dim, size, kept) for one in value)
    return value
