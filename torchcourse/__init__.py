"""What PyTorch does underneath: the helpers that the notebooks of torchcourse call.

The names below are imported when they are first asked for, so that `torchcourse doctor` runs
where torch itself is broken.
"""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

# name -> the module that defines it
_NAMES = {
    "device": "devices",
    "raises": "teaching",
    "warns": "teaching",
    "predict": "teaching",
    "explore": "widgets",
    "figure_style": "graphs.figures",
    "xray": "layers",
}

__all__ = ["__version__", *_NAMES]


def __getattr__(name: str) -> Any:
    if name in _NAMES:
        return getattr(import_module(f"torchcourse.{_NAMES[name]}"), name)
    raise AttributeError(
        f"torchcourse has no {name!r}. It has: {', '.join(sorted(_NAMES))}; "
        f"and the modules torchcourse.storage, torchcourse.exercises, …"
    )


def __dir__() -> list[str]:
    return sorted(__all__)
