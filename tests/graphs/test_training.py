"""The figures of a run: one line per curve, closed for pyplot, the same bytes every time."""

import io

import pytest
from matplotlib import pyplot

from torchcourse.graphs import training as draw
from torchcourse.training import Activations, Layer, LearningRates, Overfit, Series, Suggestion, TimeSplit

SERIES = Series(
    "gradient norm", tuple("abcdefg"), (0, 1), ((1.0,) * 7, (0.1, None, 1e-9, 1.0, 2.0, 3.0, 4.0))
)
RATES = LearningRates((0.1, 1.0), (2.0, 1.0), (2.0, 1.5), Suggestion(0.5, 0.1, 0.6), 1.0)
FIGURES = {
    "losses": lambda: draw.losses({"one": [3, 2, 1], "other": [3, 3, 3]}, floor=1.46),
    "no losses": lambda: draw.losses({}),
    "rates": lambda: draw.learning_rates(RATES),
    "rates without a suggestion": lambda: draw.learning_rates(
        LearningRates((0.1,), (2.0,), (2.0,), None, None)
    ),
    "over time": lambda: draw.over_time(SERIES),
    "depth": lambda: draw.depth(SERIES),
    "depth of nothing": lambda: draw.depth(Series("gradient norm", (), (), ())),
    "activations": lambda: draw.activations(Activations((Layer("body.0", "ReLU", (0.1,), (1.0,), (0.5,)),))),
    "time": lambda: draw.time_split({"slow": TimeSplit(3, 4.0, 1.0, 2.0, 1.0, 0.0)}),
    "overfit": lambda: draw.overfit(Overfit((2.0, 0.1), 0.1, ())),
}


def svg(figure):
    file = io.StringIO()
    figure.savefig(file, format="svg", metadata={"Date": None})
    return file.getvalue()


@pytest.mark.parametrize("name", FIGURES)
def test_the_same_picture_every_time_and_none_left_open(name):
    before = dict(pyplot.rcParams)
    with draw.figure_style():
        assert svg(FIGURES[name]()) == svg(FIGURES[name]())
    assert not pyplot.get_fignums()
    assert dict(pyplot.rcParams) == before


def test_many_layers_are_shown_by_five():
    labels = [text.get_text() for text in draw.over_time(SERIES).axes[0].get_legend().get_texts()]
    assert labels == ["a", "c", "d", "e", "g"] or (
        len(labels) == 5 and labels[0] == "a" and labels[-1] == "g"
    )


def test_the_floor_is_named():
    labels = [text.get_text() for text in FIGURES["losses"]().axes[0].get_legend().get_texts()]
    assert labels == ["one", "other", "floor 1.460"]


def test_a_missing_value_is_a_gap():
    last = draw.depth(SERIES).axes[0].lines[1].get_ydata()
    assert last[1] != last[1] and last[0] == 0.1
