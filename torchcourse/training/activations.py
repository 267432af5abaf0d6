"""An observer of what flows forward: mean, spread and zeros of each layer's output."""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.hooks import RemovableHandle

from ._input import positive_count
from ._watching import Watching, by_name

SHOWN = 24  # layers in the text


@dataclass(frozen=True)
class Layer:
    """One layer's outputs, call by call. zeros: the share of elements that are exactly 0 (dead or cut off by ReLU)."""

    name: str
    kind: str
    means: tuple[float, ...]
    stds: tuple[float, ...]
    zeros: tuple[float, ...]

    def __str__(self) -> str:
        if not self.means:
            return f"{self.name} {self.kind}: not called"
        return f"mean {self.means[-1]:.3g}, std {self.stds[-1]:.3g}, zeros {self.zeros[-1]:.0%}"


@dataclass(frozen=True)
class Activations:
    """The layers that were called, in the order of the model."""

    layers: tuple[Layer, ...]

    def of(self, name: str) -> Layer:
        """The layer of this name. Raises KeyError with the known ones."""
        return by_name(self.layers, name)

    def __str__(self) -> str:
        if not self.layers:
            return "activations: no layer was called"
        width = max(len(f"{layer.name} {layer.kind}") for layer in self.layers)
        lines = [f"{'activations, last call':{width}}  {'mean':>9}  {'std':>9}  zeros"]
        for layer in self.layers[:SHOWN]:
            numbers = f"{layer.means[-1]:>9.3g}  {layer.stds[-1]:>9.3g}  {layer.zeros[-1]:>5.0%}"
            lines.append(f"{f'{layer.name} {layer.kind}':{width}}  {numbers}")
        more = len(self.layers) - SHOWN
        return "\n".join(lines + ([f"… and {more} more layers"] if more > 0 else []))


class ActivationStats(Watching):
    """Looks at the output of every layer without children, at each `every`-th call of it.

    `with ActivationStats(model) as stats: …forward passes…`, then `stats.seen`, an Activations. Reads detached
    outputs in forward hooks, which are gone after the block; waits for no GPU. Of a tuple, the first tensor counts.
    """

    def __init__(self, model: nn.Module, every: int = 1) -> None:
        if not isinstance(model, nn.Module):
            raise TypeError(f"model is an nn.Module; got a {type(model).__name__}.")
        self._every = positive_count("every", every)
        leaves = [(name or "(model)", m) for name, m in model.named_modules() if not any(m.children())]
        self._leaves = leaves
        self._calls = [0] * len(leaves)
        self._found: list[list[Tensor]] = [[] for _ in leaves]

    def _hooks(self) -> tuple[RemovableHandle, ...]:
        return tuple(
            module.register_forward_hook(self._hook(place)) for place, (_, module) in enumerate(self._leaves)
        )

    def _hook(self, place: int) -> Any:
        def look(module: nn.Module, inputs: Any, output: Any) -> None:
            self._calls[place] += 1
            tensor = _first_tensor(output)
            if tensor is not None and (self._calls[place] - 1) % self._every == 0:
                self._found[place].append(_statistics(tensor.detach()))

        return look

    @property
    def seen(self) -> Activations:
        """Everything seen so far. Here the numbers come from the device."""
        found = []
        for (name, module), rows in zip(self._leaves, self._found, strict=True):
            if rows:
                means, stds, zeros = zip(*(row.tolist() for row in rows), strict=True)
                found.append(Layer(name, type(module).__name__, means, stds, zeros))
        return Activations(tuple(found))


def _first_tensor(output: Any) -> Tensor | None:
    """The output, or the first part of it, that has numbers to speak of."""
    parts = output if isinstance(output, (tuple, list)) else [output]
    for part in parts:
        if isinstance(part, Tensor) and part.is_floating_point() and part.numel() and not part.is_sparse:
            return part
    return None


def _statistics(tensor: Tensor) -> Tensor:
    """Mean, standard deviation and share of zeros as float32, left on the device; shape (3,)."""
    with torch.no_grad():
        mean = tensor.mean(dtype=torch.float32)
        return torch.stack([mean, _spread(tensor, mean), 1 - _nonzeros(tensor) / tensor.numel()])


def _nonzeros(tensor: Tensor) -> Tensor:
    """How many elements are not 0: torch.count_nonzero, several times faster on a CPU."""
    flags = tensor.bool()
    if flags.numel() % 64 == 0:
        # 64 flags fit into a byte's 127, and bytes add up in one instruction.
        flags = flags.reshape(64, -1).view(torch.int8).sum(0, dtype=torch.int8)
    return flags.sum(dtype=torch.int32)


def _spread(tensor: Tensor, mean: Tensor) -> Tensor:
    """The standard deviation: on the CPU from the mean square, five times faster than torch.std_mean.

    Where the mean is so large that their difference would lose digits, and on a GPU, by torch itself.
    """
    if tensor.device.type == "cpu":
        wide = torch.float32 if tensor.itemsize < 4 else None  # else the norm is rounded to half precision
        square = torch.linalg.vector_norm(tensor, dtype=wide).float() ** 2 / tensor.numel()
        variance = square - mean**2
        if variance > 0.05 * square:
            return variance.sqrt()
    return tensor.float().std(correction=0)
