"""What can be said of an error that the table does not know: from types, shapes and devices alone."""

from __future__ import annotations

from collections.abc import Sequence

from .data import Held
from .live import Scene
from .parts import Part

_WORDS = ("torch", "tensor", "cuda", "autograd", "aten::", "c10::", "onnx")


def guess(parts: Sequence[Part], where: Scene) -> str:
    """A sentence that says "not known", and what the objects on the reader's line tell by themselves."""
    ours = "torch" in where.packages[:1] or any(
        word in f"{part.type} {part.message}".lower() for part in parts for word in _WORDS
    )
    head = (
        "Not known: this course has no entry for this error of PyTorch's."
        if ours
        else "Not known: this is no error of PyTorch's that this course knows."
    )
    held = [one for one in where.held if one.shape is not None]
    seen = [
        *_differ(held, "dtype", "dtypes"),
        *_differ(held, "device", "devices"),
        f"In your code ({where.place})." if where.place else "",
        f"There: {'; '.join(map(str, where.held))}." if where.held else "",
        _type_said(parts[0]) if parts[0].type else "",
    ]
    return " ".join(filter(None, (head, *seen)))


def _differ(held: Sequence[Held], fact: str, plural: str) -> list[str]:
    seen = {one.name: getattr(one, fact) for one in held if getattr(one, fact)}
    if len(set(seen.values())) < 2:
        return []
    listed = ", ".join(f"{name} {value}" for name, value in seen.items())
    return [f"The {plural} differ ({listed}): look there first."]


_TYPES = {
    "KeyError": "A KeyError says that a dictionary (or a frame's column) has no such key",
    "IndexError": "An IndexError says that a position lies outside a sequence or an axis",
    "AttributeError": "An AttributeError says that the object has no attribute of that name",
    "TypeError": "A TypeError says that an argument has the wrong type, or a call the wrong arguments",
    "ValueError": "A ValueError says that an argument has the right type and a value that can't be used",
    "ImportError": "An ImportError says that a module, or a name in it, can't be loaded",
    "ModuleNotFoundError": "A ModuleNotFoundError says that this Python has no such module installed",
    "FileNotFoundError": "A FileNotFoundError says that the path leads to no file; relative paths start at os.getcwd()",
    "NameError": "A NameError says that the name was never assigned here",
    "ZeroDivisionError": "A ZeroDivisionError says that a number was divided by 0",
    "MemoryError": "A MemoryError says that the computer's own memory is used up",
    "RecursionError": "A RecursionError says that a function called itself too many times",
    "AssertionError": "An AssertionError says that a condition that the code states was not met",
}


def _type_said(part: Part) -> str:
    short = part.type.rpartition(".")[2]
    root = part.type.partition(".")[0] if "." in part.type else ""
    said = _TYPES.get(short, "" if short == "RuntimeError" else f"Its class is {part.type}")
    return f"{said} (raised by {root})." if said and root else said and f"{said}."
