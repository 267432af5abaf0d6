"""What `.to()`, `.half()`, `.eval()` and `apply()` visit, in their real order.

PyTorch's own methods run, but on stand-ins: objects of the same classes with the same registered names,
whose tensors lie on the meta device and have no data. The model itself is not touched, and an `_apply` or
`train` that a class overrides is seen as it is.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.nn.parameter import UninitializedBuffer, UninitializedParameter

from .data import Step, Walk
from .look import Place, attributes, initialised, is_lazy, is_tensor, refuse_others, table, training, walk

LAZY = {"_parameters": UninitializedParameter, "_buffers": UninitializedBuffer}
Convert = Callable[[Any], Any]


def walks(model: nn.Module) -> tuple[Walk, ...]:
    """Four walks over the model: `.to(device)`, `.half()`, `.eval()` (`.train()` in eval mode), `.apply(fn)`.

    A step's `.node` is an index into `tree(model).nodes`. Mirrors `Module._apply`, `train` and `apply` in
    torch/nn/modules/module.py. TypeError: it is no module.
    """
    refuse_others(model, "walks")
    return record(walk(model))


def record(places: tuple[Place, ...]) -> tuple[Walk, ...]:
    """The four walks over places that `look.walk` found."""
    names = (
        ".to(device)",
        ".half()",
        ".train()" if not training(places[0].module) else ".eval()",
        ".apply(fn)",
    )
    if any(place.cycle for place in places):
        why = "The model contains itself, so this call never ends: PyTorch raises RecursionError."
        return tuple(Walk(name, (), why) for name in names)
    these = _StandIns(places)
    return tuple(_walk(these, name) for name in names)


def _walk(these: "_StandIns", name: str) -> Walk:
    calls = {
        ".to(device)": lambda: these.root.to("meta"),
        ".half()": lambda: these.root.half(),
        ".eval()": lambda: these.root.train(False),
        ".train()": lambda: these.root.train(True),
        ".apply(fn)": lambda: these.root.apply(these.called),
    }
    try:
        return Walk(name, these.seen(calls[name]))
    except RecursionError:
        why = "The modules are nested so deep that PyTorch's own recursion ends: RecursionError."
    except Exception as error:
        why = f"This call can't be followed: {type(error).__name__}: {str(error)[:200]}"
    return Walk(name, (), why)


class _StandIns:
    """One object for each module, and what was seen on them."""

    def __init__(self, places: tuple[Place, ...]) -> None:
        self.steps: list[list[Any]] = []  # node, tensor, before, after
        self.inside: list[int] = []  # nodes whose `_apply` runs
        self.names: dict[tuple[int, int], str] = {}  # (node, id of a stand-in tensor) -> name
        self.tensors: dict[int, Any] = {}  # id of a tensor -> its stand-in, so that ties stay
        self.alive: list[Any] = []  # nothing may take over an id
        self.plain: dict[Any, torch.Tensor] = {}
        self.modules: list[Any] = []
        for at, place in enumerate(places):
            first = place.again is None
            self.modules.append(_empty(place.module) if first else self.modules[place.again or 0])
            if first:
                self._fill(at, place.module)
            if place.parent is not None:
                attributes(self.modules[place.parent])["_modules"][place.name] = self.modules[at]
        self.root = self.modules[0]
        self.numbers = {id(one): at for at, one in reversed(list(enumerate(self.modules)))}

    def seen(self, call: Callable[[], object]) -> tuple[Step, ...]:
        """What this call on the root visits."""
        self.steps, self.inside = [], []
        call()
        return tuple(Step(*step) for step in self.steps)

    def _fill(self, at: int, module: nn.Module) -> None:
        if not initialised(module):
            return
        own = attributes(self.modules[at])
        own["_modules"] = {}
        for which in LAZY:
            own[which] = {
                name: held if held is None else self._tensor(at, name, held, which)
                for name, held in table(module, which)
            }
        own["_apply"], own["train"] = self._watched_apply(at), self._watched_train(at)

    def _tensor(self, at: int, name: str, held: Any, which: str) -> Any:
        if id(held) not in self.tensors:
            self.tensors[id(held)] = self._without_data(held, which)
            self.alive.append(held)
        standing = self.tensors[id(held)]
        self.names[at, id(standing)] = name
        if standing.grad is not None:
            self.alive.append(standing.grad)
            self.names[at, id(standing.grad)] = f"{name}.grad"
        return standing

    def _without_data(self, held: Any, which: str) -> Any:
        if is_lazy(held):
            return LAZY[which](requires_grad=held.requires_grad, device="meta", dtype=held.dtype)
        dtype = held.dtype
        if dtype not in self.plain:  # the size says nothing here
            self.plain[dtype] = torch.empty((), dtype=dtype, device="meta")
        if not isinstance(held, nn.Parameter):
            return self.plain[dtype].detach()
        standing = nn.Parameter(self.plain[dtype], requires_grad=held.requires_grad)
        if held.grad is not None:
            standing.grad = torch.empty((), dtype=dtype, device="meta")
        return standing

    # --- what is watched ----------------------------------------------------------------------------------

    def _watched_apply(self, at: int) -> Callable[..., Any]:
        standing = self.modules[at]

        def _apply(fn: Convert, *recurse: bool) -> Any:
            touch = fn if self.inside else self._seen(fn)
            self.inside.append(at)
            self.steps.append([at, None, "", ""])
            result = type(standing)._apply(standing, touch, *recurse)
            self.inside.pop()
            return result

        return _apply

    def _seen(self, convert: Convert) -> Convert:
        def touch(tensor: Any) -> Any:
            at = self.inside[-1]
            name = self.names.get((at, id(tensor))) if is_tensor(tensor) else None
            if name is None:
                return tensor  # a class's own _apply brings something along that isn't registered
            after = convert(tensor)
            self.steps.append([at, name, _dtype(tensor), _dtype(after)])
            return after

        return touch

    def _watched_train(self, at: int) -> Callable[..., Any]:
        standing = self.modules[at]

        def train(mode: bool = True) -> Any:
            step = [at, None, _mode(standing), ""]
            self.steps.append(step)
            result = type(standing).train(standing, mode)
            step[3] = _mode(standing)
            return result

        return train

    def called(self, module: Any) -> None:
        """The fn of `apply(fn)`."""
        self.steps.append([self.numbers[id(module)], None, "", "called"])


def _empty(module: nn.Module) -> Any:
    """An object of the module's class with its attributes, lists and dicts copied, and no code run."""
    if isinstance(module, torch.jit.ScriptModule):
        standing: Any = nn.Module()  # its own class wants C++ behind it, and follows nn.Module's rule
        standing.training = bool(module.training)
        return standing
    standing = object.__new__(type(module))
    attributes(standing).update(
        (name, value.copy() if type(value) in (list, dict, set) else value)
        for name, value in attributes(module).items()
    )
    return standing


def _dtype(tensor: Any) -> str:
    return str(tensor.dtype).removeprefix("torch.")


def _mode(module: Any) -> str:
    flag = training(module)
    return "no mode" if flag is None else "train" if flag else "eval"
