"""What every function of this chapter asks first: is this a tensor with strides into a storage?"""

import reprlib
from collections.abc import Callable
from functools import wraps
from operator import index
from typing import Any, ParamSpec, TypeVar

import torch
from torch.nn.parameter import is_lazy

P = ParamSpec("P")
R = TypeVar("R")

# Layouts without strides, and the parts that have them.
_PARTS = {
    torch.sparse_coo: "its indices and values: t.coalesce().indices(), .values()",
    torch.sparse_csr: "t.crow_indices(), t.col_indices() and t.values()",
    torch.sparse_csc: "t.ccol_indices(), t.row_indices() and t.values()",
    torch.sparse_bsr: "t.crow_indices(), t.col_indices() and t.values()",
    torch.sparse_bsc: "t.ccol_indices(), t.row_indices() and t.values()",
}

# Quantised dtypes with several elements to a byte; not in every version of torch.
_PACKED = tuple(getattr(torch, name) for name in ("quint4x2", "quint2x4") if hasattr(torch, name))


def looking(function: Callable[P, R]) -> Callable[P, R]:
    """Keeps a subclass's or a mode's `__torch_function__` out of it: looking at a tensor runs none."""

    @wraps(function)
    def quiet(*args: P.args, **kwargs: P.kwargs) -> R:
        with torch._C.DisableTorchFunction():
            return function(*args, **kwargs)

    return quiet


def check_strided(tensor: object, caller: str) -> None:
    """Return where `tensor` has numbers as strides, over a storage; else one sentence why not.

    Raises TypeError for what is no tensor, ValueError for a tensor of another kind.
    """
    if not isinstance(tensor, torch.Tensor):
        raise TypeError(f"{caller} takes a tensor; it got {_kind(tensor)}")
    if why := _why_not_strided(tensor):
        raise ValueError(f"{caller}: {why}")


def no_data(tensor: torch.Tensor) -> str:
    """ "meta" or "fake" where the storage has a size but no data, else ""."""
    if tensor.is_meta:
        return "meta"
    return "fake" if tensor.untyped_storage().device.type == "meta" else ""


def integer(entry: Any) -> int | None:
    """The entry of an index or a shape as an int, as torch takes it; None for True, 1.0, a slice …"""
    try:
        return None if isinstance(entry, bool) else index(entry)
    except TypeError:
        return None


def brief(thing: object) -> str:
    """The beginning of a repr, or "…" where there is none: an integer of 5,000 digits, a faulty `__repr__`."""
    try:
        return reprlib.repr(thing)[:40]
    except Exception:
        return "…"


def _why_not_strided(tensor: torch.Tensor) -> str:
    name = type(tensor).__name__
    if is_lazy(tensor):
        return f"an {name} has no size or storage yet; run the module once, then ask again."
    if tensor.is_nested:
        return (
            "a nested tensor's rows differ in size, so no single stride leads through it; "
            "ask about one row: t.unbind()[0]."
        )
    if tensor.layout is not torch.strided:
        layout = str(tensor.layout).removeprefix("torch.")
        parts = _PARTS.get(tensor.layout, "a dense copy: t.to_dense()")
        return f"a tensor of layout {layout} has no strides into one storage; ask about {parts}."
    if tensor.dtype in _PACKED:
        return f"{tensor.dtype} packs several elements into one byte, which no stride can tell; ask about t.int_repr()."
    if not _has_storage(tensor):
        return (
            f"this {name} stands for other tensors and has no storage of its own (a wrapper subclass, or a "
            "tensor inside vmap, grad or functionalize); ask about a tensor that it holds, or outside."
        )
    if not all(isinstance(n, int) for n in (*tensor.size(), *tensor.stride(), tensor.storage_offset())):
        return "its sizes are symbols, not numbers; ask about a tensor of one fixed shape."
    return ""


def _has_storage(tensor: torch.Tensor) -> bool:
    try:
        storage = tensor.untyped_storage()
        if storage.device.type != "meta":  # a meta storage has no address, and fake tensors warn when asked
            storage.data_ptr()  # raises in a wrapper, which has a size and no storage behind it
    except (RuntimeError, NotImplementedError):  # NotImplementedError: "Cannot access storage of …"
        return False
    return True


def _kind(thing: object) -> str:
    kind = type(thing).__name__
    if kind == "ndarray":
        return "a NumPy array. torch.from_numpy(array) is a tensor over the same memory."
    if isinstance(thing, torch.UntypedStorage | torch.TypedStorage):
        return "a storage. A storage has no size or stride; ask about a tensor over it."
    if isinstance(thing, list | tuple | int | float | complex):
        return f"{kind} {brief(thing)}. torch.tensor(…) makes a tensor of it."
    return f"{kind!r}. Ask about a tensor in it."
