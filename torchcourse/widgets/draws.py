"""How `tc.draws` shows itself as a cell's value: a static picture with its text twin."""

from typing import Any

from torchcourse.graphs.draws import svg
from torchcourse.layers.draws import Draws


def view(draws: Draws) -> "DrawsCard":
    """Show which line moved which generator."""
    return DrawsCard(draws)


class DrawsCard:
    """The card of one `draws`: a picture, and `str()`, its text twin."""

    def __init__(self, draws: Draws) -> None:
        self.draws = draws

    def __str__(self) -> str:
        return str(self.draws)

    __repr__ = __str__

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/plain": str(self.draws), "image/svg+xml": svg(self.draws)}
