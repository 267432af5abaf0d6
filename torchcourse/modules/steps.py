"""Findings about training: what the optimizer holds, and whose `.grad` a step left empty."""

from collections.abc import Iterator
from typing import Any

from .data import Finding
from .look import Place, is_lazy, is_parameter, is_tensor, join, table
from .text import count

Found = tuple[str, Finding]
Groups = list[tuple[str, list[Any]]]  # "optimizer.param_groups[0]", its parameters


def groups(optimizer: Any) -> Groups:
    """The parameter groups of an optimizer or of several; empty for None. TypeError: it has none."""
    if optimizer is None:
        return []
    several = list(optimizer) if isinstance(optimizer, list | tuple) else [optimizer]
    found: Groups = []
    for k, one in enumerate(several):
        held = getattr(one, "param_groups", None)
        if not isinstance(held, list):
            raise TypeError(
                "optimizer is one of torch.optim, with param_groups, or a list of such; "
                f"got a {type(one).__name__}."
            )
        name = f"optimizers[{k}]" if len(several) > 1 else "optimizer"
        found += [(f"{name}.param_groups[{i}]", list(group["params"])) for i, group in enumerate(held)]
    return found


def findings(places: tuple[Place, ...], groups: Groups, hidden: dict[int, str]) -> Iterator[Found]:
    own = _parameters(places)
    if groups:
        yield from _not_held(own, groups)
        yield from _foreign(own, groups, hidden)
        yield from _frozen(own, groups)
    yield from _without_gradient(own)


Own = list[tuple[str, str, Any]]  # path of the module, name, parameter; each parameter once


def _parameters(places: tuple[Place, ...]) -> Own:
    found: dict[int, tuple[str, str, Any]] = {}
    for place in places:
        if place.again is None:
            for name, held in table(place.module, "_parameters"):
                if is_parameter(held):
                    found.setdefault(id(held), (place.path, join(place.path, name), held))
    return list(found.values())


def _numbers(parameter: Any) -> int:
    """How many numbers there are to learn; a lazy one counts as one."""
    return 1 if is_lazy(parameter) else parameter.numel()


def _not_held(own: Own, groups: Groups) -> Iterator[Found]:
    held = {id(one) for _, group in groups for one in group}
    for path, name, parameter in own:
        if parameter.requires_grad and id(parameter) not in held and _numbers(parameter):
            yield (
                path,
                Finding(
                    "optimizer-misses-parameter",
                    name,
                    f"{name} requires grad, and none of the optimizer's {count(len(held), 'parameter')} is it: "
                    "step() never changes it.",
                    "Make the optimizer when the model is complete, from model.parameters(); "
                    "or optimizer.add_param_group(…); or requires_grad_(False) where it shall not learn.",
                ),
            )


def _foreign(own: Own, groups: Groups, hidden: dict[int, str]) -> Iterator[Found]:
    ours = {id(parameter) for _, _, parameter in own}
    held = {id(one) for _, group in groups for one in group}
    for group, members in groups:
        for k, one in enumerate(members):
            if id(one) in ours or id(one) in hidden or not is_tensor(one):
                continue
            where = f"{group}['params'][{k}]"
            twin = next((name for _, name, p in own if id(p) not in held and _alike(p, one)), None)
            like = (
                f" {twin} has its shape and is not held: was it replaced, or the model copied, afterwards?"
                if twin
                else ""
            )
            yield (
                "",
                Finding(
                    "optimizer-foreign-parameter",
                    where,
                    f"a tensor {_shape(one)} that the model doesn't own.{like}",
                    "Make the optimizer after the model has its final parameters, from model.parameters().",
                ),
            )


def _alike(a: Any, b: Any) -> bool:
    return not (is_lazy(a) or is_lazy(b)) and a.shape == b.shape


def _shape(tensor: Any) -> str:
    return "without a shape yet" if is_lazy(tensor) else str(list(tensor.shape))


def _frozen(own: Own, groups: Groups) -> Iterator[Found]:
    held = {id(one) for _, group in groups for one in group}
    for path, name, parameter in own:
        if not parameter.requires_grad and id(parameter) in held and _grad(parameter) is not None:
            yield (
                path,
                Finding(
                    "frozen-but-stepped",
                    name,
                    f"{name} is frozen, and the optimizer holds it with a .grad from before: step() still moves it.",
                    f"Clear it once: {name}.grad = None, or optimizer.zero_grad().",
                ),
            )


def _without_gradient(own: Own) -> Iterator[Found]:
    asked = [one for one in own if one[2].requires_grad and _numbers(one[2])]
    filled = sum(_grad(parameter) is not None for _, _, parameter in asked)
    if not filled:
        return  # no backward ran, or its gradients are cleared: nothing can be said
    for path, name, parameter in asked:
        if _grad(parameter) is None:
            yield (
                path,
                Finding(
                    "gradient-missing",
                    name,
                    f"{name}.grad is None, while {count(filled, 'other parameter')} got one: "
                    "the loss does not depend on it, or its path was cut.",
                    "Look for a layer that forward never calls, or a detach(), .item() or no_grad() on its way.",
                ),
            )


def _grad(parameter: Any) -> Any:
    return None if is_lazy(parameter) else parameter.grad
