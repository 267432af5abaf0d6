"""The picture of `draws`: the same facts as its text, the same bytes every time."""

import xml.etree.ElementTree as ET

import numpy as np
import torch

import torchcourse as tc
from torchcourse.graphs.draws import svg
from torchcourse.layers import Draws
from torchcourse.widgets.draws import view


def drawn() -> Draws:
    with tc.draws(mine=torch.Generator()) as seen:
        torch.rand(7)
        np.random.rand(2), "<b>"
        torch.manual_seed(0)
        torch.randn(1)
        torch.randn(1)
    return seen


def test_every_line_and_generator_is_there_once() -> None:
    texts = [t.text for t in ET.fromstring(svg(drawn())).iter("{http://www.w3.org/2000/svg}text")]
    assert {"torch", "numpy", "7", "4", "set", "kept"} <= set(texts)
    assert 'np.random.rand(2), "<b>"' in texts


def test_the_same_bytes_for_the_same_data() -> None:
    seen = drawn()
    assert svg(seen) == svg(seen)


def test_what_does_not_fit_is_counted_in_a_sentence() -> None:
    own = {f"g{k}": torch.Generator() for k in range(6)}
    with tc.draws(**own) as seen:
        for generator in own.values():
            torch.rand(1, generator=generator)
    assert "2 more generators" in svg(seen)


def test_nothing_drawn() -> None:
    with tc.draws() as seen:
        torch.ones(3)
    assert "No line drew a random number." in svg(seen)


def test_the_card_carries_picture_and_text() -> None:
    seen = drawn()
    bundle = view(seen)._repr_mimebundle_()
    assert bundle["text/plain"] == str(seen) and bundle["image/svg+xml"].startswith("<svg")
