"""Under `torch.autocast` a GPU runs more operators in float32 than the CPU does: here the CPU follows its lists."""

from __future__ import annotations

from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_map

# Of `aten/src/ATen/autocast_mode.h`, "fp32": what training steps call. These take their inputs in float32 …
FLOAT32 = frozenset({
    "layer_norm", "group_norm", "instance_norm", "cosine_similarity", "exp", "log", "log2", "log10", "log1p",
    "expm1", "pow", "__pow__", "__rpow__", "rsqrt", "reciprocal", "softplus", "norm", "dist", "cdist", "logsumexp",
    "nll_loss", "kl_div", "l1_loss", "smooth_l1_loss", "huber_loss", "mse_loss", "binary_cross_entropy_with_logits",
})  # fmt: skip
# … and these give a float32 result.
FLOAT32_RESULT = frozenset({"softmax", "log_softmax", "cumsum", "cumprod"})
_LOW = (torch.float16, torch.bfloat16)


class CudaLists(TorchFunctionMode):
    """While it stands, code under `torch.autocast("cpu")` keeps the dtypes that it would have on a GPU."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if torch.is_autocast_enabled("cpu"):
            name = getattr(func, "__name__", "")
            if name in FLOAT32:
                args, kwargs = tree_map(_wide, (args, kwargs))
            elif name in FLOAT32_RESULT and kwargs.get("dtype") is None and _is_low(args):
                kwargs = {**kwargs, "dtype": torch.float32}
        return func(*args, **kwargs)


def _wide(value: Any) -> Any:
    return value.float() if isinstance(value, torch.Tensor) and value.dtype in _LOW else value


def _is_low(args: Any) -> bool:
    return bool(args) and isinstance(args[0], torch.Tensor) and args[0].dtype in _LOW
