"""Which storages the nodes of a graph keep for backward. Looking runs no hook and no operator."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

from torchcourse._saved import raw_saved
from torchcourse.autograd._torch import checkpoint_inputs
from torchcourse.layers.look import tensors_in
from torchcourse.layers.storages import storage_of

_fields: dict[type, tuple[str, ...]] = {}


def saved_storages(root: Any) -> Iterator[torch.UntypedStorage]:
    """The storages saved by the nodes that `root` reaches, each node once.

    A tensor that a hook packed counts as what the hook made of it, and one that a checkpoint will compute again as
    the inputs of that checkpoint.
    """
    met, queue = {root}, [root]
    for node in queue:  # the list grows while it is read
        for tensor in _tensors(node):
            storage = storage_of(tensor)
            if storage is not None:
                yield storage
        for after, _ in node.next_functions:
            if after is not None and after not in met:
                met.add(after)
                queue.append(after)


def _tensors(node: Any) -> Iterator[torch.Tensor]:
    for name in _names(type(node)):
        try:
            raw = raw_saved(node, name)
        except RuntimeError:  # freed by an earlier backward
            continue
        for one in raw if isinstance(raw, (tuple, list)) else (raw,):
            yield from tensors_in((getattr(one, "data", None),))
            if getattr(one, "unpack_hook", None) is not None:  # a checkpoint's: it will start from its inputs
                yield from tensors_in(kept.data for kept in checkpoint_inputs(one.unpack_hook))


def _names(kind: type) -> tuple[str, ...]:
    """`_raw_saved_*` of an operator's node; `_raw_saved_tensors` of a custom Function's."""
    names = _fields.get(kind)
    if names is None:
        names = _fields[kind] = tuple(name for name in dir(kind) if name.startswith("_raw_saved_"))
    return names
