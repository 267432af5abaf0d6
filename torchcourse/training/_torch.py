"""The private functions of torch that this package calls, each with a way without it."""

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext

import torch
from torch import Tensor


def norms(tensors: Sequence[Tensor]) -> Tensor:
    """The 2-norm of each tensor, summed in float32 at least; float32, shape (len(tensors),)."""
    dense = [t.coalesce().values() if t.is_sparse else t for t in tensors]
    many = getattr(torch, "_foreach_norm", None)  # one call for all: what clip_grad_norm_ uses
    if many is not None and len({(t.device, t.dtype) for t in dense}) == 1:
        wide = (
            torch.float32 if dense[0].itemsize < 4 else None
        )  # else the result is rounded to half precision
        return torch.stack(many(dense, 2, wide)).float()
    return torch.stack([torch.linalg.vector_norm(t.float()).to(tensors[0].device) for t in dense])


def same_versions(tensors: Iterable[Tensor]) -> AbstractContextManager[None]:
    """Their version counters are afterwards what they were: for blocks that put every value back."""
    keep = getattr(torch.autograd, "_unsafe_preserve_version_counter", None)
    return nullcontext() if keep is None else keep(tuple(tensors))
