"""What a check found, as text and as a table. It never says where a fault is that nobody has found."""

from dataclasses import dataclass
from html import escape

__all__ = ["Row", "Score"]

HEAD = "#7B8793"
GREEN = "#007356"


@dataclass(frozen=True)
class Row:
    """One fault. number: that of its symptom. name, chapter: None until it is mended."""

    number: int
    symptom: str
    name: str | None
    chapter: str | None

    @property
    def mended(self) -> bool:
        return self.name is not None

    @property
    def told(self) -> str:
        return f"✓ mended: {self.name} ({self.chapter})" if self.mended else "… not yet"


@dataclass(frozen=True)
class Score:
    """Ten rows, and what was sound in the beginning and no longer is.

    broken: sentences about functions that are missing, or that do something else than before.
    """

    seed: int
    rows: tuple[Row, ...]
    broken: tuple[str, ...] = ()

    @property
    def mended(self) -> tuple[str, ...]:
        """The faults that are found and mended, by name."""
        return tuple(row.name for row in self.rows if row.name is not None)

    @property
    def total(self) -> str:
        return f"{len(self.mended)} of {len(self.rows)} mended"

    def __str__(self) -> str:
        lines = [f"Bug hunt, seed {self.seed}: {self.total}"]
        lines += [f"{row.number:2}  {row.told:10}  {row.symptom}" for row in self.rows]
        return "\n".join([*lines, *(f" ✕  {sentence}" for sentence in self.broken)])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        rows = "".join(_html(row) for row in self.rows)
        broken = "".join(f"<p><b>✕</b> {escape(sentence)}</p>" for sentence in self.broken)
        cells = "".join(
            f'<th scope="col" style="text-align:left">{name}</th>' for name in ("#", "", "symptom")
        )
        return (
            f'<table style="max-width:56rem"><caption style="text-align:left"><b>Bug hunt, seed {self.seed}: '
            f"{self.total}</b></caption><thead><tr>{cells}</tr></thead><tbody>{rows}</tbody></table>{broken}"
        )


def _html(row: Row) -> str:
    style = f"border-left:4px solid {GREEN if row.mended else HEAD};text-align:left"
    return (
        f'<tr><td style="{style}">{row.number}</td><td style="text-align:left">{escape(row.told)}</td>'
        f'<td style="text-align:left">{escape(row.symptom)}</td></tr>'
    )
