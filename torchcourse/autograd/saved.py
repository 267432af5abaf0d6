"""What a node saved, and whether PyTorch would still take it: looked at, never unpacked by a hook.

Reading `node._saved_x` runs `SavedVariable::unpack` (torch/csrc/autograd/saved_variable.cpp), which
compares the version counter with the one noted when the tensor was saved, as backward does. Where a hook
packed the tensor, reading would run the hook (a checkpoint would recompute), and PyTorch checks no
version; so such a tensor is only named.
"""

import dis
import inspect
import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from types import CodeType
from typing import Any

import torch

from torchcourse._saved import raw_saved

from . import _ghost, _torch
from .data import Saved, maker
from .kinds import Kind

DAMAGED = "modified by an inplace operation"
FREED = "a second time"
_VERSIONS = re.compile(r"is at version (\d+); expected version (\d+)")
_reads: dict[Any, bool] = {}
make_saved = maker(Saved)

Fields = tuple[tuple[str, str, str], ...]  # of Kind.saves
Look = tuple[tuple[Saved, ...], bool, bool]  # what is saved, stale, freed
NOTHING: Look = ((), False, False)


class Sizes:
    """Bytes of saved tensors, each stretch of memory once, however many nodes keep it."""

    def __init__(self) -> None:
        self._stretches: set[tuple[Any, int]] = set()  # where, and bytes
        self._alike: dict[Any, Saved] = {}

    def good(self, name: str, tensor: torch.Tensor) -> Saved:
        """A tensor that is as it was saved. Those that look alike share one description."""
        if tensor.is_inference():  # nobody counts its writes
            return Saved(name, "ok", tuple(tensor.shape), dtype_name(tensor.dtype), self.add(tensor))
        self.add(tensor)
        return self._described((name, tensor._version, tensor.dtype, tensor.shape))

    def at_ease(self, node: Any, fields: Fields) -> tuple[Saved, ...] | None:
        """All that a node saves where it is as usual: one tensor each, no hook, as it was saved, at an address.

        None where it is not. Said in one loop, without a call per tensor: most of a graph's time goes here.
        """
        found = []
        try:
            for name, raw_name, saved_name in fields:
                if raw_saved(node, raw_name).unpack_hook is not None:
                    return None
                tensor = getattr(node, saved_name)
                if tensor is not None:
                    key = name, tensor._version, tensor.dtype, tensor.shape
                    one = self._alike.get(key) or self._described(key)
                    self._stretches.add((tensor.data_ptr() or _where(tensor), one.nbytes))
                    found.append(one)
        except (AttributeError, RuntimeError):
            return None
        return tuple(found)

    def _described(self, key: tuple[str, int, torch.dtype, torch.Size]) -> Saved:
        found = self._alike.get(key)
        if found is None:
            name, version, dtype, shape = key
            nbytes = shape.numel() * dtype.itemsize
            found = make_saved(name, "ok", tuple(shape), dtype_name(dtype), nbytes, version, version)
            self._alike[key] = found
        return found

    def add(self, tensor: torch.Tensor) -> int:
        nbytes = _nbytes(tensor)
        if nbytes:
            self._stretches.add((_where(tensor), nbytes))
        return nbytes

    def total(self) -> int:
        return sum(nbytes for _, nbytes in self._stretches)


def _nbytes(tensor: torch.Tensor) -> int:
    return tensor.numel() * tensor.element_size()


def _where(tensor: torch.Tensor) -> Any:
    """The address; of a tensor without one (sparse, on the meta device) what stands for it."""
    try:
        return tensor.data_ptr() or (tensor.untyped_storage()._cdata, tensor.storage_offset())
    except (NotImplementedError, RuntimeError):
        return id(tensor)


def look(node: Any, kind: Kind, sizes: Sizes) -> Look:
    """What this node saves; stale and freed as its backward would complain."""
    if kind.function:
        return _custom(node, sizes)
    found = sizes.at_ease(node, kind.saves)
    return _operator(node, kind.saves, sizes) if found is None else (found, False, False)


def look_in_copy(node: Any, sizes: Sizes) -> Look:
    """The same for `CopySlices`, whose saved tensors only PyTorch itself can name."""
    message, inner = _ghost.complaint(node)
    if inner is not None:
        with _torch.quiet():
            return _custom(inner, sizes)
    if not message:
        return NOTHING
    return (_bad("self", None, message, sizes),), DAMAGED in message, FREED in message


def _operator(node: Any, fields: Fields, sizes: Sizes) -> Look:
    found: list[Saved] = []
    stale = freed = False
    for name, raw_name, saved_name in fields:
        try:
            raw = raw_saved(node, raw_name)
            several = type(raw) is tuple
            if _hooked(raw) if several else raw.unpack_hook is not None:
                found.extend(_one_by_one(name, raw if several else (raw,), sizes, several))
                continue
            value = getattr(node, saved_name)
        except RuntimeError as error:
            message = str(error)
            stale, freed = stale or DAMAGED in message, freed or FREED in message
            found.extend(_refused(node, name, raw_name, message, sizes))
            continue
        if several:
            found.extend(sizes.good(f"{name}[{i}]", one) for i, one in enumerate(value) if one is not None)
        elif value is not None:
            found.append(sizes.good(name, value))
    # A list that a hook packed in part is checked one by one.
    return tuple(found), stale or any(s.state == "damaged" for s in found), freed


