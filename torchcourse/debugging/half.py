"""What float16 and bfloat16 would do to a model's numbers, layer by layer: flushed to zero, subnormal, overflown."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.hooks import RemovableHandle

from torchcourse.autograd._torch import quiet
from torchcourse.training._watching import Watching, by_name

WHAT = ("activation", "gradient")
SHOWN = 24  # layers in the text


@dataclass(frozen=True, slots=True)
class Shares:
    """Of `count` numbers that are not zero, how many a format turns to 0, keeps with fewer digits, or to Inf."""

    count: int = 0
    zero: int = 0  # nearer to 0 than to its smallest number
    subnormal: int = 0  # below its smallest normal number: digits are lost
    overflow: int = 0  # rounds to infinity

    def share(self, what: str) -> float:
        """0 to 1; what: "zero", "subnormal" or "overflow"."""
        return getattr(self, what) / self.count if self.count else 0.0

    def __add__(self, other: Shares) -> Shares:
        return Shares(self.count + other.count, self.zero + other.zero, self.subnormal + other.subnormal,
                      self.overflow + other.overflow)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Layer:
    """One layer's numbers. largest, smallest: absolute values, of what is finite and not zero; 0 where nothing was."""

    name: str
    kind: str
    activation: Shares
    gradient: Shares
    activation_largest: float
    gradient_largest: float
    gradient_smallest: float


@dataclass(frozen=True, repr=False)
class Half:
    """The layers in order of the model, for one format. `str()` is the text twin."""

    dtype: str  # "float16" | "bfloat16"
    layers: tuple[Layer, ...]
    loss_scale: float | None  # a power of two; None where no gradient was seen

    def __iter__(self) -> Any:
        return iter(self.layers)

    def of(self, name: str) -> Layer:
        """The layer of this name. Raises KeyError with the known ones."""
        return by_name(self.layers, name)

    def __str__(self) -> str:
        if not self.layers:
            return f"{self.dtype}: no layer was called"
        width = max(len(f"{layer.name} {layer.kind}") for layer in self.layers)
        lines = [f"{'in ' + self.dtype:{width}}  activations → 0  → Inf  gradients → 0  subnormal  → Inf"]
        for layer in self.layers[:SHOWN]:
            a, g = layer.activation, layer.gradient
            shares = f"{a.share('zero'):>15.1%}{a.share('overflow'):>7.1%}{g.share('zero'):>15.1%}"
            shares += f"{g.share('subnormal'):>11.1%}{g.share('overflow'):>7.1%}"
            lines.append(f"{f'{layer.name} {layer.kind}':{width}}  {shares}")
        more = len(self.layers) - SHOWN
        lines += [f"… and {more} more layers"] if more > 0 else []
        if self.loss_scale is not None:
            scale = f"{self.loss_scale:,.0f}" if self.loss_scale >= 1 else f"{self.loss_scale:g}"
            lines.append(f"loss scale: {scale} lifts the gradients as far as none overflows")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return str(self)


