"""Train for a while, and leave no trace: what the reader owns is put back, whatever happens inside."""

import copy
import random
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from ._torch import same_versions


@contextmanager
def everything_kept(model: nn.Module, optimizer: Optimizer, *others: Any) -> Iterator[None]:
    """In the block the model may be trained; after it all is as before, also when it raises.

    Put back are: parameters and buffers with their versions, `.grad`, tensors and plain values that modules hold
    as attributes, mode flags, the optimizer with its state, and the random generators of Python, NumPy,
    torch and of `others` (data loaders, samplers). `others` that are modules are kept like the model.
    Not put back: what hooks or the reader's own functions write elsewhere. Costs a copy of both in memory.
    """
    modules = list(
        {m: None for root in (model, *others) if isinstance(root, nn.Module) for m in root.modules()}
    )
    tensors = _tensors(modules, optimizer)
    with ExitStack() as later:
        _random_state(later, others)
        later.enter_context(same_versions(tensors))
        for module in modules:
            later.callback(_restore_attributes, module, _attributes(module))
        for tensor in tensors:
            later.callback(_restore_tensor, tensor, tensor.detach().clone(), tensor.grad)
            tensor.grad = None  # the reader's gradient is set aside, and so nothing adds to it
        _set_aside(optimizer, later)
        yield


def _tensors(modules: list[nn.Module], optimizer: Optimizer) -> list[Tensor]:
    """Every leaf tensor that training may write to, once."""
    held = [t for m in modules for t in (*m._parameters.values(), *m._buffers.values(), *m.__dict__.values())]
    held += [p for group in optimizer.param_groups for p in group["params"]]
    # A tensor with a history is a result, which nothing trains; a clone of it would be a copy in vain.
    return list({t: None for t in held if isinstance(t, Tensor) and t.is_leaf})


def _attributes(module: nn.Module) -> dict[str, tuple[Any, Any]]:
    """Name → (object, copy): of the registries, which are written to, a copy is needed."""
    return {name: (v, copy.copy(v) if isinstance(v, dict) else None) for name, v in module.__dict__.items()}


def _restore_attributes(module: nn.Module, before: dict[str, tuple[Any, Any]]) -> None:
    module.__dict__.clear()
    for name, (value, content) in before.items():
        if content is not None:
            value.clear()
            value.update(content)
        module.__dict__[name] = value


def _restore_tensor(tensor: Tensor, value: Tensor, grad: Tensor | None) -> None:
    with torch.no_grad():
        # What did not change is left alone: an expanded buffer can't be written to.
        if tensor.layout != torch.strided or not tensor.equal(value):
            tensor.copy_(value)
    tensor.grad = grad


def _set_aside(optimizer: Optimizer, later: ExitStack) -> None:
    """Give the optimizer copies of its groups and its state to work on; the originals come back."""
    before = dict(optimizer.__dict__)
    groups = [_copied(group) for group in optimizer.param_groups]
    state = {key: copy.deepcopy(value) for key, value in optimizer.state.items()}
    later.callback(_restore_optimizer, optimizer, before)
    optimizer.param_groups, optimizer.state = groups, defaultdict(dict, state)


def _copied(group: dict[str, Any]) -> dict[str, Any]:
    return {key: value if key == "params" else copy.deepcopy(value) for key, value in group.items()}


def _restore_optimizer(optimizer: Optimizer, before: dict[str, Any]) -> None:
    optimizer.__dict__.clear()  # a scheduler counts the steps in there, too
    optimizer.__dict__.update(before)


def _random_state(later: ExitStack, others: tuple[Any, ...]) -> None:
    """Remember each generator's state."""
    import numpy

    later.callback(random.setstate, random.getstate())
    later.callback(numpy.random.set_state, numpy.random.get_state())
    later.callback(torch.set_rng_state, torch.get_rng_state())
    if torch.cuda.is_available() and torch.cuda.is_initialized():
        later.callback(torch.cuda.set_rng_state_all, torch.cuda.get_rng_state_all())
    if torch.backends.mps.is_available():
        later.callback(torch.mps.set_rng_state, torch.mps.get_rng_state())
    for generator in _generators(others):
        later.callback(_setter(generator), generator.get_state())


def _setter(generator: torch.Generator) -> Callable[[Tensor], Any]:
    return generator.set_state


def _generators(others: tuple[Any, ...]) -> list[torch.Generator]:
    """The generators that a data loader and its samplers draw from, each once."""
    holders = [h for loader in others for h in (loader, *_samplers(loader))]
    found = [getattr(holder, "generator", None) for holder in holders]
    return list({id(g): g for g in found if isinstance(g, torch.Generator)}.values())


def _samplers(loader: Any) -> list[Any]:
    batch_sampler = getattr(loader, "batch_sampler", None)
    return [getattr(loader, "sampler", None), batch_sampler, getattr(batch_sampler, "sampler", None)]
