"""What every observer with hooks does: puts them when its block begins, and takes them away when it ends."""

from abc import ABC, abstractmethod
from types import TracebackType
from typing import Self

from torch.utils.hooks import RemovableHandle


class Watching(ABC):
    """A context manager around hooks; `_hooks` puts them."""

    _handles: tuple[RemovableHandle, ...] = ()

    @abstractmethod
    def _hooks(self) -> tuple[RemovableHandle, ...]: ...

    def __enter__(self) -> Self:
        if self._handles:
            raise ValueError(
                f"This {type(self).__name__} is watching already: leave its block first, or make another."
            )
        self._handles = self._hooks()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        for handle in self._handles:
            handle.remove()
        self._handles = ()
