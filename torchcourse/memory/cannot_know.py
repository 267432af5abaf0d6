"""What a CUDA step takes besides what its operators return: no recording on the CPU can see it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from .text import amount

# cuBLAS asks the caching allocator for one workspace per thread and stream that multiplies matrices
# (aten/src/ATen/cuda/CublasHandlePool.cpp): this much, and the larger figure on compute capability 9.0.
WORKSPACE, WORKSPACE_SM90 = 8_519_680, 33_554_432
# cuDNN may take a workspace while a convolution runs. How much depends on the algorithm that it picks.
CONVOLUTION = 256 << 20
# The CUDA context and the loaded kernels lie outside of the allocator: only `nvidia-smi` counts them. In
# published out-of-memory messages 0.2 to 0.9 GiB of a process are neither allocated nor reserved by PyTorch.
CONTEXT = (200 << 20, 900 << 20)
_PRODUCTS = frozenset({"mm", "addmm", "bmm", "baddbmm", "addmv", "mv", "dot", "addbmm"})


@dataclass(frozen=True)
class Unknown:
    """Ranges of bytes. `low`, `high`: inside the allocator. `context`: beside it, in `nvidia-smi` only."""

    low: int
    high: int
    workspaces: int  # how many cuBLAS workspaces
    context: tuple[int, int] = CONTEXT

    def __iter__(self) -> Iterator[int]:
        yield from (self.low, self.high)

    def __getitem__(self, index: int) -> int:
        return (self.low, self.high)[index]

    def __len__(self) -> int:
        return 2

    def __str__(self) -> str:
        inside = f"{amount(self.low)} to {amount(self.high)} inside the allocator"
        beside = f"{amount(self.context[0])} to {amount(self.context[1])} of CUDA context beside it"
        return f"{inside} ({self.workspaces} cuBLAS workspaces, kernels' own buffers), {beside}"


def is_product(operator: str) -> bool:
    """Whether cuBLAS does it."""
    return operator.removeprefix("aten::") in _PRODUCTS


def unknown_of(products: Iterable[str], convolves: bool, scores: int, kept_scores: int) -> Unknown:
    """The range for a step. The backward runs in a thread of its own, so it has a workspace of its own.

    scores: bytes of attention scores that a fused kernel did not keep; kept_scores: those that the unfused one did.
    A GPU may take the other kernel, so `low` can lie below 0.
    """
    phases = set(products)
    count = bool(phases & {"forward", "optimizer"}) + bool(phases & {"backward", "recompute"})
    high = count * WORKSPACE_SM90 + convolves * CONVOLUTION + 2 * scores
    return Unknown(count * WORKSPACE - 2 * kept_scores, high, count)
