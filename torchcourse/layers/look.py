"""What one operator did to storages: kind, bytes and place of each of its outputs."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from ._torch import own
from .events import Kind, Output
from .storages import Storages, storage_of

_SPARSE_INDEX = 8  # bytes of one index of a sparse COO tensor


@dataclass(frozen=True, slots=True)
class Schema:
    """What an operator's schema says: its name, which returns it writes, which arguments."""

    name: str
    writes: tuple[bool, ...]
    written_arguments: tuple[int, ...]


def schema_of(func: Any) -> Schema:
    schema = func._schema
    written = [i for i, a in enumerate(schema.arguments) if a.alias_info and a.alias_info.is_write]
    writes = tuple(bool(r.alias_info and r.alias_info.is_write) for r in schema.returns)
    # An operator that returns nothing (`_foreach_add_`) hands its result over in its arguments.
    return Schema(schema.name, writes, tuple(written) if not writes else ())


def tensors_in(values: Iterable[Any]) -> list[Tensor]:
    """The tensors among arguments, and those in lists of them."""
    found: list[Tensor] = []
    for value in values:
        if isinstance(value, Tensor):
            found.append(value)
        elif isinstance(value, (list, tuple)):
            found += [each for each in value if isinstance(each, Tensor)]
    return found


def inputs_of(args: tuple[Any, ...], kwargs: Mapping[str, Any], storages: Storages) -> tuple[int, ...]:
    """Numbers of the input's storages, each once, in order."""
    numbers: dict[int, None] = {}
    for tensor in tensors_in((*args, *kwargs.values()) if kwargs else args):
        storage = storage_of(tensor)
        if storage is not None:
            numbers[storages.number(storage)] = None
    return tuple(numbers)


def outputs_of(
    schema: Schema, args: tuple[Any, ...], result: Any, inputs: tuple[int, ...], storages: Storages
) -> tuple[Output, ...]:
    return tuple(
        _output(tensor, written, inputs, storages) for tensor, written in _returned(schema, args, result)
    )


def _returned(schema: Schema, args: tuple[Any, ...], result: Any) -> Iterator[tuple[Tensor, bool]]:
    if not schema.writes:
        written = (args[i] for i in schema.written_arguments if i < len(args))
        yield from ((tensor, True) for tensor in tensors_in(written))
    elif len(schema.writes) == 1:
        yield from ((tensor, schema.writes[0]) for tensor in tensors_in((result,)))
    else:
        for value, writes in zip(result, schema.writes, strict=False):
            yield from ((tensor, writes) for tensor in tensors_in((value,)))


def _output(tensor: Tensor, written: bool, inputs: tuple[int, ...], storages: Storages) -> Output:
    storage = storage_of(tensor)
    if storage is None or tensor.is_nested:
        return _without_storage(tensor, written)
    kind: Kind = "in-place" if written else "new"
    nbytes = 0
    if not written:
        known = storages.known(storage)
        if known is not None and known in inputs:
            kind = "view"
        else:
            nbytes = storages.born(storage)
    return Output(
        kind,
        nbytes,
        tuple(tensor.shape),
        tensor.dtype,
        tensor.device,
        tensor.stride(),
        int(tensor.storage_offset()),
        storages.number(storage),
    )


def _without_storage(tensor: Tensor, written: bool) -> Output:
    """Sparse, nested and other tensors: sizes from their metadata; nobody tells when they are freed."""
    kind: Kind = "in-place" if written else "new"
    nbytes = 0 if written or tensor.is_nested else _sparse_bytes(tensor)
    return Output(kind, nbytes, _shape(tensor), tensor.dtype, tensor.device)


def _sparse_bytes(tensor: Tensor) -> int:
    if tensor.layout is not torch.sparse_coo:
        return 0
    with own():  # these three are operators
        stored, dense = tensor._nnz(), tensor.shape[tensor.sparse_dim() :].numel()
        return int(stored * (dense * tensor.element_size() + tensor.sparse_dim() * _SPARSE_INDEX))


def _shape(tensor: Tensor) -> tuple[int, ...]:
    try:
        return tuple(tensor.shape)
    except RuntimeError:  # nested tensors have no single shape
        return ()
