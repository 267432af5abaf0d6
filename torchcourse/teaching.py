"""Ask first, then look: `predict` a result, require an error with `raises`, a warning with `warns`."""

import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from types import TracebackType
from typing import Any

from ._releases import RAISES, is_older

LONGEST_LINE = 400  # characters of a message that a cell shows


class raises:
    """Require that the block raises, and show the error's type and telling line.

    `with tc.raises(RuntimeError, match="view size"): x.t().view(12)`

    exceptions: the exception classes that are expected. match: a regular expression that
    the message must contain (`re.search`), or None. `.value` holds the exception afterwards.
    An AssertionError says so when nothing is raised or when the message differs; an
    exception of another class passes through, with a note that says what was expected.
    """

    def __init__(self, *exceptions: type[BaseException], match: str | None = None) -> None:
        self.expected = _classes("raises", exceptions, BaseException)
        self.match = _pattern("raises", match)
        self.value: BaseException | None = None

    def __enter__(self) -> "raises":
        self.value = None
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if value is None:
            raise AssertionError(
                f"Nothing was raised. Expected here: {_expected(self.expected, self.match)}."
            )
        if not isinstance(value, self.expected):
            value.add_note(f"{RAISES}{_expected(self.expected, self.match)}.")
            return False
        self.value = value
        line = _telling_line(_message(value), self.match)
        if line is None:
            raise AssertionError(
                f"{type(value).__name__} was raised, but its message has no match for {self.match!r}: "
                f"{_telling_line(_message(value), None)}"
            ) from value
        print(f"{type(value).__name__}: {line}".rstrip(": "))
        return True

    def __repr__(self) -> str:
        return f"raises({_expected(self.expected, self.match)})"


class warns:
    """Require that the block warns, and show the warning's category and telling line.

    PyTorch gives many warnings once per process only; inside the block it gives them each
    time (`torch.set_warn_always`, and its private twin for `TypedStorage`). `.value` holds the
    first warning that fits. Other warnings of the block are not shown. Same errors as `raises`.
    since: the oldest release of torch known to give it ("2.10"); on an older one it may stay away,
    and a line says so.
    """

    def __init__(self, *categories: type[Warning], match: str | None = None, since: str = "0") -> None:
        self.expected = _classes("warns", categories, Warning)
        self.match = _pattern("warns", match)
        self.since = since
        self.value: Warning | None = None
        self._blocks: list[tuple[warnings.catch_warnings[Any], Any, tuple[bool, bool]]] = []

    def __enter__(self) -> "warns":
        self.value = None
        caught = warnings.catch_warnings(record=True)
        # A list, since one object may stand around two blocks, one in the other.
        self._blocks.append((caught, caught.__enter__(), _warn_always((True, True))))
        warnings.simplefilter("always")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        caught, all_seen, before = self._blocks.pop()
        _warn_always(before)
        caught.__exit__(kind, value, trace)
        if value is not None:
            return
        for seen in all_seen:
            warning, line = seen.message, _telling_line(str(seen.message), self.match)
            if isinstance(warning, Warning) and isinstance(warning, self.expected) and line is not None:
                self.value = warning
                print(f"{seen.category.__name__}: {line}".rstrip(": "))
                return
        if is_older(self.since):
            print(f"No such warning: torch gives it since {self.since} or a little earlier.")
            return
        raise AssertionError(
            f"No such warning was given. Expected here: {_expected(self.expected, self.match)}."
        )


def _warn_always(wanted: tuple[bool, bool]) -> tuple[bool, bool]:
    """Set whether PyTorch repeats its warnings: those of C++, and that of TypedStorage. The setting before."""
    import torch

    before = torch.is_warn_always_enabled()
    torch.set_warn_always(wanted[0])
    # Private, and only there while TypedStorage is: without it, its warning is given once.
    get = getattr(torch.storage, "_get_always_warn_typed_storage_removal", lambda: False)
    set_ = getattr(torch.storage, "_set_always_warn_typed_storage_removal", lambda wanted: None)
    before_storage = get()
    set_(wanted[1])
    return before, before_storage


def _classes(caller: str, given: tuple[Any, ...], root: type) -> tuple[type, ...]:
    """The classes given, or a TypeError that says what belongs there."""
    wrong = [g for g in given if not (isinstance(g, type) and issubclass(g, root))]
    if given and not wrong:
        return given
    example = "RuntimeError" if root is BaseException else "UserWarning"
    got = f"got {wrong[0]!r}" if wrong else "got none"
    raise TypeError(f"tc.{caller} takes one or more {root.__name__} classes, such as {example}; {got}.")


def _pattern(caller: str, match: str | None) -> str | None:
    """The pattern given, or a ValueError where it is no regular expression."""
    try:
        re.search(match or "", "")  # a pattern of bytes compiles, and fits no message
    except (re.error, TypeError) as error:
        raise ValueError(f"tc.{caller}: match={match!r} is no regular expression: {error}.") from None
    return match


