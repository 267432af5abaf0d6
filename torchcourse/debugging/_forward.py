"""Watches every operator of a run, and keeps the account of where each NaN and Inf came from.

The quick look at an operator's result is one sum. Only a result that is not finite is looked into: out of finite
operands it is a birth; otherwise it inherits. The account is by storage, and holds no tensor.
"""

from __future__ import annotations

import dataclasses
from bisect import bisect_left
from typing import Any, NamedTuple, Self

import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode

from torchcourse.autograd._torch import next_number
from torchcourse.layers.look import tensors_in
from torchcourse.layers.storages import storage_of
from torchcourse.layers.where import Modules

from . import _numbers
from ._kept import Kept
from ._lines import MODEL, Place, innermost
from ._operators import CONSTANT, MASKING, Kind, kind_of, kinds
from .data import Birth, Operand

_next_number = getattr(torch._C._autograd, "_get_sequence_nr", next_number)  # without a call in between

NOTES = 200_000  # operators whose place is kept for the backward


class Origin(NamedTuple):
    """Where what is not finite in a storage came from."""

    birth: Birth
    meant: bool  # an infinity that somebody wrote down, to mask with


class Forward(TorchDispatchMode):
    """While it is on, `births` fills in the order in which they happened."""

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False

    def __init__(self, kept: Kept, names: dict[int, tuple[str, str]], lines: bool = False) -> None:
        super().__init__()
        self.kept, self.names = kept, names
        self.modules = Modules(lambda: None, lambda: None)
        self.births: list[Birth] = []
        self.handled: set[int] = set()  # indices of births whose NaN was met by an operator that handles NaNs
        self._origins: dict[int, Origin] = {}
        self._unwritten: set[int] = set()
        self._count = 0
        self._numbers: list[int] = []
        self._places: list[tuple[int, Place]] = []
        self.start = next_number()  # of autograd's nodes
        self._last, self._grad = -1, torch.is_grad_enabled()
        self._lines = lines  # note the line of each node too

    def __enter__(self) -> Self:
        self.modules.start()
        return super().__enter__()

    def __exit__(self, *why: Any) -> None:
        super().__exit__(*why)
        self.modules.stop()

    def place_of(self, number: int) -> tuple[int, Place] | None:
        """The operator during which autograd made the node with this number: its index and its place."""
        at = bisect_left(self._numbers, number)
        return self._places[at] if at < len(self._numbers) else None

    def origin_of(self, tensor: Tensor) -> Origin | None:
        storage = storage_of(tensor)
        return None if storage is None else self._origins.get(storage._cdata)

    def reached(self, tensor: Tensor) -> Birth | None:
        """Whose NaN or Inf this result holds; None for an infinity that somebody meant."""
        origin = self.origin_of(tensor)
        if origin is None:
            role, own = self.names.get(_key(tensor), ("", ""))
            where = f"{role} {own}" if role else "a tensor that no operator made in this run"
            operand = _numbers.operand(own or "result", tensor)
            return Birth(
                "not-finite",
                _numbers.kind_of([tensor]),
                where,
                "none",
                (operand,),
                False,
                given=True,
                index=self._count,
            )
        return None if origin.meant else origin.birth

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kind = kinds.get(func) or kind_of(func)
        self._count += 1
        if self._grad and (number := _next_number()) != self._last:
            self._note_node(number)
        if kind.passes:
            return func(*args, **kwargs) if kwargs else func(*args)
        return self._watched(func, kind, args, kwargs or {})

    def _watched(self, func: Any, kind: Kind, args: Any, kwargs: Any) -> Any:
        if kind.handles and self._origins:
            self._meets_handler(kind, args, kwargs)
        if kind.draws:
            self._before_draw(args, kwargs)
        earlier = self._before_write(kind, args, kwargs) if kind.written else None
        result = func(*args, **kwargs)
        if type(result) is not Tensor:
            self._many(kind, args, kwargs, result, earlier)
            return result
        if kind.fresh:
            self._made(kind, result)
        if kind.looked_at and not _numbers.finite(result):
            self._judge(kind, args, kwargs, [result], earlier)
        return result

    def _note_node(self, number: int) -> None:
        """The node of this operator was made just before it runs."""
        self._last = number
        if len(self._numbers) < NOTES:
            self._numbers.append(number - 1)
            place = innermost(self.modules.path) if self._lines else Place(self.modules.path or MODEL)
            self._places.append((self._count, place))

    def _before_draw(self, args: Any, kwargs: Any) -> None:
        for value in (*args, *kwargs.values()):
            if isinstance(value, torch.Generator):
                self.kept.before_draw(value)

    def _before_write(self, kind: Kind, args: Any, kwargs: Any) -> Tensor | None:
        """Keep what is overwritten; a copy of the first argument where its numbers will be asked for."""
        for at, name in kind.written:
            for tensor in tensors_in((args[at] if at < len(args) else kwargs.get(name),)):
                self.kept.before_write(tensor)
        first = args[0] if args and kind.written[0][0] == 0 and not kind.harmless else None
        return first.clone() if isinstance(first, Tensor) and first.is_floating_point() else None

    def _made(self, kind: Kind, tensor: Tensor) -> None:
        try:
            key = tensor.untyped_storage()._cdata
        except (NotImplementedError, RuntimeError):
            return
        self.kept.made.add(key)
        if not kind.looked_at:
            self._unwritten.add(key)
            self._origins.pop(key, None)

    def _many(self, kind: Kind, args: Any, kwargs: Any, result: Any, earlier: Tensor | None) -> None:
        """An operator that returns several tensors, or writes several and returns nothing."""
        written = [args[at] if at < len(args) else kwargs.get(name) for at, name in kind.written]
        returned = tensors_in(result if isinstance(result, (tuple, list)) else (result,))
        if kind.fresh:
            for tensor in returned:
                self._made(kind, tensor)
        bad = [t for t in (*returned, *tensors_in(written)) if kind.looked_at and not _numbers.finite(t)]
        if bad:
            self._judge(kind, args, kwargs, bad, earlier)

    def _meets_handler(self, kind: Kind, args: Any, kwargs: Any) -> None:
        """`nan_to_num` and the like: whoever calls them knows of the NaN."""
        for _, value in _given(kind, args, kwargs, None):
            origin = (
                self.origin_of(value) if isinstance(value, Tensor) and value.is_floating_point() else None
            )
            if origin is not None:
                self.handled.add(origin.birth.index)

    # --- what is done about a result that is not finite -------------------------------------------------

    def _judge(self, kind: Kind, args: Any, kwargs: Any, bad: list[Tensor], earlier: Tensor | None) -> None:
        what = _numbers.kind_of(bad)
        given = _given(kind, args, kwargs, earlier)
        infected = [(name, t) for name, t in given if isinstance(t, Tensor) and not _numbers.finite(t)]
        origin = self._inherited(kind, infected, what) if infected else None
        if origin is None:
            origin = self._born(kind, given, what, meant=not infected and kind.short in CONSTANT)
        for tensor in bad:
            storage = storage_of(tensor)
            if storage is not None:
                self._origins[storage._cdata] = origin

    def _inherited(self, kind: Kind, infected: list[tuple[str, Tensor]], what: str) -> Origin | None:
        """The oldest thing that is wrong with an operand. None: it is this operator that made a NaN of a mask."""
        origins = [self.origin_of(t) or self._found(kind, name, t) for name, t in infected]
        wrong = [origin for origin in origins if not origin.meant]
        if wrong:
            return min(wrong, key=lambda origin: origin.birth.index)
        if what == "NaN" and all(_numbers.kind_of([t]) == "Inf" for _, t in infected):
            return None
        return origins[0] if what == "Inf" else origins[0]._replace(meant=False)

    def _found(self, kind: Kind, name: str, tensor: Tensor) -> Origin:
        """An operand that came in bad: a parameter, an input, memory that nothing wrote."""
        storage = storage_of(tensor)
        key = -1 if storage is None else storage._cdata
        role, own = self.names.get(key, ("", ""))
        what = _numbers.kind_of([tensor])
        operand = _numbers.operand(f"{role} {own}" if role else name, tensor)
        if key in self._unwritten:
            birth = dataclasses.replace(self._birth(kind, (operand,), what), operator="aten::empty")
            origin = Origin(birth, meant=False)
        else:
            where = f"{role} {own}" if role else "a tensor that no operator made in this run"
            meant = (
                what == "Inf"
                and role != "parameter"
                and kind.short in MASKING
                and operand.max != float("inf")
            )
            birth = dataclasses.replace(self._birth(kind, (operand,), what), where=where, given=True)
            origin = Origin(birth, meant)
        if not origin.meant and key not in self._origins:
            self.births.append(origin.birth)
        self._origins[key] = origin
        return origin

    def _born(self, kind: Kind, given: list[tuple[str, Any]], what: str, meant: bool) -> Origin:
        operands = tuple(_numbers.operand(self._named(n, v), v) for n, v in given if _tells(n, v))
        birth = self._birth(kind, operands, what)
        if not meant:
            self.births.append(birth)
        return Origin(birth, meant)

    def _birth(self, kind: Kind, operands: tuple[Operand, ...], what: str) -> Birth:
        place = innermost(self.modules.path)
        return Birth("not-finite", what, place.module, kind.name, operands, False, place.line, place.source,
                     index=self._count)  # fmt: skip

    def _named(self, name: str, value: Any) -> str:
        _, own = self.names.get(_key(value) if isinstance(value, Tensor) else -1, ("", ""))
        return f"{name} ({own})" if own else name


