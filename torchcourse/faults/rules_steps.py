"""Rules about what two steps showed: losses, inputs, gradients, waits, and graphs that stay."""

import math
from collections.abc import Iterator
from typing import Any

import torch

from torchcourse.modules import Finding

from .given import tensors
from .look import Look
from .modes import BATCH_NORM
from .numbers import is_zero, rms
from .numbers import norm as size_of
from .step import Output
from .watch import source_line, where

LOUD, QUIET_INPUT = 10.0, 1e-4  # root mean square of what the first layer gets
VANISHED = 5e-6  # of the gradient at the model's output
EXPLODED = 1000.0  # times that gradient and the root of the input's size …
LARGE, EXPLODED_TOO = 100.0, 10.0  # … or so many times, where the output is this much larger than the target
ABSURD = 1e3  # times the weight itself, and the target's size
DEAD, SATURATED = 0.9, 0.8
ALL = "every parameter"
FAR_OFF = 10.0  # times the loss of a guess


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


def no_gradient(look: Look) -> Iterator[Finding]:
    """A loss, or parameters, that no way leads to."""
    step = look.steps[0]
    if step.error is not None or step.loss is None or step.old_nodes:
        return
    if step.gradients is None:
        if any(p.requires_grad for p in look.given.parameters.values()):
            yield _loss_without_gradient(look, step.output)
        elif not look.given.parameters:
            yield Finding(
                "loss-without-gradient",
                "loss",
                f"{type(look.given.model).__name__} has no parameters, so there is nothing to train.",
                "Layers in a plain list are not registered: nn.ModuleList.",
            )
        else:
            yield Finding(
                "parameter-frozen",
                ALL,
                f"all {len(look.given.parameters)} parameters have requires_grad=False: nothing can learn.",
                "requires_grad_(True) on what shall learn.",
            )
        return
    yield from _unreached(look)


def _loss_without_gradient(look: Look, output: Output | None) -> Finding:
    known = output is not None and output.has_graph
    return Finding(
        "loss-without-gradient",
        "loss_fn" if known else "model",
        f"the loss does not require grad, and {'the model’s output does' if known else 'the output neither'}: "
        f"the graph ends{' at ' + '; '.join(look.cuts) if look.cuts else ''}.",
        "Look for detach(), .data, .item(), no_grad(), argmax or a new torch.tensor(…) on the way.",
    )


def unreached(look: Look) -> list[str]:
    """Names of parameters that no gradient came to in any step."""
    named = look.given.parameters.items()
    return [n for n, p in named if p.requires_grad and p.numel() and look.norm(id(p)) is None]


def _unreached(look: Look) -> Iterator[Finding]:
    names, lost = look.given.parameters, unreached(look)
    reached = sum(p.requires_grad for p in names.values()) - len(lost)
    why = f" Cut by {'; '.join(look.cuts)}." if look.cuts else ""
    for name in lost:
        yield Finding(
            "gradient-missing",
            name,
            f".grad is None after backward, while {reached} other parameters got one: "
            f"the loss does not depend on it, or its way was cut.{why}",
            "Look for a layer that forward never calls, or a detach(), .item() or no_grad() on its way.",
        )


# --- the size of gradients ----------------------------------------------------------------------------------


def gradients(look: Look) -> Iterator[Finding]:
    """Not finite, zero, vanished, exploded: the first of these that holds for a weight."""
    if not look.gradients or look.steps[0].loss is None or not math.isfinite(look.steps[0].loss):
        return
    norms = {n: norm for n, p in look.weights if (norm := look.norm(id(p))) is not None}
    strange = [name for name, norm in norms.items() if not math.isfinite(norm)]
    if strange:
        yield _strange_gradient(strange)
        return
    zero = [name for name, norm in norms.items() if norm == 0]
    small = (
        [] if look.opens_later or any(step.old_nodes for step in look.steps) else list(_vanished(look, norms))
    )
    if zero and len(small) == len(zero):
        yield from _zero(zero, norms)
        return
    yield from small
    yield from _exploded(look, norms)


def _strange_gradient(names: list[str]) -> Finding:
    return Finding(
        "not-finite",
        names[0],
        f"the loss is finite, and the gradients of {len(names)} parameters are NaN or infinite.",
        "torchcourse.debugging.find_nan(model, input) with its backward names the node: sqrt or norm at 0, "
        "log or a division behind torch.where.",
    )


