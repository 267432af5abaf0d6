"""What this module raises, each with a sentence of its own."""

from pathlib import PurePath


class CheckpointError(ValueError):
    """A checkpoint that can't be used as asked; the message says what is wrong, and what to do."""


class CheckpointFileError(OSError, CheckpointError):
    """The file system refused: no such file, no permission, a full disk. `.errno` holds its number, if known."""

    def __init__(self, sentence: str, errno: int | None = None) -> None:
        super().__init__(sentence)
        self.errno = errno


def first_line(error: BaseException) -> str:
    """The first line of an error's message, cut to a readable length."""
    try:
        lines = str(error).strip().splitlines()
    except Exception:  # an exception may have a __str__ that raises
        lines = []
    return (lines or [type(error).__name__])[0][:200].rstrip(".")


def some(names: list[str] | tuple[str, ...], at_most: int = 3) -> str:
    """A few names for a sentence: `a`, `b`, `c` and 7 more."""
    shown = ", ".join(f"`{told(name)}`" for name in names[:at_most])
    return shown + (f" and {len(names) - at_most} more" if len(names) > at_most else "")


def told(name: object, at_most: int = 120) -> str:
    """A name for a sentence: one line, of a readable length, whatever stood in the file."""
    text = str(name)
    text = text if len(text) <= at_most else f"{text[: at_most // 2]}…{text[-at_most // 2 :]}"
    return text if text.isprintable() else repr(text)[1:-1]


def named(path: object) -> str:
    """How a sentence calls a file: by its last name, which the caller knows best."""
    return told(PurePath(str(path)).name or path)
