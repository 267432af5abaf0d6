"""`cuts(function, *args)`: where the gradient is cut, by which call, and who gets none because of it."""

import inspect
import linecache
import sys
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass, replace
from types import FrameType
from typing import Any, Literal

import torch
from torch import Tensor, nn

from torchcourse.autograd.names import Names, outputs

from . import _torch, cuts_text
from .build import _public_name
from .flow import Flow, FlowWatch, RawCut
from .passing import EXITS, flat
from .seen import GENERATOR
from .where import file_of

Effect = Literal["cuts off", "one way of several", "left to Python", "not used"]
EFFECTS: tuple[Effect, ...] = ("cuts off", "one way of several", "left to Python", "not used")
NAMELESS = "(no name)"
PARTLY = (
    "Some calls were not seen (torch.func, a fast path under no_grad, or more than fit the record): "
    "values that went through them are not followed."
)


@dataclass(frozen=True, slots=True)
class Cut:
    """One place where a tensor with a gradient went in and a value without one came out.

    effect: "cuts off": some leaf gets no gradient from the output, and its way ends here; "one way of
    several": the output is computed from this value too, and all leaves behind it are reached otherwise;
    "left to Python": it became a number or an array and was not seen to come back; "not used": the
    output is not computed from it (a mask for printing, an optimizer's step).
    """

    cause: str  # "detach()", "no_grad", ".item()", "a bool result", "slope 0"
    call: str  # "torch.Tensor.detach"
    operator: str | None  # the last ATen operator it ran, "aten::detach"; None for `.data`
    line: int | None
    source: str  # that line
    module: str | None
    given: tuple[str, ...]  # names of the tensors with a gradient that went in, where known
    effect: Effect
    leaves: tuple[str, ...] = ()  # what it cuts off
    times: int = 1

    @property
    def selects(self) -> bool:
        """A mask or an index: it has no slope, and mostly needs none."""
        return self.cause in ("a bool result", "an integer result")


@dataclass(frozen=True, slots=True)
class Leaf:
    """A tensor that could get a gradient. why: "" where it is reached, "cut off", or "not used"."""

    name: str
    shape: tuple[int, ...]
    why: str = ""

    @property
    def reached(self) -> bool:
        return not self.why


@dataclass(frozen=True, repr=False)
class Cuts:
    """What `cuts` found; `str()` is the text twin. `cuts`: the ones that matter first."""

    cuts: tuple[Cut, ...]
    leaves: tuple[Leaf, ...]
    notes: tuple[str, ...] = ()

    @property
    def unreached(self) -> tuple[Leaf, ...]:
        return tuple(leaf for leaf in self.leaves if leaf.why)

    def __iter__(self) -> Iterator[Cut]:
        return iter(self.cuts)

    def __str__(self) -> str:
        return cuts_text.text(self)

    __repr__ = __str__


