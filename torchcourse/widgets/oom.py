"""A pasted out-of-memory message, taken apart: each number explained, and the probable cause."""

from typing import Any

from torchcourse.allocator import OutOfMemoryNumbers, read_oom_message
from torchcourse.graphs.timeline.oom import svg


def explain_oom(message: str | BaseException) -> "OutOfMemoryCard":
    """Explain a message of `torch.OutOfMemoryError`: the text, the last lines of a traceback, or the error.

    ValueError: the text is no such message.
    """
    return OutOfMemoryCard(read_oom_message(str(message)))


def view(numbers: OutOfMemoryNumbers) -> "OutOfMemoryCard":
    """Show the numbers of a message."""
    return OutOfMemoryCard(numbers)


class OutOfMemoryCard:
    """What `explain_oom` gives: `.numbers`, a picture, and `str()`, its text twin."""

    def __init__(self, numbers: OutOfMemoryNumbers) -> None:
        self.numbers = numbers

    def __str__(self) -> str:
        return str(self.numbers)

    def __repr__(self) -> str:
        return str(self.numbers)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/plain": str(self.numbers), "image/svg+xml": svg(self.numbers)}
