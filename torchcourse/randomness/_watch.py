"""`watch`: which generators moved while a block ran."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any

from ._distance import numbers_between
from ._states import State, Twister, check, fresh_accelerator, read

NOTHING = "No generator moved: the block drew no random number."
RUNNING = "The block still runs: what moved is known when it ends."


@dataclass(frozen=True)
class Move:
    """One generator that is in another state than before.

    numbers: how many 32-bit numbers were taken; 0: only a number kept from an earlier call was used or thrown away.
    None: it can't be told (another algorithm), or the generator was seeded or set to a state.
    """

    name: str
    numbers: int | None = None
    twister: bool = False

    def __str__(self) -> str:
        return f"{self.name} {self.how}"

    @property
    def how(self) -> str:
        """How far, in words."""
        if self.numbers is None:
            return "set anew" if self.twister else "moved"
        if self.numbers == 0:
            return "a kept number"
        return f"{self.numbers:,} number{'' if self.numbers == 1 else 's'}"


def moves(before: Mapping[str, State], after: Mapping[str, State]) -> tuple[Move, ...]:
    """What moved from one reading of `states` to another, in the order of the later one."""
    return tuple(
        _move(name, before.get(name), now) for name, now in after.items() if _moved(before.get(name), now)
    )


def _moved(before: State, after: State) -> bool:
    if before is None:  # an accelerator that woke meanwhile
        return not fresh_accelerator(after)
    return before != after


def _move(name: str, before: State, after: State) -> Move:
    if isinstance(before, Twister) and isinstance(after, Twister):
        return Move(name, numbers_between(before, after), twister=True)
    return Move(name)


@dataclass
class _Block:
    moves: tuple[Move, ...] | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Watched:
    """What `watch` hands over: `.moved` and `.moves`, known when the block has ended, also when it raised."""

    _block: _Block = field(default_factory=_Block)

    @property
    def moved(self) -> tuple[str, ...]:
        """Names of the generators that are in another state than before the block; empty while it runs."""
        return tuple(move.name for move in self.moves)

    @property
    def moves(self) -> tuple[Move, ...]:
        """The same with the count of numbers where it can be told."""
        return self._block.moves or ()

    def __str__(self) -> str:
        if self._block.moves is None:
            return RUNNING
        return "\n".join(map(str, self.moves)) or NOTHING

    __repr__ = __str__


class watch:
    """`with randomness.watch() as seen: …`, then `seen.moved`: names of the generators that moved.

    own: your generators by name, watched beside the global ones (see `states`, also for what is raised). It compares
    the states before and after, so a generator that was put back has not moved. One block may stand inside another.
    """

    def __init__(self, *unnamed: Any, **own: Any) -> None:
        check(own, unnamed)
        self._own = own
        self._open: list[tuple[Watched, dict[str, State]]] = []

    def __enter__(self) -> Watched:
        seen = Watched()
        self._open.append((seen, read(self._own)))
        return seen

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        seen, before = self._open.pop()
        seen._block.moves = moves(before, read(self._own))