def cuts(function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Cuts:
    """Call `function(*args, **kwargs)` once, and tell where the gradient of what it returns is cut.

    Outputs are the tensors that it returns, those with a gradient if there are any, and those that it calls
    `backward` on. Names come from the function, its arguments and your variables. It changes no value,
    gradient or random state and keeps nothing. When the function raises, the error goes on to you with what
    had happened as `error.cuts`. TypeError: `function` is no function.

    A number that went through Python's own arithmetic is not recognised when it comes back. See
    https://docs.pytorch.org/docs/stable/notes/autograd.html#locally-disabling-gradient-computation
    """
    if not callable(function):
        raise TypeError(
            f"cuts takes the function to run, then its arguments: cuts(fn, x); "
            f"it was given {type(function).__name__}."
        )
    frame = sys._getframe(1)
    file = file_of(function) or frame.f_code.co_filename
    given = _given(function, args, kwargs)
    watch = FlowWatch({file}, frame, _names(given, frame))
    watch.start()
    try:
        result = function(*args, **kwargs)
    except BaseException as error:
        watch.stop()
        error.cuts = _build(watch, given, None, file)  # type: ignore[attr-defined]
        raise
    watch.stop()
    found = _build(watch, given, result, file)
    if isinstance(result, Generator):
        note = GENERATOR.format(name=getattr(function, "__name__", "The function"))
        found = replace(found, notes=(*found.notes, note))
    return found


def _given(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Modules and tensors that the function has: itself, its object, what it closes over, its arguments."""
    found: dict[str, Any] = {}
    if isinstance(function, nn.Module):
        found[""] = function
        function = function.forward
    elif isinstance(owner := getattr(function, "__self__", None), nn.Module):
        found[""] = owner
    code, cells = getattr(function, "__code__", None), getattr(function, "__closure__", None) or ()
    closed = dict(zip(code.co_freevars, cells, strict=False)) if code else {}
    found |= {name: cell.cell_contents for name, cell in closed.items() if _is_filled(cell)}
    found |= _arguments(function, args, kwargs)
    return {name: value for name, value in found.items() if isinstance(value, (nn.Module, Tensor))}


def _arguments(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    try:
        return dict(inspect.signature(function).bind_partial(*args, **kwargs).arguments)
    except (TypeError, ValueError):  # a call that will fail by itself, or a builtin
        return kwargs


def _is_filled(cell: Any) -> bool:
    try:
        return cell.cell_contents is not None
    except ValueError:
        return False


def _handed(given: dict[str, Any]) -> Iterator[Tensor]:
    for value in given.values():
        yield from value.parameters() if isinstance(value, nn.Module) else (value,)


def _names(given: dict[str, Any], frame: FrameType) -> list[Names]:
    """Where to look for a name, in order: a module's own (`0.weight`), what the function has, variables."""
    own, others = given.get(""), {name: value for name, value in given.items() if name}
    with _torch.quiet():
        return [*([] if own is None else [Names(own, None)]), Names(others, None), Names(None, frame)]


def _build(watch: FlowWatch, given: dict[str, Any], result: Any, file: str) -> Cuts:
    with _torch.quiet():
        _ask_result(watch.flow, result)
        return _Builder(watch, file).cuts(given)


def _ask_result(flow: Flow, result: Any) -> None:
    try:
        tensors = [asked.tensor for asked in outputs((result,)) if asked.tensor is not None]
    except (TypeError, ValueError):  # no tensor in it
        return
    with_gradient = [tensor for tensor in tensors if tensor.requires_grad]
    if with_gradient or not flow.outputs:
        flow.ask(with_gradient or tensors)


class _Builder:
    """From the flow to plain data. used: values that the output is computed from."""

    def __init__(self, watch: FlowWatch, file: str) -> None:
        self.watch, self.flow, self.file = watch, watch.flow, file
        # The last operator of each call made what came out.
        self.operators = {o.call: o.name for o in watch.record.operators if o.call is not None}
        self.ends = {raw.value for raw in self.flow.cuts}  # a leaf behind two of them is the first one's
        self.used = self.flow.cone(self.flow.asked)
        self.left = self.flow.cone(self.flow.exits)
        self.lost = (self.used & self.flow.sources.keys()) - self.flow.reached

    def cuts(self, given: dict[str, Any]) -> Cuts:
        found = _merged(self._cut(raw) for raw in self.flow.cuts)
        found.sort(key=lambda cut: (EFFECTS.index(cut.effect), cut.selects))
        notes = [] if self.flow.outputs else [cuts_text.NOTHING]
        notes += [PARTLY] if self.flow.partly else []
        return Cuts(tuple(found), self._leaves(given), tuple(notes))

    def _cut(self, raw: RawCut) -> Cut:
        call, cut_off = self.watch.record.calls[raw.call], self._cut_off(raw.value)
        cause = _cause(raw)
        source = linecache.getline(self.file, call.line).strip() if call.line else ""
        return Cut(
            cause, _public_name(raw.func).removesuffix(".__get__"),
            None if cause == ".data" else self.operators.get(raw.call),  # its detach is for the mode alone
            call.line, source, call.module, raw.given, self._effect(raw.value, bool(cut_off)), cut_off,
        )  # fmt: skip

    def _cut_off(self, value: int) -> tuple[str, ...]:
        if value not in self.used:
            return ()
        behind = sorted(self.flow.cone([value], self.ends) & self.lost)
        return tuple(dict.fromkeys(self.flow.sources[source].name or NAMELESS for source in behind))

    def _effect(self, value: int, cuts_off: bool) -> Effect:
        if value in self.used:
            return "cuts off" if cuts_off else "one way of several"
        return "left to Python" if value in self.left else "not used"

    def _leaves(self, given: dict[str, Any]) -> tuple[Leaf, ...]:
        """Those that the output is computed from, then those that were handed over and are not used."""
        leaves: dict[int, Leaf] = {}
        for value in sorted(self.used & self.flow.sources.keys()):
            source = self.flow.sources[value]
            why = "cut off" if value in self.lost else ""
            leaves[id(source.tensor)] = _leaf(source.tensor, source.name, why)
        for tensor in _handed(given) if self.flow.outputs and not self.flow.partly else ():
            if tensor.requires_grad and id(tensor) not in leaves:
                leaves[id(tensor)] = _leaf(tensor, self.flow.name(tensor), "not used")
        return tuple(leaves.values())


def _leaf(tensor: Tensor, name: str, why: str) -> Leaf:
    return Leaf(name or NAMELESS, () if tensor.is_nested else tuple(tensor.shape), why)


def _cause(raw: RawCut) -> str:
    """The most telling reason first: a comparison under no_grad is a comparison."""
    if raw.func in EXITS:
        return EXITS[raw.func]
    if (spelled := _SPELLED.get(raw.func)) is not None:
        return spelled
    if raw.dtype is torch.bool:
        return "a bool result"
    if raw.dtype is not None and not (raw.dtype.is_floating_point or raw.dtype.is_complex):
        return "an integer result"
    if raw.mode is not None:
        return raw.mode
    return "slope 0" if flat(raw.func) else "not differentiable"


_SPELLED: dict[Any, str] = {
    Tensor.detach: "detach()",
    Tensor.detach_: "detach_()",
    getattr(Tensor, "data").__get__: ".data",  # noqa: B009 - as a descriptor, which the stubs don't tell
    torch.detach: "detach()",
    torch.tensor: "torch.tensor(…)",
    torch.autograd.grad: "grad() without create_graph",
}


def _merged(found: Iterable[Cut]) -> list[Cut]:
    """The same call at the same place, once: in a loop it counts."""
    merged: dict[Any, Cut] = {}
    for cut in found:
        key = replace(cut, times=0)
        merged[key] = replace(key, times=merged[key].times + 1 if key in merged else 1)
    return list(merged.values())
