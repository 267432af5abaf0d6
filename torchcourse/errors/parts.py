"""An error, taken apart: the one that came last, and those in its chain, its group, or its text.

Neither an object's `repr` nor a property is asked for; only an exception's own `__str__`, which may raise.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from .clean import clean

MOST = 24  # errors of one chain or group that are looked at

_JOINTS = re.compile(
    r"During handling of the above exception, another exception occurred:"
    r"|The above exception was the direct cause of the following exception:"
    r"|Original Traceback \(most recent call last\):"
    r"|\[earlier in the chain\]"
)
_LINE = re.compile(
    r"^[ \t]{0,4}(?P<type>(?:[A-Za-z_]\w{0,60}\.){0,8}(?:[A-Za-z_]\w{0,60})?"
    r"(?:Error|Exception|Warning|Interrupt|Exit|Unsupported|Fail|InvalidArgument|NoSuchFile|RuntimeException|Stop\w{1,20}"
    r"|NotImplemented|InvalidGraph|Violation\w{0,20}|Mismatch|Exceeded|Empty))(?::[ \t]?(?P<message>[^\n]*)|[ \t]*$)",
    re.MULTILINE,
)
# A frame or a line of source, as Python, IPython, rich and web notebooks print them.
_FRAME = re.compile(
    r"^(?: {0,8}File \"|File [~/<\w]|Cell In|Input In|<ipython-input|\[?/[^\n]{1,300}\.py"
    r"|-{1,4}> ?\d|❱| {1,8}\d{1,6} )",
    re.MULTILINE,
)
_INSTALLED = re.compile(
    r"(?:[st]-packages/|/)((?<=-packages/)[A-Za-z_][\w/]{0,200}\.py|torch/[\w/]{1,200}\.py)"
    r"[^\n]{0,40}? in ([\w.<>]{1,80})"
)
_STEP = re.compile(
    r"^(?: {0,8}File \"|File [~/<\w]|Cell In|Input In|<ipython-input|[~/][^\n]{1,300}\.py)[^\n]{0,400}",
    re.MULTILINE,
)
_SOURCE = re.compile(r"^ {2}File \"[^\n]{0,400}\n(?: {4}[^\n]{0,400}\n){0,3}", re.MULTILINE)


@dataclass(frozen=True)
class Part:
    """One error: the name of its class (empty where unknown), its message, and the exception, if it is alive.

    trace: the modules and functions of its frames, as `torch/nn/modules/linear.py forward …`, innermost last.
    inner: that of the innermost frame alone; empty if it is the reader's own, or not told.
    """

    type: str
    message: str
    error: BaseException | None = None
    trace: str = ""
    inner: str = ""

    @property
    def origin(self) -> str:
        """The package of the innermost frame, if it is an installed one."""
        return self.trace.split()[-2].partition("/")[0] if self.trace else ""

    @property
    def line(self) -> str:
        """Type and first line, at most 300 characters."""
        first = next((line.strip() for line in self.message.splitlines() if line.strip()), "")
        return ": ".join(filter(None, (self.type, first[:300])))


def of_error(error: BaseException) -> list[Part]:
    """The error first, then causes, contexts and members, each once."""
    parts: list[Part] = []
    for one in _chain(error):
        inner = of_text(_message(one))
        nested = len(inner) > 1 or (inner and inner[0].type and "\n" in inner[0].message)
        trace = _trace(one)
        own = Part(_name(one), clean(_message(one)), one, trace, " ".join(trace.split()[-2:]))
        parts += [own, *(inner if nested else [])]
    return parts[:MOST]


def of_text(text: str) -> list[Part]:
    """The errors that a pasted text tells, the last one first."""
    blocks = [block for block in _JOINTS.split(clean(text)) if block.strip()]
    found = [part for block in reversed(blocks) for part in [_last(block)] if part]
    return found[:MOST]


def _last(block: str) -> Part | None:
    """The error with which a block of text ends; the block itself where no line names a type."""
    lines = list(_LINE.finditer(block))
    if not lines:
        bare = _SOURCE.sub("", block).strip()
        return Part("", bare, trace=_told(block), inner=_innermost(block)) if bare else None
    # The first line after the last frame: a message may have lines that look like another error.
    frames = max((frame.start() for frame in _FRAME.finditer(block)), default=-1)
    match = next((line for line in lines if line.start() > frames), lines[-1])
    message = (match["message"] or "") + block[match.end() :]
    before = block[: match.start()] if frames < 0 else ""
    message = f"{message}\n{before}".strip()
    return Part(match["type"], message, trace=_told(block), inner=_innermost(block[: match.start()]))


def _told(block: str) -> str:
    """The installed modules and the functions that a printed traceback names."""
    found = _INSTALLED.findall(block.replace("\\", "/"))
    return " ".join(f"{module} {function}" for module, function in found)


def _innermost(block: str) -> str:
    """The installed module and the function of the last frame that a printed traceback has."""
    steps = _STEP.findall(block)
    return _told(steps[-1]) if steps else ""


def _trace(error: BaseException) -> str:
    """The modules and functions of a live traceback's last frames."""
    steps, trace = [], error.__traceback__
    while trace is not None:
        name = trace.tb_frame.f_globals.get("__name__")
        steps.append((name if isinstance(name, str) else "", trace.tb_frame.f_code.co_name))
        trace = trace.tb_next
    return " ".join(f"{name.replace('.', '/') or '?'}.py {function}" for name, function in steps[-MOST:])


def _chain(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    waiting = [error]
    while waiting and len(seen) < MOST:
        one = waiting.pop(0)
        if id(one) in seen:
            continue
        seen.add(id(one))
        yield one
        waiting += [e for e in (one.__cause__, one.__context__) if e is not None]
        if isinstance(one, BaseExceptionGroup):
            waiting += one.exceptions


def _name(error: BaseException) -> str:
    kind = type(error)
    module = kind.__module__ if isinstance(kind.__module__, str) else ""
    return kind.__qualname__ if module in ("builtins", "__main__") else f"{module}.{kind.__qualname__}"


def _message(error: BaseException) -> str:
    """`str(error)`; only its texts and numbers where that needs a foreign `repr` or fails."""
    own = type(error).__str__ not in (BaseException.__str__, KeyError.__str__)
    if own or all(map(_harmless, error.args)):
        try:
            return str(error)
        except KeyboardInterrupt:
            raise
        except BaseException:  # a foreign __str__ may raise anything
            pass
    return " ".join(map(_plain, error.args))


def _plain(arg: object) -> str:
    """The argument's text, without its own methods: the loader's `KeyError`s hold a `str` of their own class."""
    if issubclass(type(arg), str):
        return str.__str__(arg)
    return str(arg) if _harmless(arg) else f"<{type(arg).__name__}>"


def _harmless(arg: object) -> bool:
    return type(arg) in (str, int, float, bool, bytes, type(None))
