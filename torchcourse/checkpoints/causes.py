"""Why a state_dict does not fit: a chain of steps, each of which mends one known cause if it is the cause.

A step only renames where nothing else could be meant. What is left at the end is another architecture.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torchcourse.checkpoints.align import align
from torchcourse.checkpoints.errors import some, told
from torchcourse.checkpoints.held import Names, Shapes, all_fit, differences, held
from torchcourse.checkpoints.prefixes import depth, wrappers
from torchcourse.checkpoints.tied import tied, values_that_collide
from torchcourse.checkpoints.whole import Opened, open_whole
from torchcourse.checkpoints.words import words


def find_cause(
    ours: Shapes, theirs: Shapes, state_dict: Mapping[str, Any]
) -> tuple[Names | None, str | None]:
    """The names that load (None unless a rename is needed and sure), and a sentence (None where all is well)."""
    names = Names({name: name for name in theirs})
    if all_fit(ours, theirs, names):
        return None, values_that_collide(ours, theirs) or dtype_sentence(ours, theirs) or None
    opened = open_whole(ours, state_dict)
    if isinstance(opened, str):
        return None, opened
    if isinstance(opened, Opened):
        theirs = {name: held(value) for name, value in opened.inner.items()}
        ours = without_counters(ours, opened.inner)
        names = Names({name: name for name in theirs}, (opened.said,), inner=opened.inner)
    for step in (wrappers, words, depth, tied, align):
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


def without_counters(ours: Shapes, state_dict: Mapping[str, Any]) -> Shapes:
    """BatchNorm fills in its counter where a file has none and no versions: so files were before PyTorch 1.0."""
    counter = "num_batches_tracked"
    if getattr(state_dict, "_metadata", None) or any(str(name).endswith(counter) for name in state_dict):
        return ours
    return {name: value for name, value in ours.items() if name.rpartition(".")[2] != counter}


# --- what is left -------------------------------------------------------------------------------------------


def _architecture(ours: Shapes, theirs: Shapes, names: Names) -> str:
    missing, unexpected = differences(ours, theirs, names)
    shapes = [n for n in ours if n in names.raw and not ours[n].fits(theirs[names.raw[n]])]
    if not names.raw:
        return "The state_dict is empty."
    if not_numbers := [(n, said) for n in shapes if (said := theirs[names.raw[n]].no_data(ours[n]))]:
        one, said = not_numbers[0]
        more = f", and {len(not_numbers) - 1} more names hold no such numbers either" * (len(not_numbers) > 1)
        return f"`{told(one)}` holds {said}{more}."
    if not missing and not unexpected:
        one = shapes[0]
        return (
            f"The same layers in other sizes: `{one}` is {theirs[names.raw[one]]} in the file and {ours[one]} in the "
            f"model{f' ({len(shapes)} such names)' if len(shapes) > 1 else ''}."
        )
    agree = len(ours) - len(missing) - len(shapes)
    parts = [f"{len(missing)} missing ({some(missing)})"] * bool(missing)
    parts += [f"{len(unexpected)} unexpected ({some(unexpected)})"] * bool(unexpected)
    parts += [f"{len(shapes)} of another shape ({some(shapes)})"] * bool(shapes)
    return f"Another architecture: {agree} of the model's {len(ours)} names agree; {', '.join(parts)}."
