"""Which values a checkpoint may hold: those that `torch.load` reads without running code.

The list mirrors `torch/_weights_only_unpickler.py`. A NumPy number becomes the equal Python number;
everything else is refused before a byte is written.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

from torchcourse.checkpoints.errors import CheckpointError

PLAIN = (type(None), bool, int, float, complex, str, bytes, bytearray)
TORCH = (torch.Tensor, torch.nn.Parameter, torch.nn.Buffer, torch.Size, torch.dtype, torch.device)
BOXES = (list, tuple, dict, set, OrderedDict, Counter)


def savable(part: str, value: Any) -> Any:
    """The value with Python's numbers in place of NumPy's; the same object where there are none of these.

    Raises CheckpointError, and says where, when it holds something that could not be read back.
    """
    numpy_inside = False
    for trail, inner in _inside(value):
        if isinstance(inner, np.generic) and type(inner.item()) in PLAIN:
            numpy_inside = True
        elif said := _refusal(inner):
            where = _told(trail)
            raise CheckpointError(f"Part `{part}`{f' at {where}' if where else ''} holds {said}")
    return _replaced(value) if numpy_inside else value


def _replaced(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    if type(value) in (dict, OrderedDict):
        result = type(value)((_replaced(key), _replaced(inner)) for key, inner in value.items())
        if isinstance(value, OrderedDict):
            vars(result).update(vars(value))  # the versions that a module's state_dict carries
        return result
    if type(value) in (list, tuple, set):
        return type(value)(map(_replaced, value))
    return value


def _refusal(value: Any) -> str | None:
    kind = type(value)
    if kind in PLAIN or kind in BOXES:
        return None
    if kind in TORCH or kind in torch.serialization.get_safe_globals():
        meta = isinstance(value, torch.Tensor) and value.is_meta
        return "a tensor on the meta device, which has no data: nothing would be saved." if meta else None
    if isinstance(value, torch.nn.Module):
        return (
            f"a whole {kind.__name__}. Pass the module as a part of its own: its state_dict is what is saved."
        )
    if isinstance(value, np.ndarray):
        return "a NumPy array, which torch.load doesn't read by default. Pass torch.from_numpy(array)."
    return (
        f"a {kind.__module__}.{kind.__qualname__}, and reading that back would mean running code. "
        "Pass tensors, numbers, strings, lists, tuples, dictionaries, or objects with a state_dict()."
    )


Trail = tuple[Any, str, Any] | None  # the trail of what holds it, the last step; text is made when asked for
_KEY, _PLACE = " key {!r:.40}", "[{!r:.40}]"


def _inside(value: Any) -> Iterator[tuple[Trail, Any]]:
    """The value and all but the plain in it, with the way to each. No recursion: values may nest deeply."""
    seen: set[int] = set()
    stack: list[tuple[Trail, Any]] = [(None, value)]
    while stack:
        trail, here = stack.pop()
        yield trail, here
        if type(here) not in BOXES or id(here) in seen:
            continue
        seen.add(id(here))
        if isinstance(here, dict):
            inner = [((trail, _KEY, key), key) for key in here if type(key) not in PLAIN]
            inner += [((trail, _PLACE, key), v) for key, v in here.items() if type(v) not in PLAIN]
        else:
            inner = [((trail, _PLACE, place), v) for place, v in enumerate(here) if type(v) not in PLAIN]
        stack += reversed(inner)


def _told(trail: Trail) -> str:
    steps: list[str] = []
    while trail is not None:
        trail, step, key = trail
        steps.append(step.format(key))
    return "".join(reversed(steps))[-80:]
