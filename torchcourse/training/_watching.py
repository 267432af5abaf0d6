"""What every observer with hooks does: puts them when its block begins, and takes them away when it ends."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from types import TracebackType
from typing import Protocol, Self, TypeVar

from torch.utils.hooks import RemovableHandle


class Named(Protocol):
    @property
    def name(self) -> str: ...


L = TypeVar("L", bound=Named)


def by_name(layers: Iterable[L], name: str) -> L:
    """The layer of this name. Raises KeyError with the known ones."""
    known = {layer.name: layer for layer in layers}
    if name not in known:
        raise KeyError(f"no layer {name!r}; there are {', '.join(known)}")
    return known[name]


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
