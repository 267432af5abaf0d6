"""What an operator or a line did to storages, in the few words of a chip."""

from collections.abc import Sequence

from torchcourse.layers import Output, Row, Trace

from .items import Chip
from .names import storage_names

ROLES = {"new": "base", "view": "view", "in-place": "now"}
_ALONE = {"new": "new storage", "view": "view", "in-place": "in place"}
_ONE = {"new": "1 new", "view": "1 view", "in-place": "1 in place"}
_MANY = {"new": "new", "view": "views", "in-place": "in place"}
_WHOSE = {"view": "view of", "in-place": "in place on"}


class Marks:
    """The chips of one trace. `.names` holds what the code calls its storages."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.names = storage_names(trace)
        self._made = {
            output.storage: i
            for i, operator in enumerate(trace.operators)
            for output in operator.outputs
            if output.kind == "new" and output.nbytes
        }

    def of_operator(self, i: int) -> tuple[Chip, ...]:
        """One chip for each kind among its outputs."""
        operator = self.trace.operators[i]
        found: dict[str, list[Output]] = {}
        for output in operator.outputs:
            found.setdefault(output.kind, []).append(output)
        return tuple(self._chip(kind, outputs, operator.line) for kind, outputs in found.items())

    def _chip(self, kind: str, outputs: list[Output], line: int | None) -> Chip:
        if len(outputs) > 1:
            return Chip(ROLES[kind], f"{len(outputs):,} {_MANY[kind]}")
        if kind == "new":
            return Chip("base", "new storage" if outputs[0].nbytes else "new, 0 bytes")
        whose = self._whose(outputs[0].storage, line)
        return Chip(ROLES[kind], f"{_WHOSE[kind]} {whose}" if whose else _ALONE[kind])

    def _whose(self, storage: int | None, line: int | None) -> str:
        """What to call a storage on this line: the operator that made it here, or its variable."""
        if storage is None:
            return ""
        maker = self._made.get(storage)
        if maker is not None and self.trace.operators[maker].line == line:
            return f"the {self.trace.operators[maker].name.rpartition('::')[2]}"
        return self.names.get(storage, "")

    def of_line(self, row: Row, places: Sequence[int]) -> tuple[Chip, ...]:
        """One chip a kind, the most telling kind first; its words say more where they are the first."""
        counts = {"in-place": row.in_place, "new": row.new, "view": row.views}
        chips: list[Chip] = []
        for kind, count in counts.items():
            if count > 1:
                chips.append(Chip(ROLES[kind], f"{count:,} {_MANY[kind]}"))
            elif count:
                chips.append(Chip(ROLES[kind], _ONE[kind]) if chips else self._the_one(kind, places))
        return tuple(chips)

    def _the_one(self, kind: str, places: Sequence[int]) -> Chip:
        outputs = ((i, o) for i in places for o in self.trace.operators[i].outputs)
        i = next(i for i, output in outputs if output.kind == kind)
        return next(chip for chip in self.of_operator(i) if chip.role == ROLES[kind])
