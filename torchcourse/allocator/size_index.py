"""A sorted set of whole numbers that never shifts or searches a list: a tree of bit masks.

Bit k of a word says that the number is in the set (lowest level), or that the word below it is not
empty. Adding, removing and finding the next member each touch at most one word in each level, however
many members there are.
"""

_BITS = 10
_MASK = (1 << _BITS) - 1
_BIT = tuple(1 << place for place in range(_MASK + 1))
_LEVELS = 6  # numbers below 2**60


class SizeIndex:
    """A set of non-negative whole numbers with `next_from`, the smallest member not below a number."""

    __slots__ = ("_levels", "_members")

    def __init__(self) -> None:
        self._levels: list[dict[int, int]] = [{} for _ in range(_LEVELS)]
        self._members = self._levels[0]

    def add(self, number: int) -> None:
        """Put `number` in; it may be there already."""
        for words in self._levels:
            bit, number = _BIT[number & _MASK], number >> _BITS
            word = words.get(number, 0)
            words[number] = word | bit
            if word:
                return

    def remove(self, number: int) -> None:
        """Take `number` out, which must be in."""
        for words in self._levels:
            bit, number = _BIT[number & _MASK], number >> _BITS
            word = words[number] ^ bit
            if word:
                words[number] = word
                return
            del words[number]

    def next_from(self, number: int) -> int:
        """The smallest member that is at least `number`; -1 when there is none."""
        word = self._members.get(number >> _BITS, 0) >> (number & _MASK)
        if word:
            return number + (word & -word).bit_length() - 1
        return self._climb(number)

    def _climb(self, number: int) -> int:
        """Go up until a word has a later bit, then down along the lowest bits."""
        for level in range(1, _LEVELS):
            number = (number >> _BITS) + 1
            word = self._levels[level].get(number >> _BITS, 0) >> (number & _MASK)
            if word:
                number += _lowest(word)
                for words in reversed(self._levels[:level]):
                    number = (number << _BITS) + _lowest(words[number])
                return number
        return -1


def _lowest(word: int) -> int:
    return (word & -word).bit_length() - 1
