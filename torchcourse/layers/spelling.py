"""Operators that PyTorch spells otherwise because a mode watches, put back as they run unwatched.

Under any dispatch mode ATen avoids in-place operators in some formulas and `_reshape_alias` in
`reshape` (it asks `isTensorSubclassLike`, aten/src/ATen/TensorSubclassLikeUtils.h). The rules
below undo the common ones: each says, for an operator under a node or operator, what stands there
when nothing watches. Formulas without a rule are listed as they ran.
"""

from collections.abc import Iterator
from dataclasses import replace

from .profile import FlatOperator
from .record import Record

# These make an alias with the new strides where the elements are not in one row.
RESHAPES = ("aten::reshape", "aten::flatten")
# The functional operator is a copy and the in-place one: what runs unwatched is the path's end.
INNER = {
    ("IndexBackward0", "aten::index_put"): ("aten::index_put_", "aten::_index_put_impl_"),
    ("MaskedSelectBackward0", "aten::masked_scatter"): ("aten::masked_scatter_",),
    ("TakeBackward0", "aten::put"): ("aten::put_",),
    ("Atan2Backward0", "aten::masked_fill"): ("aten::masked_fill_",),
    ("TraceBackward0", "aten::index_fill"): ("aten::index_fill_",),
    ("aten::value_selecting_reduction_backward", "aten::new_zeros"): (),
}
# The same kernel with and without a buffer of its own: name unwatched, and the child that goes.
RENAMED = {
    ("GatherBackward0", "aten::scatter_add"): ("aten::scatter_add_", "aten::copy_"),
    ("CummaxBackward0", "aten::scatter_add"): ("aten::scatter_add_", "aten::copy_"),
    ("CumminBackward0", "aten::scatter_add"): ("aten::scatter_add_", "aten::copy_"),
    ("IndexSelectBackward0", "aten::index_add"): ("aten::index_add_", "aten::copy_"),
    ("ClampBackward1", "aten::logical_and"): ("aten::logical_and_", "aten::empty"),
    ("aten::value_selecting_reduction_backward", "aten::scatter"): ("aten::scatter_", "aten::copy_"),
}

# Since 2.14 these call themselves once more when a mode watches.
TWICE = ("aten::to_dense",)


def respell(flat: list[FlatOperator], record: Record) -> list[FlatOperator]:
    """The same list where no rule applies, else a new one."""
    edit = _Edit(flat)
    for i, operator in enumerate(flat):
        if operator.name in TWICE and edit.owners(operator)[-1:] == (operator.name,):
            edit.gone.add(i)
        if operator.record is None:
            continue
        if operator.name == "aten::view":
            edit.alias(i, record.operators[operator.record].strided)
        for owner in edit.owners(operator):
            edit.apply(i, (owner, operator.name))
    return edit.result()


class _Edit:
    """Which operators go, which are lifted; applied at once in `result`."""

    def __init__(self, flat: list[FlatOperator]) -> None:
        self.flat = flat
        self.gone: set[int] = set()
        self.names: dict[int, str] = {}

    def owners(self, operator: FlatOperator) -> tuple[str, ...]:
        above = () if operator.parent is None else (self.flat[operator.parent].name,)
        return (operator.node, *above) if operator.node else above

    def alias(self, i: int, strided: bool) -> None:
        parent = self.flat[i].parent
        if strided and parent is not None and self.flat[parent].name in RESHAPES:
            self.names[i] = "aten::_reshape_alias"

    def apply(self, i: int, case: tuple[str, str]) -> None:
        if case[1] == "aten::new_zeros" and case in INNER:
            self.names[i] = "aten::zeros"
            self.gone.update(self.children(i, "aten::new_empty"))
        elif case in INNER:
            self.become(i, INNER[case])
        elif case in RENAMED:
            self.names[i], extra = RENAMED[case]
            for child in list(self.children(i, extra))[:1]:
                self.gone.update(self.subtree(child))

    def become(self, i: int, path: tuple[str, ...]) -> None:
        at = i
        for name in path:
            at = next(self.children(at, name), at)
        below = set(self.subtree(at)) - {at}
        self.gone.update(set(self.subtree(i)) - {i} - below)
        self.names[i] = path[-1]

    def children(self, i: int, name: str) -> Iterator[int]:
        return (j for j in self.subtree(i) if self.flat[j].parent == i and self.flat[j].name == name)

    def subtree(self, i: int) -> Iterator[int]:
        yield i
        for j in range(i + 1, len(self.flat)):
            if self.flat[j].depth <= self.flat[i].depth:
                return
            yield j

    def result(self) -> list[FlatOperator]:
        if not self.gone and not self.names:
            return self.flat
        kept = [i for i in range(len(self.flat)) if i not in self.gone]
        place = {old: new for new, old in enumerate(kept)}
        return [self._moved(i, place) for i in kept]

    def _moved(self, i: int, place: dict[int, int]) -> FlatOperator:
        operator = self.flat[i]
        above = list(self._above(i))
        lifted = sum(at in self.gone for at in above)
        parent = next((at for at in above if at not in self.gone), None)
        return replace(
            operator,
            name=self.names.get(i, operator.name),
            depth=operator.depth - lifted,
            parent=None if parent is None else place[parent],
            written=operator.written or self.names.get(i, "").endswith("_"),
        )

    def _above(self, i: int) -> Iterator[int]:
        at = self.flat[i].parent
        while at is not None:
            yield at
            at = self.flat[at].parent
