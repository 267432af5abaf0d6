"""Two modes that watch while the block runs: one for calls of the Python front, one for operators.

They only append to lists; what the lists mean is worked out after the block (`build.py`).
"""

import os
import weakref
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from types import FrameType
from typing import Any

import torch
from torch import Tensor
from torch._ops import OpOverload
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from . import _torch
from .events import Output
from .look import Schema, inputs_of, outputs_of, schema_of, tensors_in
from .nodes import Nodes
from .storages import Storages
from .where import Lines, Modules

# Calls and operators that one xray notes; the rest runs unwatched. The profiler keeps about 1.2 kB an
# event and a note stands for up to five of them, so this is what fits into 1 GiB.
LIMIT = 60_000
# Asking a tensor for these runs no operator and records no node.
QUIET = frozenset(
    getattr(Tensor, name).__get__
    for name in ("shape", "dtype", "device", "layout", "requires_grad", "grad_fn", "is_leaf", "ndim")
) | {Tensor.size, Tensor.dim, Tensor.stride, Tensor.numel, Tensor.__len__, Tensor.is_contiguous}

MANY = 1024  # weak references kept before those to tensors that are gone are dropped

_ids = count()


@dataclass(slots=True)
class RawCall:
    func: Any
    line: int | None
    module: str | None
    finished: bool = False
    why_no_node: str | None = None


@dataclass(slots=True)
class RawOperator:
    name: str
    line: int | None
    module: str | None
    call: int | None
    finished: bool = False
    inputs: tuple[int, ...] = ()
    outputs: tuple[Output, ...] = ()
    strided: bool = False  # its first input is a tensor whose elements are not in one row
    copied: tuple[torch.device, int] | None = None  # from which device, bytes
    blocking: bool = True


@dataclass(slots=True)
class Record:
    """All that was noted, in order."""

    calls: list[RawCall] = field(default_factory=list)
    operators: list[RawOperator] = field(default_factory=list)
    skipped: int = 0

    def full(self) -> bool:
        return len(self.calls) + len(self.operators) >= LIMIT


class Watch:
    """One xray at work: both modes, the module hooks, and what they noted."""

    def __init__(self, files: set[str], home: FrameType | None) -> None:
        self.id = next(_ids)
        self.record = Record()
        self.lines = Lines(files, home)
        self.storages = Storages()
        self.nodes = Nodes(_torch.next_node_number())
        self.modules = Modules(self._hide_calls, self._show_calls)
        self.calls, self.operators = Calls(self), Operators(self)
        self.open_call: int | None = None
        self.when_full: Callable[[], object] = lambda: None
        self._process = os.getpid()
        self._hidden: list[bool] = []
        self._later: list[weakref.ref[Tensor]] = []

    def start(self) -> None:
        self.modules.start()
        self.calls.__enter__()
        self.operators.__enter__()

    def stop(self) -> None:
        """Leave nothing behind, whatever the block did to the modes."""
        _torch.take_off_dispatch_mode(self.operators)
        _torch.take_off_function_mode(self.calls)
        self.modules.stop()
        self.look_back()
        self.storages.close()
        self.lines.close()

    def elsewhere(self) -> bool:
        """In a forked process (a DataLoader's worker) nobody will read the record; or it is full."""
        if self.record.full():
            self.when_full()
            return True
        return os.getpid() != self._process

    def _hide_calls(self) -> None:
        # A function mode switches the fast path of these modules off; so ours steps aside.
        self._hidden.append(_torch.take_off_function_mode(self.calls))

    def _show_calls(self) -> None:
        if self._hidden and self._hidden.pop():
            _torch.put_on_function_mode(self.calls)

    def look_at(self, tensors: Any) -> bool:
        """Collect the nodes behind these tensors; True when one was new."""
        new = False
        for tensor in tensors:
            if tensor.requires_grad and (node := tensor.grad_fn) is not None and self.nodes.is_new(node):
                with _torch.quiet():
                    new |= self.nodes.collect(node)
        return new

    def look_later(self, tensors: list[Tensor]) -> None:
        """What `forward` of an own autograd.Function returns gets its node after we have looked."""
        self._later += [weakref.ref(t) for t in tensors if not t.requires_grad]
        if len(self._later) > MANY:
            self._later = [ref for ref in self._later if ref() is not None]

    def look_back(self) -> None:
        with _torch.unwatched():
            self.look_at([tensor for ref in self._later if (tensor := ref()) is not None])
        self._later.clear()


