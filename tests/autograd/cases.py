"""The cases that graph viewers stumble over: each gives outputs, and what the graph must show."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint


class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        (_,) = ctx.saved_tensors
        return grad * 2


class Raises(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        return x * 2

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        raise ArithmeticError("planted")


@dataclass
class Result:
    loss: Tensor
    note: str


def leaf() -> Tensor:
    return torch.arange(1.0, 4.0, requires_grad=True)


def function_in_the_middle() -> Any:
    return Double.apply(leaf().exp()).sum()


def function_last() -> Any:
    return Double.apply(leaf())


def checkpointed(reentrant: bool) -> Any:
    x = leaf()
    return checkpoint(lambda t: (t * x).exp(), x * 1, use_reentrant=reentrant).sum()


def damaged() -> Any:
    x = leaf()
    y = x.exp()
    out = y.sum()
    y.add_(1)
    return out


def view_in_place() -> Any:
    y = leaf() * 1
    y[:2].mul_(3)
    return y.sum()


def no_grad() -> Any:
    with torch.no_grad():
        return leaf() * 2


def branch() -> Any:
    x = leaf()
    return (x.exp() if x.sum() > 0 else x.sin()).sum()


def double_backward() -> Any:
    x = leaf()
    (grad,) = torch.autograd.grad((x**3).sum(), x, create_graph=True)
    return grad.sum()


def freed() -> Any:
    out = (leaf() ** 2).sum()
    out.backward()
    return out


def compiled(backend: str) -> Any:
    torch._dynamo.reset()
    return torch.compile(lambda x: (x * x).sin().sum(), backend=backend)(leaf())


def chain(n: int) -> Any:
    y = leaf()
    for _ in range(n):
        y = y * 1.0
    return y.sum()


# name -> (outputs, a node that must be there or None for no graph, nodes or None where PyTorch decides)
CASES: dict[str, tuple[Callable[[], Any], str | None, int | None]] = {
    "custom Function in the middle": (function_in_the_middle, "DoubleBackward", 4),
    "custom Function last": (function_last, "DoubleBackward", 2),
    "checkpoint": (lambda: checkpointed(False), "ExpBackward0", 5),
    "checkpoint, reentrant": (lambda: checkpointed(True), "CheckpointFunctionBackward", None),
    "in-place damage": (damaged, "ExpBackward0", 3),
    "view written in place": (view_in_place, "CopySlices", 4),
    "tuple": (lambda: (leaf() * 2, leaf() + 1), "AddBackward0", 4),
    "dict": (lambda: {"loss": leaf().sum(), "extra": None}, "SumBackward0", 2),
    "dataclass": (lambda: Result(leaf().sum(), "ok"), "SumBackward0", 2),
    "list with None": (lambda: [None, leaf().sum(), 3], "SumBackward0", 2),
    "without grad": (lambda: torch.ones(3), None, 0),
    "no_grad": (no_grad, None, 0),
    "a data-dependent if": (branch, "ExpBackward0", 3),
    "double backward": (double_backward, "PowBackward0", None),
    "freed by backward": (freed, "PowBackward0", 3),
    "compiled, eager": (lambda: compiled("eager"), "SinBackward0", 4),
    "compiled, aot_eager": (lambda: compiled("aot_eager"), "CompiledFunctionBackward", 2),
    "chain of 600": (lambda: chain(600), "MulBackward0", 602),
    "chain of 2,000": (lambda: chain(2000), "MulBackward0", 2002),
}
