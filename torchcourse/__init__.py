"""What PyTorch does underneath: the helpers that the notebooks of torchcourse call.

The names below are imported when they are first asked for, so that `torchcourse doctor` runs
where torch itself is broken.
"""

import os
from importlib import import_module
from typing import Any

from ._ipython import register as _register
from ._views import VIEWS

# The profiler's library writes to file descriptor 2 at every profile, unless this is set before the first one.
os.environ.setdefault("KINETO_LOG_LEVEL", "99")

__version__ = "0.1.0"

# name -> the module that defines it
_NAMES = {
    "device": "devices",
    "raises": "teaching",
    "warns": "teaching",
    "predict": "teaching",
    "figure_style": "graphs.figures",
    "xray": "layers",
    "check_up": "faults",
    "explain": "errors",
    "explain_errors": "widgets.explanation",
    "draws": "layers",
    **dict.fromkeys(VIEWS, "widgets"),
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


_register()  # in IPython: %%xray, and results that show themselves as views
