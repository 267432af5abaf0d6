"""Compiled code runs as the Python that it was made from, so that each operator can be seen."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def eagerly() -> Iterator[None]:
    """In the block, what `torch.compile` made runs uncompiled. Costs nothing where nothing was compiled."""
    if "torch._dynamo" not in sys.modules:
        yield
        return
    with torch.compiler.set_stance("force_eager"):
        yield
