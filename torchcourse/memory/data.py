"""One step's memory as plain data: what was allocated, by whom, and when it went."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from . import text
from .cannot_know import Unknown, unknown_of

if TYPE_CHECKING:
    from .fitting import Fit

K = TypeVar("K")

# From the bottom of the stack to the top: what stays from step to step comes first.
OWNERS = ("parameter", "buffer", "optimizer state", "gradient", "input", "activation", "temporary")
PHASES = ("before", "forward", "recompute", "backward", "optimizer")


@dataclass(frozen=True, slots=True)
class Stored:
    """One storage of the step.

    nbytes: as a CUDA step would ask for. owner: one of OWNERS. module: path of the module in whose forward
    it was made ("" is the outermost), None outside. operator: what made it, None where it was there before.
    phase: one of PHASES. left: still there after the step.
    """

    nbytes: int
    owner: str
    module: str | None
    operator: str | None
    phase: str
    left: bool = False

    @property
    def label(self) -> str:
        """The owner with its place: "activation of layers.0"."""
        if self.owner not in ("activation", "temporary") or self.phase not in ("forward", "recompute"):
            return self.owner
        return f"{self.owner} of {text.place(self.module)}"


@dataclass(frozen=True, slots=True)
class Event:
    """An allocation, or a free, of `Recording.storages[storage]`, in one of PHASES."""

    storage: int
    frees: bool
    phase: str


@dataclass(frozen=True)
class Recording:
    """What one step allocated and freed, in order; first comes what was there before it.

    products: phases in which matrices were multiplied. convolves: whether there was a convolution. scores,
    kept_scores: bytes of attention scores that fused kernels did not keep, and that the unfused one did.
    raised: the first line of what the step raised, or None.
    """

    storages: tuple[Stored, ...]
    events: tuple[Event, ...]
    products: frozenset[str] = frozenset()
    convolves: bool = False
    scores: int = 0
    kept_scores: int = 0
    raised: str | None = None

    @property
    def by_owner(self) -> dict[str, int]:
        """The most bytes that each owner held at one time of the step: requested, not rounded."""
        return dict.fromkeys(OWNERS, 0) | self._most(lambda stored: stored.owner)

    @property
    def by_module(self) -> dict[str | None, int]:
        """The most bytes of saved activations at one time, by the module that made them (None: outside)."""
        most = self._most(lambda stored: (stored.owner, stored.module))
        return {module: nbytes for (owner, module), nbytes in most.items() if owner == "activation"}

    @property
    def peak_bytes(self) -> int:
        """The most bytes at one time: requested, not rounded."""
        return max((sum(now.values()) for _, now in self.running()), default=0)

    @property
    def left_bytes(self) -> int:
        """Bytes made by the step that were still there after it, without gradients and optimizer state.

        0 for a sound step. A list of losses, a global or a closure keeps the rest alive.
        """
        kept = ("gradient", "optimizer state", "parameter", "buffer")
        return sum(s.nbytes for s in self.storages if s.left and s.phase != "before" and s.owner not in kept)

    @property
    def not_recorded(self) -> Unknown:
        """What a CUDA step takes besides, and no CPU recording can see, as ranges of bytes."""
        return unknown_of(self.products, self.convolves, self.scores, self.kept_scores)

    def running(self) -> Iterator[tuple[Event, dict[str, int]]]:
        """After each event, the bytes of every owner. The same dictionary each time, changed."""
        now = dict.fromkeys(OWNERS, 0)
        for event in self.events:
            stored = self.storages[event.storage]
            now[stored.owner] += -stored.nbytes if event.frees else stored.nbytes
            yield event, now

    def _most(self, key: Callable[[Stored], K]) -> dict[K, int]:
        """The most bytes at one time of all storages with the same key."""
        now: dict[K, int] = {}
        most: dict[K, int] = {}
        for event in self.events:
            stored = self.storages[event.storage]
            owner = key(stored)
            now[owner] = now.get(owner, 0) + (-stored.nbytes if event.frees else stored.nbytes)
            most[owner] = max(most.get(owner, 0), now[owner])
        return most

    def fit(self, total_bytes: int, conf: str = "") -> Fit:
        """Play the step through the caching allocator's model, on a card of `total_bytes` bytes.

        conf: as PYTORCH_ALLOC_CONF. TypeError, ValueError: a size or a setting that there is not.
        """
        from .fitting import fit

        return fit(self, total_bytes, conf)

    def __str__(self) -> str:
        return text.recording(self)
