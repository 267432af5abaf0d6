"""The profile's picture: the same bytes every time, closed for pyplot, and told in words."""

import io

import pytest
from matplotlib import pyplot

from torchcourse.debugging import diagnose
from torchcourse.graphs import profile as draw

CPU = diagnose([{"name": f"aten::{k}", "count": k, "self_cpu_us": 100.0 * k} for k in range(1, 20)])
DEVICE = diagnose(
    [
        {"name": "cudaLaunchKernel", "count": 40, "self_cpu_us": 900},
        {
            "name": "void $gemm$<float>",
            "count": 20,
            "self_cpu_us": 0,
            "self_device_us": 3e6,
            "kind": "kernel",
        },
    ]
)


def svg(found):
    file = io.StringIO()
    draw.profile(found).savefig(file, format="svg", metadata={"Date": None})
    return file.getvalue()


@pytest.mark.parametrize("found", [CPU, DEVICE])
def test_the_same_picture_every_time_and_none_left_open(found):
    before = dict(pyplot.rcParams)
    with draw.figure_style():
        assert svg(found) == svg(found)
    assert not pyplot.get_fignums() and dict(pyplot.rcParams) == before


def test_rows_and_units():
    axes = draw.profile(CPU, 5).axes[0]
    first, *others = (label.get_text() for label in axes.get_yticklabels())
    assert first == "aten::19 ×19" and len(others) == 4 and len(axes.patches) == 5
    assert axes.get_xlabel() == "self time, ms" and axes.get_legend() is None
    axes = draw.profile(DEVICE).axes[0]
    assert axes.get_xlabel() == "self time, s"
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["CPU", "device"]


def test_in_words():
    assert CPU.sentence in draw.alt(CPU) and "aten::19 1.9 ms CPU" in draw.alt(CPU)


@pytest.mark.parametrize("at_most", [0, -1, True, 2.0])
def test_bad_input(at_most):
    with pytest.raises(ValueError, match="number of rows"):
        draw.profile(CPU, at_most)
