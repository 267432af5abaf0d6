"""What a live exception still holds: the reader's line, and the tensors, arrays and modules named on it.

Only plain tensors, arrays and modules are looked at, and only their metadata. No foreign `repr`, property,
`__getattr__` or `__torch_function__` runs, no value is read (after an error on a GPU, that could fail).
"""

from __future__ import annotations

import inspect
import linecache
import os
import re
import sys
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from types import FrameType, TracebackType
from typing import Any

from .data import Held

MOST_FRAMES, MOST_HELD, MOST_LINES = 60, 8, 12

_NAME = re.compile(r"[A-Za-z_]\w{0,80}(?:\.[A-Za-z_]\w{0,80}|\[\d{1,4}\]){0,6}")
_FOREIGN = ("site-packages", "dist-packages", os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
_STANDARD = sysconfig.get_paths()["stdlib"]


@dataclass(frozen=True)
class Scene:
    """Where it failed: the reader's line, what was held there, and the packages of the frames, innermost first."""

    place: str | None = None
    held: tuple[Held, ...] = ()
    packages: tuple[str, ...] = ()


def scene(error: BaseException) -> Scene:
    """Look at the frames of a live exception; nothing of them is kept."""
    try:
        steps = list(islice(_steps(error.__traceback__), 2000))[-MOST_FRAMES:][::-1]
        return _scene(steps)
    except Exception:  # what is only an extra must not spoil the answer
        return Scene()


_Step = tuple[FrameType, int, int]


def _scene(steps: list[_Step]) -> Scene:
    packages = tuple(dict.fromkeys(_package(frame) for frame, _, _ in steps))
    own = next((at for at, (frame, _, _) in enumerate(steps) if not _foreign(frame)), None)
    held: dict[str, Held] = {}
    if own is None:
        return Scene(None, (), packages)
    frame, line, source = _source(steps[own])
    for step in steps[own:]:  # from the failing line outwards, until something is found
        if held:
            break
        if not _foreign(step[0]):
            _named_on(" ".join(_source(step)[2]), step[0], held)
            _arguments(step[0], held)
    for inner, _, _ in steps[:own][::-1]:
        if _of_a_layer(inner):
            _arguments(inner, held, where=inner.f_code.co_name)
    return Scene(_place(frame, line, source), tuple(held.values())[:MOST_HELD], packages)


def _source(step: _Step) -> tuple[FrameType, int, list[str]]:
    frame, line, end = step
    lines = range(line, min(end, line + MOST_LINES) + 1)
    return frame, line, [linecache.getline(frame.f_code.co_filename, n) for n in lines]


def _steps(trace: TracebackType | None) -> Iterator[_Step]:
    while trace is not None:
        code, at = trace.tb_frame.f_code, trace.tb_lasti // 2
        first, last, _, _ = next(islice(code.co_positions(), at, None), (None, None, None, None))
        yield trace.tb_frame, first or trace.tb_lineno or 1, last or trace.tb_lineno or 1
        trace = trace.tb_next


def _place(frame: FrameType, line: int, source: list[str]) -> str:
    name, where = os.path.basename(frame.f_code.co_filename), frame.f_code.co_name
    place = (
        f"line {line}"
        if name.startswith(("<", "ipykernel")) or name.removesuffix(".py").isdigit()
        else f"{name}, line {line}"
    )
    code = " ".join(" ".join(source).split())[:160]
    inside = f", in {where}" if where != "<module>" else ""
    return f"{place}{inside}: {code}" if code else f"{place}{inside}"


def _foreign(frame: FrameType) -> bool:
    name = frame.f_code.co_filename
    if name.startswith("<"):
        return name.startswith(("<frozen", "<__array", "<eval_with"))
    return any(part in name for part in _FOREIGN) or name.startswith(_STANDARD)


def _package(frame: FrameType) -> str:
    name = frame.f_globals.get("__name__")
    return name.partition(".")[0] if isinstance(name, str) else ""


def _named_on(source: str, frame: FrameType, held: dict[str, Held]) -> None:
    """What the names on the reader's line stand for."""
    code = re.sub(r"'[^'\n]{0,200}'|\"[^\"\n]{0,200}\"|#[^\n]{0,200}", " ", source)
    for name in dict.fromkeys(_NAME.findall(code)):
        while name and not _add(name, _resolve(name, frame), held):
            name = name.rpartition(".")[0]  # x.view is a method: x


def _of_a_layer(frame: FrameType) -> bool:
    path, name = frame.f_code.co_filename.replace("\\", "/"), frame.f_code.co_name
    return _package(frame) == "torch" and "torch/nn" in path and not name.startswith("_")


def _arguments(frame: FrameType, held: dict[str, Held], where: str = "") -> None:
    """The tensors among a function's arguments."""
    code, names = frame.f_code, _locals(frame)
    for name in code.co_varnames[: code.co_argcount]:
        if name != "self" and not _known_already(names.get(name), held):
            _add(name, names.get(name), held, where)


def _known_already(value: Any, held: dict[str, Held]) -> bool:
    described = _describe("", value)
    return described is None or any(described == _unnamed(one) for one in held.values())


def _unnamed(one: Held) -> Held:
    return Held(**{**vars(one), "name": ""})


def _add(name: str, value: Any, held: dict[str, Held], where: str = "") -> bool:
    """Keep what is a tensor, an array or a module; False: it is none."""
    label = f"{name} (in {where})" if where else name
    one = held.get(label) or _describe(label, value)
    if one is not None and len(held) < MOST_HELD:
        held.setdefault(label, one)
    return one is not None


def _resolve(name: str, frame: FrameType) -> Any:
    first, *rest = re.findall(r"\w+", name)
    names = _locals(frame)
    value = names[first] if first in names else frame.f_globals.get(first)
    for step in rest:
        value = _inside(value, step)
    return value


def _locals(frame: FrameType) -> dict[str, Any]:
    """The frame's names. Before Python 3.13 the look-up leaves a copy on the frame, which would keep all alive."""
    seen = frame.f_locals
    names = dict(seen)
    if type(seen) is dict and frame.f_code.co_flags & inspect.CO_OPTIMIZED:
        seen.clear()
    return names


def _inside(value: Any, step: str) -> Any:
    """An attribute or item, found without running anything."""
    if step.isdigit() and type(value) in (list, tuple):
        return value[int(step)] if int(step) < len(value) else None
    found = inspect.getattr_static(value, step, None)
    if found is None and _is(value, "nn.Module"):
        for table in ("_parameters", "_buffers", "_modules"):
            inner = inspect.getattr_static(value, table, None)
            if type(inner) is dict and step in inner:
                return inner[step]
    return found


def _is(value: Any, name: str) -> bool:
    """Whether the value's own class is (for modules: comes from) this class of PyTorch's, where it is loaded."""
    torch = sys.modules.get("torch")
    module, _, last = f"torch.{name}".rpartition(".")
    wanted = getattr(sys.modules.get(module), last, None) if torch else None
    return wanted is not None and wanted in type(value).__mro__


def _describe(name: str, value: Any) -> Held | None:
    try:
        numpy = sys.modules.get("numpy")
        if numpy is not None and type(value) is getattr(numpy, "ndarray", None):
            strides = tuple(step // max(value.itemsize, 1) for step in value.strides)
            return Held(
                name,
                "ndarray",
                f"NumPy {value.dtype}",
                value.shape,
                strides,
                contiguous=bool(value.flags.c_contiguous),
            )
        if type(value).__name__ in ("Tensor", "Parameter", "Buffer") and _is(value, "Tensor"):
            return _tensor(name, value)
        return _module(name, value) if _is(value, "nn.Module") and not isinstance(value, type) else None
    except Exception:  # a tensor without storage, an inference tensor's version, …
        return None


def _tensor(name: str, value: Any) -> Held:
    import torch

    with torch._C.DisableTorchFunction():  # no mode of the reader's may see these look-ups
        strided = value.layout is torch.strided
        return Held(
            name,
            type(value).__name__,
            str(value.dtype).removeprefix("torch."),
            tuple(value.shape),
            tuple(value.stride()) if strided else None,
            str(value.device),
            value.requires_grad,
            value.is_leaf,
            bool(value.is_contiguous()) if strided else True,
            None if value.is_inference() else value._version,
        )


def _module(name: str, value: Any) -> Held:
    weights = inspect.getattr_static(value, "_parameters", {})
    weight = weights.get("weight") if type(weights) is dict else None
    training = inspect.getattr_static(value, "training", None)
    known = _describe(name, weight)
    kind = f"{type(value).__name__} with weight" if known else type(value).__name__
    mode = training if isinstance(training, bool) else None
    if known is None:
        return Held(name, kind, training=mode)
    return Held(name, kind, known.dtype, known.shape, device=known.device, training=mode)
