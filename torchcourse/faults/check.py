"""`check_up`: guard, two steps, a probe, the rules."""

import gc
from collections import deque
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.parameter import is_lazy

from torchcourse._eager import eagerly
from torchcourse.layers import cuts
from torchcourse.modules import Finding, Missed, missed

from . import rules_gradients, rules_state, rules_steps
from .data import CheckUp
from .given import Given, given
from .gradients import same_rows
from .graph import graph
from .keep import Keep
from .look import Look
from .probe import Probe, probe
from .step import Seen, run
from .stops import stops

STEPS = 2
GATES = 3  # zeros on purpose that stand one behind the other
# The first of these that is found explains the others: they only follow from it.
FOLLOWS = {
    "not-finite": {
        "samples-mixed",
        "output-ignores-input",
        "vanishing-gradient",
        "zero-gradient",
        "input-range",
    },
    "zero-gradient": {"output-ignores-input", "vanishing-gradient"},
    "graph-kept": {"step-raises"},
    "weights-all-same": {"vanishing-gradient", "output-ignores-input"},
    "softmax-of-one": {"zero-gradient", "output-ignores-input", "vanishing-gradient", "targets-all-same"},
    "dropout-everything": {"zero-gradient", "output-ignores-input", "vanishing-gradient"},
    "dtypes-mixed": {"dtype-promoted"},
    "batch-empty": {
        "not-finite",
        "step-raises",
        "zero-gradient",
        "output-ignores-input",
        "vanishing-gradient",
    },
    "learning-rate-zero": {"vanishing-gradient"},
}


def check_up(model: nn.Module, batch: Any, loss_fn: Any, optimizer: Any) -> CheckUp:
    """Look for silent faults in one training step: `loss_fn(model(input), target)` with `batch = (input, target)`.

    An input of several, a tuple or a dict, goes in as `model(*input)` or `model(**input)` where forward asks for them
    by place or by name, and can't take the whole.

    Two steps run, forward and backward, then the model once or twice in eval mode; `optimizer.step()` never does.
    Where a gradient is 0, up to four more tell why.
    Afterwards model, buffers, `.grad`, modes, hooks, the batch, the optimizer and all random generators are as
    before, also when the step raises: that is a finding, no exception. What the step prints is not shown.

    optimizer: one of torch.optim, a list of several, or None. A sound set-up gives an empty result. Raises
    TypeError with one sentence where an argument is of another kind (batch is no pair, model is no module).
    """
    known = given(model, batch, loss_fn, optimizer)
    structure = missed(known.model, list(known.optimizers) or None)
    if why := _cannot_run(known, structure):
        return CheckUp(tuple(structure), why)
    look = _look(known, structure)
    rules = (*rules_state.RULES, *rules_steps.RULES)
    found = [*_missed(look), *(one for rule in rules for one in rule(look))]
    return CheckUp(tuple(_told_once(found)))


def _cannot_run(known: Given, structure: Missed) -> tuple[str, ...]:
    """Why no step is run at all."""
    if any(one.kind in ("super-init-missing", "module-cycle") for one in structure):
        return ("No step was run: PyTorch's own walks over this model stop.",)
    if lazy := [name for name, p in known.model.named_parameters() if is_lazy(p)]:
        return (
            f"No step was run: {lazy[0]} has no shape yet. Call the model once with a batch, and check again.",
        )
    return ()


def _look(known: Given, structure: Missed) -> Look:
    twins = {id(p) for p in known.parameters.values() if p.requires_grad and not p.is_meta and same_rows(p)}
    keep = Keep(known)
    with eagerly(), keep.everything():
        steps = _steps(known, keep, twins)
        grown = _grown(steps)
        # Asked before the probe, which puts back what holds them.
        holder = _holder(known) if grown or any(step.old_nodes for step in steps) else ""
        look = Look(
            known,
            structure,
            steps,
            Probe() if steps[0].error else probe(known, keep),
            grown,
            holder,
            tuple(keep.changed_batch),
            frozenset(twins),
        )
        look.cuts = _cuts(look)
        _ajar(look, keep, twins)
        if rules_gradients.flat(look):
            look.dead, look.stops = stops(known, keep)
    for step in steps:
        step.made.clear()
    return look


def _steps(known: Given, keep: Keep, twins: set[int]) -> tuple[Seen, ...]:
    steps: list[Seen] = []
    for k in range(STEPS):
        steps.append(run(known, keep, twins, first=k == 0))
        if steps[-1].error is not None:
            break
    return tuple(steps)


