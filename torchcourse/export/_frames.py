"""Where an exporter says that an operator comes from: lines of source, in the three spellings in use."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

# torch.fx and the ONNX exporter: outermost first, the text on the next line.
_FX = re.compile(
    r'File "(?P<file>[^"\n]+)", line (?P<line>\d+), in (?P<function>[^\n]*)(?:\n {4}(?P<text>[^\n]*))?'
)
# torch.jit: innermost first.
_JIT = re.compile(r"^(?P<file>[^\n]+)\((?P<line>\d+)\): (?P<function>\S+)$", re.MULTILINE)
_PACKAGES = re.compile(r"(^|[/\\])(site|dist)-packages[/\\](torch|onnx|onnxscript|functorch)[/\\]")

_MADE = ("<eval_with_key>", "<frozen", "<string>", "torch/")


@dataclass(frozen=True, slots=True)
class Frame:
    """One line of a stack: file, line (from 1), function, and the line's text where it is known."""

    file: str
    line: int
    function: str
    text: str = ""

    def __str__(self) -> str:
        return f"line {self.line} in {self.function}" + (f": {self.text}" if self.text else "")


def frames(stack: str) -> tuple[Frame, ...]:
    """The frames of an `fx` or a `torch.jit` stack trace, outermost first; none for anything else."""
    found = [_frame(m) for m in _FX.finditer(stack)]
    return tuple(found or [_frame(m) for m in reversed(list(_JIT.finditer(stack)))])


def _frame(match: "re.Match[str]") -> Frame:
    parts = match.groupdict()
    return Frame(parts["file"], int(parts["line"]), parts["function"], (parts.get("text") or "").strip())


def own(found: Iterable[Frame]) -> tuple[Frame, ...]:
    """Those of the reader's code: not of PyTorch, not of code that was made while exporting."""
    return tuple(f for f in found if not (_PACKAGES.search(f.file) or f.file.startswith(_MADE)))
