"""Views that one can touch, one for each mechanism. They show what the ground floor found out.

Each row of `torchcourse._views.VIEWS` is a module here, with a function of the same name and a class.
"""

from importlib import import_module
from typing import Any

from torchcourse._views import VIEWS


def _offered() -> dict[str, Any]:
    """Every row's function and class."""
    modules = {view: import_module(f"{__name__}.{view}") for view in VIEWS}
    return {name: getattr(modules[view], name) for view, card in VIEWS.items() for name in (view, card)}


# Over the names of the modules, which importing them has put here.
globals().update(_offered())

__all__ = sorted([*VIEWS, *VIEWS.values()])


def __getattr__(name: str) -> Any:
    raise AttributeError(f"torchcourse.widgets has no {name!r}. It has: {', '.join(__all__)}.")
