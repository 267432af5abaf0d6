"""A `draws` that is a cell's value shows itself: a picture, and the same facts as text."""

import torch
from IPython.core.interactiveshell import InteractiveShell

import torchcourse as tc
from torchcourse._ipython import register
from torchcourse.widgets.draws import view


def test_in_ipython() -> None:
    shell = InteractiveShell()
    assert register(shell)
    with tc.draws() as seen:
        torch.rand(3)
    bundle, _ = shell.display_formatter.format(seen)
    assert bundle["image/svg+xml"].startswith("<svg") and bundle["text/plain"] == str(seen)


def test_the_card_says_the_same_as_the_table() -> None:
    with tc.draws() as seen:
        torch.rand(3)
    assert repr(view(seen)) == str(view(seen)) == str(seen)