def _expected(classes: tuple[type, ...], match: str | None) -> str:
    names = " or ".join(c.__name__ for c in classes)
    return names if match is None else f"{names} with a message that matches {match!r}"


def _message(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # an exception may have a __str__ that raises
        return "(its message can't be read)"


def _telling_line(message: str, match: str | None) -> str | None:
    """The first line of the message where the match begins; the first line without one; None for no match."""
    found = re.search(match or "", message)
    if found is None:
        return None
    start = message.rfind("\n", 0, found.start()) + 1 if match else 0
    lines = [line.strip() for line in message[start:].splitlines() if line.strip()] or [""]
    return lines[0] if len(lines[0]) <= LONGEST_LINE else lines[0][:LONGEST_LINE] + " …"


@dataclass(frozen=True)
class Prediction:
    """A question, its options, and what the machine answered. Shows itself as folded HTML."""

    question: str
    options: tuple[str, ...]
    answer: str
    because: tuple[tuple[str, str], ...]

    def reason(self, option: str) -> str:
        """The reason that a reader who chose this option sees."""
        reasons = dict(self.because)
        return reasons.get(option, reasons[""])

    def __str__(self) -> str:
        # The answer stays out of the text: a reader of the text is asked, too.
        listed = "\n".join(f"  ( ) {option}" for option in self.options)
        return f"Predict: {self.question}\n{listed}"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return (
            f'<div class="tc-predict" role="group" aria-label="Predict" style="{_BOX}">'
            f'<p style="margin:0 0 6px"><b>Predict.</b> {_text(self.question)}</p>'
            + "".join(self._option(option) for option in self.options)
            + f'<p style="margin:6px 0 0;font-size:.85em;color:{_QUIET}">Open your answer.</p></div>'
        )

    def _option(self, option: str) -> str:
        right = option == self.answer
        verdict = "✓ Right" if right else "✕ No"
        colour = "var(--tc-right,#007356)" if right else "var(--tc-wrong,#A03A00)"
        machine = f"The machine says: <b>{_text(self.answer)}</b>."
        return (
            '<details style="margin:2px 0"><summary style="cursor:pointer;padding:3px 0">'
            f"{_text(option)}</summary>"
            f'<div style="border-left:3px solid {colour};margin:2px 0 6px 6px;padding:2px 10px">'
            f"<b>{verdict}.</b> {machine} {_text(self.reason(option))}</div></details>"
        )


_QUIET = "var(--jp-ui-font-color2,#59636E)"
_BOX = (
    "border:1px solid var(--jp-border-color2,#D1D9E0);border-radius:8px;padding:10px 14px;"
    "max-width:46rem;color:var(--jp-ui-font-color1,inherit)"
)


def predict(
    question: str,
    options: Sequence[object],
    answer: Callable[[], object],
    because: str | Mapping[object, str],
) -> Prediction:
    """Ask a question whose answer the machine gives: static HTML, one <details> per option.

    options: what a reader may choose (compared as text). answer: a callable without arguments that
    asks the machine and returns one of the options. because: the reason shown with the answer;
    a mapping gives a reader's wrong option a reason of its own (key "" or the right option: the rest).
    Backticks mark code. Raises ValueError where the machine's answer is none of the options, TypeError
    for what is no text or no list.
    """
    texts = _options(question, options)
    if not callable(answer):
        raise TypeError(f"tc.predict: answer is a callable that asks the machine; got {answer!r}.")
    told = str(answer())
    if told not in texts:
        raise ValueError(
            f"tc.predict: the machine answered {told!r:.{LONGEST_LINE}}, which is none of the options {list(texts)}."
        )
    return Prediction(question, texts, told, _reasons(because, told))


def _options(question: object, options: object) -> tuple[str, ...]:
    """The options as texts that a reader can tell apart."""
    if not isinstance(question, str):
        raise TypeError(f"tc.predict: the question is a text; got {type(question).__name__}.")
    if isinstance(options, str) or not isinstance(options, Sequence):
        raise TypeError(
            f'tc.predict: options is a list, such as ["a view", "a copy"]; got {type(options).__name__}.'
        )
    texts = tuple(str(option) for option in options)
    seen = {" ".join(text.split()) for text in texts} - {""}
    if len(texts) < 2 or len(seen) < len(texts):
        raise ValueError(f"tc.predict takes two or more different options; got {list(texts)}.")
    return texts


def _reasons(because: str | Mapping[object, str], answer: str) -> tuple[tuple[str, str], ...]:
    reasons = because.values() if isinstance(because, Mapping) else [because]
    if not all(isinstance(reason, str) for reason in reasons):
        raise TypeError("tc.predict: because is a text, or a mapping from options to texts.")
    given = {"": because} if isinstance(because, str) else {str(k): v for k, v in because.items()}
    if "" not in given:
        if answer not in given:
            raise ValueError(f"tc.predict: because has no reason for the machine's answer, {answer!r}.")
        given[""] = given[answer]
    return tuple(given.items())


def _text(text: str) -> str:
    """Escaped HTML with `code` between backticks."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))
