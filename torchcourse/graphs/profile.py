"""A profile's table as a picture: the longest operators by self time, from what `diagnose` found."""

from typing import TYPE_CHECKING

from torchcourse.debugging import Diagnosis, Row

from .figures import figure_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["alt", "profile"]

CPU, DEVICE, WAIT = "#1C6CB5", "#C2571A", "#8C3A77"
NAME = 40  # signs of a name


def profile(found: Diagnosis, at_most: int = 12) -> "Figure":
    """One pair of bars per row, longest self time on top: the CPU's plain, the device's hatched.

    The colour of a data wait differs. Above stands the sentence. The Figure is closed for pyplot: as a cell's value
    it shows once. Raises ValueError for an `at_most` below 1.
    """
    if not isinstance(at_most, int) or isinstance(at_most, bool) or at_most < 1:
        raise ValueError(f"at_most is the number of rows, 1 or more; got {at_most!r}.")
    from matplotlib import pyplot

    rows = found.table[:at_most]
    with figure_style():
        figure, axes = pyplot.subplots(figsize=(7, 1.1 + 0.36 * len(rows)))
        _bars(axes, rows, found.has_device)
        axes.set(xlabel=f"self time, {_unit(rows)[1]}", ylim=(len(rows) - 0.4, -0.6))
        axes.set_yticks(range(len(rows)), [_label(row) for row in rows])
        figure.suptitle(_folded(found.sentence), x=0.01, ha="left", fontsize="medium")
        if found.has_device:
            axes.legend(loc="lower right")
        pyplot.close(figure)
        return figure


def alt(found: Diagnosis, at_most: int = 12) -> str:
    """What the picture shows, in words."""
    rows = found.table[:at_most]
    listed = "; ".join(
        f"{row.name} {_cpu(row) / 1e3:.3g} ms CPU, {row.self_device_us / 1e3:.3g} ms device" for row in rows
    )
    return f"Bars of self time per operator. {found.sentence} {listed}."


def _bars(axes: "Axes", rows: tuple[Row, ...], device: bool) -> None:
    scale, height = _unit(rows)[0], 0.38 if device else 0.7
    for at, row in enumerate(rows):
        colour = WAIT if row.kind == "data" else CPU
        label = "CPU" if not at else None
        axes.barh(at - (height / 2 if device else 0), _cpu(row) / scale, height, color=colour, label=label)
        if device:
            label = "device" if not at else None
            axes.barh(
                at + height / 2, row.self_device_us / scale, height, color=DEVICE, hatch="//", label=label
            )


def _cpu(row: Row) -> float:
    """A data wait counts whole: what runs in it is the reader's data set."""
    return row.cpu_us if row.kind == "data" else row.self_cpu_us


def _unit(rows: tuple[Row, ...]) -> tuple[float, str]:
    longest = max((max(_cpu(row), row.self_device_us) for row in rows), default=0.0)
    return (1e6, "s") if longest >= 1e6 else (1e3, "ms") if longest >= 1e3 else (1.0, "µs")


def _label(row: Row) -> str:
    # Kernels' names are C++ with dollar signs and all; matplotlib would read those as formulas.
    name = row.name.replace("$", r"\$")
    return f"{name if len(name) <= NAME else name[: NAME - 1] + '…'} ×{row.count:,}"


def _folded(sentence: str, width: int = 88) -> str:
    from textwrap import fill

    return fill(sentence.replace("$", r"\$"), width)
