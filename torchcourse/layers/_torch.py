"""Every private or experimental part of PyTorch that xray touches, in this one room.

| what | why | where it is missing |
| --- | --- | --- |
| `ProfilerResult.experimental_event_tree` | names, order and depth of all operators | the modes alone, and a note |
| `_RecordFunctionFast` | marks our own calls in that tree | the modes alone, and a note |
| `_profiler_enabled` | a profiler of the reader's is left alone | taken as not enabled |
| the stacks of modes | to take exactly our mode off | `__exit__` of the mode |
| `DisableTorchFunction` | looking at a tensor is no call of the reader's | needed (public since 1.7) |
| `Node._sequence_nr`, `_raw_saved_*` | order of nodes, what they save | no nodes; 0 bytes |
| `autograd._make_grads` | what `torch.autograd.backward` was given, in 2.9 | those outputs are not seen |
| `_functorch.get_unwrapped` | the tensor inside of torch.func's wrappers | taken as they are |
"""

import contextlib
import os
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from types import CodeType
from typing import IO, Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils import _python_dispatch as dispatch
from torch.utils._python_dispatch import TorchDispatchMode

try:
    from torch._C._profiler import _RecordFunctionFast as Mark
except ImportError:  # pragma: no cover - a PyTorch without it: the modes alone
    Mark = None  # type: ignore[assignment,misc]

unwatched = torch._C.DisableTorchFunction
MARK = "torchcourse.xray."
# In 2.9 `torch.autograd.backward` is no call that a mode sees; this runs in it. None: it is a call.
MAKES_GRADIENTS: CodeType | None = (
    None
    if "handle_torch_function" in torch.autograd.backward.__code__.co_names
    else getattr(getattr(torch.autograd, "_make_grads", None), "__code__", None)
)


def mark(what: str, number: int = 0) -> AbstractContextManager[Any]:
    """An event of ours in the profiler's tree, around what runs inside."""
    return nullcontext() if Mark is None else Mark(f"{MARK}{what}.{number}")


def own() -> AbstractContextManager[Any]:
    """Around operators that xray itself runs while it looks: they are not listed."""
    return mark("own")


class Profiler:
    """One run of kineto, the profiler underneath `torch.profiler`, without its Python events.

    kineto runs once per process, and a second start takes the first one's events away; so
    nothing is started while another profiler runs.
    """

    def __init__(self) -> None:
        # kineto writes to file descriptor 2 at each profile unless this is set before its first.
        os.environ.setdefault("KINETO_LOG_LEVEL", "99")
        self._run = torch.autograd.profiler.profile(use_kineto=True, use_device=_accelerator())

    @staticmethod
    def possible() -> bool:
        return Mark is not None and not _profiler_enabled() and torch.profiler.kineto_available()

    def start(self) -> None:
        with _without_kineto_lines():
            self._run.__enter__()

    def stop(self) -> list[Any] | None:
        """The root events in order of start, or None where another profiler took them."""
        if not _profiler_enabled():
            return None
        with _without_kineto_lines():
            self._run.__exit__(None, None, None)
        results = self._run.kineto_results
        return None if results is None else list(results.experimental_event_tree())

    def kernels(self) -> tuple[str, ...]:
        """Names of the kernels that ran on a device, in order; empty on the CPU."""
        if self._run.use_device is None or self._run.kineto_results is None:
            return ()
        events = [e for e in self._run.kineto_results.events() if e.device_type().name != "CPU"]
        return tuple(e.name() for e in sorted(events, key=lambda e: e.start_ns()))


class _Kineto:
    talks: bool | None = None  # None: not known yet


@contextlib.contextmanager
def _without_kineto_lines() -> Iterator[None]:
    """Hold back what kineto writes to file descriptor 2.

    It reads KINETO_LOG_LEVEL once, so a profile of the reader's before the first xray makes it
    talk for good. The first start finds out; where kineto is silent, nothing is held later.
    """
    try:
        saved = os.dup(2) if _Kineto.talks is not False else None
    except OSError:  # a process without a descriptor 2
        saved = None
    if saved is None:
        yield
        return
    with tempfile.TemporaryFile() as held:
        os.dup2(held.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(saved, 2)
            os.close(saved)
            _pass_on(held)


def _pass_on(held: IO[bytes]) -> None:
    held.seek(0)
    lines = held.readlines()
    others = [line for line in lines if b"ActivityProfiler" not in line]
    _Kineto.talks = bool(_Kineto.talks) or len(others) < len(lines)
    if others:
        os.write(2, b"".join(others))


def _accelerator() -> str | None:
    return "cuda" if torch.cuda.is_available() and torch.cuda.is_initialized() else None


def _profiler_enabled() -> bool:
    asked = getattr(torch._C._autograd, "_profiler_enabled", None)
    return bool(asked()) if asked else False


def next_node_number() -> int:
    """The number that autograd gives to the next node of this thread.

    PyTorch counts nodes (`at::sequence_number`) but does not tell the count; so one node of
    our own is made, unseen by any mode, and dropped.
    """
    with own(), quiet(), torch.inference_mode(False), torch.enable_grad():
        probe = torch.zeros((), requires_grad=True).view(())
        return int(probe.grad_fn._sequence_nr()) + 1  # type: ignore[union-attr]


def unwrapped(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor inside of the wrappers that `vmap` and `torch.func.grad` put around it."""
    functorch: Any = getattr(torch._C, "_functorch", None)
    wraps = getattr(functorch, "is_functorch_wrapped_tensor", None)
    while wraps is not None and wraps(tensor):
        tensor = functorch.get_unwrapped(tensor)
    return tensor


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Inside, no mode of anyone sees what we do."""
    with unwatched(), torch._C._DisableTorchDispatch():
        yield


def take_off_function_mode(mode: TorchFunctionMode) -> bool:
    """Take exactly this mode off the stack, wherever it stands. False: it was not there."""
    above: list[Any] = []
    found = False
    while torch._C._len_torch_function_stack() and not found:
        top = torch._C._pop_torch_function_stack()
        found = top is mode
        if not found:
            above.append(top)
    for other in reversed(above):
        torch._C._push_on_torch_function_stack(other)
    return found


def put_on_function_mode(mode: TorchFunctionMode) -> None:
    torch._C._push_on_torch_function_stack(mode)


def take_off_dispatch_mode(mode: TorchDispatchMode) -> bool:
    """The same for a dispatch mode; its own `__exit__` also resets PyTorch's flags."""
    stack = dispatch._get_current_dispatch_mode_stack()
    if not any(other is mode for other in stack):
        return False
    above = stack[next(i for i, other in enumerate(stack) if other is mode) + 1 :]
    for _ in above:
        dispatch._pop_mode()
    mode.__exit__(None, None, None)
    for other in above:
        dispatch._push_mode(other)
    return True
