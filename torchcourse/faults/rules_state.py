"""Rules about what stands before any step runs: modes, dtypes, optimizer, parameters, inputs."""

import math
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn

from torchcourse.modules import Finding
from torchcourse.modules.look import attributes

from .given import ADAPTIVE, tensors
from .look import Look
from .modes import BATCH_NORM, DROPOUT, differs

MOST_DROPOUT = 0.95
HIGH = {True: 1.0, False: 10.0}  # a rate from which on no one trains: adaptive optimizers, others
LOW = 1e-10
DECAY = 0.5  # of every weight in one step


def empty_batch(look: Look) -> Iterator[Finding]:
    for name, value in (("input", look.given.input), ("target", look.given.target)):
        for tensor in tensors(value):
            if tensor.numel() == 0:
                yield Finding(
                    "batch-empty",
                    name,
                    f"the {name} has shape {list(tensor.shape)}: no element to learn from; a mean over nothing is NaN.",
                    "Look at the data set's length, at filters and at drop_last.",
                )
                return


def not_finite(look: Look) -> Iterator[Finding]:
    for name, value in (("input", look.given.input), ("target", look.given.target)):
        for tensor in tensors(value):
            if (count := _strange_numbers(tensor)) > 0:
                yield Finding(
                    "not-finite",
                    name,
                    f"{count:,} of {tensor.numel():,} numbers in the {name} are NaN or infinite.",
                    "Clean the data: torch.isfinite(x).all() before the loop; mask missing values.",
                )
    for name, parameter in look.given.parameters.items():
        if not parameter.is_meta and (count := _strange_numbers(parameter)) > 0:
            yield Finding(
                "not-finite",
                name,
                f"{count:,} of {parameter.numel():,} numbers of the parameter are NaN or infinite.",
                "Go back to the last good checkpoint; then look for the step that broke it.",
            )


def _strange_numbers(tensor: Tensor) -> int:
    """A mask of 0 and -inf is no fault."""
    if not (tensor.is_floating_point() and tensor.layout is torch.strided) or tensor.is_meta:
        return 0
    plain = tensor.detach()
    if bool(torch.isfinite(torch.linalg.vector_norm(plain, dtype=torch.float64))):
        return 0
    bad = int((~torch.isfinite(plain)).sum())
    masked = int((plain == -math.inf).sum())
    is_mask = masked == bad and bool(((plain == 0) | (plain == -math.inf)).all())
    return 0 if is_mask else bad


def eval_mode(look: Look) -> Iterator[Finding]:
    """Dropout and batch norm in eval mode, where something around them is to be trained."""
    told: list[str] = []
    for path, module in look.given.model.named_modules():
        if module.training or any(path == top or path.startswith(f"{top}.") or not top for top in told):
            continue
        inside = [m for m in module.modules() if not m.training and differs(m)]
        if inside and _trains(look.given.model, path):
            told.append(path)
            words = ", ".join(dict.fromkeys(type(m).__name__ for m in inside))
            yield Finding(
                "eval-mode-in-training",
                path or type(module).__name__,
                f"training is False, and {len(inside)} module{'s' if len(inside) > 1 else ''} inside behave "
                f"otherwise in a training step: {words}.",
                "model.train() before the loop, and again after each evaluation.",
            )


def switched(look: Look) -> Iterator[Finding]:
    """A forward that calls eval() on what it is to train."""
    for path in look.steps[0].switched if look.steps else ():
        if _trains(look.given.model, path):
            yield Finding(
                "eval-mode-in-training",
                path or type(look.given.model).__name__,
                "it is in training mode before the step and in eval mode after it: forward switches.",
                "Call train() and eval() in the loop, not in forward.",
            )
            return


def _trains(model: nn.Module, path: str) -> bool:
    """Whether parameters in it are to be trained; without any of its own, those of what is around it decide."""
    while True:
        own = list(model.get_submodule(path).parameters())
        if own or not path:
            return any(p.requires_grad for p in own)
        path = path.rpartition(".")[0]


def dropout(look: Look) -> Iterator[Finding]:
    for path, module in look.given.model.named_modules():
        if isinstance(module, DROPOUT) and module.p >= MOST_DROPOUT:
            yield Finding(
                "dropout-everything",
                path or type(module).__name__,
                f"p={module.p:g}: {module.p:.0%} of the numbers become 0; p is the share that is dropped, not kept.",
                "p=0.1 … 0.5 is usual.",
            )


def batch_of_one(look: Look) -> Iterator[Finding]:
    sizes = {t.shape[0] for t in tensors(look.given.input) if t.ndim}
    if sizes != {1}:
        return
    for path, module in look.given.model.named_modules():
        if (
            isinstance(module, BATCH_NORM)
            and module.training
            and any(p.requires_grad for p in module.parameters())
        ):
            yield Finding(
                "batch-norm-of-one",
                path or type(module).__name__,
                "the batch has 1 sample, so batch norm subtracts each sample's own mean: "
                "what it learns is not what eval mode does.",
                "Larger batches, or GroupNorm, which never looks at other samples.",
            )
            return


