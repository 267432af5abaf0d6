"""Rules about what two steps showed: losses, inputs, waits, and graphs that stay; gradients: rules_gradients.py."""

import math
from collections.abc import Iterator
from typing import Any

import torch

from torchcourse.modules import Finding

from .given import tensors
from .look import Look
from .rules_gradients import (
    blind,
    constant,
    gradients,
    made_anew,
    no_gradient,
    too_coarse,
    too_fast,
    units,
)
from .watch import source_line, where

LOUD, QUIET_INPUT = 10.0, 3e-3  # root mean square of what the first layer gets


def stopped(look: Look) -> Iterator[Finding]:
    """A first step that raised; of a second one, only what no other rule explains."""
    first = next((step.error for step in look.steps if step.error is not None), None)
    if first is not None:
        yield first


def losses(look: Look) -> Iterator[Finding]:
    if look.steps:
        yield from look.steps[0].found


def loss_value(look: Look) -> Iterator[Finding]:
    step = look.steps[0]
    if step.loss is None or math.isfinite(step.loss) or _given_not_finite(look):
        return
    yield Finding(
        "not-finite",
        "loss",
        f"the loss is {step.loss} at the first step, and input, target and parameters are finite.",
        "torchcourse.debugging.find_nan(model, input) names the operator.",
    )


def _given_not_finite(look: Look) -> bool:
    values = [*tensors((look.given.input, look.given.target)), *look.given.parameters.values()]
    return any(t.is_floating_point() and t.numel() and not bool(torch.isfinite(t).all()) for t in values)


def promoted(look: Look) -> Iterator[Finding]:
    """The model's numbers become float64 on their way, though its weights are not."""
    step, params = look.steps[0], look.given.parameters.values()
    if any(p.dtype == torch.float64 for p in params) or not any(p.is_floating_point() for p in params):
        return
    if step.output is not None and step.output.dtype == torch.float64:
        yield Finding(
            "dtype-promoted",
            step.first_wide or "output",
            "the parameters are float32 and the output is float64: something in forward is float64, "
            "twice the memory and slow on a GPU.",
            "Look for a NumPy array or a .double() in forward: torch.as_tensor(a, dtype=x.dtype).",
        )
    elif step.loss_dtype == torch.float64 and not any(one.kind == "dtype-promoted" for one in step.found):
        yield Finding(
            "dtype-promoted",
            "loss",
            f"the output is {str(step.output.dtype if step.output else '').removeprefix('torch.')} "
            "and the loss float64: the target, or a factor, is.",
            "target.float(); NumPy's numbers are float64 by default.",
        )


def input_range(look: Look) -> Iterator[Finding]:
    received = look.steps[0].received
    if blind(look) and received is not None:
        yield Finding(
            "output-ignores-input",
            received[0] or "model",
            "the first layer gets nothing but zeros, though the input has other numbers, and all outputs are the same.",
            "Look for zeros_like, a mask that is 0 everywhere, or integer division in front of it.",
        )
        return
    if received is None or not (received[1] > LOUD or 0 < received[1] < QUIET_INPUT):
        return
    first = next((t for t in tensors(look.given.input) if t.is_floating_point() and t.numel()), None)
    span = "" if first is None else f", the input lies in {float(first.min()):.3g} … {float(first.max()):.3g}"
    yield Finding(
        "input-range",
        "input",
        f"the first layer ({received[0] or 'the model'}) gets numbers of size {received[1]:.3g} (root mean square)"
        f"{span}; weights are made for about 1.",
        "Normalise: (x - mean) / std; for pixels x / 255.",
    )


