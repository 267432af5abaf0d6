"""Findings about what is registered and still goes wrong: hidden names, learning buffers, a to() of one's own."""

from collections.abc import Iterator
from typing import Any

import torch
from torch import nn

from .bytecode import code_of, nested
from .data import Finding
from .look import Place, attributes, is_module, is_parameter, is_tensor, join, table

Found = tuple[str, Finding]
MOVERS = ("_apply", "to", "cuda", "cpu")


def findings(places: tuple[Place, ...]) -> Iterator[Found]:
    for place in places:
        if place.again is None and not isinstance(place.module, torch.jit.ScriptModule):
            yield from _names(place)
            yield from _learning_buffers(place)
            yield from _own_to(place)


def _names(place: Place) -> Iterator[Found]:
    """Entries of `_parameters` that are none."""
    for name, held in table(place.module, "_parameters"):
        if is_tensor(held) and not is_parameter(held):
            yield (
                place.path,
                Finding(
                    "parameter-replaced",
                    join(place.path, name),
                    f"_parameters[{name!r}] holds a plain {type(held).__name__}: no optimizer can be sure of it.",
                    f"module.{name} = nn.Parameter(tensor).",
                ),
            )


def _learning_buffers(place: Place) -> Iterator[Found]:
    for name, held in table(place.module, "_buffers"):
        if is_tensor(held) and held.requires_grad and held.is_leaf:
            yield (
                place.path,
                Finding(
                    "parameter-as-buffer",
                    join(place.path, name),
                    "a buffer that requires grad: backward fills its .grad, and parameters() doesn't list it, "
                    "so no optimizer moves it.",
                    f"self.{name} = nn.Parameter(tensor), or requires_grad=False where it is not learned.",
                ),
            )


def _own_to(place: Place) -> Iterator[Found]:
    """A class whose own `to` or `_apply` hands on to nobody, though it holds something to move."""
    held = [
        name
        for which in ("_parameters", "_buffers")
        for name, one in table(place.module, which)
        if one is not None
    ]
    inner = [child for _, child in table(place.module, "_modules") if is_module(child)]
    for mover in MOVERS:
        if (held or inner) and _keeps(place.module, mover):
            kind = type(place.module).__name__
            what = ", ".join(held[:3]) or "the modules inside"
            yield (
                place.path,
                Finding(
                    "buffer-not-moved",
                    join(place.path, held[0]) if held else place.path or kind,
                    f"{kind} has a {mover}() of its own, which calls no other: {what} stay where they are.",
                    f"Call super().{mover}(…) in it.",
                ),
            )
            return


def _keeps(module: nn.Module, mover: str) -> bool:
    own: Any = attributes(module).get(mover)
    for base in type(module).__mro__:
        own = own or vars(base).get(mover)
        if own is not None or base is nn.Module:
            break
    if own is None or own is vars(nn.Module).get(mover):
        return False
    code = code_of(own)
    if code is None:
        return False
    names = {name for one in nested([code]) for name in one.co_names}
    return not names & {"_apply", "to", "cuda", "cpu", "super"} and not names & {"map", "data"}
