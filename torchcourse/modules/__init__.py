"""Modules: what an `nn.Module` owns, what it missed, and what a call on it visits, in order.

`tree` lists modules, parameters and buffers; `missed` names what lies beside them; `walks` records the real
order of `to()`, `half()`, `eval()` and `apply()` on stand-ins without data. None of them runs the model.
"""

from .build import tree
from .data import Finding, Held, Missed, Node, Step, Tree, Walk
from .findings import missed
from .walks import walks

__all__ = ["Finding", "Held", "Missed", "Node", "Step", "Tree", "Walk", "missed", "tree", "walks"]