def constant_output(look: Look) -> Iterator[Finding]:
    output = look.judged[0].output
    if output is not None and look.probe.ignored and not constant(look):
        yield Finding(
            "output-ignores-input",
            "model",
            "in eval mode the samples of the input were exchanged, and not one number of the output changed.",
            "Look for a variable of another name in forward (a global x, a batch that was kept), or a result not used.",
        )
        return
    if output is None or not constant(look) or blind(look):
        return
    inputs = [t for t in tensors(look.given.input) if t.ndim and t.shape[0] == output.shape[0]]
    if inputs and any(bool((t != t[:1]).any()) for t in inputs) and output.shape[0] > 1:
        yield Finding(
            "output-ignores-input",
            "model",
            f"the samples of the batch differ, and their outputs are all the same (size {output.rms:.3g}).",
            "Look for a layer whose result is not used, a softmax of one number, or units that are all dead.",
        )


def mixed(look: Look) -> Iterator[Finding]:
    if look.probe.mixed is None:
        return
    sample, change, scale = look.probe.mixed
    yield Finding(
        "samples-mixed",
        "model",
        f"in eval mode the output of sample {sample} changes by {change:.2g} (outputs are up to {scale:.2g}) "
        "when only the other samples of the batch are exchanged.",
        "Look for a mean, max, softmax or norm without dim, a view that mixes dimensions, or batch_first.",
    )


def dropped(look: Look) -> Iterator[Finding]:
    yield from look.probe.dropped


def changed_batch(look: Look) -> Iterator[Finding]:
    if look.changed_batch:
        calls = ", ".join(dict.fromkeys(look.changed_batch))
        yield Finding(
            "batch-changed-in-place",
            "batch",
            f"the step writes to the batch itself ({calls}): in the next epoch the same samples are others.",
            "Not in place: x = x / 255; nn.ReLU() without inplace as the first layer; x.clone() first.",
        )


# --- from step to step --------------------------------------------------------------------------------------


def kept_graph(look: Look) -> Iterator[Finding]:
    old = max((step.old_nodes for step in look.steps), default=0)
    if not old and not look.grown:
        return
    if old and not look.grown and len(look.steps) > 1 and look.steps[1].old_nodes == look.steps[0].old_nodes:
        yield _made_before(look, old)
        return
    evidence = (
        f"the loss of a step reaches {old} nodes of the graph of an earlier one"
        if old
        else f"{len(look.grown)} tensors of an earlier step still hold their graph"
    )
    shapes = ", ".join(dict.fromkeys(str(list(shape)) for shape in look.grown[:4]))
    yield Finding(
        "graph-kept",
        look.holder or "model",
        f"{evidence}{f' (shapes {shapes})' if shapes else ''}: memory grows with every step.",
        "Keep numbers, not graphs: loss.item() or loss.detach() for a log, h = h.detach() for a state.",
    )


def _made_before(look: Look, old: int) -> Finding:
    """Every step comes to the same old nodes: they don't pile up, and are never computed anew."""
    return Finding(
        "graph-kept",
        look.holder or "model",
        f"the loss of every step reaches the same {old} node{'s' if old > 1 else ''} made before the first one: "
        "computed once, so what stands behind them can change, and this result never does.",
        "Keep the nn.Parameter itself, and compute with it in forward.",
    )


def waits(look: Look) -> Iterator[Finding]:
    """Points where Python needs a number, in every step."""
    if not look.steps:
        return
    last = look.steps[-1].waits
    places: dict[Any, list[str]] = {}
    for (cause, place), times in look.steps[0].waits.items():
        if (cause, place) in last or len(look.steps) == 1 or look.steps[-1].error is not None:
            places.setdefault(place, []).append(f"{cause} × {times}" if times > 1 else cause)
    for place, causes in places.items():
        yield Finding(
            "wait-per-step",
            where(place),
            f"{', '.join(causes)} in every step{source_line(place)}: on a GPU, Python waits until all is computed.",
            "Keep it a tensor, or look only every hundred steps.",
        )


RULES = (
    stopped, losses, loss_value, promoted, no_gradient, made_anew, gradients, too_fast, too_coarse, units, input_range,
    constant_output, mixed, dropped, changed_batch, kept_graph, waits,
)  # fmt: skip
