"""Where tensors lie in memory, and the few values of them that are shown."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from ._strided import check_strided, looking, no_data
from .facts import facts

MOST_DIMENSIONS = 4


@dataclass(frozen=True)
class Region:
    """One stretch of memory: a storage, or several that lie over each other (NumPy's memory)."""

    device: torch.device
    address: int
    nbytes: int
    storages: tuple[int, ...]  # their addresses, ascending

    def holds(self, tensor: torch.Tensor) -> bool:
        """Whether the tensor's storage lies in this region."""
        address = tensor.untyped_storage().data_ptr()
        return tensor.device == self.device and address in self.storages

    def start_of(self, tensor: torch.Tensor) -> int:
        """Bytes from the region's first byte to the first byte of the tensor's storage."""
        return tensor.untyped_storage().data_ptr() - self.address


def regions(tensors: Sequence[torch.Tensor]) -> tuple[Region, ...]:
    """The stretches of memory that these tensors read, in the order of their first tensor."""
    found: list[Region] = []
    for tensor in tensors:
        storage = tensor.untyped_storage()
        new = Region(tensor.device, storage.data_ptr(), storage.nbytes(), (storage.data_ptr(),))
        touching = [r for r in found if _meet(r, new)]
        position = found.index(touching[0]) if touching else len(found)
        found = [r for r in found if r not in touching]
        found.insert(position, _joined([*touching, new]))
    return tuple(found)


def _meet(a: Region, b: Region) -> bool:
    if a.device != b.device:
        return False
    return a.address == b.address or max(a.address, b.address) < min(
        a.address + a.nbytes, b.address + b.nbytes
    )


def _joined(parts: list[Region]) -> Region:
    start = min(p.address for p in parts)
    end = max(p.address + p.nbytes for p in parts)
    return Region(parts[0].device, start, end - start, tuple(sorted({s for p in parts for s in p.storages})))


@looking
def why_no_memory(tensor: torch.Tensor) -> str:
    """A sentence where the tensor has no strided memory that can be read, else ""."""
    try:
        check_strided(tensor, "explore")
    except ValueError as error:
        return str(error).removeprefix("explore: ")
    if kind := no_data(tensor):
        return f"a {kind} tensor has a size and strides, but no memory to show."
    if tensor.is_quantized:
        return "a quantised tensor's elements are integers behind a scale; show those: t.int_repr()."
    if not (known := facts(tensor)).in_bounds:
        return (
            f"its strides lead to element {known.last_touched:,}, and its storage was resized to "
            f"{known.storage_elements:,}; reading there would crash."
        )
    return ""


def why_not_shown(tensor: torch.Tensor) -> str:
    """A sentence where there is no picture of the tensor, else ""."""
    if why := why_no_memory(tensor):
        return why
    if tensor.dim() > MOST_DIMENSIONS:
        return (
            f"{tensor.dim()} dimensions are more than the {MOST_DIMENSIONS} that a picture holds; "
            "choose a part, such as t[0], or join some: t.flatten(0, 1)."
        )
    return ""


def element_text(dtype: torch.dtype) -> str:
    """float32 for torch.float32."""
    return str(dtype).removeprefix("torch.")


@looking
def values_at(
    tensor: torch.Tensor, starts: Sequence[int], dtype: torch.dtype | None = None
) -> tuple[str, ...]:
    """The values whose first bytes stand at these positions of the tensor's storage, as short texts.

    Only these bytes are read, whatever the tensor's size. With a dtype, the bytes are read as that.
    """
    if not starts:
        return ()
    storage = tensor.untyped_storage()
    width = tensor.element_size() if dtype is None else dtype.itemsize
    # What reads the bytes is not the learner's code: a FakeTensorMode or a counter must not see it.
    with torch.no_grad(), torch._C._DisableTorchDispatch():
        memory = torch.empty(0, dtype=torch.uint8, device=tensor.device)
        memory.set_(storage, 0, (storage.nbytes(),), (1,))
        places = torch.tensor(starts, device=tensor.device)[:, None] + torch.arange(
            width, device=tensor.device
        )
        values = memory[places.flatten()].cpu().view(dtype or tensor.dtype)
        if dtype is None and tensor.is_conj():
            values = values.conj()
        if dtype is None and tensor.is_neg():
            values = -values
    return tuple(map(number, _plain(values)))


def values_over(
    parts: Sequence[tuple[int, torch.Tensor]], starts: Sequence[int], dtype: torch.dtype
) -> tuple[str, ...]:
    """The values at these bytes of one region; parts: (where its storage starts, a tensor) each."""
    found: dict[int, str] = {}
    for begin, tensor in parts:
        end = begin + tensor.untyped_storage().nbytes()
        mine = [s for s in starts if s not in found and begin <= s and s + dtype.itemsize <= end]
        found.update(zip(mine, values_at(tensor, [s - begin for s in mine], dtype), strict=True))
    return tuple(found.get(start, "?") for start in starts)


def _plain(values: torch.Tensor) -> list[object]:
    """Python numbers; small floating types (bfloat16, float8) by way of float32. "?" where torch has none."""
    try:
        if values.is_floating_point() and values.dtype.itemsize < 4:
            values = values.to(torch.float32)
        return list(values.tolist())
    except (RuntimeError, TypeError, NotImplementedError):
        return ["?"] * len(values)


def number(value: object) -> str:
    """A value in at most seven characters (complex: twice that)."""
    if isinstance(value, complex):
        return f"{number(value.real)}{'' if value.imag < 0 or value.imag != value.imag else '+'}{number(value.imag)}j"
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    if isinstance(value, int) and len(str(value)) <= 7:
        return str(value)
    if value == value and abs(value) < 1e6 and value == int(value):
        return f"{value:.0f}"
    for digits in (3, 2):
        text = f"{value:.{digits}g}" if isinstance(value, float) else f"{value:.1e}"
        text = text.replace("e+0", "e").replace("e-0", "e-").replace("e+", "e")
        if len(text) <= 7:
            break
    return text
