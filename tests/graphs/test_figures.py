import matplotlib
import pytest

matplotlib.use("agg")

import matplotlib.pyplot as plt

from torchcourse.graphs.figures import figure_style


def test_a_figure_is_transparent_and_its_axes_serve_both_themes():
    with figure_style():
        fig, ax = plt.subplots()
    assert fig.get_facecolor()[3] == 0 and ax.get_facecolor()[3] == 0
    grey = matplotlib.colors.to_rgb(ax.xaxis.label.get_color())
    assert 0.3 < sum(grey) / 3 < 0.7
    plt.close(fig)


def test_jupyter_puts_no_box_behind_it():
    """Neither a dark one in the light theme nor a light one in the dark theme."""
    from matplotlib_inline.backend_inline import _fetch_figure_metadata

    with figure_style():
        fig, ax = plt.subplots()
        ax.plot([0, 1], [0, 1])
    assert _fetch_figure_metadata(fig) is None
    ax.tick_params(colors="#7B8793")
    assert _fetch_figure_metadata(fig) == {"needs_background": "dark"}  # what the style avoids
    plt.close(fig)


def test_settings_are_as_before_afterwards_even_after_an_error():
    plt.close(plt.figure())
    before = dict(matplotlib.rcParams)
    with pytest.raises(ZeroDivisionError), figure_style():
        1 / 0
    assert dict(matplotlib.rcParams) == before and not plt.get_fignums()


def test_lines_differ_by_more_than_colour():
    with figure_style():
        fig, ax = plt.subplots()
        lines = [ax.plot([0, 1], [k, k])[0] for k in range(5)]
    assert len({line.get_marker() for line in lines}) == len({str(line._dash_pattern) for line in lines}) == 5
    plt.close(fig)
