"""The autograd nodes that a block records: found from results, each read once and let go."""

from collections.abc import Iterable
from typing import Any

import torch

from torchcourse._saved import raw_saved

ACCUMULATE_GRAD = 2**64 - 1  # AccumulateGrad has no place in the order of creation


class Nodes:
    """Collects nodes whose number is `first` or later: name and bytes saved, by number."""

    def __init__(self, first: int) -> None:
        self.first = first
        self.found: dict[int, tuple[str, int]] = {}
        self._saved_names: dict[type, tuple[str, ...]] = {}

    def is_new(self, node: Any) -> bool:
        number = _number(node)
        return number >= self.first and number != ACCUMULATE_GRAD and number not in self.found

    def collect(self, grad_fn: Any) -> bool:
        """Walk from this node to the new ones before it. True: the node itself was new."""
        before = len(self.found)
        todo = [grad_fn]
        while todo:
            node = todo.pop()
            if not self.is_new(node):
                continue
            self.found[_number(node)] = (plain_name(node.name()), self._saved_bytes(node))
            todo.extend(after for after, _ in node.next_functions if after is not None)
        return len(self.found) > before

    def _saved_bytes(self, node: Any) -> int:
        names = self._saved_names.get(type(node))
        if names is None:
            names = tuple(name for name in dir(type(node)) if name.startswith("_raw_saved_"))
            self._saved_names[type(node)] = names
        sizes: dict[Any, int] = {}
        for name in names:
            for tensor in _saved(node, name):
                sizes[_identity(tensor)] = tensor.numel() * tensor.element_size()
        return sum(sizes.values())


def plain_name(name: str) -> str:
    """`AccumulateGrad`, `CopySlices`: as Python shows the class, without the C++ namespace."""
    return name.removeprefix("torch::autograd::")


def _number(node: Any) -> int:
    ask = getattr(node, "_sequence_nr", None)
    return -1 if ask is None else int(ask())


def _saved(node: Any, name: str) -> Iterable[torch.Tensor]:
    """The tensors behind one saved variable. `.data` runs no unpack hook, so a checkpoint
    does not recompute; what a hook packed counts as far as it is made of tensors."""
    try:
        raw = raw_saved(node, name)
        each = raw if isinstance(raw, (tuple, list)) else (raw,)
        return [tensor for one in each for tensor in _tensors(one.data)]
    except (RuntimeError, AttributeError):  # freed by a backward, or another PyTorch
        return []


def _tensors(packed: Any) -> Iterable[torch.Tensor]:
    if isinstance(packed, torch.Tensor):
        yield packed
    elif isinstance(packed, (tuple, list)):
        for part in packed:
            yield from _tensors(part)


def _identity(tensor: torch.Tensor) -> Any:
    try:
        storage = tensor.untyped_storage()._cdata
        return storage, tensor.storage_offset(), tensor.shape, tensor.stride(), tensor.dtype
    except (NotImplementedError, RuntimeError):
        return id(tensor)
