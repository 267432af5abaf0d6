"""Random small programs with in-place writes, views and custom Functions; and the oracle for each node."""

import random
from typing import Any

import torch
from torch import Tensor
from torch.autograd.graph import GradientEdge
from torch.utils.checkpoint import checkpoint

N = 3


class Reads(torch.autograd.Function):
    """Saves its input and its result, and asks for them in backward."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        y = x.exp()
        ctx.save_for_backward(x, y)
        return y

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        _, y = ctx.saved_tensors
        return grad * y


class NeverReads(torch.autograd.Function):
    """Saves its input, and never asks for it."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        return grad * 2


class Writes(torch.autograd.Function):
    """Changes its input in place and saves the result."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        x.sigmoid_()
        ctx.mark_dirty(x)
        ctx.save_for_backward(x)
        return x

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        (y,) = ctx.saved_tensors
        return grad * y * (1 - y)


PURE = [
    lambda a, b: a * b,
    lambda a, b: a + b,
    lambda a, b: a / (b.abs() + 1),
    lambda a, b: a.exp().clamp(max=3.0),
    lambda a, b: a.sin(),
    lambda a, b: a.tanh(),
    lambda a, b: a.clone(),
    lambda a, b: torch.stack([a, b]).sum(0),
    lambda a, b: torch.cat([a, b])[:N],
    lambda a, b: torch.cat([a, b]).view(2, N).t()[:, 0] * b,
    lambda a, b: a[torch.tensor([2, 0, 1])],
    lambda a, b: torch.where(a > 0, a, b),
    lambda a, b: (a.unsqueeze(0) @ b.unsqueeze(1)).expand(N, 1).squeeze(1),
    lambda a, b: Reads.apply(a),
    lambda a, b: NeverReads.apply(a),
    lambda a, b: a.softmax(0),
    lambda a, b: a.prod() * b,
    lambda a, b: checkpoint(lambda x: x.exp() * x, a, use_reentrant=False),
]
VIEWS = [
    lambda a: a[:2],
    lambda a: a[1:],
    lambda a: a.view(1, N)[0],
    lambda a: a.unsqueeze(0).squeeze(0),
    lambda a: a.detach(),
    lambda a: a.data,
    lambda a: a.select(0, 1),
]
IN_PLACE = [
    lambda a, b: a.mul_(b),
    lambda a, b: a.add_(b),
    lambda a, b: a.exp_(),
    lambda a, b: a.sigmoid_(),
    lambda a, b: a.zero_(),
    lambda a, b: a.copy_(b),
    lambda a, b: a.sin_(),
    lambda a, b: a.div_(b.abs() + 1),
    lambda a, b: a.relu_(),
    lambda a, b: Writes.apply(a),
]


def program(seed: int, length: int = 10) -> Tensor:
    """The sum of what a random program made; the same for the same seed."""
    chance = random.Random(seed)
    torch.manual_seed(seed)
    pool = [torch.rand(N, requires_grad=True), torch.rand(N, requires_grad=True), torch.rand(N)]
    for _ in range(length):
        _line(chance, pool)
    results = [t.sum() for t in pool if t.requires_grad]
    return torch.stack(results[-3:]).sum()


def _line(chance: random.Random, pool: list[Tensor]) -> None:
    a, b = chance.choice(pool), chance.choice([t for t in pool if t.shape == (N,)])
    whole = [t for t in pool if t.shape == (N,)]
    what = chance.random()
    try:
        if what < 0.45:
            pool.append(chance.choice(PURE)(chance.choice(whole), b))
        elif what < 0.65:
            pool.append(chance.choice(VIEWS)(chance.choice(whole)))
        elif what < 0.9:
            chance.choice(IN_PLACE)(a, b[: a.numel()].reshape(a.shape))
        else:
            with torch.no_grad():
                a.add_(1)
    except (
        RuntimeError
    ):  # a leaf in place, memory read and written at once: refused at once, nothing recorded
        pass


def complaint(node: Any) -> str:
    """What this node's own backward raises: "stale", "freed", or nothing. The engine really runs it.

    It is run towards one next node at a time: towards the nearest, nothing but the node itself runs.
    """
    starts = [GradientEdge(node, i) for i in range(len(node._input_metadata))]
    grads = [torch.ones(tuple(m.shape), dtype=m.dtype) for m in node._input_metadata]
    onwards = [GradientEdge(after, output) for after, output in node.next_functions if after is not None]
    found = [_run(starts, onward, grads) for onward in onwards]
    return min(found, key=bool, default="")


def _run(starts: list[GradientEdge], onward: GradientEdge, grads: list[Tensor]) -> str:
    try:
        torch.autograd.grad(starts, [onward], grads, retain_graph=True, allow_unused=True)
    except RuntimeError as error:
        if "modified by an inplace operation" in str(error):
            return "stale"
        if "a second time" in str(error):
            return "freed"
    return ""


def nodes_of(output: Tensor) -> list[Any]:
    """All nodes, breadth first over next_functions: an independent walk."""
    found: list[Any] = [output.grad_fn]
    for node in found:
        for after, _ in node.next_functions:
            if after is not None and not any(after is one for one in found):
                found.append(after)
    return found