def dtypes(look: Look) -> Iterator[Finding]:
    found = {p.dtype for p in look.given.parameters.values() if p.is_floating_point()}
    if torch.float64 in found and len(found) > 1:
        wide = [n for n, p in look.given.parameters.items() if p.dtype == torch.float64]
        yield Finding(
            "dtypes-mixed",
            wide[0],
            f"{len(wide)} of {len(look.given.parameters)} parameters are float64, the others "
            f"{', '.join(sorted(_word(d) for d in found - {torch.float64}))}.",
            "model.float(), or model.double() for all.",
        )
    if torch.float16 in found and look.given.optimizers:
        half = [n for n, p in look.given.parameters.items() if p.dtype == torch.float16 and p.requires_grad]
        if half:
            yield Finding(
                "half-parameters",
                half[0],
                f"{len(half)} parameters are float16, and the optimizer steps on them: an update below 1/2048 of a "
                "weight is lost, and Adam's eps of 1e-8 rounds to 0.",
                "Keep the parameters in float32, and compute under torch.autocast with a GradScaler.",
            )


def _word(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def frozen(look: Look) -> Iterator[Finding]:
    """A parameter that the optimizer is asked to train, and that gets no gradient."""
    held = look.given.held
    stepped = {one.where for one in look.missed if one.kind == "frozen-but-stepped"}
    for name, parameter in look.given.parameters.items():
        if not parameter.requires_grad and id(parameter) in held and name not in stepped:
            yield Finding(
                "parameter-frozen",
                name,
                "requires_grad is False, and the optimizer holds it: no gradient, so no step ever moves it.",
                f"{name}.requires_grad_(True) if it shall learn; else give the optimizer only what requires grad.",
            )


def optimizer(look: Look) -> Iterator[Finding]:
    holder: dict[int, Any] = {}  # id of a parameter -> the first optimizer that moves it
    for one, where, group in look.given.groups():
        yield from _rate(where, group, one)
        ids = [id(p) for p in group["params"]]
        if (again := sum(holder.setdefault(key, one) is not one for key in ids)) > 0:
            yield Finding(
                "optimizer-holds-twice",
                where,
                f"{again} of {len(ids)} are held by an optimizer before this one too: a step of each moves them twice.",
                "Give each parameter to one optimizer.",
            )
        if len(set(ids)) < len(ids):
            yield Finding(
                "optimizer-holds-twice",
                where,
                f"{len(ids) - len(set(ids))} of {len(ids)} stand in the group twice: each step moves them twice.",
                "list(dict.fromkeys(parameters)).",
            )
        if group.get("maximize"):
            yield Finding(
                "optimizer-maximizes",
                where,
                "maximize=True: each step makes the loss larger.",
                "Leave maximize out, unless the loss is something to be made large.",
            )


def _rate(where: str, group: dict[str, object], optimizer: Any) -> Iterator[Finding]:
    adaptive = type(optimizer).__name__ in ADAPTIVE
    rate, decay = _number(group.get("lr")), _number(group.get("weight_decay")) or 0.0
    if rate is None:
        return
    # A warm-up begins at 0; after steps of the optimizer it is over, and what is 0 then is the schedule's end.
    scheduled = bool(_number(group.get("initial_lr"))) and not getattr(optimizer, "_opt_called", False)
    if rate < LOW and not scheduled:
        kind, evidence = (
            "learning-rate-zero",
            f"lr is {rate:g}: no step changes anything that float32 can show.",
        )
    elif rate >= HIGH[adaptive]:
        kind = "learning-rate-too-high"
        evidence = f"lr is {rate:g}" + (
            ": an adaptive optimizer moves every weight by about lr in each step." if adaptive else "."
        )
    elif rate * decay >= DECAY:
        kind, evidence = (
            "weight-decay-too-high",
            f"lr · weight_decay is {rate * decay:.3g}: that share of every weight goes in one step.",
        )
    else:
        return
    yield Finding(kind, where, evidence, "tc.training.learning_rate_range(…) shows which rates work.")


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, (int, float, Tensor)) else None


def loss_parameters(look: Look) -> Iterator[Finding]:
    """A loss with weights of its own, which somebody has to train."""
    loss_fn = look.given.loss_fn
    if (
        not isinstance(loss_fn, nn.Module)
        or not look.given.optimizers
        or "_parameters" not in attributes(loss_fn)
    ):
        return
    known = look.given.held | {id(p) for p in look.given.parameters.values()}
    for name, parameter in loss_fn.named_parameters():
        if parameter.requires_grad and id(parameter) not in known:
            yield Finding(
                "optimizer-misses-parameter",
                f"loss_fn.{name}",
                f"the loss has a parameter {list(parameter.shape)} that requires grad, and no optimizer holds it.",
                "optimizer.add_param_group({'params': loss_fn.parameters()}).",
            )


RULES = (
    empty_batch, not_finite, eval_mode, switched, dropout, batch_of_one, dtypes, frozen, optimizer, loss_parameters,
)  # fmt: skip
