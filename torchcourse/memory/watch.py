"""Watches one step: a dispatch mode for storages, hooks for modules, gradients and optimizers."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from torchcourse.layers.look import tensors_in
from torchcourse.layers.storages import storage_of

from . import as_cuda
from .cannot_know import is_product
from .ledger import Ledger, Raw
from .saved import saved_storages
from .stand import GradientHooks

_in_backward = getattr(torch._C, "_current_graph_task_id", lambda: -1)  # -1: no backward runs


class Watch:
    """All that is noted of one step. Its hooks are placed and removed by `stand.standing`."""

    def __init__(self, as_on_cuda: bool = True) -> None:
        self.as_on_cuda = as_on_cuda
        self.ledger = Ledger(self.phase)
        self.ran = False  # whether any operator did
        self.products: set[str] = set()
        self.convolves = False
        self.scores = self.kept_scores = 0  # bytes of attention scores, not kept and kept
        self.gradients = GradientHooks(self._got_gradient)
        self._roots: list[nn.Module] = []  # kept, so that no other object gets their ids
        self._paths: dict[int, str] = {}
        self._stack: list[tuple[int, str | None]] = []
        self._module: str | None = None
        self._optimizing = False
        self._looked = False  # at the graph of the backward that comes
        self._last_phase = "before"
        self._undecided: str | None = None

    # --- where the step stands --------------------------------------------------------------------

    def phase(self) -> str:
        """One of data.PHASES: where the code of the step stands now."""
        if _in_backward() != -1:
            return "recompute" if torch.is_grad_enabled() and self._stack else "backward"
        return "optimizer" if self._optimizing and not self._stack else "forward"

    def enter_module(self, module: nn.Module, _args: Any) -> None:
        if not self._stack:
            self.adopt(module)
        self._stack.append((id(module), self._module))
        self._module = self._paths.get(id(module), self._module)

    def leave_module(self, module: nn.Module, _args: Any, _result: Any) -> None:
        while self._stack:
            key, self._module = self._stack.pop()
            if key == id(module):
                return

    def enter_optimizer(self, optimizer: torch.optim.Optimizer) -> None:
        self.adopt_optimizer(optimizer)
        self._optimizing = True

    def leave_optimizer(self, optimizer: torch.optim.Optimizer) -> None:
        self._optimizing = False
        self._own_state(optimizer)

    # --- whose a storage is -----------------------------------------------------------------------

    def adopt(self, module: nn.Module) -> None:
        """Learn the parameters, buffers and paths of a module; the first one met has the path ""."""
        if all(id(inner) in self._paths for inner in module.modules()):
            return
        root = type(module).__name__ if self._roots else ""  # a loss module beside the model
        self._roots.append(module)
        for name, inner in module.named_modules():
            self._paths.setdefault(id(inner), ".".join(filter(None, (root, name))))
        self.adopt_parameters(module.parameters())
        self._own(module.buffers(), "buffer")

    def adopt_parameters(self, parameters: Iterable[torch.Tensor]) -> None:
        for parameter in parameters:
            self._own((parameter,), "parameter")
            self._expect_gradient(parameter)

    def adopt_optimizer(self, optimizer: torch.optim.Optimizer) -> None:
        for group in optimizer.param_groups:
            self.adopt_parameters(group["params"])
        self._own_state(optimizer)

    def _own_state(self, optimizer: torch.optim.Optimizer) -> None:
        for group in optimizer.param_groups:
            for parameter in group["params"]:
                state = optimizer.state.get(parameter, {})
                self._own(tree_leaves(state), "optimizer state")
                if self.as_on_cuda:
                    as_cuda.leave_on_host(group, state, self._raw_of)

    def _own(self, values: Iterable[Any], owner: str) -> None:
        for tensor in tensors_in(values):
            storage = storage_of(tensor)
            if storage is not None:
                self.ledger.was_there(storage)
                self.ledger.own(storage, owner)

    def _raw_of(self, tensor: torch.Tensor) -> Raw | None:
        storage = storage_of(tensor)
        number = None if storage is None else self.ledger.known(storage)
        return None if number is None else self.ledger.raws[number]

    def _expect_gradient(self, tensor: torch.Tensor) -> None:
        """Of a leaf that requires grad: a gradient that it has, and those that will come."""
        if tensor.requires_grad and tensor.is_leaf:
            self._got_gradient(tensor)
            self.gradients.place(tensor)

    def _got_gradient(self, parameter: torch.Tensor) -> None:
        if parameter.grad is not None:
            self._own((parameter.grad,), "gradient")

    # --- operators --------------------------------------------------------------------------------

    def before(self, name: str, given: list[torch.Tensor]) -> None:
        """Note what an operator is given; called before it runs."""
        self.ran = True
        phase = self.phase()
        if phase != self._last_phase:
            self._phase_changes(self._last_phase, phase)
        for tensor in given:
            storage = storage_of(tensor)
            if storage is None or self.ledger.known(storage) is not None:
                continue
            if name == "aten::lift_fresh":  # torch.tensor(…): made here, out of Python numbers
                self._came(storage, name, ())
            else:
                self.ledger.was_there(storage)
                self.ledger.own(storage, "parameter" if isinstance(tensor, nn.Parameter) else "input")
                self._expect_gradient(tensor)
        if name == "aten::ones_like" and given and _for_backward():
            self._look_at(given[0].grad_fn)

    def after(self, name: str, given: list[torch.Tensor], returned: list[torch.Tensor]) -> None:
        """Note what an operator made."""
        for tensor in returned:
            storage = storage_of(tensor)
            if storage is not None:
                self._came(storage, name, given)
        if is_product(name):
            self.products.add(self.phase())
        self.convolves |= name == "aten::convolution"
        if name.startswith("aten::_scaled_dot_product_") and "backward" not in name:
            self.scores += _scores(*given[:2])
        if name == "aten::_safe_softmax":
            self.kept_scores += sum(tensor.nbytes for tensor in returned)
        if self.as_on_cuda and name == "aten::bernoulli_" and self.phase() in ("forward", "recompute"):
            as_cuda.shrink_mask(given[0], self._raw_of(given[0]))

    def _came(self, storage: torch.UntypedStorage, name: str, given: Iterable[torch.Tensor]) -> None:
        count = len(self.ledger.raws)
        raw = self.ledger.came(storage, self._module, name)
        if len(self.ledger.raws) == count:
            return
        if self.as_on_cuda and raw.phase == "optimizer" and not given and raw.nbytes <= as_cuda.SCALAR:
            raw.on_host = True
        elif raw.phase == "forward" and self._module is None and not given:
            raw.owner = "input"  # data that the step makes itself
        if raw.phase == "backward" and self._undecided:
            self._decide()
        if raw.phase == "backward" and name == "aten::add":
            known = (self.ledger.known(s) for s in map(storage_of, given) if s is not None)
            raw.inputs = tuple(number for number in known if number is not None)

    def _look_at(self, node: Any) -> None:
        """The graph at the start of its backward: what its nodes saved are the activations."""
        if node is not None:
            self._looked = True
            for storage in saved_storages(node):
                self.ledger.own(storage, "activation")

    def _decide(self) -> None:
        """What a recomputation made and keeps is saved. So is the forward's, where no graph was seen."""
        for raw in self.ledger.alive():
            if raw.phase == self._undecided and raw.owner is None:
                raw.owner = "activation"
        self._undecided = None

    def _phase_changes(self, last: str, now: str) -> None:
        if last == "recompute" or (last == "forward" and now == "backward" and not self._looked):
            # Decided when the backward makes something: what is only about to go is no activation.
            self._undecided = last
        if now == "backward" and last != "recompute":
            self._looked = False
        self._last_phase = now

    def close(self) -> None:
        self.ledger.close()
        self._stack.clear()
        self._paths.clear()
        self._roots.clear()


def _scores(query: torch.Tensor, key: torch.Tensor) -> int:
    """Bytes of all scores of an attention: one for each pair of a query and a key."""
    return query.shape[:-1].numel() * key.shape[-2] * query.element_size()


def _for_backward() -> bool:
    """Whether this `ones_like` is the gradient with which a backward starts."""
    frame, depth = sys._getframe(3), 0
    while frame.f_back is not None and depth < 6:
        if frame.f_code.co_name == "_make_grads":
            return True
        frame, depth = frame.f_back, depth + 1
    return False


class Operators(TorchDispatchMode):
    """Tells a watch of every operator that reaches a dispatch mode."""

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False

    def __init__(self, watch: Watch) -> None:
        super().__init__()
        self.watch = watch

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        schema = getattr(func, "_schema", None)
        name = schema.name if schema is not None else str(func)
        given = tensors_in((*args, *kwargs.values()))
        self.watch.before(name, given)
        result = func(*args, **kwargs)
        self.watch.after(name, given, tensors_in(result if isinstance(result, (tuple, list)) else (result,)))
        return result
