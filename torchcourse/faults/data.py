"""What a check-up finds, as plain data."""

from collections.abc import Iterator
from dataclasses import dataclass

from torchcourse.modules import Finding

SHOWN = 6  # findings of one kind that the text lists
NOTHING = "Nothing found: two steps were looked at, and everything is as it was before."


@dataclass(frozen=True, repr=False)
class CheckUp:
    """The findings, the causes before what follows from them; false where there is none. `str()` is the text twin."""

    findings: tuple[Finding, ...]
    notes: tuple[str, ...] = ()  # what could not be looked at

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    def __len__(self) -> int:
        return len(self.findings)

    def __getitem__(self, number: int) -> Finding:
        return self.findings[number]

    def __str__(self) -> str:
        return "\n".join([*_lines(self.findings), *self.notes])

    __repr__ = __str__


def _lines(findings: tuple[Finding, ...]) -> Iterator[str]:
    if not findings:
        yield NOTHING
        return
    yield f"{len(findings)} finding{'s' if len(findings) > 1 else ''}:"
    kinds = dict.fromkeys(one.kind for one in findings)
    for kind in kinds:
        same = [one for one in findings if one.kind == kind]
        yield from (f"- {one}" for one in same[:SHOWN])
        if len(same) > SHOWN:
            rest = ", ".join(one.where for one in same[SHOWN : 2 * SHOWN])
            yield f"  … and {len(same) - SHOWN} more {kind}: {rest}{', …' if len(same) > 2 * SHOWN else ''}"
