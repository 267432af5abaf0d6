"""How many addresses do strides reach, and how often each? Counted by arithmetic, not by walking."""

from collections.abc import Sequence
from math import gcd, prod

import numpy as np

Steps = tuple[int, int]  # (stride, size) of one dimension; stride > 0, size > 1

# Three dimensions or more that overlap each other are counted on a line of at most this many slots.
LONGEST_LINE = 1 << 16


def steps_of(size: Sequence[int], stride: Sequence[int]) -> tuple[Steps, ...]:
    """The dimensions that lead to further addresses, smallest stride first."""
    return tuple(sorted((s, n) for n, s in zip(size, stride, strict=True) if n > 1 and s > 0))


def merged(size: Sequence[int], stride: Sequence[int]) -> tuple[Steps, ...]:
    """Fewer dimensions that reach the same addresses: where one's steps continue another's, they are one."""
    joined: list[Steps] = []
    for step, n in steps_of(size, stride):
        if joined and step % joined[-1][0] == 0 and step // joined[-1][0] <= joined[-1][1]:
            smaller, m = joined.pop()
            joined.append((smaller, m + step // smaller * (n - 1)))
        else:
            joined.append((step, n))
    return tuple(joined)


def spread(size: Sequence[int], stride: Sequence[int]) -> tuple[int, int] | None:
    """(distinct addresses, how often the most read one is read), in O(dimensions).

    None where three dimensions or more overlap each other over more than LONGEST_LINE addresses.
    """
    if 0 in size:
        return 0, 0
    counts = [_count(group) for group in _groups(steps_of(size, stride))]
    if None in counts:
        return None
    known = [count for count in counts if count is not None]
    expanded = prod(n for n, s in zip(size, stride, strict=True) if s == 0)
    return prod(distinct for distinct, _ in known), expanded * prod(times for _, times in known)


def reached(size: Sequence[int], stride: Sequence[int], offset: int) -> tuple[int, ...]:
    """All distinct addresses, ascending. For few of them: time and memory grow with their number."""
    if 0 in size:
        return ()
    addresses = {offset}
    for step, n in merged(size, stride):
        addresses = {a + i * step for a in addresses for i in range(n)}
    return tuple(sorted(addresses))


def _groups(steps: Sequence[Steps]) -> list[list[Steps]]:
    """Groups of dimensions whose sums can't meet those of another group.

    The steps of a group are multiples of its gcd; where that is longer than all smaller dimensions
    together reach, no sum of theirs carries from one multiple to the next.
    """
    groups: list[list[Steps]] = []
    for step in steps:
        groups.append([step])
        while len(groups) > 1 and _divisor(groups[-1]) <= sum(map(_reach, groups[:-1])):
            last = groups.pop()
            groups[-1] += last
    return groups


def _divisor(group: Sequence[Steps]) -> int:
    return gcd(*(s for s, _ in group))


def _reach(group: Sequence[Steps]) -> int:
    return sum(s * (n - 1) for s, n in group)


def _count(group: Sequence[Steps]) -> tuple[int, int] | None:
    if len(group) == 1:
        return group[0][1], 1
    if len(group) == 2:
        return _pair(group)
    unit = _divisor(group)
    length = _reach(group) // unit + 1
    return None if length > LONGEST_LINE else _line([(s // unit, n) for s, n in group], length)


def _pair(group: Sequence[Steps]) -> tuple[int, int]:
    """Two dimensions: i·a + j·b is the same again at (i + b, j - a), for a and b without common divisor."""
    unit = _divisor(group)
    (a, n), (b, m) = ((s // unit, size) for s, size in group)
    return n * m - max(n - b, 0) * max(m - a, 0), min(-(-n // b), -(-m // a))


def _line(group: Sequence[Steps], length: int) -> tuple[int, int]:
    """Any number of dimensions: how often each slot of a line is reached, dimension by dimension."""
    often = np.zeros(length, dtype=np.int64)
    often[0] = 1
    for step, n in group:
        rows = -(-length // step)
        sums = np.pad(often, (0, rows * step - length)).reshape(rows, step).cumsum(axis=0)
        sums[n:] -= sums[:-n].copy()  # of all earlier slots `step` apart, the last n
        often = sums.ravel()[:length]
    return int(np.count_nonzero(often)), int(often.max())
