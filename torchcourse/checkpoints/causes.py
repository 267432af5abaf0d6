"""Why a state_dict does not fit: a chain of steps, each of which mends one known cause if it is the cause.

A step only renames where nothing else could be meant. What is left at the end is another architecture.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch import Tensor

from torchcourse.checkpoints.align import align
from torchcourse.checkpoints.errors import some
from torchcourse.checkpoints.held import Names, Shapes, all_fit, differences, held
from torchcourse.checkpoints.prefixes import depth, wrappers
from torchcourse.checkpoints.tied import tied, values_that_collide


def find_cause(
    ours: Shapes, theirs: Shapes, state_dict: Mapping[str, Any]
) -> tuple[Names | None, str | None]:
    """The names that load (None unless a rename is needed and sure), and a sentence (None where all is well)."""
    names = Names({name: name for name in theirs})
    if all_fit(ours, theirs, names):
        return None, values_that_collide(ours, theirs) or dtype_sentence(ours, theirs) or None
    opened = _open_whole_checkpoint(ours, state_dict)
    if isinstance(opened, str):
        return None, opened
    if opened is not None:
        theirs, names = {str(k): held(v) for k, v in opened.items()}, _one_level_down(opened, state_dict)
    for step in (wrappers, depth, tied, align):
        if all_fit(ours, theirs, names):
            break
        names = step(ours, theirs, names)
    if all_fit(ours, theirs, names):
        dtype = dtype_sentence(ours, {name: theirs[raw] for name, raw in names.raw.items()})
        return names, " ".join([*names.said, *filter(None, [dtype])])
    if names.unsure:
        return None, " ".join(names.said)
    return None, " ".join([*names.said, _architecture(ours, theirs, names)])


def dtype_sentence(ours: Shapes, theirs: Shapes) -> str:
    """What is converted on loading; "" where nothing is."""
    changed = [
        name for name in ours if ours[name].dtype and theirs[name].dtype not in (ours[name].dtype, None)
    ]
    if not changed:
        return ""
    one = changed[0]
    return (
        f"The dtype changed: `{one}` is {theirs[one].dtype} in the file and {ours[one].dtype} in the model"
        f"{f', and so are {len(changed) - 1} more' if len(changed) > 1 else ''}. "
        "load_state_dict converts without a word."
    )


# --- a whole checkpoint instead of its state_dict -----------------------------------------------------------


def _open_whole_checkpoint(ours: Shapes, state_dict: Mapping[str, Any]) -> Mapping[str, Any] | str | None:
    """The one inner state_dict that shares names with the model, a sentence where none is, or None."""
    if {"state", "param_groups"} <= set(state_dict):
        return "This is the state of an optimizer, not of a module."
    inner = {key: value for key, value in state_dict.items() if _is_state_dict(value)}
    if not inner or any(isinstance(value, Tensor) for value in state_dict.values() if value is not None):
        return None
    fitting = [key for key, value in inner.items() if _ends(value) & _ends(ours)]
    if len(fitting) == 1:
        return inner[fitting[0]]
    keys = some([str(key) for key in state_dict])
    return (
        f"This is a whole checkpoint with {keys}, not a state_dict: pass the one entry that holds the model."
    )


def _is_state_dict(value: object) -> bool:
    return isinstance(value, Mapping) and any(isinstance(inner, Tensor) for inner in value.values())


def _ends(names: Mapping[str, Any]) -> set[str]:
    return {".".join(str(name).split(".")[-2:]) for name in names}


def _one_level_down(opened: Mapping[str, Any], state_dict: Mapping[str, Any]) -> Names:
    (key,) = [key for key, value in state_dict.items() if value is opened][:1]
    said = f"The state_dict stands one level down, under the key `{key}`."
    return Names({str(name): str(name) for name in opened}, (said,), inner=opened)


# --- what is left -------------------------------------------------------------------------------------------


def _architecture(ours: Shapes, theirs: Shapes, names: Names) -> str:
    missing, unexpected = differences(ours, theirs, names)
    shapes = [n for n in ours if n in names.raw and not ours[n].fits(theirs[names.raw[n]])]
    if not names.raw:
        return "The state_dict is empty."
    if not missing and not unexpected:
        one = shapes[0]
        return (
            f"The same layers in other sizes: `{one}` is {theirs[names.raw[one]]} in the file and {ours[one]} in the "
            f"model{f' ({len(shapes)} such names)' if len(shapes) > 1 else ''}."
        )
    agree = len(ours) - len(missing) - len(shapes)
    told = [f"{len(missing)} missing ({some(missing)})"] * bool(missing)
    told += [f"{len(unexpected)} unexpected ({some(unexpected)})"] * bool(unexpected)
    told += [f"{len(shapes)} of another shape ({some(shapes)})"] * bool(shapes)
    return f"Another architecture: {agree} of the model's {len(ours)} names agree; {', '.join(told)}."
