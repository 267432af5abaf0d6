"""Numbers over the events as paths: at most two points for each px, so that a peak is never lost."""

from __future__ import annotations

from collections.abc import Sequence

from .geometry import Layout


def line(values: Sequence[int], plan: Layout) -> str:
    """A path through the values, as steps."""
    points = _points(values, plan)
    return f"M0 {points[0][1]:g}" + "".join(f"H{x:g}V{y:g}" for x, y in points[1:]) + f"H{plan.width}"


def area(values: Sequence[int], plan: Layout) -> str:
    """The same, closed along the axis."""
    return f"{line(values, plan)}V{plan.bottom}H0z"


def _points(values: Sequence[int], plan: Layout) -> list[tuple[float, float]]:
    high, last = plan.bottom - plan.top, max(len(values) - 1, 1)
    thinned = _thinned(values, plan.width)
    return [
        (round(k / last * plan.width, 1), round(plan.bottom - high * value / plan.most, 1))
        for k, value in thinned
    ]


def _thinned(values: Sequence[int], width: int) -> list[tuple[int, int]]:
    """(place, value): where several values share a px, its smallest and its largest one."""
    stride = -(-len(values) // width)
    if stride == 1:
        return [(k, v) for k, v in enumerate(values) if k in (0, len(values) - 1) or v != values[k - 1]]
    kept = []
    for start in range(0, len(values), stride):
        places = range(start, min(start + stride, len(values)))
        ends = {min(places, key=values.__getitem__), max(places, key=values.__getitem__)}
        kept += [(k, values[k]) for k in sorted(ends)]
    return kept
