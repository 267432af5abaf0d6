"""Which cells of a large tensor are shown: the first and the last of each dimension."""

from itertools import pairwise

LINE = 80  # characters that one line of cells may take
ROWS, BLOCKS = 10, 4  # at most, of one matrix; of matrices along one outer dimension
PLACES = 8  # of a longer row or column, the fold's own mark included: two folded matrices fit side by side
STRIP, STRIP_PLACES = 64, 40  # elements of a storage; of a longer one


def fold(size: tuple[int, ...], characters: int) -> tuple[tuple[int, ...], ...]:
    """The indices shown in each dimension, for values of this many characters.

    One or two dimensions are rows and columns; a third and a fourth are blocks of matrices.
    """
    columns = max(3, LINE // (max(characters, 3) + 2))
    limits: tuple[int, ...] = (ROWS, columns)
    if len(size) > 2:
        # Blocks stand side by side, so each gets its share of the line.
        beside = max(1, min(size[-3], BLOCKS))
        limits = (3, BLOCKS, 6, max(3, columns // beside))
    return tuple(shown(n, limit) for n, limit in zip(size, limits[len(limits) - len(size) :], strict=True))


def shown(n: int, limit: int) -> tuple[int, ...]:
    """0 … n-1, or the first and last of them where there are more than `limit`."""
    if n <= limit:
        return tuple(range(n))
    places = min(limit, PLACES)
    tail = max(1, (places - 1) // 3)  # more of the beginning is kept than of the end
    return (*range(places - 1 - tail), *range(n - tail, n))


def elements_shown(count: int, wanted: set[int]) -> tuple[int, ...]:
    """The elements of a storage that are shown: all, or those of the shown cells and both ends."""
    if count <= STRIP:
        return tuple(range(count))
    chosen = sorted(e for e in {*wanted, 0, count - 1} if 0 <= e < count)
    if len(chosen) > STRIP_PLACES:
        tail = STRIP_PLACES // 4
        chosen = chosen[: STRIP_PLACES - tail] + chosen[-tail:]
    # A fold of a single element would be as wide as the element.
    alone = {a + 1 for a, b in pairwise(chosen) if b - a == 2}
    return tuple(sorted({*chosen, *alone}))
