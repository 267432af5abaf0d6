"""How many 32-bit numbers were taken between two states of a Mersenne Twister."""

from typing import Any

import numpy as np

from ._states import WORDS, Twister

MOST = 4000  # twists that are tried: 2.5 million numbers, some hundredths of a second


def numbers_between(before: Twister, after: Twister) -> int | None:
    """The count, when `after` is reached from `before` within 2.5 million numbers; else None (it was set anew)."""
    if before.words == after.words and before.place <= after.place:
        return after.place - before.place
    twister = np.random.MT19937()
    twister.state = _as_numpy(before)
    for twists in range(1, MOST + 1):
        twister.random_raw(WORDS)
        if twister.state["state"]["key"].tobytes() == after.words:
            return twists * WORDS - before.place + after.place
    return None


def _as_numpy(state: Twister) -> Any:
    # Its words count as used up, so that each 624 numbers are one twist.
    key = np.frombuffer(state.words, "<u4").astype(np.uint32)
    return {"bit_generator": "MT19937", "state": {"key": key, "pos": WORDS}}