def _hooked(raws: Iterable[Any]) -> bool:
    return any(one.unpack_hook is not None for one in raws)


def _refused(node: Any, name: str, raw_name: str, message: str, sizes: Sizes) -> Iterator[Saved]:
    """What could not be read: a list member by member, as far as PyTorch hands it out."""
    try:
        raw = raw_saved(node, raw_name)
    except RuntimeError:
        yield _bad(name, None, message, sizes)
        return
    if isinstance(raw, tuple):
        yield from _one_by_one(name, raw, sizes, True)
    else:
        yield _bad(name, raw.data, message, sizes)


def _bad(name: str, data: Any, message: str, sizes: Sizes) -> Saved:
    if DAMAGED not in message:
        return Saved(name, "freed" if FREED in message else "damaged")
    versions = _VERSIONS.search(message)
    now, then = (int(v) for v in versions.groups()) if versions else (None, None)
    if not isinstance(data, torch.Tensor):
        return Saved(name, "damaged", version=now, expected=then)
    nbytes = sizes.add(data)
    return Saved(name, "damaged", tuple(data.shape), dtype_name(data.dtype), nbytes, now, then)


def _one_by_one(name: str, raws: Iterable[Any], sizes: Sizes, several: bool) -> Iterator[Saved]:
    for i, raw in enumerate(raws):
        label = f"{name}[{i}]" if several else name
        hook = raw.unpack_hook
        if hook is not None:
            yield _packed(label, raw.data, hook, sizes)
            continue
        try:
            value = raw.unpack()
        except RuntimeError as error:
            value = _after_error(label, raw, str(error), sizes)
        if isinstance(value, Saved):
            yield value
        elif value is not None:
            yield sizes.good(label, value)


def _after_error(label: str, raw: Any, message: str, sizes: Sizes) -> Saved | torch.Tensor | None:
    """An output of the node itself can't be unpacked from outside; its data is there all the same."""
    if DAMAGED in message or FREED in message:
        return _bad(label, raw.data, message, sizes)
    return raw.data


def _packed(label: str, packed: Any, hook: Any, sizes: Sizes) -> Saved:
    owner = getattr(hook, "__module__", None) or type(hook).__module__
    inputs = list(_one_by_one("input", _torch.checkpoint_inputs(hook), Sizes(), True))
    damaged = next((one for one in inputs if one.state == "damaged"), None)
    if damaged is not None:  # the recomputation will start with this, and raise
        return Saved(label, "damaged", version=damaged.version, expected=damaged.expected, hook=owner)
    if isinstance(packed, torch.Tensor):
        shape, dtype = tuple(packed.shape), dtype_name(packed.dtype)
        return Saved(label, "packed", shape, dtype, sizes.add(packed), hook=owner)
    parts = packed if isinstance(packed, (tuple, list)) else ()
    nbytes = sum(sizes.add(part) for part in parts if isinstance(part, torch.Tensor))
    return Saved(label, "packed", nbytes=nbytes, hook=owner)


def _custom(node: Any, sizes: Sizes) -> Look:
    reads = reads_saved(_torch.backward_of(node))
    try:
        raws = raw_saved(node, "_raw_saved_tensors")
    except RuntimeError as error:
        freed = FREED in str(error)
        return ((Saved("tensors", "freed"),) if freed and reads else ()), False, freed and reads
    found = tuple(_one_by_one("tensors", raws, sizes, True))
    stale = any(one.state == "damaged" for one in found)
    if found and not stale and not any(one.hook for one in found):
        stale = DAMAGED in _complaint(node)  # an output of its own is checked only so
    return found, stale and reads, False


def _complaint(node: Any) -> str:
    try:
        node.saved_tensors  # no hook is there, so this only compares versions
    except RuntimeError as error:
        return str(error)
    return ""


def reads_saved(backward: Any) -> bool:
    """Whether this `backward(ctx, …)` asks for `ctx.saved_tensors`; True where its code can't tell.

    PyTorch checks a custom Function's saved tensors when they are asked for, so one that never asks
    never complains. Told from the bytecode: the name is there, or ctx goes on to other code.
    """
    if backward not in _reads:
        code = getattr(inspect.unwrap(backward) if callable(backward) else None, "__code__", None)
        _reads[backward] = code is None or _asks(code)
    return _reads[backward]


def _asks(code: CodeType) -> bool:
    codes = list(_with_inner(code))
    if any(name in ("saved_tensors", "saved_variables") for one in codes for name in one.co_names):
        return True
    if not code.co_argcount:
        return True  # backward(*args)
    ctx = code.co_varnames[0]
    if ctx in code.co_cellvars:
        return True
    steps = list(dis.get_instructions(code))
    used = [after for step, after in pairwise(steps) if _loads(step, ctx)]
    return not all(after.opname in ("LOAD_ATTR", "LOAD_METHOD", "STORE_ATTR") for after in used)


def _loads(step: dis.Instruction, name: str) -> bool:
    if not step.opname.startswith("LOAD_FAST"):
        return False
    return step.argval == name or (isinstance(step.argval, tuple) and name in step.argval)


def _with_inner(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _with_inner(constant)


_dtypes: dict[torch.dtype, str] = {}


def dtype_name(dtype: torch.dtype) -> str:
    """`torch.float32` as "float32"."""
    name = _dtypes.get(dtype)
    if name is None:
        name = _dtypes[dtype] = str(dtype).removeprefix("torch.")
    return name
