"""Whose a block is: a name, a letter and one of the six paints for each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Owner:
    """`letter` stands in the block, `role` is its paint."""

    name: str
    letter: str
    role: str


KNOWN = {
    owner.name: owner
    for owner in (
        Owner("parameter", "P", "base"),
        Owner("gradient", "G", "now"),
        Owner("optimizer state", "O", "wait"),
        Owner("activation", "A", "run"),
        Owner("temporary", "T", "view"),
        Owner("input", "I", "rest"),
    )
}
IN_USE = Owner("in use", "", "base")  # where nobody said whose
ROLES = ("base", "run", "view", "wait", "now")  # in the order in which other names get them
OwnerNames = Mapping[int, str] | Sequence[str] | None


class Owners:
    """names: for each call of malloc, counted from 0, whose the block is; a sequence, or a mapping with gaps."""

    def __init__(self, names: OwnerNames) -> None:
        pairs = dict(names) if isinstance(names, Mapping) else dict(enumerate(names or ()))
        self._names = {number: str(name) for number, name in pairs.items() if name}
        self.all = _painted(self._names.values()) if self._names else (IN_USE,)
        self._places = {owner.name: place for place, owner in enumerate(self.all)}

    def place(self, malloc: int | None) -> int:
        """Which of `.all` owns what this call of malloc got; None: it was there before."""
        name = self._names.get(malloc, "") if malloc is not None else ""
        return self._places.get(name, len(self.all) - 1)

    def name(self, malloc: int | None) -> str:
        """The name, "" where nobody gave one."""
        return self._names.get(malloc, "") if malloc is not None else ""


def _painted(names: Iterable[str]) -> tuple[Owner, ...]:
    """The known names in their order, other ones as they come, the rest as one: the last."""
    there = Counter(names)
    found = [owner for name, owner in KNOWN.items() if name in there]
    roles = [role for role in ROLES if role not in {owner.role for owner in found}]
    letters = {owner.letter for owner in found}
    for name, role in zip((name for name in there if name not in KNOWN), roles, strict=False):
        letter = next((sign for sign in name.upper() if sign.isalnum() and sign not in letters), "#")
        letters.add(letter)
        found.append(Owner(name, letter, role))
    return (*found, Owner("other", "·", "rest"))
