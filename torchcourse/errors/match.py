"""Which kind of the table an error is: the template with the most plain text in it decides."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from .data import Kind, Values
from .known import KINDS
from .parts import Part
from .templates import GAP, Template, lowered, plain, template

# Libraries whose errors are theirs, whatever they say: the root of the class's module, or of the innermost frame.
OTHERS = frozenset(
    (
        *(
            "PIL",
            "aiohttp",
            "albumentations",
            "boto3",
            "botocore",
            "cupy",
            "cv2",
            "django",
            "flask",
            "google",
        ),
        *("h5py", "httpx", "jax", "jaxlib", "joblib", "keras", "lightgbm", "matplotlib", "mxnet"),
        *(
            "numba",
            "numpy",
            "openai",
            "paddle",
            "pandas",
            "polars",
            "psycopg2",
            "pyarrow",
            "pydantic",
            "redis",
        ),
        *("requests", "scipy", "seaborn", "sklearn", "spacy", "sqlalchemy", "sqlite3", "statsmodels"),
        *("tensorflow", "urllib3", "xgboost", "yaml"),
    )
)
HEAD, TAIL = 4_000, 2_000  # characters of one error's text that are compared
ENOUGH = 22  # characters of plain text that nobody else writes
BROAD = 10_000  # more plain text than any template has: a narrower kind always wins
_WORD = re.compile(r"\w+")
_WHOLE = re.compile(r"(?<=\W)\w+(?=\W)")  # not at the ends: there, a longer word may stand in the text
_TORCH = ("torch", "tensor", "dataloader", "nn.module", "cuda", "state_dict", "autograd", "onnx")


# Raised inside PyTorch without any fault of its: stopped by hand, out of memory, the end of an iterator.
_NO_FAULT = ("KeyboardInterrupt", "SystemExit", "StopIteration", "MemoryError", "RecursionError", "")

Fits = list[tuple[Template, Values]]


@dataclass(frozen=True)
class Match:
    """A kind that fits one part of the error, with the values read from its message."""

    kind: Kind
    part: Part
    values: Values


def best(parts: Sequence[Part], packages: Iterable[str] = ()) -> Match | None:
    """The part that is known, nearest to the reader: one that only wraps another gives way to it."""
    said = _ends(plain(" ".join(f"{part.type} {part.message}" for part in parts)))
    context = lowered(f"{said} {' '.join(part.trace for part in parts)}")
    torch = "torch" in packages or any(word in context for word in _TORCH)
    found = [match for part in parts for match in [_of_part(part, context, torch)] if match]
    if not found:
        found = [match for part in parts for match in [_cut(part)] if match]
    if not found:
        found = [match for part in parts for match in [_raised(part)] if match]
    ranked = sorted(found, key=lambda match: (match.kind.wraps, match.kind.broad))
    return ranked[0] if ranked else None


def _of_part(part: Part, context: str, torch: bool) -> Match | None:
    if OTHERS & {part.type.partition(".")[0], part.origin}:
        return None
    text = _ends(plain(f"{part.type}: {part.message}" if part.type else part.message))
    said = {kind: (_weight(kind, fits), fits) for kind, fits in _said(text, lowered(text)).items()}
    allowed = [kind for kind, (weight, _) in said.items() if _allowed(kind, weight, part, context, torch)]
    if not allowed:
        return None
    kind = max(allowed, key=lambda kind: said[kind][0])
    return Match(kind, part, _values(kind, text, said[kind][1]))


def _cut(part: Part) -> Match | None:
    """The kind of a text that stops in the middle of a template's first words."""
    tail = lowered(plain(part.message))[-GAP:]
    fits = [(len(rest), kind) for kind, first in _beginnings() if (rest := _overlap(tail, first))]
    if OTHERS & {part.type.partition(".")[0], part.origin} or not fits:
        return None
    return Match(max(fits, key=lambda fit: fit[0])[1], part, {})


def _raised(part: Part) -> Match | None:
    """The kind that the innermost frame tells: the entry that names its file, or its folder, most exactly."""
    if part.type.rpartition(".")[2] in _NO_FAULT:
        return None
    fits = [(len(place), kind) for place, kind in _PLACES if part.inner.startswith(place)]
    return Match(max(fits, key=lambda fit: fit[0])[1], part, {}) if fits else None


def _overlap(tail: str, first: str) -> str:
    """What the text ends with and the template begins with, if that is enough to tell."""
    place = tail.find(first[:ENOUGH])
    rest = tail[place:] if place >= 0 else ""
    return rest if first.startswith(rest) and len(rest) < len(first) else ""


@cache
def _beginnings() -> tuple[tuple[Kind, str], ...]:
    kinds = [kind for kind in KINDS if not kind.broad and not kind.anybodys]
    return tuple(
        (kind, first)
        for kind in kinds
        for one in map(template, kind.says)
        if not one.begins and len(first := one.first) > ENOUGH
    )


def _ends(text: str) -> str:
    """A long text's beginning and end: what tells its kind stands there."""
    return text if len(text) <= HEAD + TAIL else f"{text[:HEAD]} … {text[-TAIL:]}"


def _said(text: str, lower: str) -> dict[Kind, Fits]:
    """The kinds of which a template fits, with the templates and their values."""
    said: dict[Kind, Fits] = {}
    for word in ("", *dict.fromkeys(_WORD.findall(lower))):
        for kind, one in INDEX.get(word, ()):
            found = one.find(text, lower)
            if found is not None:
                said.setdefault(kind, []).append((one, found))
    return said


def _weight(kind: Kind, fits: Fits) -> int:
    return max(one.weight for one, _ in fits) - (BROAD if kind.broad else 0)


def _allowed(kind: Kind, weight: int, part: Part, context: str, torch: bool) -> bool:
    short = part.type.rpartition(".")[2]
    if kind.types and short and short not in kind.types:
        return False
    if any(word in context for word in kind.unless):
        return False
    if not kind.needs or (weight >= ENOUGH and not kind.anybodys):
        return True
    return ("torch" in kind.needs and torch) or any(word in context for word in kind.needs if word != "torch")


def _values(kind: Kind, text: str, fits: Fits) -> Values:
    """The values of all templates that fit; where two have the same name, the one with more plain text counts."""
    lower, values = lowered(text), dict[str, str]()
    read = [(one, found) for one in map(template, kind.reads) if (found := one.find(text, lower))]
    for _, found in (*sorted(fits, key=lambda pair: -pair[0].weight), *read):
        values = {**found, **values}
    return values | (kind.refine(text, values) if kind.refine else {})


def _index() -> dict[str, list[tuple[Kind, Template]]]:
    """Each template under a word that a fitting text must have; under "" where it has no whole word."""
    index: dict[str, list[tuple[Kind, Template]]] = {}
    for kind in KINDS:
        for one in map(template, kind.says):
            index.setdefault(max(_WHOLE.findall(one.literal), key=len, default=""), []).append((kind, one))
    return index


_PLACES = tuple((place, kind) for kind in KINDS for place in kind.raised_in)
INDEX = _index()  # built when this is imported, so that the first explanation is as fast as the others
