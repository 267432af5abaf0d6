"""Runs of neighbours that repeat, in one pass."""

from collections.abc import Sequence

LONGEST = 64  # neighbours in one block


def repeats(keys: Sequence[int]) -> list[tuple[int, int, int]]:
    """(start, length of one block, times) that cover the sequence; greedy, the shortest block first.

    Linear in the sequence for a bounded block: at each place the lengths up to LONGEST are tried, by the
    distance to the next equal key.
    """
    found, at, n = [], 0, len(keys)
    following = _next_equal(keys)
    while at < n:
        length, times = _block(keys, following, at)
        if length > 1 and times == 1:
            length = 1
        found.append((at, length, times))
        at += length * times
    return found


def _next_equal(keys: Sequence[int]) -> list[int]:
    """Where the same key comes next; the sequence's length where it does not."""
    last: dict[int, int] = {}
    following = [len(keys)] * len(keys)
    for i in reversed(range(len(keys))):
        following[i] = last.get(keys[i], len(keys))
        last[keys[i]] = i
    return following


def _block(keys: Sequence[int], following: list[int], at: int) -> tuple[int, int]:
    other = following[at]
    while other < len(keys) and (length := other - at) <= LONGEST:
        times = 1
        while _same(keys, at, at + times * length, length):
            times += 1
        if times > 1:
            return length, times
        other = following[other]
    return 1, 1


def _same(keys: Sequence[int], a: int, b: int, length: int) -> bool:
    return b + length <= len(keys) and all(keys[a + k] == keys[b + k] for k in range(length))
