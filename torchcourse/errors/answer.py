"""`explain`: an exception, a warning, or a text -> what it means."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence

from .data import Explanation, Held, Kind, Values
from .guess import guess
from .live import Scene, scene
from .match import Match, best
from .parts import Part, of_error, of_text


def explain(error: object = None) -> Explanation:
    """What an error means: the mechanism, what happened here, the causes, the mend, the check, the chapter.

    error: an exception or a warning, a pasted traceback or message (a text, or a list of its lines), or None
    for the last error of this Python. Raises nothing: what can't be explained has `.known == False`, and
    `.what` says why. Keeps no reference to the exception or its frames.
    """
    if error is None:
        error = _last()
        if error is None:
            return _not_known(
                "There is no error to explain: none was raised here yet. Give it one, or its text."
            )
    if isinstance(error, warnings.WarningMessage):
        error = error.message
    if isinstance(error, tuple) and len(error) == 3 and isinstance(error[1], BaseException):
        error = error[1]  # as sys.exc_info() gives it
    if isinstance(error, (list, tuple)) and error and all(isinstance(line, str) for line in error):
        error = "\n".join(error)
    if isinstance(error, bytes):
        error = error[-40_000:].decode(errors="replace")
    if isinstance(error, BaseException):
        return _answer(of_error(error), live=True)
    if isinstance(error, str):
        return _answer(of_text(error), live=False)
    return _not_known(
        f"explain takes an exception, a warning, the text of a traceback, or nothing for the last error; "
        f"this is a {type(error).__name__}, which is no error."
    )


def _last() -> BaseException | None:
    """The error that is being handled, or the last one that reached the top of this interpreter."""
    found = sys.exc_info()[1] or getattr(sys, "last_value", None) or getattr(sys, "last_exc", None)
    return found if isinstance(found, BaseException) else None


def _not_known(sentence: str) -> Explanation:
    return Explanation(False, None, None, "", sentence)


def _answer(parts: Sequence[Part], live: bool) -> Explanation:
    if not parts:
        return _not_known("The text is empty: paste the traceback, or at least its last line.")
    scenes = {id(part): scene(part.error) for part in parts if part.error is not None} if live else {}
    packages = [name for one in scenes.values() for name in one.packages]
    match = best(parts, packages)
    part = match.part if match else parts[0]
    where = scenes.get(id(part)) or next((one for one in scenes.values() if one.place), Scene())
    others = tuple(dict.fromkeys(one.line for one in parts if one.line and one.line != part.line))
    if match is None:
        what = guess(parts, where)
        return Explanation(
            False, None, None, part.line, what, held=where.held, place=where.place, others=others
        )
    return _known(match, where, others)


def _known(match: Match, where: Scene, others: tuple[str, ...]) -> Explanation:
    kind = match.kind
    return Explanation(
        True,
        kind.slug,
        kind.taught_in,
        match.part.line,
        " ".join(filter(None, (kind.what, _here(kind, match.values), at(where.place, where.held)))),
        (*filter(None, (match.values.get("cause"),)), *kind.causes),  # what the numbers say goes first
        kind.mend,
        kind.check,
        kind.wrong,
        tuple(match.values.items()),
        where.held,
        where.place,
        others,
    )


def _here(kind: Kind, values: Values) -> str:
    """The first sentence of the kind that all its values were found for; else the values themselves."""
    for sentence in kind.here:
        try:
            return sentence.format_map(values)
        except (KeyError, IndexError, ValueError):
            continue
    listed = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in values.items() if value)
    return f"Here: {listed}." if listed else ""


def at(place: str | None, held: tuple[Held, ...]) -> str:
    """The reader's own line and what it held, in a sentence."""
    if not place:
        return ""
    there = "; ".join(map(str, held))
    return f"In your code ({place})" + (f": {there}." if there else ".")
