"""CUDA_VISIBLE_DEVICES: which of the driver's GPUs a program may see."""

from __future__ import annotations

import re
from itertools import takewhile

from .facts import GPU


def visible_gpus(setting: str | None, gpus: tuple[GPU, ...]) -> tuple[GPU, ...]:
    """The GPUs that the setting leaves, in its order (the rule of torch.cuda._parse_visible_devices).

    None (not set) leaves all. The list ends at the first entry that is no number or negative; a number
    beyond the last GPU ends it too; an entry named twice leaves nothing.
    """
    if setting is None:
        return gpus
    if setting.startswith(("GPU-", "MIG-")):
        return _by_uuid(setting, gpus)
    chosen = _numbers(setting)
    if len(set(chosen)) < len(chosen):
        return ()
    known = takewhile(lambda number: number < len(gpus), chosen)
    return tuple(gpus[number] for number in known)


def _numbers(setting: str) -> list[int]:
    """The numbers up to the first entry that doesn't begin with one ("2ampere" counts as 2, "-0" as 0, as in C)."""
    found = (re.match(r"\s*(?:\+?|-(?=0+(?!\d)))(\d{1,6})", entry) for entry in setting.split(","))
    return [int(number[1]) for number in takewhile(bool, found) if number]


def _by_uuid(setting: str, gpus: tuple[GPU, ...]) -> tuple[GPU, ...]:
    # MIG instances have names of their own, which the plain list doesn't hold; unknown names are believed.
    if setting.startswith("MIG-") or not all(gpu.uuid for gpu in gpus):
        return gpus
    wanted = [entry.strip() for entry in setting.split(",")]
    return tuple(gpu for name in wanted for gpu in gpus if gpu.uuid.startswith(name))
