"""On "meta" tensors PyTorch takes the unfused attention, which keeps all scores; a GPU takes a fused one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.nn import functional as F

# `_fused_sdp_choice` has no rule for "meta" and says "math". The kernel that a GPU takes for float32:
_FUSED = getattr(torch.ops.aten, "_scaled_dot_product_efficient_attention", None)


@contextmanager
def fused_on_meta() -> Iterator[None]:
    """In the block `F.scaled_dot_product_attention` of "meta" tensors without a mask is the fused kernel.

    As on a GPU, `sdpa_kernel(SDPBackend.MATH)` switches it off.
    """
    plain = F.scaled_dot_product_attention
    fused = _fused(plain)
    F.scaled_dot_product_attention = fused
    try:
        yield
    finally:
        if F.scaled_dot_product_attention is fused:
            F.scaled_dot_product_attention = plain


def _fused(plain: Any) -> Any:
    def scaled_dot_product_attention(
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        attn_mask: torch.Tensor | None = None,
        dropout_p: float = 0.0,
        is_causal: bool = False,
        **settings: Any,
    ) -> torch.Tensor:
        if _FUSED is None or attn_mask is not None or not _could_fuse(query, settings):
            return plain(query, key, value, attn_mask, dropout_p, is_causal, **settings)
        keep = query.requires_grad or key.requires_grad or value.requires_grad
        scale = settings.get("scale")
        return _FUSED(query, key, value, None, keep, dropout_p, is_causal, scale=scale)[0]

    return scaled_dot_product_attention


def _could_fuse(query: torch.Tensor, settings: dict[str, Any]) -> bool:
    allowed = torch.backends.cuda.mem_efficient_sdp_enabled() or torch.backends.cuda.flash_sdp_enabled()
    return query.device.type == "meta" and query.dim() == 4 and allowed and not settings.get("enable_gqa")
