"""What is placed around a step, and taken off after it, however it ends."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

import torch
from torch.nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

from torchcourse.layers._torch import put_on_function_mode, take_off_dispatch_mode, take_off_function_mode

from .as_cuda import ForeachAsOnCuda
from .attention import fused_on_meta
from .autocast import CudaLists

if TYPE_CHECKING:
    from .watch import Watch


class GradientHooks:
    """A hook on each parameter that tells when its gradient has been stored."""

    def __init__(self, tell: Callable[[torch.Tensor], None]) -> None:
        self._tell = tell
        self._placed: dict[int, tuple[torch.Tensor, Any, bool]] = {}

    def place(self, parameter: torch.Tensor) -> None:
        """On a leaf that requires grad, once."""
        if id(parameter) not in self._placed:
            had_none = getattr(parameter, "_post_accumulate_grad_hooks", 0) is None
            handle = parameter.register_post_accumulate_grad_hook(self._tell)
            self._placed[id(parameter)] = (parameter, handle, had_none)

    def remove(self) -> None:
        for parameter, handle, had_none in self._placed.values():
            handle.remove()
            if had_none:  # removing leaves an empty dictionary behind
                parameter._post_accumulate_grad_hooks = None  # type: ignore[assignment]
        self._placed.clear()


@contextmanager
def standing(watch: Watch, as_cuda: bool) -> Iterator[None]:
    """While the block runs, modules, optimizers and operators tell `watch`; nothing stays behind.

    Garbage is not collected meanwhile: when a cycle of references is freed would be chance.
    """
    from .watch import Operators

    foreach = ForeachAsOnCuda()
    with ExitStack() as stack:
        stack.callback(watch.close)
        stack.callback(watch.gradients.remove)
        stack.callback(foreach.restore)
        for handle in (*_module_hooks(watch), *_optimizer_hooks(watch, foreach if as_cuda else None)):
            stack.callback(handle.remove)
        _without_collector(stack)
        mode, lists = Operators(watch), CudaLists()
        mode.__enter__()
        stack.callback(take_off_dispatch_mode, mode)
        if as_cuda:
            stack.enter_context(fused_on_meta())
            put_on_function_mode(lists)
            stack.callback(take_off_function_mode, lists)
        yield


def _module_hooks(watch: Watch) -> tuple[Any, ...]:
    return (
        register_module_forward_pre_hook(watch.enter_module),
        register_module_forward_hook(watch.leave_module, always_call=True),
    )


def _optimizer_hooks(watch: Watch, foreach: ForeachAsOnCuda | None) -> tuple[Any, ...]:
    def before(optimizer: torch.optim.Optimizer, _args: Any, _kwargs: Any) -> None:
        watch.enter_optimizer(optimizer)
        if foreach is not None:
            foreach.change(optimizer)

    def after(optimizer: torch.optim.Optimizer, _args: Any, _kwargs: Any) -> None:
        if foreach is not None:
            foreach.restore()
        watch.leave_optimizer(optimizer)

    return register_optimizer_step_pre_hook(before), register_optimizer_step_post_hook(after)


def _without_collector(stack: ExitStack) -> None:
    if gc.isenabled():
        gc.disable()
        stack.callback(gc.enable)
