"""A room for probes: what they draw, print, warn and switch stays inside."""

import contextlib
import io
import random
import warnings
from collections.abc import Iterator

import numpy as np
import torch


@contextlib.contextmanager
def untouched() -> Iterator[None]:
    """Random states of torch, NumPy and Python, grad mode and default dtype are afterwards as before.

    Inside, gradients are on, all three are seeded, so that a probe says the same every time, and printed text and
    warnings go nowhere.
    """
    python, numpy, dtype = random.getstate(), np.random.get_state(), torch.get_default_dtype()
    cards = list(range(torch.cuda.device_count())) if torch.cuda.is_initialized() else []
    quiet = contextlib.redirect_stdout(io.StringIO())
    with torch.random.fork_rng(devices=cards), torch.enable_grad(), warnings.catch_warnings(), quiet:
        warnings.simplefilter("ignore")
        torch.set_default_dtype(torch.float32)
        for seed in (random.seed, np.random.seed, torch.manual_seed):
            seed(0)
        try:
            yield
        finally:
            random.setstate(python)
            np.random.set_state(numpy)
            torch.set_default_dtype(dtype)
