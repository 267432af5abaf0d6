"""Silent faults of a training step: `check_up`, and the one table of slugs.

`check_up` looks at two steps (forward and backward, never the optimizer's) while everything it could change
is guarded and put back. Rules read what was seen; each finding carries its numbers and a mend.
"""

from torchcourse import _slugs
from torchcourse.errors import KINDS
from torchcourse.modules import Finding

from .check import check_up
from .data import CheckUp

SLUGS = {**_slugs.SLUGS, **{kind.slug: kind.taught_in for kind in KINDS}}

__all__ = ["SLUGS", "CheckUp", "Finding", "check_up"]
