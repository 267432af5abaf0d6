"""The xray view's data and its static picture: a trace, or two side by side, as rows that fold."""

from .items import Chip, Item, Scene
from .pairs import pairs
from .picture import svg
from .scene import scene

__all__ = ["Chip", "Item", "Scene", "pairs", "scene", "svg"]
