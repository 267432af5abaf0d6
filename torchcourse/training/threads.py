"""Small networks on a CPU: one thread is enough, and on a busy machine it is far faster."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def one_thread() -> Iterator[None]:
    """In the block (or the function, as a decorator) torch computes with one thread; then as before.

    With matrices of a few thousand elements a second thread brings nothing; and where other programs run, the
    first one waits for it, again and again.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
