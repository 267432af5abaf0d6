"""Warnings of the exporters → data: the line of the model, its code, and a plain sentence."""

import linecache
import re
import warnings
from pathlib import Path

import torch

from ._data import Warned

_SIZES = re.compile(r"\.shape|\.size\(|\blen\(|\.ndim|\.dim\(|\.numel\(")
_LIBRARY = str(Path(torch.__file__).parent)

# text → (kind, sentence), in the order in which they are tried
_KINDS = [
    (
        r"to a Python boolean",
        "data-dependent branch",
        "only the side that the example took is in the graph.",
    ),
    (
        r"to a Python (number|integer|float|list|index)|to a NumPy array",
        "constant baked in",
        "a tensor's value became a Python value, so the graph has the example's as a constant.",
    ),
    (
        r"Using len to get",
        "constant baked in",
        "len() is a Python number, so the graph has the example's size as a constant; shape[0] is recorded.",
    ),
    (
        r"Iterating over a tensor",
        "loop unrolled",
        "the graph has as many rounds as the example had rows.",
    ),
    (
        r"results are registered as constants",
        "constant baked in",
        "a tensor made from Python values is a constant of the graph.",
    ),
    (
        r"Removing mutation from node (\S+)",
        "in-place write dropped",
        "the graph computes the new value, and no longer writes it to its input or buffer.",
    ),
    (
        r"nondeterministic nodes",
        "random numbers",
        "two calls on one input differ.",
    ),
    (
        r"Output nr .* of the traced function does not match",
        "trace check",
        "the traced function and the model gave different outputs on the example.",
    ),
    (
        r"while it is in training mode",
        "training mode",
        "the graph is made in training mode; model.eval() before the export is usual.",
    ),
    (
        r"tensor attributes? (\S+) .*assigned during export",
        "attribute assigned",
        "the model assigns a tensor to an attribute that is no buffer, which the graph forgets.",
    ),
]


def read(caught: list[warnings.WarningMessage]) -> tuple[Warned, ...]:
    """Each thing once, in the order in which it came; what torch's own files do with sizes is left out."""
    found: dict[tuple[str, int], Warned] = {}
    for one in caught:
        own = one.filename.startswith(_LIBRARY)
        for pattern, kind, sentence in _KINDS:
            if re.search(pattern, str(one.message), re.DOTALL):
                if not (own and kind in ("data-dependent branch", "constant baked in", "loop unrolled")):
                    warned = _placed(kind, sentence, one, own)
                    found.setdefault((warned.kind, warned.line), warned)
                break
    return tuple(found.values())


def _placed(kind: str, sentence: str, one: warnings.WarningMessage, own: bool) -> Warned:
    if own or one.filename.endswith("contextlib.py"):
        return Warned(kind, 0, "", sentence)
    code = linecache.getline(one.filename, one.lineno).strip()
    if kind == "data-dependent branch" and _SIZES.search(code):
        kind = "shape-dependent branch"
    return Warned(kind, one.lineno, code, sentence, one.filename)
