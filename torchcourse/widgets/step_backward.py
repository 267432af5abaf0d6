"""The backward stepper: a real backward, recorded once, to be stepped through in the engine's order.

See https://docs.pytorch.org/docs/stable/notes/autograd.html for what the engine does.
"""

import inspect
from typing import Any

import torch

from torchcourse.autograd import BackwardRecord, Graph, NoGraph, record_backward
from torchcourse.autograd.graph import build
from torchcourse.autograd.numbers import numbers
from torchcourse.graphs import backward as pictures
from torchcourse.graphs._backward_story import tell
from torchcourse.graphs.backward import Story
from torchcourse.graphs.fold import fold

from ._card import Card, script, style

MOST = 300  # boxes: more take longer than a second to lay out


def step_backward(
    loss: torch.Tensor, *, names: Any = None, at_most: int = 30, **kwargs: Any
) -> "BackwardStepper":
    """Run `loss.backward(**kwargs)` once, for real, and show it step by step, in the engine's own order.

    names: a module, or a dict name -> tensor; without it, the variables where you call. A wire shows the
    forward's number where a node saved it or a name holds it: give the steps of an expression names.
    at_most: a graph of more nodes is folded into about so many boxes. `.grad` is filled as by any backward,
    and the graph is freed, so a cell that calls this builds its own loss. Where a node raises, the last step
    shows it.
    TypeError: loss is no tensor. ValueError: it has no graph, a freed one, or more than one element (then
    `gradient=` is needed).
    """
    if not isinstance(loss, torch.Tensor):
        raise TypeError(f"step_backward takes the loss, a tensor, not a {type(loss).__name__}.")
    if not isinstance(at_most, int) or not 1 <= at_most <= MOST:
        raise ValueError(f"at_most is the number of boxes, 1 to {MOST}, and got {at_most!r}.")
    frame = inspect.currentframe()
    caller = frame.f_back if frame else None
    graph, _ = build((loss,), names, caller)
    _refuse(loss, graph, kwargs)
    values = numbers(loss, graph, names, caller)
    record = _run(loss, kwargs)
    boxes = fold(graph, at_most).boxes
    groups = [(f"{box.name}{f' × {box.times}' if box.times > 1 else ''}", box.nodes) for box in boxes]
    return BackwardStepper(tell(graph, record, groups, values))


def _run(loss: torch.Tensor, kwargs: dict[str, Any]) -> BackwardRecord:
    """The record of the run; where a node raises, of all that happened up to it."""
    try:
        return record_backward(loss, **kwargs)
    except Exception as error:
        record = getattr(error, "record", None)
        if isinstance(record, BackwardRecord) and record.steps:
            return record
        raise


def _refuse(loss: torch.Tensor, graph: Graph, kwargs: dict[str, Any]) -> None:
    """Raise, with one sentence, where backward could not even begin."""
    if not graph.nodes:
        raise NoGraph(f"There is no backward to step through: this tensor has no graph. {graph.roots[0].why}")
    if loss.numel() != 1 and kwargs.get("gradient") is None:
        raise ValueError(
            f"backward starts from one number, and this tensor has {loss.numel():,} elements, "
            f"shape {list(loss.shape)}. Take its sum or mean, or pass gradient=, a tensor of that shape."
        )
    if graph.freed:
        raise ValueError(
            "This graph is freed: a backward has run through it already. Compute the loss again in this cell, "
            "or give the first backward retain_graph=True."
        )


class BackwardStepper(Card):
    """What `step_backward` gives. `.story` is the plain data: boxes, wires and moments."""

    _esm = script("player", "step_backward")
    _css = style("player", "step_backward")

    def __init__(self, story: Story) -> None:
        super().__init__()
        self.story = story
        self.picture = picture(story)

    def twin(self) -> str:
        return str(self.story)

    def static_svg(self) -> str:
        return pictures.svg(self.story)


def picture(story: Story) -> dict[str, Any]:
    """The story as the browser takes it: a finished drawing, and the steps at which each part changes."""
    drawn, places = pictures.arranged(story)
    return {
        "title": story.title,
        "sentence": story.sentence,
        "folded": story.folded,
        "svg": pictures.drawing(drawn, places).element(),
        "boxes": [[list(box.steps), list(box.fills)] for box in drawn.boxes],
        "says": [box.say for box in drawn.boxes],
        "wires": [[list(wire.sent), list(wire.got)] for wire in drawn.wires],
        "moments": [[moment.box, moment.say] for moment in drawn.moments],
        "legend": [list(item) for item in pictures.LEGEND],
    }
