"""Prefixes: names that agree once what wrappers or one more level put before them is taken away."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from torchcourse.checkpoints.errors import some, told
from torchcourse.checkpoints.held import Names, Shapes, differences

# Components that wrappers put into names: DataParallel and DDP, torch.compile, FSDP, activation checkpointing.
WRAPPERS = {
    "module": "DataParallel, DistributedDataParallel or AveragedModel",
    "_orig_mod": "torch.compile",
    "_fsdp_wrapped_module": "FSDP",
    "_checkpoint_wrapped_module": "activation checkpointing",
}


def wrappers(ours: Shapes, theirs: Shapes, names: Names) -> Names:
    """Names that agree once the components of wrappers are taken out on both sides."""
    target = {_bare(name): name for name in ours}
    if len(target) < len(ours) or len({_bare(name) for name in names.raw}) < len(names.raw):
        return names
    new_name = {name: target.get(_bare(name), _bare(name)) for name in names.raw}
    touched = {name for name, new in new_name.items() if name != new}
    if not touched:
        return names
    words = [word for word in WRAPPERS if any(word in name.split(".") for name in (*touched, *ours))]
    in_file = any(word in name.split(".") for word in words for name in touched)
    said = " and ".join(f"`{word}.` ({WRAPPERS[word]})" for word in words)
    mended = names.moved(new_name, f"{'The file' if in_file else 'The model'} has the prefix {said}.")
    return _without_counter(ours, mended)


def _bare(name: str) -> str:
    return ".".join(part for part in name.split(".") if part not in WRAPPERS)


def _without_counter(ours: Shapes, names: Names) -> Names:
    """AveragedModel counts its models in a buffer beside them, which a bare model has no place for."""
    if differences(ours, {}, names) != ([], ["n_averaged"]):
        return names
    raw = {name: raw for name, raw in names.raw.items() if name != "n_averaged"}
    return replace(
        names, raw=raw, said=(*names.said, "It is AveragedModel's, with its counter `n_averaged`.")
    )


def depth(ours: Shapes, theirs: Shapes, names: Names) -> Names:
    """All names of the file stand some levels deeper, or all of the model do."""
    for prefix in _prefixes(names.raw):
        if {name.removeprefix(prefix) for name in names.raw} == set(ours):
            new_name = {name: name.removeprefix(prefix) for name in names.raw}
            return names.moved(
                new_name, f"All names in the file have `{told(prefix)}` before the model's names."
            )
    for prefix in _prefixes(ours):
        if {prefix + name for name in names.raw} == set(ours):
            new_name = {name: prefix + name for name in names.raw}
            return names.moved(
                new_name, f"All names in the model have `{told(prefix)}` before the file's names."
            )
    return _one_of_several(ours, names)


def _one_of_several(ours: Shapes, names: Names) -> Names:
    """The file has all that the model wants under one prefix, and more: what is left over is not dropped unasked."""
    first = next(iter(ours), "")
    found = [name.removesuffix(first) for name in names.raw if name.endswith(f".{first}")]
    found = [prefix for prefix in found if all(prefix + name in names.raw for name in ours)]
    if len(found) != 1 or first in names.raw:
        return names
    (prefix,) = found
    others = [name for name in names.raw if name.removeprefix(prefix) not in ours]
    said = (
        f"All of the model's names stand in the file under `{told(prefix)}`, beside others that the model has no "
        f"place for ({some(others)}): take those names alone, without the prefix."
    )
    return replace(names, said=(*names.said, said), unsure=True)


def _prefixes(names: Mapping[str, Any]) -> list[str]:
    """The prefixes that all names share: "a.", "a.b.", …"""
    shared: list[str] = []
    for column in zip(*(name.split(".")[:-1] for name in names), strict=False):
        if len(set(column)) > 1:
            break
        shared.append(column[0])
    return [".".join(shared[: k + 1]) + "." for k in range(len(shared))]
