"""Checks of chapter 09. Each takes what the learner wrote and compares it with PyTorch's optimizers."""

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor, nn

from torchcourse.exercises import Verdict, almost, check, rebuild, right, rounded, wrong

__all__ = ["decay_groups", "decay_towards", "rebuilt"]

STEPS = 100


@rebuild
def rebuilt(mine: Callable[..., Any], settings: dict[str, Any]) -> Verdict:
    """Holds a rebuilt optimizer (a class named as PyTorch's) to PyTorch's own over 100 steps."""
    theirs: Any = getattr(torch.optim, mine.__name__)
    for decay in (0.0, 0.25):
        chosen = {"lr": 0.02, "weight_decay": decay, **settings}
        ours, real = _trained(mine, chosen), _trained(theirs, chosen)
        worst = max((a - b).abs().max().item() for a, b in zip(ours, real, strict=True))
        if not worst < 1e-9:  # nan is a failure too
            return wrong(
                f"with weight_decay={decay} it ends {worst:.2g} away from torch.optim.{mine.__name__}."
            )
    return right(f"equal to torch.optim.{mine.__name__} after {STEPS} steps, with and without decay.")


def _trained(optimizer_class: Callable[..., Any], settings: dict[str, Any]) -> list[Tensor]:
    """A small network after 100 steps, in float64, always from the same start."""
    generator = torch.Generator().manual_seed(0)
    shapes = [(8, 4), (8,), (1, 8)]
    first, bias, last = [torch.randn(s, generator=generator, dtype=torch.float64) for s in shapes]
    inputs = torch.randn(16, 4, generator=generator, dtype=torch.float64)
    parameters = [p.requires_grad_() for p in (first, bias, last)]
    optimizer = optimizer_class(parameters, **settings)
    for _ in range(STEPS):
        loss = ((torch.tanh(inputs @ first.T + bias) @ last.T - inputs.sum(1, keepdim=True)) ** 2).mean()
        for p, gradient in zip(parameters, torch.autograd.grad(loss, parameters), strict=True):
            p.grad = gradient
        optimizer.step()
    return [p.detach() for p in parameters]


@check
def decay_towards(answer: Any) -> Iterator[Verdict]:
    """One step of gradient descent with decoupled decay towards an anchor."""
    value, gradient, anchor = (torch.tensor(x) for x in ([1.0, -2.0], [0.3, 0.7], [3.0, -2.0]))
    lr, decay = 0.1, 0.5
    given = answer(value.clone(), gradient.clone(), anchor.clone(), lr, decay)
    if not isinstance(given, Tensor):
        yield wrong(f"it returns {given!r:.60}; return the new value, a tensor.")
        return
    for words, mistake in {
        "that pulls towards zero; the aim is `anchor`": value - lr * gradient - lr * decay * value,
        "the pull goes away from `anchor`: turn the difference round": value
        - lr * gradient
        - lr * decay * (anchor - value),
        "the decay is not multiplied by `lr`": value - lr * gradient - decay * (value - anchor),
        "the gradient's step is missing": value - lr * decay * (value - anchor),
    }.items():
        if torch.allclose(given, mistake):
            yield almost(f"{words}.")
            return
    expected = value - lr * gradient - lr * decay * (value - anchor)
    if not torch.allclose(given, expected):
        yield wrong(
            f"for value [1, -2], gradient [0.3, 0.7] and anchor [3, -2] it gives {rounded(given)}; "
            f"expected {rounded(expected)}."
        )
    yield right("where the value is the anchor, nothing pulls; elsewhere the pull grows with the distance.")


class _Parts(nn.Module):
    """One of each kind of parameter that a grouping rule meets."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(10, 4)
        self.linear = nn.Linear(4, 4)
        self.norm = nn.LayerNorm(4)
        self.conv = nn.Conv1d(4, 4, 3)
        self.batch = nn.BatchNorm1d(4)
        self.frozen = nn.Linear(4, 4).requires_grad_(False)


DECAYED = {"linear.weight", "conv.weight"}


@check
def decay_groups(answer: Any) -> Iterator[Verdict]:
    """Two parameter groups: weights of layers decay; biases, norms and embeddings don't."""
    model = _Parts()
    names = {id(p): name for name, p in model.named_parameters()}
    optimizer = torch.optim.AdamW(answer(model, 0.1), lr=0.1, weight_decay=0.01)
    decays = {names[id(p)]: g["weight_decay"] for g in optimizer.param_groups for p in g["params"]}
    wanted = {name for name, p in model.named_parameters() if p.requires_grad}
    if missing := sorted(wanted - set(decays)):
        yield wrong(f"no group holds {missing[0]}, so it would never train.")
    elif other := sorted({decays[name] for name in wanted} - {0.0, 0.1}):
        yield wrong(
            f"a group decays by {other[0]}, the optimizer's default: say weight_decay in every group."
        )
    elif spared := sorted(name for name in DECAYED if not decays[name]):
        yield wrong(f"{spared[0]} should decay, and its group says 0.")
    elif decays["words.weight"]:
        yield almost(
            "the embedding decays: its weight has two dimensions, but rows that no batch uses would fade."
        )
    elif wrong_ones := sorted(name for name in wanted - DECAYED if decays[name]):
        yield wrong(f"{wrong_ones[0]} decays; biases and the weights of norm layers should not.")
    elif set(decays) - wanted:
        yield almost(
            "right, but a group also holds frozen parameters; leave out those without requires_grad."
        )
    else:
        yield right("weights of layers decay, everything else keeps its size, and nothing is forgotten.")
