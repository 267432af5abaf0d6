"""One look for all matplotlib figures of the course: `with tc.figure_style(): …`."""

from collections.abc import Iterator
from contextlib import contextmanager

STYLE = "torchcourse.graphs.figure"  # figure.mplstyle beside this file


@contextmanager
def figure_style() -> Iterator[None]:
    """Figures made in the block are transparent with mid-grey axes, so they serve both themes.

    matplotlib's own settings are as before afterwards.
    """
    import matplotlib.pyplot as plt

    # Jupyter's backend makes itself interactive with its first figure. Inside the style's context that
    # would be undone at the end, and no later figure would be shown.
    plt.close(plt.figure())
    with plt.style.context(STYLE):
        yield