class half_meter(Watching):
    """`with half_meter(model) as meter: loss = …; loss.backward()`, then `meter.seen`, a Half for float16.

    Looks at the output of each layer without children, and at the gradient that arrives there. dtype: the format
    in question, torch.float16 or torch.bfloat16. The model runs as it is; nothing is cast. Only numbers are kept,
    and after the block no hook is left. Of an output that is a view and is then written to in place
    (ReLU(inplace=True) after a Linear with three-dimensional input) no gradient is seen.
    Raises TypeError for what is no module, ValueError for another dtype.
    """

    def __init__(self, model: nn.Module, dtype: torch.dtype = torch.float16) -> None:
        if not isinstance(model, nn.Module):
            raise TypeError(
                f"half_meter takes the model to watch, an nn.Module; got a {type(model).__name__}."
            )
        if dtype not in (torch.float16, torch.bfloat16):
            raise ValueError(f"half_meter knows torch.float16 and torch.bfloat16; got {dtype!r}.")
        self._dtype = dtype
        self._leaves = [(name or "(model)", m) for name, m in model.named_modules() if not any(m.children())]
        self._sums: dict[tuple[int, str], Shares] = defaultdict(Shares)
        self._largest: dict[tuple[int, str], float] = defaultdict(float)
        self._smallest: dict[tuple[int, str], float] = defaultdict(lambda: math.inf)
        self._tensor_hooks: list[RemovableHandle] = []
        self._on = False

    def _hooks(self) -> tuple[RemovableHandle, ...]:
        self._on = True
        return tuple(m.register_forward_hook(self._forward(at)) for at, (_, m) in enumerate(self._leaves))

    def __exit__(self, *why: Any) -> None:
        super().__exit__(*why)
        self._on = False
        for handle in self._tensor_hooks:
            handle.remove()
        self._tensor_hooks.clear()

    def _forward(self, at: int) -> Any:
        def look(module: nn.Module, inputs: Any, output: Any) -> None:
            for tensor in output if isinstance(output, (tuple, list)) else (output,):
                if not isinstance(tensor, Tensor) or not tensor.is_floating_point():
                    continue
                self._count(at, "activation", tensor)
                if tensor.requires_grad:
                    # A hook that outlives the block (the graph holds it) looks no more.
                    self._tensor_hooks.append(tensor.register_hook(self._backward(at)))

        return look

    def _backward(self, at: int) -> Any:
        def look(gradient: Tensor) -> None:
            if self._on:
                self._count(at, "gradient", gradient)

        return look

    def _count(self, at: int, what: str, tensor: Tensor) -> None:
        if tensor.layout != torch.strided or tensor.is_meta or not tensor.numel():
            return
        with quiet():
            shares, largest, smallest = _measured(tensor.detach(), self._dtype)
        key = at, what
        self._sums[key] += shares
        self._largest[key] = max(self._largest[key], largest)
        self._smallest[key] = min(self._smallest[key], smallest)

    @property
    def seen(self) -> Half:
        """All calls so far, summed per layer."""
        met = sorted({at for at, _ in self._sums})
        layers = tuple(self._layer(at) for at in met)
        gradients = [layer.gradient_largest for layer in layers if layer.gradient.count]
        return Half(
            str(self._dtype).removeprefix("torch."), layers, _scale(max(gradients, default=0.0), self._dtype)
        )

    def _layer(self, at: int) -> Layer:
        name, module = self._leaves[at]
        a, g = (at, "activation"), (at, "gradient")
        smallest = self._smallest[g] if self._sums[g].count else 0.0
        return Layer(name, type(module).__name__, self._sums[a], self._sums[g], self._largest[a], self._largest[g],
                     0.0 if math.isinf(smallest) else smallest)  # fmt: skip


def _measured(tensor: Tensor, dtype: torch.dtype) -> tuple[Shares, float, float]:
    """The shares of one tensor, its largest finite and its smallest absolute value that is not zero."""
    sizes = tensor.abs().flatten()
    sizes = sizes[(sizes > 0) & sizes.isfinite()]  # what is NaN or Inf already is no matter of the format
    if not sizes.numel():
        return Shares(), 0.0, math.inf
    cast = sizes.to(dtype)
    zero, over = int((cast == 0).sum()), int(cast.isinf().sum())
    below = int((cast < torch.finfo(dtype).smallest_normal).sum()) - zero
    return Shares(sizes.numel(), zero, below, over), float(sizes.max()), float(sizes.min())


def _scale(largest: float, dtype: torch.dtype) -> float | None:
    """The largest power of two that leaves a gradient twice as large below the format's end."""
    if not largest:
        return None
    room = torch.finfo(dtype).max / (2 * largest)
    return 2.0 ** max(-24, min(24, math.floor(math.log2(room))))
