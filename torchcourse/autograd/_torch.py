"""Every private part of PyTorch that this package touches, in this one room.

| what | why | where it is missing |
| --- | --- | --- |
| `Node._raw_saved_*`, `SavedTensor.data`, `.unpack_hook` | what a node saves, no hook run | see torchcourse/_saved.py |
| `Node._saved_*` | PyTorch's own check of the version counter | nothing listed |
| `Node._input_metadata` | shape and dtype of what a node's operator made | shape None |
| `Node._sequence_nr`, `_get_sequence_nr` | which module made a node | a node of our own is made and asked |
| the frame in a checkpoint's unpack hook | whether its saved inputs are still good | taken as good |
| `Module._modules`, `._parameters` | names of parameters | needed (as old as nn.Module) |
| `_len_torch_dispatch_stack`, `_len_torch_function_stack` | whether a mode is active | taken as active |
| `_DisableTorchDispatch` | no mode of the reader's sees us look | needed (since 1.13) |
"""

import contextlib
from collections.abc import Iterator
from typing import Any

import torch

from torchcourse._saved import raw_saved

_SavedTensor = getattr(torch._C._autograd, "SavedTensor", None)
_dispatch_modes = getattr(torch._C, "_len_torch_dispatch_stack", lambda: 1)  # how many are active
_function_modes = getattr(torch._C, "_len_torch_function_stack", lambda: 1)
LEAF_NUMBER = 2**64 - 1  # AccumulateGrad has no place in the order of creation


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Inside, no mode and no tensor subclass of anyone sees what we do, and nothing is recorded."""
    with torch._C.DisableTorchFunction(), torch._C._DisableTorchDispatch(), torch.no_grad():
        yield


def unseen(tensor: torch.Tensor) -> bool:
    """Whether nobody would see an operator on this tensor: no mode, no subclass, nothing is recorded.

    Then quiet() is not needed, which costs as much as an operator.
    """
    plain = type(tensor) is torch.Tensor and not tensor.requires_grad
    return plain and not (_dispatch_modes() or _function_modes())


def created(node: Any) -> int:
    """The node's number in its thread's order of creation; LEAF_NUMBER for AccumulateGrad."""
    try:
        return int(node._sequence_nr())
    except AttributeError:
        return LEAF_NUMBER


def next_number() -> int:
    """The number that the next node of this thread will get (`at::sequence_number::peek`)."""
    ask = getattr(torch._C._autograd, "_get_sequence_nr", None)
    if ask is not None:
        return int(ask())
    with quiet(), torch.inference_mode(False), torch.enable_grad():
        probe = torch.zeros((), requires_grad=True).view(())
        return created(probe.grad_fn) + 1


def made(node: Any) -> tuple[Any, ...]:
    """Per output of the node's operator: an object with `.shape` and `.dtype`."""
    return getattr(node, "_input_metadata", ())


def modules(module: torch.nn.Module) -> dict[torch.nn.Module, str]:
    """Module -> path, as `named_modules()` gives them, without a generator inside of a generator per level."""
    found: dict[torch.nn.Module, str] = {}
    waiting = [("", module)]
    while waiting:
        path, one = waiting.pop()
        if one not in found:
            found[one] = path
            if inner := one._modules:
                start = f"{path}." if path else ""
                waiting += [
                    (start + name, child) for name, child in reversed(inner.items()) if child is not None
                ]
    return found


def is_python_function(node: Any) -> bool:
    """A custom `autograd.Function` (also what torch.compile and reentrant checkpoints make)."""
    return isinstance(node, torch._C._FunctionBase)


def backward_of(node: Any) -> Any:
    """The reader's `backward` of a custom Function, or None where it can't be told."""
    return getattr(getattr(node, "_forward_cls", None), "backward", None)


def unregistered_edge(tensor: torch.Tensor) -> tuple[Any, int]:
    """(node, output number) where this tensor's gradient arrives; a leaf's AccumulateGrad is made if needed."""
    edge = torch.autograd.graph.get_gradient_edge(tensor)
    return edge.node, edge.output_nr


def checkpoint_inputs(hook: Any) -> list[Any]:
    """What a non-reentrant checkpoint will recompute from, as saved tensors; empty for other hooks.

    Its unpack hook (torch/utils/checkpoint.py) closes over a frame that holds the inputs: as saved
    tensors, or, before 2.12, on a node of its own.
    """
    for value in _closed_over(hook):
        if hasattr(value, "saved_args"):
            return [one for one in value.saved_args if _SavedTensor and isinstance(one, _SavedTensor)]
        saver = getattr(value, "input_saver", None)
        node = getattr(saver, "grad_fn", saver)  # in 2.9 a tensor that has the node
        if node is not None:
            with contextlib.suppress(RuntimeError):
                return list(raw_saved(node, "_raw_saved_tensors", ()))
        if getattr(value, "__name__", "") == "unpack_hook" and value is not hook:
            return checkpoint_inputs(value)
    return []


def _closed_over(hook: Any) -> Iterator[Any]:
    for cell in getattr(hook, "__closure__", None) or ():
        with contextlib.suppress(ValueError):  # an empty cell
            yield cell.cell_contents
