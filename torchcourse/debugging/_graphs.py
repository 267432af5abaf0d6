"""How large the graphs are that are still alive, and what their nodes keep."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from torch import Tensor

from torchcourse._saved import raw_saved
from torchcourse.layers.look import tensors_in
from torchcourse.layers.storages import storage_of

LIMIT = 200_000  # nodes looked at
_fields: dict[type, tuple[str, ...]] = {}


def root_of(tensor: Tensor) -> Any:
    """The tensor's node; None for a leaf, and where it can't be told: a view of several, written in place."""
    try:
        return tensor.grad_fn
    except RuntimeError:
        return None


def nodes_of(tensor: Tensor, met: set[Any]) -> list[Any]:
    """The nodes behind a tensor that are not among those met; they are, afterwards."""
    root = root_of(tensor)
    if root is None or root in met:
        return []
    met.add(root)
    queue = [root]
    for node in queue:  # the list grows while it is read
        for after, _ in node.next_functions:
            if after is not None and after not in met and len(queue) < LIMIT:
                met.add(after)
                queue.append(after)
    return queue


def kept_by(node: Any) -> Iterator[int]:
    """The storages that a node keeps for backward, by address. No hook runs."""
    for name in _names(type(node)):
        try:
            raw = raw_saved(node, name)
        except RuntimeError:  # freed by a backward
            continue
        for one in raw if isinstance(raw, (tuple, list)) else (raw,):
            for tensor in tensors_in((getattr(one, "data", None),)):
                storage = storage_of(tensor)
                if storage is not None:
                    yield storage._cdata


def _names(kind: type) -> tuple[str, ...]:
    if kind not in _fields:
        _fields[kind] = tuple(name for name in dir(kind) if name.startswith("_raw_saved_"))
    return _fields[kind]
