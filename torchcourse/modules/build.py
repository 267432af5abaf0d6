"""A model -> the tree of what it owns."""

from functools import cache
from typing import Any

import torch
from torch import nn

from .data import Held, Node, Tree
from .look import Place, attributes, is_lazy, refuse_others, table, tensors, training, walk

# dictionary of a module -> what its hooks are called
HOOKS = {
    "_forward_pre_hooks": "forward pre",
    "_forward_hooks": "forward",
    "_backward_pre_hooks": "backward pre",
    "_backward_hooks": "backward",
    "_state_dict_pre_hooks": "state_dict pre",
    "_state_dict_hooks": "state_dict",
    "_load_state_dict_pre_hooks": "load_state_dict pre",
    "_load_state_dict_post_hooks": "load_state_dict post",
}


def tree(model: nn.Module) -> Tree:
    """What a model owns: modules, parameters, buffers, modes, hooks, ties. Runs and changes nothing.

    TypeError: it is no module. Mirrors `named_modules()`, `named_parameters()`, `named_buffers()`.
    """
    refuse_others(model, "tree")
    return build(walk(model))


def build(places: tuple[Place, ...]) -> Tree:
    """The tree of the places that `look.walk` found."""
    seen = _Seen()
    held = [() if place.again is not None else seen.tensors_of(place) for place in places]
    own = [sum(one.nbytes for one in inside if one.tied is None) for inside in held]
    totals = own.copy()
    for at in range(len(places) - 1, 0, -1):  # children stand behind their parents
        totals[places[at].parent or 0] += totals[at]
    rows = zip(places, held, own, totals, strict=True)
    return Tree(tuple(_node(places, *row) for row in rows))


def _node(places: tuple[Place, ...], place: Place, held: tuple[Held, ...], own: int, total: int) -> Node:
    module, again = place.module, place.again
    return Node(
        path=place.path,
        name=place.name,
        kind=type(module).__name__,
        depth=place.depth,
        parent=place.parent,
        training=training(module),
        tensors=held,
        hooks=_hooks(module),
        parametrized=_parametrized(module),
        again=None if again is None else places[again].path,
        cycle=place.cycle,
        nbytes=own,
        total_bytes=total,
    )


def _hooks(module: nn.Module) -> tuple[tuple[str, int], ...]:
    own = attributes(module)
    return tuple((word, len(own[name])) for name, word in HOOKS.items() if own.get(name))


def _parametrized(module: nn.Module) -> tuple[str, ...]:
    """The names in `parametrizations`; see torch/nn/utils/parametrize.py."""
    lists = dict(table(module, "_modules")).get("parametrizations")
    return () if lists is None else tuple(name for name, _ in table(lists, "_modules"))


class _Seen:
    """Tensors met so far, to tell what is tied and what lies on the same memory."""

    def __init__(self) -> None:
        self.paths: dict[int, str] = {}  # id of a tensor -> its first path
        self.starts: dict[tuple[int, str], str] = {}  # address and device -> the first path there
        self.alive: list[Any] = []  # a wrapper of a ScriptModule's tensor must not give its id to another

    def tensors_of(self, place: Place) -> tuple[Held, ...]:
        found = tensors(place.module)
        if not found:
            return ()
        left_out = attributes(place.module).get("_non_persistent_buffers_set") or ()
        start = f"{place.path}." if place.path else ""
        return tuple(
            self._held(start + name, name, kind, tensor, name not in left_out) for name, kind, tensor in found
        )

    def _held(self, path: str, name: str, kind: str, tensor: Any, persistent: bool) -> Held:
        if tensor is None:
            return Held(name, path, kind, None, "", "", 0, False, persistent, False, False, None, None, 0)
        first = self.paths.setdefault(id(tensor), path)
        self.alive.append(tensor)
        lazy, device, dtype = is_lazy(tensor), _word(tensor.device), tensor.dtype
        shares = None if lazy or first is not path else self._shared(tensor, device, path)
        return Held(
            name,
            path,
            kind,
            shape=None if lazy else tuple(tensor.shape),
            dtype=_word(dtype),
            device=device,
            nbytes=0 if lazy else tensor.numel() * dtype.itemsize,
            requires_grad=tensor.requires_grad,
            persistent=persistent,
            has_grad=tensor.is_leaf and tensor.grad is not None,
            lazy=lazy,
            tied=None if first is path else first,
            shares=shares,
            hooks=_tensor_hooks(tensor),
        )

    def _shared(self, tensor: Any, device: str, path: str) -> str | None:
        try:
            address = tensor.data_ptr()
        except RuntimeError:  # a subclass without memory of its own
            return None
        first = self.starts.setdefault((address, device), path) if address else path
        return None if first is path else first


@cache
def _word(thing: torch.dtype | torch.device) -> str:
    return str(thing).removeprefix("torch.")


def _tensor_hooks(tensor: Any) -> int:
    hooks, after = tensor._backward_hooks, tensor._post_accumulate_grad_hooks
    return (len(hooks) if hooks else 0) + (len(after) if after else 0)
