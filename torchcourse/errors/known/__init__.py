"""The table of known errors: one `Kind` each, in rooms named after what they are about."""

from ..data import Kind
from . import (
    autograd,
    checkpoints,
    compiling,
    cuda,
    debugging,
    devices,
    distributed,
    dtypes,
    export,
    families,
    installation,
    loader,
    losses,
    memory,
    modules,
    operators,
    optimizers,
    places,
    randomness,
    scalars,
    schedulers,
    shapes,
    storage,
    warned,
)

_ROOMS = (
    storage, shapes, dtypes, scalars, autograd, modules, losses, loader, optimizers, schedulers, checkpoints,
    memory, devices, cuda, installation, distributed, export, compiling, randomness, debugging, warned, families,
    operators, places,
)  # fmt: skip

KINDS: tuple[Kind, ...] = tuple(kind for room in _ROOMS for kind in room.KINDS)
