"""Holds the module that a reader rebuilds in chapter 05 to nn.Module, on random models written once for both."""

from collections.abc import Callable
from random import Random
from typing import Any

import torch
from torch import Tensor, nn

from torchcourse.exercises import Verdict, rebuild, right, wrong

__all__ = ["compare_mini", "family"]

Kinds = dict[str, Callable[[], Any]]


@rebuild
def compare_mini(mini: Any, rng: Random, models: int = 100) -> Verdict:
    """Build random models on the rebuilt base and on nn.Module: the first difference, or agreement.

    Names and sharing of parameters and buffers, `state_dict()`, `to(dtype)`, `train()`, hooks and outputs
    must agree; refused assignments must be refused.
    """
    for number in range(models):
        seed = rng.randrange(2**31)
        ours, theirs = (_model(family(base), Random(seed), seed) for base in (mini, nn.Module))
        told = f"model {number + 1} of {models}, {_shape(theirs)}"
        if difference := _difference(ours, theirs, rng):
            return wrong(f"{told}: {difference}")
    return right(
        f"{models} random models agree with nn.Module: names, ties, moves, modes, hooks and outputs."
    )


def family(base: Any) -> Kinds:
    """The same class definitions on any base."""

    class Scale(base):  # type: ignore[misc]
        calls: Tensor

        def __init__(self) -> None:
            super().__init__()
            self.gain = nn.Parameter(torch.rand(3))
            self.plain = torch.ones(3)
            self.register_buffer("calls", torch.zeros((), dtype=torch.long))
            self.register_buffer("shift", torch.rand(3), persistent=False)

        def forward(self, x: Tensor) -> Tensor:
            self.calls = self.calls + 1  # a registered name stays a buffer
            noise = 0.5 if self.training else 0.0
            return x * self.gain.to(x.dtype) + self.shift.to(x.dtype) + noise

    class Chain(base):  # type: ignore[misc]
        def __init__(self, *parts: Any) -> None:
            super().__init__()
            self.count = len(parts)
            for k, part in enumerate(parts):
                setattr(self, f"part{k}", part)

        def forward(self, x: Tensor) -> Tensor:
            for k in range(self.count):
                x = getattr(self, f"part{k}")(x)
            return x

    return {"scale": Scale, "chain": Chain}


def _model(kinds: Kinds, rng: Random, seed: int, depth: int = 3) -> Any:
    """A random tree with some ties; the same one for the same seed."""
    state = torch.get_rng_state()
    torch.manual_seed(seed)
    model = _part(kinds, rng, depth)
    torch.set_rng_state(state)
    return model


def _part(kinds: Kinds, rng: Random, depth: int) -> Any:
    if depth == 0 or rng.random() < 0.3:
        return kinds["scale"]()
    parts = [_part(kinds, rng, depth - 1) for _ in range(rng.randint(1, 3))]
    leaves = [part for part in parts if hasattr(part, "gain")]
    if len(leaves) > 1 and rng.random() < 0.5:
        leaves[1].gain = leaves[0].gain
    return kinds["chain"](*parts)


def _shape(model: Any) -> str:
    return f"with {sum(1 for _ in model.modules())} modules"


def _difference(ours: Any, theirs: Any, rng: Random) -> str | None:
    for step in (_names, _refusals, _modes, _outputs, _moves, _names):
        if difference := step(ours, theirs, rng):
            return difference
    return None


def _names(ours: Any, theirs: Any, rng: Random) -> str | None:
    for call in ("named_parameters", "named_buffers"):
        mine, real = list(getattr(ours, call)()), list(getattr(theirs, call)())
        if [name for name, _ in mine] != [name for name, _ in real]:
            return f"{call}() gives {[n for n, _ in mine]}, PyTorch's {[n for n, _ in real]}"
        if not all(_same(a, b) for (_, a), (_, b) in zip(mine, real, strict=True)):
            return f"{call}(): a tensor differs in dtype or value"
    mine_state, real_state = ours.state_dict(), theirs.state_dict()
    if set(mine_state) != set(real_state):
        return f"state_dict() has {sorted(mine_state)}, PyTorch's {sorted(real_state)}"
    if not all(_same(mine_state[name], real_state[name]) for name in real_state):
        return "state_dict(): a tensor differs in dtype or value"
    return None


def _same(a: Tensor, b: Tensor) -> bool:
    return a.dtype == b.dtype and torch.equal(a, b) and type(a) is type(b)


def _refusals(ours: Any, theirs: Any, rng: Random) -> str | None:
    """A plain tensor for a parameter's name, and a name that is not there."""
    for model, _ in ((_leaf(ours), 0), (_leaf(theirs), 1)):
        try:
            model.gain = torch.ones(3)
        except TypeError:
            pass
        else:
            return "a plain tensor was accepted under a parameter's name"
        if hasattr(model, "no_such_name"):
            return "a name that nobody assigned was found"
    return None


def _leaf(model: Any) -> Any:
    while not hasattr(model, "gain"):
        model = model.part0
    return model


def _modes(ours: Any, theirs: Any, rng: Random) -> str | None:
    mode = rng.random() < 0.5
    ours.train(mode), theirs.train(mode)
    flags = [[module.training for module in _all(model)] for model in (ours, theirs)]
    return None if flags[0] == flags[1] else f"after train({mode}) the flags are {flags[0]}"


def _all(model: Any) -> list[Any]:
    return [model, *(inner for child in model._modules.values() for inner in _all(child))]


def _outputs(ours: Any, theirs: Any, rng: Random) -> str | None:
    x, logs = torch.rand(2, 3), []
    doubles = rng.random() < 0.5
    outputs = []
    for model in (ours, theirs):
        log: list[str] = []
        for module in _all(model):
            module.register_forward_hook(_hook(log, doubles))
        outputs.append(model(x))
        logs.append(log)
    if logs[0] != logs[1]:
        return f"hooks ran {len(logs[0])} times in the order {logs[0]}, PyTorch's {logs[1]}"
    return None if torch.allclose(*outputs) else "the output differs"


def _hook(log: list[str], doubles: bool) -> Callable[..., Any]:
    def hook(module: Any, args: Any, output: Tensor) -> Tensor | None:
        log.append(type(module).__name__)
        return output * 2 if doubles else None

    return hook


def _moves(ours: Any, theirs: Any, rng: Random) -> str | None:
    kept = [parameter for _, parameter in ours.named_parameters()]
    ours.to(torch.float64), theirs.to(torch.float64)
    if any(a is not b for a, (_, b) in zip(kept, ours.named_parameters(), strict=True)):
        return "to() made new Parameter objects: an optimizer would hold the old ones"
    leaves = [_leaf(model).plain.dtype for model in (ours, theirs)]
    return None if leaves[0] == leaves[1] else f"to() made the plain tensor {leaves[0]}"