def _zero(zero: list[str], norms: dict[str, float]) -> Iterator[Finding]:
    mend = "Look for a dead ReLU (inputs all below 0), a saturated sigmoid or tanh, round or sign, or a factor 0."
    if zero and len(zero) == len(norms):
        yield Finding(
            "zero-gradient",
            ALL,
            f"the gradients of all {len(zero)} weights are exactly 0: nothing moves.",
            mend,
        )
        return
    for name in zero:
        yield Finding(
            "zero-gradient",
            name,
            f"the gradient is exactly 0 in each of its numbers, and {len(norms) - len(zero)} other weights have one.",
            mend,
        )


def _vanished(look: Look, norms: dict[str, float]) -> Iterator[Finding]:
    start = max((g.output or 0.0 for g in look.gradients), default=0.0)
    tiny_batch = any(len(t) <= 2 for t in tensors(look.given.input) if t.ndim) and any(
        isinstance(m, BATCH_NORM) for m in look.given.model.modules()
    )
    for name, norm in norms.items():
        if norm == 0 or (norm < VANISHED * start and not tiny_batch):
            yield Finding(
                "vanishing-gradient",
                name,
                f"its 2-norm is {norm:.1e}, and {start:.1e} at the output: {norm / (start or 1):.0e} of it arrives.",
                "ReLU or GELU for sigmoid and tanh, a norm layer, a residual connection, or another initialisation.",
            )


def _exploded(look: Look, norms: dict[str, float]) -> Iterator[Finding]:
    start = max((g.output or 0.0 for g in look.gradients), default=0.0)
    size = sum(t.numel() for t in tensors(look.given.input)) or 1
    received = max((step.received[1] for step in look.steps if step.received), default=1.0)
    scale = max([1.0, *(rms(t) for t in tensors(look.given.target))])
    output = look.steps[0].output
    large = output is not None and output.rms > LARGE * scale * max(1.0, received)
    limit = (EXPLODED_TOO if large else EXPLODED) * start * size**0.5 * max(1.0, received)
    for name, parameter in look.weights:
        norm, weight = norms.get(name, 0.0), float(size_of(parameter))
        if (start and norm > limit) or (weight and norm > ABSURD * scale * max(1.0, received) * weight):
            yield Finding(
                "exploding-gradient",
                name,
                f"its 2-norm is {norm:.1e}: {norm / start if start else math.inf:.0e} times that at the output, "
                f"{norm / weight if weight else math.inf:.0e} times the weight's own.",
                "A smaller initialisation or a norm layer; clip_grad_norm_ in the loop; scale input and target.",
            )


def units(look: Look) -> Iterator[Finding]:
    """Dead behind a ReLU, saturated in a sigmoid, or all the same."""
    first = look.steps[0]
    if first.gradients is None:
        return
    zero = {n for n, p in look.weights if look.norm(id(p)) == 0}
    later = look.opens_later
    for name, parameter in look.given.parameters.items():
        share = min((g.dead[id(parameter)] for g in look.gradients if id(parameter) in g.dead), default=0.0)
        if share >= DEAD and name not in zero:
            yield Finding(
                "dead-units",
                name,
                f"{share:.0%} of its {len(parameter)} units get no gradient from any sample: their ReLU is always 0.",
                "A smaller learning rate, another initialisation of weight and bias, or LeakyReLU.",
            )
        stays = name not in zero or (later and is_zero(parameter))
        if stays and any(id(parameter) in g.twins for g in look.gradients):
            yield Finding(
                "weights-all-same",
                name,
                f"its {len(parameter)} rows are equal, and so are their gradients: they stay one unit for ever.",
                "Initialise at random (nn.init.kaiming_normal_); zeros and constants are for biases.",
            )
    for name, share in first.flat:
        if share >= SATURATED:
            yield Finding(
                "saturated",
                name,
                f"{share:.0%} of the results of a {name} lie where it is flat: hardly a gradient comes through.",
                "Scale what goes in: normalise, or initialise smaller.",
            )


# --- input and output ---------------------------------------------------------------------------------------


def input_range(look: Look) -> Iterator[Finding]:
    received = look.steps[0].received
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
    """Every sample gets the same answer."""
    output = look.steps[0].output
    if output is None or output.spread > 1e-7 * max(output.rms, 1e-30) or output.rms == 0 or look.opens_later:
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
    stopped, losses, loss_value, promoted, no_gradient, gradients, units, input_range, constant_output, mixed,
    dropped, changed_batch, kept_graph, waits,
)  # fmt: skip
