"""One number per layer and step: what the observers of a loop hand over."""

import math
from dataclasses import dataclass

SHOWN = 24  # layers in the text; the rest is counted


@dataclass(frozen=True)
class Series:
    """what: of which quantity. layers: module paths. steps: numbers of the optimizer steps that were looked at, from 0.

    values[i][k]: of layer k at steps[i], or None where the layer had no gradient then.
    """

    what: str
    layers: tuple[str, ...]
    steps: tuple[int, ...]
    values: tuple[tuple[float | None, ...], ...]

    def of(self, layer: str) -> tuple[float | None, ...]:
        """One layer's values, step by step. Raises KeyError with the known layers."""
        if layer not in self.layers:
            raise KeyError(f"no layer {layer!r}; there are {', '.join(self.layers)}")
        place = self.layers.index(layer)
        return tuple(row[place] for row in self.values)

    def last(self) -> dict[str, float | None]:
        """Layer → its newest value; empty before the first step."""
        return dict(zip(self.layers, self.values[-1], strict=True)) if self.values else {}

    @property
    def spread(self) -> float | None:
        """The newest value of the first layer over that of the last: far below 1 is vanishing, far above exploding."""
        known = [value for value in self.last().values() if value]
        return known[0] / known[-1] if len(known) > 1 else None

    def __str__(self) -> str:
        if not self.values:
            return f"{self.what}: no step yet"
        width = max(len(layer) for layer in self.layers)
        lines = [
            f"{self.what}, {len(self.steps)} steps",
            f"{'layer':{width}}  {'first':>9}  {'last':>9}  {'highest':>9}",
        ]
        for layer in self.layers[:SHOWN]:
            values = self.of(layer)
            known = [value for value in values if value is not None]
            highest = max(known, key=lambda value: math.inf if math.isnan(value) else value, default=None)
            shown = "  ".join(f"{_short(value):>9}" for value in (values[0], values[-1], highest))
            lines.append(f"{layer:{width}}  {shown}")
        more = len(self.layers) - SHOWN
        return "\n".join(lines + ([f"… and {more} more layers"] if more > 0 else []))


def _short(value: float | None) -> str:
    return "none" if value is None else f"{value:.3g}"
