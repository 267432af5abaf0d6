"""Pictures of a training run, in the course's figure style, from the data of `torchcourse.training`.

Each function returns a matplotlib Figure that is closed for pyplot: as a cell's value it shows once. Lines
differ in colour, dash and marker.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from torchcourse.training import Activations, LearningRates, Overfit, Series, TimeSplit

from .figures import figure_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["activations", "depth", "learning_rates", "losses", "over_time", "overfit", "time_split"]

AT_MOST = 5  # lines that a reader can tell apart; the style has as many
MARKERS = 12  # per line


def losses(
    curves: Mapping[str, Sequence[float]],
    *,
    log: bool = True,
    floor: float | None = None,
    what: str = "loss",
) -> "Figure":
    """Loss (or what else it is) against step, one line per name. floor: a line that no curve can cross."""
    with figure_style():
        figure, axes = _empty("step", what, log_y=log)
        for name, values in curves.items():
            axes.plot(range(len(values)), values, label=name, markevery=_every(len(values)))
        if floor is not None:
            axes.axhline(
                floor, color="#7B8793", linewidth=1, linestyle=":", marker="", label=f"floor {floor:.3f}"
            )
        return _legend(figure, axes, outside=len(curves) > 2)


def learning_rates(found: LearningRates) -> "Figure":
    """The scan: loss of each batch, its running mean, and the suggested range as a band."""
    with figure_style():
        figure, axes = _empty("learning rate", "loss", log_x=True)
        axes.plot(found.rates, found.losses, alpha=0.4, marker="", linestyle="-", label="batch")
        axes.plot(found.rates, found.smoothed, marker="", linestyle="-", label="running mean")
        if found.suggested is not None:
            axes.axvspan(found.suggested.low, found.suggested.high, alpha=0.15, label="suggested range")
            axes.axvline(
                found.suggested, linestyle="--", color="#1F9E78", marker="", label=f"{found.suggested:.2g}"
            )
        # What lies far above the start is the blow-up; it would press everything else flat.
        axes.set_ylim(top=1.3 * max(found.smoothed[0], min(found.smoothed)))
        return _legend(figure, axes)


def over_time(found: Series) -> "Figure":
    """One line per layer against the step; of many layers, some that are evenly spread over the depth."""
    with figure_style():
        figure, axes = _empty("step", found.what, log_y=True)
        for layer in _some(found.layers):
            axes.plot(found.steps, _gaps(found.of(layer)), label=layer, markevery=_every(len(found.steps)))
        return _legend(figure, axes, outside=True)


def depth(found: Series) -> "Figure":
    """The vanishing or exploding picture: each layer's value, at the first and at the last step."""
    with figure_style():
        figure, axes = _empty("layer", found.what, log_y=True)
        places = range(len(found.layers))
        for name, row in (
            [("first step", found.values[0]), ("last step", found.values[-1])] if found.values else []
        ):
            axes.plot(places, _gaps(row), label=name)
        _layer_names(axes, found.layers)
        return _legend(figure, axes)


def activations(found: Activations) -> "Figure":
    """Mean and standard deviation of each layer's last output as bars of error, and the share of zeros."""
    with figure_style():
        figure, axes = _empty("layer", "output")
        names = [layer.name for layer in found.layers]
        means = [layer.means[-1] for layer in found.layers]
        stds = [layer.stds[-1] for layer in found.layers]
        axes.errorbar(range(len(names)), means, yerr=stds, linestyle="", capsize=3, label="mean ± std")
        zeros = axes.twinx()
        zeros.bar(range(len(names)), [layer.zeros[-1] for layer in found.layers], alpha=0.25, color="#C0652E")
        zeros.set(ylabel="share of zeros (bars)", ylim=(0, 1))
        zeros.grid(False)
        _layer_names(axes, names)
        return _legend(figure, axes)


def time_split(found: Mapping[str, TimeSplit]) -> "Figure":
    """One bar per run: how its time divides into data, forward, backward, step and the rest."""
    from matplotlib import pyplot

    with figure_style():
        figure, axes = pyplot.subplots(figsize=(6, 0.8 + 0.5 * len(found)))
        left = [0.0] * len(found)
        for part, hatch in zip(
            ("data", "forward", "backward", "step", "other"), ("", "//", "..", "xx", "--"), strict=True
        ):
            widths = [split.share(part) for split in found.values()]
            axes.barh(list(found), widths, left=left, hatch=hatch, label=part, edgecolor="#7B8793")
            left = [a + b for a, b in zip(left, widths, strict=True)]
        axes.set(xlabel="share of the time", xlim=(0, 1))
        axes.legend(ncols=5, loc="lower center", bbox_to_anchor=(0.5, 1))
        pyplot.close(figure)
        return figure


def overfit(found: Overfit) -> "Figure":
    """The loss on the one batch, and the line below which it counts as learned by heart."""
    with figure_style():
        figure, axes = _empty("step", "loss on one batch", log_y=True)
        axes.plot(range(len(found.losses)), found.losses, label="loss", markevery=_every(len(found.losses)))
        axes.axhline(
            found.share * found.losses[0], linestyle=":", marker="", color="#7B8793", label="passed below"
        )
        return _legend(figure, axes)


def _empty(x: str, y: str, *, log_x: bool = False, log_y: bool = False) -> "tuple[Figure, Axes]":
    from matplotlib import pyplot

    figure, axes = pyplot.subplots()
    axes.set(xlabel=x, ylabel=y, xscale="log" if log_x else "linear", yscale="log" if log_y else "linear")
    pyplot.close(figure)
    return figure, axes


def _legend(figure: "Figure", axes: "Axes", *, outside: bool = False) -> "Figure":
    """outside: beside the lines, where many of them would run through it."""
    place: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (1, 1)} if outside else {}
    if axes.get_legend_handles_labels()[0]:
        axes.legend(**place)
    return figure


def _layer_names(axes: "Axes", names: Sequence[str]) -> None:
    shown = list(range(0, len(names), max(1, len(names) // 12)))
    long = max((len(name) for name in names), default=0) > 4
    axes.set_xticks(
        shown, [names[k] for k in shown], rotation=45 if long else 0, ha="right" if long else "center"
    )


def _every(count: int) -> int:
    return max(1, count // MARKERS)


def _some(layers: Sequence[str]) -> list[str]:
    """At most five, first and last among them."""
    if len(layers) <= AT_MOST:
        return list(layers)
    return [layers[round(k * (len(layers) - 1) / (AT_MOST - 1))] for k in range(AT_MOST)]


def _gaps(values: Sequence[float | None]) -> list[Any]:
    """None becomes a gap in the line."""
    return [float("nan") if value is None else value for value in values]
