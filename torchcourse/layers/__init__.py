"""`xray`: which operations did the line you wrote trigger underneath?

    with tc.xray() as seen:
        y = x.t().reshape(12)
    seen                        # a table by source line
    seen.operators, seen.nodes, seen.waits, seen.new_bytes, …

It runs the code once, changes no value, gradient or random state, and leaves no hook, mode or
reference behind. Operators are listed as `torch.profiler` lists them with nothing watching.

`cuts(fn, *args)` follows values instead: where the gradient's way ends, by which call.
`draws()` tells which line moved which random generator.
"""

from torchcourse._magic import register_magic

from .compare import Comparison, compare
from .cuts import Cut, Cuts, cuts
from .draws import Draws, draws
from .events import Call, Copy, Node, Operator, Output, Trace, Wait
from .fold import Block, fold
from .rows import Row, rows
from .seen import Seen, xray

__all__ = [
    "Block", "Call", "Comparison", "Copy", "Cut", "Cuts", "Draws", "Node", "Operator", "Output", "Row", "Seen",
    "Trace", "Wait", "compare", "cuts", "draws", "fold", "register_magic", "rows", "xray",
]  # fmt: skip
