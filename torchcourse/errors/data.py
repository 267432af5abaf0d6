"""What an error means: one entry of knowledge (`Kind`), and the answer that a reader gets (`Explanation`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from torchcourse._slugs import SLUGS

Values = dict[str, str]


@dataclass(frozen=True)
class Kind:
    """One kind of error: how its text is told, and what is to be said about it.

    chapter: the word of the chapter that teaches it; "" where `_slugs.SLUGS` has it, since others find it, too.
    says: templates (see `templates`); one that fits tells the kind. reads: further templates, for values.
    here: sentences with `{values}`; the first whose values were all found is said. types: the exception's
    class must be one of these, where it is known. needs: words of which the whole text must have one ("torch":
    a sign of PyTorch there or in the traceback), where little plain text fits, or always if the message could
    be anybody's. unless: words that forbid it. wraps: the message of another error stands inside; that one
    goes first. broad: a whole family; any narrower kind goes first. raised_in: files of PyTorch (or folders); an
    error that no text tells is this kind if its innermost frame is in one of them. refine: more values from values.
    """

    slug: str
    says: tuple[str, ...]
    what: str
    causes: tuple[str, ...]
    mend: str
    check: str
    chapter: str = ""
    reads: tuple[str, ...] = ()
    here: tuple[str, ...] = ()
    wrong: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    unless: tuple[str, ...] = ()
    wraps: bool = False
    broad: bool = False
    raised_in: tuple[str, ...] = ()
    anybodys: bool = False
    refine: Callable[[str, Mapping[str, str]], Values] | None = None

    @property
    def taught_in(self) -> str:
        """The word of the chapter, wherever it is noted."""
        return self.chapter or SLUGS[self.slug]


@dataclass(frozen=True)
class Held:
    """A tensor, an array or a module that the reader's code held where it failed. Strides count elements."""

    name: str
    type: str
    dtype: str | None = None
    shape: tuple[int, ...] | None = None
    stride: tuple[int, ...] | None = None
    device: str | None = None
    requires_grad: bool = False
    leaf: bool = True
    contiguous: bool = True
    version: int | None = None
    training: bool | None = None

    def __str__(self) -> str:
        said = [f"{self.dtype} {list(self.shape)}"] if self.shape is not None else []
        said += [f"on {self.device}"] if self.device else []
        facts = [
            f"strides {self.stride}" if self.stride and not self.contiguous else "",
            "requires grad" if self.requires_grad else "",
            f"version {self.version}" if self.version else "",
            {True: "training", False: "eval", None: ""}[self.training],
        ]
        kind = [] if self.type in ("Tensor", "ndarray") and said else [self.type]
        words = ", ".join([" ".join([*kind, *said]), *filter(None, facts)])
        return f"{self.name} is {words}"


@dataclass(frozen=True)
class Explanation:
    """What an error means. `str()` is the whole answer as text.

    known: whether the course knows this kind of error. kind: its slug, chapter: the word of the chapter that
    teaches it (both None where it is not known). error: the error's type and first line. what: the mechanism,
    then what happened here. causes: the likeliest first. mend: code. check: how to see that it is mended.
    wrong_advice: what circulates and does harm. values: (name, value) pairs read from the message.
    held: what the reader's code held where it failed. place: the reader's own line. others: the other
    errors of the chain or group, one line each.
    """

    known: bool
    kind: str | None
    chapter: str | None
    error: str
    what: str
    causes: tuple[str, ...] = ()
    mend: str = ""
    check: str = ""
    wrong_advice: tuple[str, ...] = ()
    values: tuple[tuple[str, str], ...] = ()
    held: tuple[Held, ...] = ()
    place: str | None = None
    others: tuple[str, ...] = ()

    def __str__(self) -> str:
        head = f"{self.error}\n" if self.error else ""
        return head + "\n".join(f"{name}{text}" for name, text in self.parts())

    __repr__ = __str__

    def parts(self) -> tuple[tuple[str, str], ...]:
        """(heading, text) of all that is said, in order; texts may have several lines."""
        causes = "\n".join(f"  {n}. {cause}" for n, cause in enumerate(self.causes, 1))
        mend = "\n".join(f"    {line}" for line in self.mend.splitlines())
        wrong = "\n".join(f"  - {advice}" for advice in self.wrong_advice)
        others = "\n".join(f"  - {other}" for other in self.others)
        chapter = f"{self.chapter} (kind: {self.kind})" if self.chapter else ""
        rows = (
            ("What: ", self.what),
            ("Likely causes:\n", causes),
            ("Mend:\n", mend),
            ("Check: ", self.check),
            ("Advice that does harm:\n", wrong),
            ("Beside it:\n", others),
            ("Chapter: ", chapter),
        )
        return tuple(row for row in rows if row[1])
