"""Debugging: where a NaN is born, what outlives a step, what a profile says, what half precision would lose.

`find_nan`, `leaks`, `diagnose` and `half_meter` look at the reader's own model, step and profile, and return plain
data; each changes nothing and keeps nothing.
"""

from ._rows import Row
from .data import Birth, Findings, Leak, Operand
from .diagnosis import Diagnosis, Facts, diagnose
from .half import Half, Layer, Shares, half_meter
from .leaks import leaks
from .nan import find_nan

__all__ = [
    "Birth", "Diagnosis", "Facts", "Findings", "Half", "Layer", "Leak", "Operand", "Row", "Shares",
    "diagnose", "find_nan", "half_meter", "leaks",
]  # fmt: skip
