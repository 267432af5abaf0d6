"""`xray` itself: a context manager and a call, and the `Seen` that both hand over."""

import sys
from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any

from . import session
from .build import build
from .compare import compare
from .events import Call, Copy, Node, Operator, Trace, Wait
from .record import Watch
from .where import file_of

GENERATOR = (
    "{name} returned a generator, and none of its body has run yet: so nothing was seen. "
    "Go through it inside the block: `with tc.xray() as seen: list(…)`."
)


@dataclass(slots=True)
class _State:
    watch: Watch | None
    file: str
    trace: Trace | None = None
    more: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False, repr=False)
class Seen:
    """What a block triggered; complete when the block ends, also when it raises.

    `.trace` is the data; its fields are also attributes here: `operators`, `nodes`, `ran`,
    `waits`, `copies`, `calls`, `kernels`, `notes`, `new_bytes`, `peak_bytes` (bytes).
    `str()` is the table by source line.
    """

    _state: _State

    @property
    def trace(self) -> Trace:
        """While the block (or an xray around it) runs: what is known so far, and a note says so."""
        state = self._state
        if state.trace is not None:
            return state.trace
        assert state.watch is not None  # dropped only where the trace is set
        return build(state.watch, None, session.STILL_RUNNING, (), state.file)

    def finish(self, roots: list[Any] | None, why: str, kernels: tuple[str, ...]) -> None:
        state = self._state
        assert state.watch is not None
        trace = build(state.watch, roots, why, kernels, state.file)
        state.trace, state.watch = replace(trace, notes=(*trace.notes, *state.more)), None

    def note(self, sentence: str) -> None:
        """Add a sentence about what is missing."""
        state = self._state
        state.more = (*state.more, sentence)
        if state.trace is not None:
            state.trace = replace(state.trace, notes=(*state.trace.notes, sentence))

    @property
    def operators(self) -> tuple[Operator, ...]:
        return self.trace.operators

    @property
    def calls(self) -> tuple[Call, ...]:
        return self.trace.calls

    @property
    def nodes(self) -> tuple[Node, ...]:
        return self.trace.nodes

    @property
    def ran(self) -> tuple[str, ...]:
        return self.trace.ran

    @property
    def waits(self) -> tuple[Wait, ...]:
        return self.trace.waits

    @property
    def copies(self) -> tuple[Copy, ...]:
        return self.trace.copies

    @property
    def kernels(self) -> tuple[str, ...]:
        return self.trace.kernels

    @property
    def notes(self) -> tuple[str, ...]:
        return self.trace.notes

    @property
    def new_bytes(self) -> int:
        return self.trace.new_bytes

    @property
    def peak_bytes(self) -> int:
        return self.trace.peak_bytes

    def __str__(self) -> str:
        return str(self.trace)

    __repr__ = __str__


class Xray:
    """The context manager behind `with tc.xray() as seen`. Each instance serves one block."""

    def __init__(self, files: set[str], file: str) -> None:
        self._files, self._file = files, file
        self._watch: Watch | None = None

    def __enter__(self) -> Seen:
        if self._watch is not None:
            raise RuntimeError("This xray has been used. Write `with tc.xray() as seen:` for each block.")
        self._watch = watch = Watch(self._files, sys._getframe(1))
        self._seen = Seen(_State(watch, self._file))
        self._opened = session.enter(watch)
        watch.start()
        return self._seen

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._watch is not None
        self._watch.stop()
        session.leave(self._watch)
        if self._opened is not None:
            session.close(self._opened, self._seen)
        else:
            session.wait(self._seen)


class _XrayFunction:
    """`tc.xray`: a block without arguments, a call with them, and `.compare`."""

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        """`with tc.xray() as seen: …`, or `seen = tc.xray(fn, *args, **kwargs)`, which calls fn once.

        What fn returns is not kept. When fn raises, its error goes on to you with what had
        happened up to it as `error.seen`. TypeError: fn is no function.
        """
        file = sys._getframe(1).f_code.co_filename
        if not args and not kwargs:
            return Xray({file}, file)
        if not args or not callable(args[0]):
            given = type(args[0]).__name__ if args else "keyword arguments only"
            raise TypeError(
                f"xray watches a block (`with tc.xray() as seen:`) or calls a function "
                f"(`tc.xray(fn, *args)`); it was given {given}."
            )
        return _call(args[0], args[1:], kwargs, file)

    def compare(self, a: Any, b: Any, names: tuple[str, str] = ("a", "b")) -> Any:
        return compare(a, b, names)

    def __repr__(self) -> str:
        return "<torchcourse.xray: `with xray() as seen`, `xray(fn, *args)`, `xray.compare(a, b)`>"


def _call(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], file: str) -> Seen:
    file = file_of(function) or file
    with Xray({file}, file) as seen:
        try:
            result = function(*args, **kwargs)
        except BaseException as error:
            error.seen = seen  # type: ignore[attr-defined]
            raise
    if isinstance(result, Generator):
        seen.note(GENERATOR.format(name=getattr(function, "__name__", "The function")))
    return seen


xray = _XrayFunction()
