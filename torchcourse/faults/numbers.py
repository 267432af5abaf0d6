"""Sizes of tensors, without a temporary copy of them."""

import torch
from torch import Tensor


def norm(tensor: Tensor, dim: int | None = None) -> Tensor:
    """The 2-norm, in float32 at least."""
    wide = torch.float32 if tensor.itemsize < 4 else None
    return torch.linalg.vector_norm(tensor.detach(), dim=dim, dtype=wide)


def rms(tensor: Tensor) -> float:
    """Root mean square; 1 where there is nothing to measure: indices, no elements."""
    if not tensor.is_floating_point() or not tensor.numel() or tensor.is_meta:
        return 1.0
    return float(norm(tensor)) / tensor.numel() ** 0.5


def is_zero(tensor: Tensor) -> bool:
    """Whether every number is 0; most often the first one settles it."""
    plain = tensor.detach()
    return not bool(plain[(0,) * plain.ndim]) and not bool(plain.any())
