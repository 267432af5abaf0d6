"""Where the reader's code stands while an operator runs."""

import linecache
import os
import sys
from types import FrameType
from typing import NamedTuple

from torchcourse.layers.where import PYTORCH

_OURS = os.path.join(os.path.dirname(__file__), "")
_LIMIT = 40  # frames looked at: through nested containers of modules
_whose: dict[str, str] = {}
MODEL = "(model)"  # the outermost module


class Place(NamedTuple):
    module: str
    file: str = ""
    line: int | None = None

    @property
    def source(self) -> str:
        return linecache.getline(self.file, self.line).strip() if self.line else ""


def innermost(path: str | None) -> Place:
    """The innermost line that is neither PyTorch's nor ours; none where only library modules are called."""
    module = path or MODEL
    frame: FrameType | None = sys._getframe(2)
    left_ours = False
    for _ in range(_LIMIT):
        if frame is None:
            break
        code = frame.f_code
        whose = _whose.get(code.co_filename) or _ask(code.co_filename)
        if whose == "ours" and left_ours:  # find_nan itself: the model's code is over
            break
        left_ours |= whose != "ours"
        if whose == "reader's":
            return Place(module, code.co_filename, frame.f_lineno)
        frame = frame.f_back
    return Place(module)


def _ask(file: str) -> str:
    found = "ours" if file.startswith(_OURS) else "PyTorch's" if file.startswith(PYTORCH) else "reader's"
    if len(_whose) > 5000:  # cells that are run again leave their code behind
        _whose.clear()
    _whose[file] = found
    return found
