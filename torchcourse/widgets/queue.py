"""The queue view: what Python and the GPU do at the same time, on one axis, moment by moment.

See https://docs.pytorch.org/docs/stable/notes/cuda.html#asynchronous-execution for what it shows.
"""

from collections.abc import Callable, Iterable
from typing import Any

from torchcourse.devices.queue import Lanes, read_profile, run
from torchcourse.graphs import queue as pictures
from torchcourse.graphs.queue_story import Story, tell, us

from ._card import Card, script, style

MOST = 120  # operators of a profile: more moments than anyone steps through
LIVE = (
    "On a GPU this view is drawn from a profile of its own run; elsewhere from the model, and it says which."
)


def queue(
    what: Any,
    *,
    title: str = "",
    launch_blocking: bool = False,
    live: Callable[[], object] | None = None,
) -> "QueueView":
    """Show a program (a list of steps), lanes, or a profile as two lanes or more, to be stepped through.

    what: steps of `torchcourse.devices.queue`, its `Lanes`, a finished `torch.profiler.profile`, or a trace file.
    launch_blocking: run the program as CUDA_LAUNCH_BLOCKING=1 would. live: a function without arguments that does
    the same on a real GPU: where this kernel teaches on one, it is run once to warm up and once under the
    profiler, and that profile is shown instead. TypeError and ValueError as in `run` and `read_profile`.
    """
    if live is not None and not callable(live):
        raise TypeError(f"live is a function without arguments, or None; got {type(live).__name__}.")
    if live is not None and _on_gpu():
        return QueueView(tell(_profiled(live, title or "This GPU's queue")), live=True)
    return QueueView(tell(_lanes(what, title, launch_blocking)), live=live is not None)


def _lanes(what: Any, title: str, launch_blocking: bool) -> Lanes:
    if isinstance(what, Lanes):
        return what
    if isinstance(what, Iterable) and not isinstance(what, str | dict):
        return run(what, title=title or "The queue", launch_blocking=launch_blocking)
    return read_profile(what, title=title or "A profile", at_most=MOST)


def _on_gpu() -> bool:
    from torchcourse.devices import device

    return device().type == "cuda"


def _profiled(work: Callable[[], object], title: str) -> Lanes:
    import torch
    from torch.profiler import ProfilerActivity, profile

    work()
    torch.cuda.synchronize()
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as seen:
        work()
        torch.cuda.synchronize()
    return read_profile(seen, title=title, at_most=MOST)


def view(lanes: Lanes) -> "QueueView":
    """Show lanes that were run or read."""
    return queue(lanes)


class QueueView(Card):
    """What `queue` gives. `.story` is the plain data: lanes, moments and spans."""

    _esm = script("player", "queue")
    _css = style("player", "queue")

    def __init__(self, story: Story, live: bool = False) -> None:
        super().__init__()
        self.story = story
        self._live = live
        self.picture = picture(story)

    def twin(self) -> str:
        """What it shows as text; where the machine decides what that is, one sentence that holds on all."""
        return LIVE if self._live else str(self.story)

    def static_svg(self) -> str:
        return pictures.svg(self.story)


def picture(story: Story) -> dict[str, Any]:
    """The story as the browser takes it: a finished drawing, and the moments at which each part changes."""
    lanes = story.lanes
    return {
        "title": story.heading,
        "sentence": story.sentence,
        "text": str(story),
        "lines": list(lanes.lines),
        "svg": pictures.drawing(story).element(),
        "spans": [[span.first, span.last, span.queued] for span in story.spans],
        "says": [_say(lanes, k) for k in range(len(lanes.intervals))],
        # In the order of the drawing: an error's arrow stands before the readings.
        "readings": [*([story.raised] if story.raised else []), *story.readings],
        "xs": pictures.cursor(story),
        "moments": [[moment.line, moment.say, us(moment.at)] for moment in story.moments],
        "legend": [list(entry) for entry in pictures.LEGEND],
    }


def _say(lanes: Lanes, number: int) -> str:
    """What pointing at a box says."""
    i = lanes.intervals[number]
    said = f"`{i.label}`, {i.kind}: `{us(i.start)}` to `{us(i.end)}`."
    if i.queued is not None and i.start > i.queued:
        said += f" {us(i.start - i.queued)} in the queue."
    if i.cause is not None:
        said += f" It waited for `{lanes.intervals[i.cause].label}`."
    return said
