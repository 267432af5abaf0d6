"""The storage explorer: tensors as grids over the storages that they read, to touch and to try.

See https://docs.pytorch.org/docs/stable/tensor_view.html for the operations that make views.
"""

import inspect
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch

from torchcourse.graphs import storage as pictures
from torchcourse.graphs.page import Caption
from torchcourse.storage.chain import ChainError, apply_chain
from torchcourse.storage.scene import LONGEST_NAME, Grid, Scene, scene

from ._card import Card, script
from ._names import argument_names


def explore(*tensors: torch.Tensor, names: Sequence[str] | None = None) -> "StorageExplorer":
    """Show tensors of 0 to 4 dimensions over their storages; pointing at an element lights its partners.

    names: one for each tensor; without it the names that they have where you call. Large tensors are
    folded, and only the shown values are read. What has no strided memory (sparse, meta, fake …) or
    more than 4 dimensions is named with a sentence instead of a picture. Raises TypeError for anything
    but tensors, ValueError for none, for more than 8, and for names that don't fit.
    """
    if names is None:
        frame = inspect.currentframe()
        names = argument_names(frame.f_back if frame else None, tensors[:8]) if tensors else ()
        names = (*names, *["more"] * (len(tensors) - len(names)))
    return StorageExplorer(tensors, names)


class StorageExplorer(Card):
    """What `explore` gives. `.scene` is the plain data; `.chain(text)` does what the text box does."""

    _esm = script("box", "explore")

    def __init__(self, tensors: Sequence[torch.Tensor], names: Sequence[str]) -> None:
        first = scene(tensors, names)
        super().__init__()
        self._tensors, self._names, self._opening = tuple(tensors), tuple(names), first
        self.show(first)
        self.on_msg(self._asked)

    def show(self, shown: Scene) -> None:
        """Show this scene instead of the one before."""
        self.scene = shown
        self.picture = picture(shown, self._names[0])

    def twin(self) -> str:
        return str(self.scene)

    def static_svg(self) -> str:
        return pictures.svg(self.scene)

    def chain(self, text: str) -> str:
        """Show the first tensor beside what a chain of view operations makes of it; say what that is.

        An empty text goes back to the opening picture. Raises ChainError, and keeps the picture,
        where the text is no chain that this tensor can take.
        """
        text = text.strip()
        if not text:
            self.show(self._opening)
            return "Back to the first picture."
        base, name = self._tensors[0], self._names[0]
        result = apply_chain(base, text)
        called = f"{name}{text}" if len(name + text) <= LONGEST_NAME and text.isprintable() else "result"
        shown = _with_copy_noted(scene((base, result), (name, called)))
        answer = outcome(shown, base, result)
        self.show(shown)
        return answer

    def _asked(self, _: Any, content: Any, __: Any) -> None:
        """Answer a message of the text box; nothing that a reader types may break the kernel."""
        if not isinstance(content, dict) or not isinstance(content.get("chain"), str):
            return
        try:
            answer, refused = self.chain(content["chain"]), False
        except ChainError as error:
            answer, refused = str(error), True
        except (RuntimeError, ValueError, TypeError) as error:
            answer, refused = f"This result can't be shown: {str(error).splitlines()[0]}", True
        self.send({"id": content.get("id"), "answer": answer, "refused": refused})


def _with_copy_noted(shown: Scene) -> Scene:
    base, made = shown.grids
    return (
        shown
        if made.role == "view" or made.refusal
        else replace(shown, grids=(base, replace(made, note="a copy")))
    )


def outcome(shown: Scene, base: torch.Tensor, result: torch.Tensor) -> str:
    """View or copy, in one sentence."""
    if result is base:
        return "The same tensor comes back: there was nothing to do."
    _, made = shown.grids
    if made.refusal:
        return f"No picture: {made.refusal}"
    if len(shown.strips) == 1:
        return "A view: no element was copied, and a write through it reaches the storage."
    return f"A copy: a new storage of {shown.strips[made.strip].nbytes:,} bytes; a write to it stays there."


def picture(shown: Scene, first: str) -> dict[str, Any]:
    """The scene as the browser takes it: finished drawings, and the numbers that lead to partners."""
    return {
        "title": shown.title,
        "sentence": shown.sentence,
        "first": "" if shown.grids[0].refusal else first,
        "grids": [_grid(grid, shown) for grid in shown.grids],
        "strips": [_strip(i, shown) for i in range(len(shown.strips))],
        "legend": [list(item) for item in pictures.legend(shown)],
        "twin": str(shown),
    }


def _grid(grid: Grid, shown: Scene) -> dict[str, Any]:
    keys = ("name", "dtype", "itemsize", "size", "stride", "offset", "start", "strip", "axes", "folded")
    svg = "" if grid.refusal else pictures.draw_grid(grid, shown).element()
    return {
        **{key: getattr(grid, key) for key in keys},
        "svg": svg,
        "caption": _caption(pictures.caption(grid), bool(grid.refusal)),
    }


def _strip(i: int, shown: Scene) -> dict[str, Any]:
    strip = shown.strips[i]
    keys = ("names", "dtype", "itemsize", "shown", "owners", "gaps")
    return {
        **{key: getattr(strip, key) for key in keys},
        "strip": i,
        "svg": pictures.draw_strip(i, shown, pictures.ARC).element(),
        "caption": _caption(pictures.strip_caption(strip, shown)),
    }


def _caption(caption: Caption, why: bool = False) -> dict[str, Any]:
    return {
        "name": caption.name,
        "role": caption.role,
        "note": caption.note,
        "facts": list(caption.facts),
        "why": why,
    }
