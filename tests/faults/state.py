"""A digest of all that a check-up could change."""

import hashlib
import pickle
import random

import numpy as np
import torch
from torch import nn
from torch.nn.modules import module as hooks
from torch.utils._python_dispatch import _get_current_dispatch_mode_stack

from torchcourse.faults.given import tensors


def digest(*parts):
    return hashlib.sha256(b"".join(parts)).hexdigest()


def bits(tensor):
    if tensor is None:
        return b"None"
    if isinstance(tensor, nn.parameter.UninitializedTensorMixin) or tensor.is_meta:
        return b"lazy"
    plain = tensor.detach()
    plain = plain.coalesce().values() if plain.is_sparse else plain.contiguous()
    return repr((plain.shape, plain.dtype)).encode() + plain.flatten().view(torch.uint8).numpy().tobytes()


def of_tensor(tensor):
    grad = tensor.grad if tensor.is_leaf else None
    own = (tensor._version, tensor.requires_grad, id(grad), tensor.data_ptr() if not tensor.is_meta else 0)
    return [bits(tensor), bits(grad), repr((id(tensor), own)).encode(), hooks_of(tensor)]


def hooks_of(tensor):
    after = tensor._post_accumulate_grad_hooks if tensor.is_leaf else None
    return repr((list(tensor._backward_hooks or ()), list(after or ()))).encode()


def of_value(value):
    """An attribute: the same object, with the same objects inside."""
    if isinstance(value, dict):
        return repr([(key, id(one)) for key, one in dict.items(value)])
    if isinstance(value, (list, tuple, set)):
        return repr([id(one) for one in value])
    return repr(id(value))


def of_model(model):
    parts = []
    for module in model.modules():
        own = {} if isinstance(module, torch.jit.ScriptModule) else vars(module)
        parts.append(repr([(name, of_value(value)) for name, value in own.items()]).encode())
        parts.append(repr(module.training).encode())
    for tensor in [*model.parameters(), *model.buffers()]:
        parts += of_tensor(tensor)
    return parts


def of_optimizer(optimizer):
    several = optimizer if isinstance(optimizer, list) else [optimizer]
    parts = []
    for one in several:
        if one is not None:
            state = one.state_dict()
            parts.append(
                repr([(k, v) for k, v in vars(one).items() if isinstance(v, int | float | str)]).encode()
            )
            parts.append(
                pickle.dumps([{k: v for k, v in g.items() if k != "lr"} for g in state["param_groups"]])
            )
            parts += [
                bits(t) for s in state["state"].values() for t in s.values() if isinstance(t, torch.Tensor)
            ]
            parts += [part for group in one.param_groups for p in group["params"] for part in of_tensor(p)]
    return parts


def flags():
    return repr(
        (
            torch.is_grad_enabled(), torch.is_inference_mode_enabled(), torch.get_default_dtype(),
            torch.are_deterministic_algorithms_enabled(), torch.is_autocast_enabled("cpu"),
            torch._C._len_torch_function_stack(), len(_get_current_dispatch_mode_stack()),
            len(hooks._global_forward_hooks), len(hooks._global_forward_pre_hooks), torch.get_num_threads(),
        )
    ).encode()  # fmt: skip


def generators():
    return [
        torch.get_rng_state().numpy().tobytes(),
        pickle.dumps(random.getstate()),
        pickle.dumps(np.random.get_state()),
    ]


def state(model, batch, loss_fn, optimizer):
    parts = [*of_model(model), *of_optimizer(optimizer), *generators(), flags()]
    for tensor in tensors(batch):
        parts += of_tensor(tensor)
    if isinstance(loss_fn, nn.Module):
        parts += of_model(loss_fn)
    return digest(*parts)
