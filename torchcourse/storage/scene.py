"""What the storage explorer shows, as plain data: tensors as grids, their storages as strips.

Nothing here draws. A grid holds the metadata that turns an index into an address
(`storage_offset + Σ index·stride`, in elements) and the values of the cells that are shown; a strip
holds the elements of one storage that are shown. However large the tensor, only the shown values are
read. It mirrors `c10::TensorImpl` (sizes, strides, storage offset) over `c10::StorageImpl` (bytes):
https://docs.pytorch.org/docs/stable/tensor_view.html
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

import torch

from . import _words
from ._fold import elements_shown, fold
from ._memory import Region, element_text, regions, values_at, values_over, why_not_shown
from ._scene_parts import Grid, Scene, Strip
from ._strided import brief, looking

__all__ = ["Grid", "Scene", "Strip", "scene"]

MOST_TENSORS = 8
LONGEST_NAME = 40


@looking
def scene(tensors: Sequence[torch.Tensor], names: Sequence[str]) -> Scene:
    """Lay out tensors (0 to 4 dimensions) over the storages that they read.

    A tensor that has no strides or no memory, or more than 4 dimensions, keeps its place with a
    sentence instead of cells. Raises TypeError for anything but tensors, ValueError for none, for too
    many, and for names that don't fit.
    """
    _check(tensors, names)
    refusals = [why_not_shown(tensor) for tensor in tensors]
    drawn = [tensor for tensor, why in zip(tensors, refusals, strict=True) if not why]
    memory = regions(drawn)
    grids = [
        _refused(tensor, name, why) if why else _grid(tensor, name, memory)
        for tensor, name, why in zip(tensors, names, refusals, strict=True)
    ]
    placed = tuple(_with_role(grid, i, grids, tensors) for i, grid in enumerate(grids))
    strips = tuple(_strip(placed, i, region, tensors) for i, region in enumerate(memory))
    return Scene(_words.title(placed, strips), _words.sentence(placed, strips), placed, strips)


def _check(tensors: Sequence[torch.Tensor], names: Sequence[str]) -> None:
    for tensor in tensors:
        if not isinstance(tensor, torch.Tensor):
            raise TypeError(f"explore takes tensors, one by one: explore(x, y). It got {_kind(tensor)}.")
    if not tensors:
        raise ValueError("explore needs at least one tensor: explore(x).")
    if len(tensors) > MOST_TENSORS:
        raise ValueError(f"explore shows at most {MOST_TENSORS} tensors at a time; it got {len(tensors)}.")
    if not _words_in(names):
        raise TypeError(
            f'names is a list with a word for each tensor, such as ["x", "y"]; got {brief(names)}.'
        )
    if len(names) != len(tensors):
        raise ValueError(f"explore got {len(tensors)} tensors and {len(names)} names: give one name each.")
    if any(len(name) > LONGEST_NAME or "`" in name or not name.isprintable() for name in names):
        raise ValueError(f"explore: a name is one line of at most {LONGEST_NAME} characters, no backticks.")


def _words_in(names: object) -> bool:
    if isinstance(names, str) or not isinstance(names, Sequence):
        return False
    return all(isinstance(name, str) and name.strip() for name in names)


def _kind(thing: object) -> str:
    kind = type(thing).__name__
    if isinstance(thing, list | tuple):
        return f"a {kind}: write explore(*that_{kind})"
    return "a NumPy array: torch.from_numpy(array) shares its memory" if kind == "ndarray" else f"{kind!r}"


def _refused(tensor: torch.Tensor, name: str, why: str) -> Grid:
    return Grid(name, "base", "", element_text(tensor.dtype), 1, (), (), 0, 0, -1, (), (), why)


def _grid(tensor: torch.Tensor, name: str, memory: tuple[Region, ...]) -> Grid:
    strip, start = next(
        (i, region.start_of(tensor)) for i, region in enumerate(memory) if region.holds(tensor)
    )
    size, stride, offset = tuple(tensor.size()), tuple(tensor.stride()), int(tensor.storage_offset())
    values = _values(tensor, axes := fold(size, 1))
    if (narrower := fold(size, max(map(len, values), default=1))) != axes:
        values = _values(tensor, axes := narrower)
    dtype, itemsize = element_text(tensor.dtype), tensor.element_size()
    return Grid(name, "base", "", dtype, itemsize, size, stride, offset, start, strip, axes, values, "")


def _values(tensor: torch.Tensor, axes: tuple[tuple[int, ...], ...]) -> tuple[str, ...]:
    offset, stride, itemsize = int(tensor.storage_offset()), tensor.stride(), tensor.element_size()
    at = (offset + sum(i * s for i, s in zip(index, stride, strict=True)) for index in product(*axes))
    return values_at(tensor, [address * itemsize for address in at])


def _with_role(grid: Grid, i: int, grids: Sequence[Grid], tensors: Sequence[torch.Tensor]) -> Grid:
    """A storage has one base: the tensor that another one names as its `_base`, else the first."""
    if grid.refusal:
        return grid
    mates = [j for j, other in enumerate(grids) if other.strip == grid.strip and not other.refusal]
    base = next((j for j in mates if any(tensors[k]._base is tensors[j] for k in mates)), mates[0])
    if i == base:
        part = len(mates) == 1 and tensors[i]._is_view() and _is_part(tensors[i])
        return replace(grid, role="view", note="view") if part else grid
    of = "view of" if _same_base(tensors[i], tensors[base]) else "same storage as"
    return replace(grid, role="view", note=f"{of} {grids[base].name}")


def _is_part(tensor: torch.Tensor) -> bool:
    return tensor.numel() * tensor.element_size() != tensor.untyped_storage().nbytes()


def _same_base(view: torch.Tensor, base: torch.Tensor) -> bool:
    """Whether autograd records `view` as a view of `base`, or both as views of one tensor."""
    return view._base is not None and (view._base is base or view._base is base._base)


def _strip(grids: Sequence[Grid], i: int, region: Region, tensors: Sequence[torch.Tensor]) -> Strip:
    mates = [(grid, tensor) for grid, tensor in zip(grids, tensors, strict=True) if grid.strip == i]
    first, tensor = next(((g, t) for g, t in mates if g.role == "base"), mates[0])
    width, count = first.itemsize, region.nbytes // first.itemsize
    wanted = {(g.start + g.address(index) * g.itemsize) // width for g, _ in mates for index, _ in g.cells()}
    shown = elements_shown(count, wanted)
    starts = [element * width for element in shown]
    values = values_over([(g.start, t) for g, t in mates], starts, tensor.dtype)
    owners = tuple(_owner(start, width, [g for g, _ in mates]) for start in starts)
    names, storages = tuple(g.name for g, _ in mates), len(region.storages)
    return Strip(names, first.dtype, width, region.nbytes, count, storages, shown, values, owners)


def _owner(first: int, nbytes: int, grids: Sequence[Grid]) -> str:
    roles = {grid.role for grid in grids if grid.touches(first, nbytes)}
    return "both" if len(roles) == 2 else roles.pop() if roles else "rest"
