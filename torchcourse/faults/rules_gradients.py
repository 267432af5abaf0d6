"""Rules about what two steps showed of gradients: none, zero, vanished, exploded; and of units and updates."""

import math
from collections.abc import Iterator

import torch

from torchcourse.modules import Finding

from .given import tensors
from .look import Look
from .modes import BATCH_NORM
from .numbers import is_zero, rms
from .numbers import norm as size_of
from .step import Output

VANISHED = 5e-6  # of the gradient at the model's output
EXPLODED = 1000.0  # times that gradient and the root of the input's size …
LARGE, EXPLODED_TOO = 100.0, 10.0  # … or so many times, where the output is this much larger than the target
ABSURD = 1e3  # times the weight itself, and the target's size
DEAD, SATURATED = 0.9, 0.8
ALL = "every parameter"
DEAD_MEND = "A smaller learning rate, another initialisation of weight and bias, or LeakyReLU."
TOO_FAST = 100.0  # times the weight itself, in one step of SGD
LOST = 0.9  # share of a weight's numbers


def constant(look: Look) -> bool:
    """Whether every sample gets the same answer."""
    output = look.judged[0].output
    return output is not None and output.rms != 0 and output.spread <= 1e-7 * max(output.rms, 1e-30)


def blind(look: Look) -> bool:
    """Whether the first layer gets zeros only, and the input is something else."""
    received = look.steps[0].received
    return (
        received is not None
        and received[1] == 0
        and constant(look)
        and any(bool(t.any()) for t in tensors(look.given.input) if t.numel())
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


def _loss_of_others(look: Look, count: int) -> Finding:
    return Finding(
        "loss-without-gradient",
        "loss_fn" if look.steps[0].output is not None and look.steps[0].output.has_graph else "model",
        f"the loss requires grad, and none of the model's {count} parameters is behind it: its graph begins after "
        f"them{', cut by ' + '; '.join(look.cuts) if look.cuts else ''}.",
        "Look for detach(), .item(), a new torch.tensor(…) or requires_grad_() on the way: they begin a new graph.",
    )


def unreached(look: Look) -> list[str]:
    """Names of parameters that no gradient came to in any step."""
    named = look.given.parameters.items()
    lost = [n for n, p in named if p.requires_grad and p.numel() and look.norm(id(p)) is None]
    return [name for name in lost if not look.idle(name)]


def _unreached(look: Look) -> Iterator[Finding]:
    names, lost = look.given.parameters, unreached(look)
    reached = sum(p.requires_grad and p.numel() > 0 for p in names.values()) - len(lost)
    if lost and not reached:
        yield _loss_of_others(look, len(lost))
        return
    why = f" Cut by {'; '.join(look.cuts)}." if look.cuts else ""
    for name in lost:
        yield Finding(
            "gradient-missing",
            name,
            f".grad is None after backward, while {reached} other parameters got one: "
            f"the loss does not depend on it, or its way was cut.{why}",
            "Look for a layer that forward never calls, or a detach(), .item() or no_grad() on its way.",
        )


def made_anew(look: Look) -> Iterator[Finding]:
    """A layer that forward makes: other parameters in each step."""
    strays = [step.strays for step in look.steps if step.gradients is not None]
    if len(strays) < 2 or not strays[0].keys() - strays[1].keys():
        return
    new = [shape for key, shape in strays[1].items() if key not in strays[0]]
    if new:
        shapes = ", ".join(str(list(shape)) for shape in new[:4])
        yield Finding(
            "tensor-not-registered",
            "model" if look.steps[0].output is not None else "loss_fn",
            f"each step makes {len(new)} parameters anew ({shapes}): they start at random every time, and neither "
            "the model nor the optimizer knows them.",
            "Make the layer once, in __init__ (self.head = nn.Linear(…)), and call it in forward.",
        )


# --- the size of gradients ----------------------------------------------------------------------------------


def gradients(look: Look) -> Iterator[Finding]:
    """Not finite, zero, vanished, exploded: the first of these that holds for a weight."""
    if not look.gradients or look.steps[0].loss is None or not math.isfinite(look.steps[0].loss):
        return
    strange = [n for n, p in look.weights if not math.isfinite(look.norm(id(p)) or 0.0)]
    if strange:
        yield _strange_gradient(strange)
        return
    zero, small = _zeros(look), _small(look)
    if blind(look):
        return
    if zero and len(small) == len(zero):
        yield from _zero(look, zero)
        return
    yield from (_vanished(look, name) for name in small)
    yield from _exploded(look)


def flat(look: Look) -> bool:
    """Whether a weight has no gradient to speak of."""
    return bool(_zeros(look) or _small(look))


def _zeros(look: Look) -> list[str]:
    return [name for name, norm in look.norms.items() if norm == 0 and not look.idle(name)]


def _small(look: Look) -> list[str]:
    """Zero or vanished, on the way from the output to the input: all that is before it in forward is as small."""
    if any(step.old_nodes for step in look.steps):
        return []
    tiny_batch = any(len(t) <= 2 for t in tensors(look.given.input) if t.ndim) and any(
        isinstance(m, BATCH_NORM) for m in look.given.model.modules()
    )
    least = 0.0 if tiny_batch else VANISHED * look.start
    return [n for n, norm in look.norms.items() if not look.idle(n) and (norm == 0 or norm < least)]


def _strange_gradient(names: list[str]) -> Finding:
    return Finding(
        "not-finite",
        names[0],
        f"the loss is finite, and the gradients of {len(names)} parameters are NaN or infinite.",
        "torchcourse.debugging.find_nan(model, input) with its backward names the node: sqrt or norm at 0, "
        "log or a division behind torch.where.",
    )


def _zero(look: Look, zero: list[str]) -> Iterator[Finding]:
    mend = "Look for a dead ReLU (inputs all below 0), a saturated sigmoid or tanh, round or sign, or a factor 0."
    why = "".join(f" {cause}." for cause in look.stops[:3])
    for name in look.dead:
        yield Finding(
            "dead-units",
            name,
            "all units are dead: the ReLU that comes here gives 0 for every sample, and lets no gradient through.",
            DEAD_MEND,
        )
    others = len(look.norms) - len(zero)
    if not others:
        yield Finding("zero-gradient", *_nothing(look, zero, why), mend)
        return
    for name in zero:
        evidence = (
            f"the gradient is exactly 0 in each of its numbers, and {others} other weights have one.{why}"
        )
        yield Finding("zero-gradient", name, evidence, mend)


def _nothing(look: Look, zero: list[str], why: str) -> tuple[str, str]:
    """Where, and the evidence: no weight has a gradient; a bias may have."""
    moving = [n for n, p in look.given.parameters.items() if n not in zero and look.norm(id(p))]
    shut = [n for n, p in look.weights if p.layout is torch.strided and is_zero(p)]
    why = f"{why} {len(shut)} of them are 0 themselves, {shut[0]} first." if shut else why
    if not moving:
        return ALL, f"the gradients of all {len(zero)} weights are exactly 0: nothing moves.{why}"
    words = moving[0] if len(moving) == 1 else f"{moving[0]} and {len(moving) - 1} more"
    return (
        "every weight",
        f"the gradients of all {len(zero)} weights are exactly 0: only {words} can move.{why}",
    )


def _vanished(look: Look, name: str) -> Finding:
    norm = look.norm(id(look.given.parameters[name])) or 0.0
    start = max((g.output or 0.0 for g in look.gradients), default=0.0)
    return Finding(
        "vanishing-gradient",
        name,
        f"its 2-norm is {norm:.1e}, and {start:.1e} at the output: {norm / (start or 1):.0e} of it arrives.",
        "ReLU or GELU for sigmoid and tanh, a norm layer, a residual connection, or another initialisation.",
    )


def _exploded(look: Look) -> Iterator[Finding]:
    start = max((g.output or 0.0 for g in look.gradients), default=0.0)
    size = sum(t.numel() for t in tensors(look.given.input)) or 1
    received = max((step.received[1] for step in look.steps if step.received), default=1.0)
    scale = max([1.0, *(rms(t) for t in tensors(look.given.target))])
    output = look.steps[0].output
    large = output is not None and output.rms > LARGE * scale * max(1.0, received)
    limit = (EXPLODED_TOO if large else EXPLODED) * start * size**0.5 * max(1.0, received)
    for name, parameter in look.weights:
        norm, weight = look.norm(id(parameter)) or 0.0, float(size_of(parameter))
        # Of a factor near 0 every gradient is large; a large one has grown since the output.
        absurd = weight and norm > max(start, ABSURD * scale * max(1.0, received) * weight)
        if (start and norm > limit) or absurd:
            yield Finding(
                "exploding-gradient",
                name,
                f"its 2-norm is {norm:.1e}: {norm / start if start else math.inf:.0e} times that at the output, "
                f"{norm / weight if weight else math.inf:.0e} times the weight's own.",
                "A smaller initialisation or a norm layer; clip_grad_norm_ in the loop; scale input and target.",
            )


def too_fast(look: Look) -> Iterator[Finding]:
    """Plain SGD moves a weight by lr · gradient."""
    names = {id(p): n for n, p in look.weights}
    for optimizer, place, group in look.given.groups():
        if type(optimizer) is not torch.optim.SGD:
            continue
        rate, held = float(group["lr"]), [p for p in group["params"] if id(p) in names]
        moves = {
            names[id(p)]: rate * (look.norm(id(p)) or 0.0) / (float(size_of(p)) or math.inf) for p in held
        }
        name = max(moves, key=lambda one: moves[one], default="")
        if name and TOO_FAST < moves[name] < math.inf:
            yield Finding(
                "learning-rate-too-high",
                place,
                f"lr · gradient of {name} is {moves[name]:.0e} times the weight itself: the next loss is far off.",
                "Scale targets and inputs to about 1, clip_grad_norm_, or a smaller lr.",
            )


def too_coarse(look: Look) -> Iterator[Finding]:
    """bfloat16 weights that an update is too small for."""
    shares = [
        (n, max((g.lost.get(id(p), 0.0) for g in look.gradients), default=0.0)) for n, p in look.weights
    ]
    stuck = [(name, share) for name, share in shares if share >= LOST]
    if stuck:
        name, share = max(stuck, key=lambda one: one[1])
        yield Finding(
            "half-parameters",
            name,
            f"it is bfloat16, with 8 significant bits, and an update at this lr is below half of its last one in "
            f"{share:.0%} of its numbers: they round back to what they were (so in {len(stuck)} weights).",
            "Keep the parameters in float32, and compute under torch.autocast(device, torch.bfloat16).",
        )


def units(look: Look) -> Iterator[Finding]:
    """Dead behind a ReLU, saturated in a sigmoid, or all the same."""
    first = look.steps[0]
    if first.gradients is None:
        return
    zero = {n for n, p in look.weights if look.norm(id(p)) == 0}
    for name, parameter in look.given.parameters.items():
        share = min((g.dead[id(parameter)] for g in look.gradients if id(parameter) in g.dead), default=0.0)
        if share >= DEAD and name not in zero:
            yield Finding(
                "dead-units",
                name,
                f"{share:.0%} of its {len(parameter)} units get no gradient from any sample: their ReLU is always 0.",
                DEAD_MEND,
            )
        stays = name not in zero or (
            bool(look.gates) and is_zero(parameter) and id(parameter) in first.before_relu
        )
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