def names_of(model: Any, inputs: list[Tensor]) -> dict[int, tuple[str, str]]:
    """Storage -> what it is and its name: of parameters, buffers and inputs."""
    found = [("input", str(number), t) for number, t in enumerate(inputs)]
    if isinstance(model, nn.Module):
        found += [("buffer", name, b) for name, b in model.named_buffers()]
        found += [("parameter", name, p) for name, p in model.named_parameters()]
    named = {}
    for role, name, tensor in found:
        storage = storage_of(tensor)
        if storage is not None:
            named[storage._cdata] = (role, name)
    return named


def _given(kind: Kind, args: Any, kwargs: Any, earlier: Tensor | None) -> list[tuple[str, Any]]:
    """Name and value of each operand; of a list, its tensors. What is overwritten unread is none."""
    values = [*zip(kind.arguments, args, strict=False), *kwargs.items()]
    if kind.written and values and kind.written[0][0] == 0:
        name, first = values.pop(0)
        if not kind.overwrites:
            values.insert(0, (name, first if earlier is None else earlier))
    if not any(name == kind.arguments[0] for name, _ in values):
        values = [(n, v) for n, v in values if n != "out"]
    return [pair for name, value in values if name != "out" for pair in _spread(name, value)]


def _spread(name: str, value: Any) -> list[tuple[str, Any]]:
    if isinstance(value, (list, tuple)) and any(isinstance(v, Tensor) for v in value):
        return [(f"{name}[{k}]", v) for k, v in enumerate(value) if isinstance(v, Tensor)]
    return [(name, value)]


def _tells(name: str, value: Any) -> bool:
    """Whether a value explains anything: tensors, and numbers that are no size and no flag."""
    if isinstance(value, Tensor):
        return True
    return (
        isinstance(value, (int, float, complex))
        and not isinstance(value, bool)
        and name not in ("dim", "dtype", "layout")
    )


def _key(tensor: Tensor) -> int:
    storage = storage_of(tensor)
    return -1 if storage is None else storage._cdata