class Calls(TorchFunctionMode):
    """Notes each call of PyTorch's Python front, and the nodes behind what it returns."""

    def __init__(self, watch: Watch) -> None:
        super().__init__()
        self.watch = watch
        self.mark = _torch.mark("call", watch.id)

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        watch, kwargs = self.watch, kwargs or {}
        if func in QUIET or watch.elsewhere():
            return func(*args, **kwargs)
        call = RawCall(func, watch.lines.now(), watch.modules.path)
        watch.record.calls.append(call)
        watch.open_call = len(watch.record.calls) - 1
        try:
            with self.mark:
                result = func(*args, **kwargs)
        finally:
            watch.open_call = None
        call.finished = True
        with _torch.unwatched():
            self._note(call, result, args, kwargs)
        return result

    def _note(self, call: RawCall, result: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        given = tensors_in((*args, *kwargs.values()) if kwargs else args)
        returned = tensors_in((result,))
        new = self.watch.look_at(returned)
        new |= self.watch.look_at(given)  # y[0] = x returns nothing and gives y a new node
        if not new and returned:
            call.why_no_node = _why_no_node(given)
            self.watch.look_later(returned)


def _why_no_node(given: list[Tensor]) -> str | None:
    if torch.is_inference_mode_enabled():
        return "inference_mode"
    if not torch.is_grad_enabled():
        return "no_grad"
    if not any(tensor.requires_grad for tensor in given):
        return "no input requires grad"
    return "detached or not differentiable"


class Operators(TorchDispatchMode):
    """Notes each operator that reaches a dispatch mode, and what it did to storages."""

    supports_higher_order_operators = True

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # no wrapper around each call: PyTorch runs compiled code eagerly under a mode anyway

    def __init__(self, watch: Watch) -> None:
        super().__init__()
        self.watch = watch
        self.mark = _torch.mark("operator", watch.id)
        self.schemas: dict[Any, Schema] = {}

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        watch, kwargs = self.watch, kwargs or {}
        if not isinstance(func, OpOverload):  # a higher order operator: what it calls is seen
            return func(*args, **kwargs)
        if watch.elsewhere():
            watch.record.skipped += 1
            return func(*args, **kwargs)
        schema = self.schemas.get(func)
        if schema is None:
            schema = self.schemas[func] = schema_of(func)
        raw = RawOperator(schema.name, watch.lines.now(), watch.modules.path, watch.open_call)
        watch.record.operators.append(raw)
        with self.mark:
            result = func(*args, **kwargs)
        with _torch.unwatched():
            self._note(raw, schema, args, kwargs, result)
        return result

    def _note(self, raw: RawOperator, schema: Schema, args: Any, kwargs: Any, result: Any) -> None:
        watch = self.watch
        raw.finished = True
        raw.inputs = inputs_of(args, kwargs, watch.storages)
        raw.outputs = outputs_of(schema, args, result, raw.inputs, watch.storages)
        # The detach with which autograd saves an output comes before the node has it.
        if schema.name != "aten::detach" and (watch.open_call is None or torch.is_grad_enabled()):
            watch.look_at(tensors_in(args))
        if schema.name == "aten::view":
            raw.strided = not args[0].is_contiguous()
        elif schema.name in ("aten::_to_copy", "aten::copy_") and raw.outputs:
            _note_copy(raw, schema.name, args, kwargs)


def _note_copy(raw: RawOperator, name: str, args: Any, kwargs: Any) -> None:
    source = args[0] if name == "aten::_to_copy" else args[1]
    if not isinstance(source, Tensor):  # vmap hands a Python number over as it is
        return
    if source.device != raw.outputs[0].device:
        raw.copied = (source.device, source.numel() * source.element_size())
        raw.blocking = not (
            kwargs.get("non_blocking") or (name == "aten::copy_" and len(args) > 2 and args[2])
        )
