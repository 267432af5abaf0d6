"""The stacked curve of a step's memory: how much each owner holds after each allocation and free."""

from __future__ import annotations

from itertools import groupby
from typing import Any

from torchcourse.memory import OWNERS, Fit
from torchcourse.memory.text import amount

from .figures import figure_style

MIB = 1 << 20
# Middle tones of the views' colours, which serve both themes; the hatch says the same as the colour.
_PAINTS = {
    "parameter": ("#2B8CC4", ""),
    "buffer": ("#7B8793", "oo"),
    "optimizer state": ("#A8548C", "\\\\\\"),
    "gradient": ("#C0652E", "///"),
    "input": ("#7B8793", ".."),
    "activation": ("#1F9E78", ""),
    "temporary": ("#B58A1F", "xxx"),
}


def stacked(fit: Fit, title: str = "") -> Any:
    """A matplotlib Figure: bytes in MiB over the events of the step, one layer per owner, phases marked.

    The line above the layers is what the allocator has reserved. The card's size is drawn where it is near.
    """
    import matplotlib.pyplot as plt

    with figure_style():
        figure, axes = plt.subplots(figsize=(7.2, 3.6))
        _draw_layers(axes, fit)
        _draw_phases(axes, fit)
        _draw_card(axes, fit)
        axes.set(xlabel="allocations and frees, in order", ylabel="MiB", xlim=(0, max(len(fit.curve), 1)))
        axes.set_ylim(bottom=0)
        axes.grid(False)
        if title:
            axes.set_title(title, pad=18)
        handles, labels = axes.get_legend_handles_labels()
        axes.legend(handles[::-1], labels[::-1], loc="center left", bbox_to_anchor=(1.0, 0.5))
    return figure


def alt(fit: Fit) -> str:
    """What the picture shows, in a sentence made from its data."""
    held = sorted(((nbytes, owner) for owner, nbytes in fit.at_peak.items() if nbytes), reverse=True)
    parts = ", ".join(f"{owner} {amount(nbytes)}" for nbytes, owner in held)
    phase = fit.curve[fit.peak].phase if fit.curve else "before"
    return f"Memory of one step. The peak, {amount(fit.peak_allocated)}, comes in {phase}: {parts}."


def _draw_layers(axes: Any, fit: Fit) -> None:
    places = range(len(fit.curve))
    for at, owner in enumerate(OWNERS):
        top = [sum(point.by_owner[: at + 1]) / MIB for point in fit.curve]
        bottom = [sum(point.by_owner[:at]) / MIB for point in fit.curve]
        if any(t > b for t, b in zip(top, bottom, strict=True)):
            colour, hatch = _PAINTS[owner]
            axes.fill_between(
                places, bottom, top, step="post", color=colour, alpha=0.75, hatch=hatch, linewidth=0, label=owner
            )  # fmt: skip
    reserved = [point.reserved / MIB for point in fit.curve]
    axes.step(places, reserved, where="post", color="#7B8793", linestyle="--", marker="", label="reserved")


def _draw_phases(axes: Any, fit: Fit) -> None:
    at = 0
    for phase, points in groupby(fit.curve, key=lambda point: point.phase):
        count = len(list(points))
        if at and count * 30 > len(fit.curve):
            axes.axvline(at, color="#7B8793", linewidth=0.6)
        if count * 12 > len(fit.curve):  # room for the word
            axes.text(
                at + count / 2, 1.02, phase, transform=axes.get_xaxis_transform(), ha="center", fontsize=8
            )
        at += count


def _draw_card(axes: Any, fit: Fit) -> None:
    if fit.total_bytes < 1.5 * max(fit.peak_reserved, 1):
        axes.axhline(fit.total_bytes / MIB, color="#C0652E", linewidth=1.2, marker="")
        axes.text(0.01 * len(fit.curve), fit.total_bytes / MIB, "the card", va="bottom", fontsize=8)
