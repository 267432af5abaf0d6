"""Errors: an exception, a warning or a pasted text -> the mechanism, the cause, the mend, and how to check it.

`explain` reads PyTorch's messages of all years, and what a live exception's frames still hold. The knowledge
is a table (`known/`): a kind of error is one entry there, and a text of it in `tests/data/errors.json`.
"""

from .answer import explain
from .data import Explanation, Held, Kind
from .known import KINDS

__all__ = ["KINDS", "Explanation", "Held", "Kind", "explain"]
