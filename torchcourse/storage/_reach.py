"""Does a strided tensor touch an address? Decided by arithmetic, without walking its elements."""

from collections.abc import Sequence
from math import gcd

from ._lattice import Steps, merged


def reaches(address: int, size: Sequence[int], stride: Sequence[int], offset: int) -> bool:
    """Whether some index has offset + Σ index·stride == address (all in elements)."""
    if 0 in size:
        return False
    return _solve(address - offset, merged(size, stride)[::-1])


def _solve(rest: int, dims: Sequence[Steps]) -> bool:
    if not dims:
        return rest == 0
    if rest < 0 or rest % gcd(*(stride for stride, _ in dims)):
        return False
    (stride, size), inner = dims[0], dims[1:]
    inner_most = sum(s * (n - 1) for s, n in inner)
    first = max(0, -(-(rest - inner_most) // stride))
    return any(_solve(rest - i * stride, inner) for i in range(first, min(size - 1, rest // stride) + 1))
