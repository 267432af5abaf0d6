"""Renamed layers: the same shapes in the same order under other names, and when that is sure.

Equal shapes can't tell two layers apart, so the order alone is not believed: a rename is sure where one and the
same piece of all names changed, or where the shapes admit no other way to pair them.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

from torchcourse.checkpoints.errors import some
from torchcourse.checkpoints.held import Names, Shapes

Pair = tuple[str, str]
Piece = tuple[tuple[str, ...], tuple[str, ...]]


def align(ours: Shapes, theirs: Shapes, names: Names) -> Names:
    """Rename what moved, where that is sure; otherwise say at most that a rename is likely."""
    pairs = list(zip(names.raw, ours, strict=False))
    file = {name: theirs[raw] for name, raw in names.raw.items()}
    moved = [(old, new) for old, new in pairs if old != new]
    if len(file) != len(ours) or not moved or not all(_alike(pair, file, ours) for pair in pairs):
        return names
    pieces = {_piece(pair) for pair in moved}
    arrows = some(
        [f"{'.'.join(old) or '(nothing)'} → {'.'.join(new) or '(nothing)'}" for old, new in sorted(pieces)]
    )
    if _is_sure(moved, pieces, file, ours):
        return names.moved(dict(moved), f"Renamed, with the same shapes in the same order: {arrows}.")
    said = (
        f"The shapes agree one by one in their order, so layers may have been renamed ({arrows}); but several have "
        "the same shapes, so which is which can't be told from the file. Map them by hand."
    )
    return replace(names, said=(*names.said, said), unsure=True)


def _alike(pair: Pair, file: Shapes, ours: Shapes) -> bool:
    """The same shape under the same last word: a weight never becomes a bias."""
    old, new = pair
    same_word = old.rpartition(".")[2] == new.rpartition(".")[2]
    return same_word and file[old].shape is not None and file[old].shape == ours[new].shape


def _piece(pair: Pair) -> Piece:
    """What differs between two names, without what they share before and after."""
    (_, old, _), (_, new, _) = _cut(pair)
    return old, new


def _cut(pair: Pair) -> tuple[tuple[tuple[str, ...], ...], tuple[tuple[str, ...], ...]]:
    old, new = (tuple(name.split(".")) for name in pair)
    after = 0
    while after < min(len(old), len(new)) and old[-1 - after] == new[-1 - after]:
        after += 1
    before = 0
    while before < min(len(old), len(new)) - after and old[before] == new[before]:
        before += 1
    halves = [(n[:before], n[before : len(n) - after], n[len(n) - after :]) for n in (old, new)]
    return halves[0], halves[1]


def _is_sure(moved: list[Pair], pieces: set[Piece], file: Shapes, ours: Shapes) -> bool:
    crossing = [old for old, _ in moved if old in ours]  # the model has this name too, for something else
    if any(ours[old].fits(file[old]) for old in crossing):
        return False
    if len(pieces) == 1 and not crossing:
        return True
    groups: dict[Piece, list[tuple[object, ...]]] = defaultdict(list)
    for pair in moved:
        before, _, after = _cut(pair)[0]
        groups[_piece(pair)].append((before, after, file[pair[0]].shape))
    looks = [tuple(sorted(group, key=repr)) for group in groups.values()]
    return len(set(looks)) == len(looks)