def _ajar(look: Look, keep: Keep, twins: set[int]) -> None:
    """More steps, where gradients stay away and something is 0 that may have been made so on purpose.

    It gets numbers of about 0.1; that may show another gate behind it. What has no gradient then lost it elsewhere.
    """
    noise, moved = torch.Generator().manual_seed(0), dict[int, Tensor]()
    keep.rewind()
    try:
        for _ in range(GATES):
            ahead = [gate for gate in look.gates if id(gate) not in moved]
            if not ahead or not (rules_gradients.flat(look) or rules_gradients.constant(look)):
                break
            moved |= {id(gate): 0.1 * torch.randn(gate.shape, generator=noise) for gate in ahead}
            look.ajar = _with_numbers(look, keep, twins, moved)
            for name in ("gates", "judged", "norms", "start"):
                vars(look).pop(name, None)
    finally:
        keep.rewind()
        vars(look).pop("gates", None)  # told from the numbers as they are


def _with_numbers(look: Look, keep: Keep, twins: set[int], moved: dict[int, Tensor]) -> Seen:
    keep.rewind()
    with torch.no_grad():
        for parameter in look.given.parameters.values():
            if id(parameter) in moved:
                keep.before(Tensor.copy_, "copy_", (parameter,), {})
                parameter.copy_(moved[id(parameter)])
    seen = run(look.given, keep, twins)
    seen.made.clear()
    return seen


def _grown(steps: tuple[Seen, ...]) -> tuple[tuple[int, ...], ...]:
    """Shapes of tensors with a graph that a step left behind, or whose graph goes back to an earlier one."""
    if len(steps) < STEPS or not any(True for _ in _outlived(steps)):
        return ()
    gc.collect()  # a cycle that only waits to be collected is no fault
    return tuple(tuple(tensor.shape) for tensor in _outlived(steps))


def _outlived(steps: tuple[Seen, ...]) -> Iterator[Tensor]:
    for ref in steps[0].made:
        if (tensor := ref()) is not None and tensor.grad_fn is not None:
            yield tensor
    for ref in steps[1].made:
        tensor = ref()
        if tensor is not None and tensor.grad_fn is not None and graph(tensor).older_than(steps[1].start):
            yield tensor


def _holder(known: Given) -> str:
    """The first attribute or variable of the model or the loss that holds a result with its graph."""
    for path, module in known.model.named_modules():
        for name, value in vars(module).items():
            if _holds(value):
                return f"{path}.{name}" if path else name
    loss_fn: Any = known.loss_fn
    own = {f"loss_fn.{name}": value for name, value in getattr(loss_fn, "__dict__", {}).items()}
    function = getattr(loss_fn, "__func__", loss_fn)
    code, cells = getattr(function, "__code__", None), getattr(function, "__closure__", None) or ()
    if code is not None:
        own |= {
            name: getattr(cell, "cell_contents", None)
            for name, cell in zip(code.co_freevars, cells, strict=True)
        }
        own |= {name: function.__globals__.get(name) for name in code.co_names}
    return next((name for name, value in own.items() if _holds(value)), "loss_fn")


def _holds(value: Any, depth: int = 3) -> bool:
    if isinstance(value, Tensor):
        return value.grad_fn is not None
    if depth and isinstance(value, dict):
        return any(_holds(one, depth - 1) for one in value.values())
    if depth and isinstance(value, (list, tuple, set, deque)):
        return any(_holds(one, depth - 1) for one in value)
    return bool(depth) and type(value).__module__ == "types" and _holds(vars(value), depth - 1)


def _cuts(look: Look) -> tuple[str, ...]:
    """Where the gradient's way ends; asked only where one is missing, since the model runs once more for it."""
    first = look.steps[0]
    if first.error is not None or not any(p.requires_grad for p in look.given.parameters.values()):
        return ()
    if first.gradients is not None and not any(rules_gradients.unreached(look)):
        return ()
    try:
        args, kwargs = look.given.arguments(look.given.input)
        found = cuts(look.given.model.forward, *args, **kwargs)
    except Exception:  # it says less then
        return ()
    return tuple(
        dict.fromkeys(
            f"{one.cause} in line {one.line}" if one.line else one.cause
            for one in found
            if one.effect == "cuts off"
        )
    )[:3]


def _missed(look: Look) -> Iterator[Finding]:
    """What `missed` says, without what the steps tell better: a gradient from an earlier step is no evidence."""
    foreign = {
        f"{w}['params'][{k}]": id(p) for _, w, g in look.given.groups() for k, p in enumerate(g["params"])
    }
    of_loss = (
        {id(p) for p in look.given.loss_fn.parameters()}
        if isinstance(look.given.loss_fn, nn.Module)
        else set()
    )
    for one in look.missed:
        key = foreign.get(one.where)
        reached = key is not None and (look.norm(key) is not None or key in of_loss)
        if one.kind != "gradient-missing" and not reached:
            yield one


def _told_once(found: list[Finding]) -> Iterator[Finding]:
    kinds = {one.kind for one in found}
    dropped = {follower for kind in kinds for follower in FOLLOWS.get(kind, ())}
    met: set[tuple[str, str]] = set()
    for one in found:
        if one.kind not in dropped and (one.kind, one.where) not in met:
            met.add((one.kind, one.where))
            yield one
