"""The checks behind every "Your turn": a learner hands over a function, and reads how far it is.

One module per chapter (`torchcourse.exercises.storage` …). A check never raises because of the
answer: it shows one of four states, and why.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import wraps
from html import escape
from traceback import extract_tb
from typing import Any, ParamSpec

__all__ = [
    "STATES",
    "Raised",
    "Verdict",
    "almost",
    "check",
    "not_yet",
    "rebuild",
    "right",
    "rounded",
    "wrong",
]

P = ParamSpec("P")

_CODE = re.compile("`([^`]+)`")
LONGEST = 600  # characters of a reason: a wrong answer may have a million elements

# state -> (glyph, colour of the line): never told by the colour alone
STATES = {
    "not yet": ("…", "#7B8793"),
    "wrong": ("✕", "#A03A00"),
    "almost": ("◐", "#AD7800"),
    "right": ("✓", "#007356"),
}


@dataclass(frozen=True)
class Verdict:
    """What a check found: one of STATES, and a sentence that says why."""

    state: str
    why: str

    def __str__(self) -> str:
        return f"{STATES[self.state][0]} {self.state}: {self.why}"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        glyph, colour = STATES[self.state]
        why = _CODE.sub(r"<code>\1</code>", escape(self.why))
        return (
            f'<div style="border-left:4px solid {colour};padding:2px 12px;max-width:46rem" role="status">'
            f"<b>{glyph} {self.state}:</b> {why}</div>"
        )


def not_yet(why: str) -> Verdict:
    """Nothing to judge: the stub is still there, or the answer is of another kind."""
    return Verdict("not yet", why)


def wrong(why: str) -> Verdict:
    """The answer works on something else than what was asked."""
    return Verdict("wrong", why)


def almost(why: str) -> Verdict:
    """The idea is right, one case is missing."""
    return Verdict("almost", why)


def right(why: str) -> Verdict:
    """Every case agrees with PyTorch."""
    return Verdict("right", why)


def check(judge: Callable[..., Iterable[Verdict]]) -> Callable[..., Verdict]:
    """Make a check from a generator that yields a Verdict for each case that fails.

    judge(answer) yields in order of importance; the first one is shown. Its last yield is the
    verdict for a right answer. An answer that is no function, that still returns `...`, or that
    raises is told so in a sentence.
    """

    @wraps(judge)
    def checked(answer: Any) -> Verdict:
        if not callable(answer):
            return not_yet(f"hand over the function itself, without calling it; got {type(answer).__name__}.")
        try:
            return _short(next(iter(judge(_Answer(answer)))))
        except _Unanswered:
            return not_yet(
                "your function still returns `...`. Write your line there, then run the cell again."
            )
        except Raised as raised:
            return wrong(
                f"your function raised {type(raised.error).__name__}: {_first_line(raised.error)} ({raised.call})"
            )
        except (
            Exception
        ) as error:  # a sparse or a meta tensor, a faulty __eq__, an argument emptied in place …
            return wrong(
                "what your function returns, or leaves of its arguments, can't be compared with PyTorch's: "
                f"{_first_line(error)}"
            )

    return checked


def rebuild(compare: Callable[P, Verdict]) -> Callable[P, Verdict]:
    """Make a comparison of rebuilt code answer with a verdict where that code raises, and say where."""

    @wraps(compare)
    def compared(*parts: P.args, **settings: P.kwargs) -> Verdict:
        try:
            return _short(compare(*parts, **settings))
        except Exception as error:
            last = extract_tb(error.__traceback__)[-1]
            what = f"{type(error).__name__}: {_first_line(error)}"
            return wrong(f"your code can't be followed: {what} (in {last.name}, line {last.lineno})")

    return compared


def _short(verdict: Verdict) -> Verdict:
    cut = verdict.why[:LONGEST] + " …"
    return verdict if len(verdict.why) <= LONGEST else replace(verdict, why=cut)


class _Unanswered(Exception):
    pass


class Raised(Exception):
    """The learner's code raised: what, and in which call. `check` turns it into a verdict."""

    def __init__(self, error: Exception, call: str) -> None:
        self.error, self.call = error, call


class _Answer:
    """The learner's function; tells an unanswered stub and an error apart from a wrong result."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function

    @property
    def given(self) -> Any:
        """What was handed over, for checks that look at a class."""
        return self._function

    def __call__(self, *args: Any) -> Any:
        try:
            result = self._function(*args)
        except Exception as error:
            raise Raised(error, f"called with {', '.join(map(_brief, args))}") from None
        if result is ...:
            raise _Unanswered
        return result


def rounded(value: Any) -> str:
    """A tensor's numbers for a sentence, to three places; of anything else its type."""
    if not hasattr(value, "detach"):
        return type(value).__name__
    return str([round(number, 3) for number in value.detach().flatten().tolist()])


def _brief(value: Any) -> str:
    shape = getattr(value, "shape", None)
    return repr(value)[:60] if shape is None else f"a {type(value).__name__} of shape {tuple(shape)}"


def _first_line(error: Exception) -> str:
    try:
        return (str(error).splitlines() or [""])[0][:200]
    except Exception:  # an exception may have a __str__ that raises
        return "(its message can't be read)"
