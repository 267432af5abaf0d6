"""A function mode around the steps: what is written, where Python waits, what the losses are given."""

import linecache
import os
import sys
import weakref
from types import FrameType
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F
from torch.overrides import TorchFunctionMode

from torchcourse.layers._torch import unwatched
from torchcourse.layers.record import QUIET
from torchcourse.layers.waits import CALLS
from torchcourse.modules import Finding

from . import losses
from .graph import source
from .keep import Keep

PYTORCH = os.path.join(os.path.dirname(torch.__file__), "")
WRAPPERS = tuple(
    os.path.join(PYTORCH, name)
    for name in ("overrides.py", "_tensor.py", os.path.join("utils", "_contextlib.py"))
)
WAITS = CALLS | {
    Tensor.nonzero: "nonzero",
    torch.nonzero: "nonzero",
    Tensor.numpy: ".numpy()",
    torch.equal: "torch.equal",
    torch.allclose: "torch.allclose",
    Tensor.equal: "torch.equal",
    Tensor.allclose: "torch.allclose",
}
FUNCTIONAL = os.path.join(PYTORCH, "nn", "functional.py")
SIGMOIDS = {torch.sigmoid, Tensor.sigmoid, F.sigmoid}
TANHS = {torch.tanh, Tensor.tanh, F.tanh}
FLAT = 1e-3  # sigmoid within this of 0 or 1, |tanh| within twice this of 1: the slope is below 0.004
DROPOUTS = {F.dropout, F.dropout1d, F.dropout2d, F.dropout3d, F.alpha_dropout, F.feature_alpha_dropout}
ROUTES = {"topk", "argmax", "multinomial", "gumbel_softmax"}
BY_HAND = losses.PAIRS | losses.SOFTMAXES  # calls that a loss of one's own is looked at for
Place = tuple[str, int, str]  # "Net.forward", line, file


class Watch(TorchFunctionMode):
    """Notes what the calls of one step do. phase: "model", "loss" or "eval"."""

    def __init__(self, keep: Keep, first: bool = True) -> None:
        super().__init__()
        self.keep, self.first = keep, first
        self.phase = "model"
        self.waits: dict[tuple[str, Place], int] = {}
        self.made: list[weakref.ref[Tensor]] = []  # results with a graph
        self.found: list[Finding] = []  # by the losses
        self.flat: list[tuple[str, Any, Tensor]] = []  # function, node, share of saturated numbers
        self.routes = False  # somebody chooses by the largest numbers: a gate in front of experts
        self.dropped: dict[Place, float] = {}  # dropout that is on in eval mode: where, p

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if func in QUIET:
            return func(*args, **kwargs)
        name = getattr(func, "__name__", "")
        self.keep.before(func, name, args, kwargs)
        if self.phase == "eval":
            self._in_eval(func, args, kwargs)
            return func(*args, **kwargs)
        if func in WAITS:
            self._wait(WAITS[func])
        elif func is Tensor.cpu and args[0].is_floating_point():
            self._wait(".cpu()")
        if self.first and (func in losses.LOOKS or (self.phase == "loss" and name in BY_HAND)):
            with unwatched(), torch.no_grad():
                self.found += losses.look(func, name, args, kwargs)
        self.routes = self.routes or name in ROUTES or (name == "max" and len(args) + len(kwargs) > 1)
        result = func(*args, **kwargs)
        if isinstance(result, Tensor):
            if result.requires_grad:
                self._note(func, result)
        elif isinstance(result, tuple):  # an LSTM's, attention's
            made = (one for one in result if isinstance(one, Tensor) and one.requires_grad)
            self.made += map(weakref.ref, made)
        return result

    def _note(self, func: Any, result: Tensor) -> None:
        self.made.append(weakref.ref(result))
        if self.first and (func in SIGMOIDS or func in TANHS) and result.numel():
            with unwatched(), torch.no_grad():
                name = "tanh" if func in TANHS else "sigmoid"
                away = result.abs() - 1 if name == "tanh" else (result - 0.5).abs() - 0.5
                share = (away > (-2 * FLAT if name == "tanh" else -FLAT)).float().mean()
                self.flat.append((name, source(result), share))

    def _wait(self, cause: str) -> None:
        if (place := readers_line()) is not None:
            self.waits[cause, place] = self.waits.get((cause, place), 0) + 1

    def _in_eval(self, func: Any, args: Any, kwargs: Any) -> None:
        """A dropout that draws numbers though the model is in eval mode."""
        p = 0.0
        if func in DROPOUTS:
            asked = losses.bound(func, args, kwargs)
            p = float(asked.get("p", 0.5)) if asked.get("training", func is not F.alpha_dropout) else 0.0
        elif func is F.scaled_dot_product_attention:
            p = float(kwargs.get("dropout_p", args[4] if len(args) > 4 else 0.0))
        if p > 0 and (place := readers_line(FUNCTIONAL)) is not None:
            self.dropped[place] = p


def readers_line(through: str = "") -> Place | None:
    """Who made this call: a function of the reader's; None where PyTorch's own code asked.

    through: a file of PyTorch's that only hands the call on.
    """
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and frame.f_code.co_filename in (*WRAPPERS, __file__, through):
        frame = frame.f_back
    if frame is None or frame.f_code.co_filename.startswith(PYTORCH):
        return None
    return frame.f_code.co_qualname.replace("<locals>.", ""), frame.f_lineno, frame.f_code.co_filename


def where(place: Place) -> str:
    return f"{place[0]}, line {place[1]}"


def source_line(place: Place) -> str:
    text = linecache.getline(place[2], place[1]).strip()
    return f" ({text[:60]}{'…' if len(text) > 60 else ''})" if text else ""
