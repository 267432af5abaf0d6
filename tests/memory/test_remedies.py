"""Ways to do a step side by side, and the batch at which it stops fitting."""

import pytest
import torch
from torch import nn

from torchcourse.memory import compare, largest_batch, record_step

from .steps import cnn, mlp

MIB = 1 << 20


def way(batch=64, kind=torch.optim.Adam, make=cnn, **options):
    case = make(batch, device="meta")
    optimizer = kind(case.model.parameters(), **options)
    return case.step(optimizer), case.model, optimizer


def test_each_remedy_saves_its_own_part():
    comparison = compare(
        {
            "as it is": way(),
            "half the batch": way(32),
            "SGD": way(kind=torch.optim.SGD),
            "recorded": record_step(*way()),
        }
    )
    first, half, plain, recorded = comparison.rows
    assert 2 * (half.by_owner["activation"] - 192 - 4) == first.by_owner["activation"] - 192 - 4
    assert first.by_owner["optimizer state"] == 2 * first.by_owner["parameter"]
    assert plain.by_owner["optimizer state"] == 0 and recorded.by_owner == first.by_owner
    assert comparison.saved("half the batch") == first.peak_allocated - half.peak_allocated > 0
    lines = str(comparison).splitlines()
    assert len(lines) == 5 and lines[1].startswith("as it is") and "activation" in lines[0]


def test_the_second_step_is_recorded():
    case = mlp()
    optimizer = torch.optim.Adam(case.model.parameters())
    calls = []
    step = case.step(optimizer)
    compare({"Adam": (lambda: (calls.append(1), step()), case.model, optimizer)})
    assert len(calls) == 2


def test_gradient_accumulation_and_autocast():
    model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 64))
    x = torch.ones(32, 64)

    def whole():
        model(x).square().mean().backward()
        model.zero_grad()

    def in_parts():
        for part in x.chunk(4):
            (model(part).square().mean() / 4).backward()
        model.zero_grad()

    def in_half():
        with torch.autocast("cpu", dtype=torch.bfloat16):
            loss = model(x).square().mean()
        loss.backward()
        model.zero_grad()

    held = {
        row.name: row.by_owner for row in compare({"whole": whole, "parts": in_parts, "half": in_half}).rows
    }
    assert 4 * held["parts"]["activation"] == held["whole"]["activation"]
    assert held["half"]["parameter"] == held["whole"]["parameter"]


def test_the_largest_batch_is_the_last_that_fits():
    limit = largest_batch(lambda batch: way(batch), 40 * MIB)
    fits = {batch: ok for batch, _, ok in limit.tried}
    assert fits[limit.largest] and not fits[limit.largest + 1] and limit.at_most is None
    assert f"a batch of {limit.largest} fits" in str(limit)
    needed = record_step(*_warm(way(limit.largest))).fit(40 * MIB)
    assert needed.fits and len(limit.tried) < 20


def _warm(setup):
    setup[0]()
    return setup


def test_spare_memory_is_left():
    limit = largest_batch(lambda batch: way(batch), 16 * MIB, spare=8 * MIB)
    assert limit.largest == largest_batch(lambda batch: way(batch), 8 * MIB).largest
    assert "8.0 MiB left free" in str(limit)


def test_none_fits_and_all_fit():
    none = largest_batch(lambda batch: way(batch, make=mlp), MIB)
    assert none.largest == 0 and str(none).startswith("Not even a batch of 1 fits")
    every = largest_batch(lambda batch: way(batch, make=mlp), 1 << 30, at_most=50)
    assert every.largest == every.at_most == 50 and "Larger ones were not tried" in str(every)


def test_bad_input_gets_a_sentence():
    with pytest.raises(TypeError, match="make_step is a function"):
        largest_batch(3, MIB)
    with pytest.raises(ValueError, match="at_most is a whole number, 1 or more, not 0"):
        largest_batch(way, MIB, at_most=0)
    with pytest.raises(ValueError, match="spare is a whole number, 0 or more"):
        largest_batch(way, MIB, spare=-1)
    with pytest.raises(TypeError, match="compare takes a dictionary"):
        compare([way()])
    with pytest.raises(ValueError, match="not a tuple of 2"):
        compare({"a": (lambda: None, None)})
    with pytest.raises(TypeError, match="step is a function without arguments"):
        compare({"a": 3})


def test_the_figure_draws_what_the_data_say():
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    from torchcourse.graphs.memory import alt, stacked

    step, model, optimizer = _warm(way())
    fit = record_step(step, model, optimizer).fit(40 * MIB)
    figure = stacked(fit, "a CNN")
    labels = [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    assert labels[0] == "reserved" and labels[-1] == "parameter" and "activation" in labels
    words = {text.get_text() for text in figure.axes[0].texts}
    assert {"before", "forward", "backward"} <= words
    assert "The peak, " in alt(fit) and "comes in backward" in alt(fit)
    plt.close(figure)
