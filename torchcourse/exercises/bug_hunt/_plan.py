"""Which ten faults a seed plants, and the script that holds them."""

import random
from dataclasses import dataclass

from ._faults import POOL, Fault
from ._script import FOOTER, HEADER, PARTS

__all__ = ["Hunt", "assembled", "check_seed", "hunt", "planted"]

COUNT = 10
MARK = "Bug hunt, seed "


@dataclass(frozen=True)
class Hunt:
    """A script with ten faults: its text, its functions, and what one notices when it runs."""

    seed: int
    parts: tuple[tuple[str, str], ...]  # name, text: in the order of the script
    symptoms: tuple[str, ...]

    @property
    def text(self) -> str:
        """The whole script, as `write` puts it into a file."""
        header = HEADER.format(comment=f"{MARK}{self.seed}").rstrip()
        return "\n\n\n".join([header, *(text for _, text in self.parts), FOOTER.strip()]) + "\n"

    def part(self, name: str) -> str:
        """The text of one function or class. Raises ValueError with the known names."""
        known = dict(self.parts)
        if name not in known:
            raise ValueError(f"the script has no {name!r}; it has {', '.join(known)}.")
        return known[name]

    def __str__(self) -> str:
        return "\n".join(f"{number:3}  {line}" for number, line in enumerate(self.text.splitlines(), 1))

    __repr__ = __str__


def hunt(seed: int = 0) -> Hunt:
    """The script of this seed: ten faults out of ten chapters, the same every time.

    Raises TypeError or ValueError for a seed that is no integer from 0 up.
    """
    faults = planted(seed)
    return Hunt(seed, tuple(assembled(faults).items()), tuple(fault.symptom for fault in faults))


def planted(seed: int) -> tuple[Fault, ...]:
    """The ten faults of a seed, one per chapter, in an order that says nothing about places."""
    check_seed(seed)
    dice = random.Random(f"the game {seed}")
    chapters = sorted({fault.chapter for fault in POOL})
    chosen = [dice.choice([fault for fault in POOL if fault.chapter == word]) for word in chapters]
    return tuple(dice.sample(chosen, COUNT))


def check_seed(seed: object) -> None:
    if isinstance(seed, bool) or not isinstance(seed, int):
        raise TypeError(f"a seed is an integer; got {type(seed).__name__}. Try hunt(seed=0).")
    if seed < 0:
        raise ValueError(f"a seed is 0 or more; got {seed}.")


def assembled(faults: tuple[Fault, ...]) -> dict[str, str]:
    """The parts of the script with these faults in them."""
    parts = {name: text.strip("\n") + "\n" for name, text in PARTS.items()}
    for fault in faults:
        text = parts[fault.part]
        if text.count(fault.sound) != 1:
            raise AssertionError(f"{fault.slug}: its sound text must stand once in {fault.part}")
        parts[fault.part] = text.replace(fault.sound, fault.faulty)
    return {name: text.strip("\n") for name, text in parts.items()}
