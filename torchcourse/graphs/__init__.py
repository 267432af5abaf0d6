"""Data -> pictures: `dot` and `svg` draw a recorded graph, `fold` makes it small enough to read.

The three functions are called like the modules that hold them; importing them here, first, makes the
names mean the functions.
"""

from .dot import dot
from .fold import fold
from .svg import svg

__all__ = ["dot", "fold", "svg"]
