"""Modules whose mode makes a difference."""

import torch
from torch import nn

from torchcourse.modules.writes import class_attributes, reads_mode

BATCH_NORM = nn.modules.batchnorm._BatchNorm
DROPOUT = nn.modules.dropout._DropoutNd


def differs(module: nn.Module) -> bool:
    """Whether its mode makes a difference, and nobody chose it by a train() of the class's own."""
    if isinstance(module, torch.jit.ScriptModule) or any(
        n == "train" for n, _ in class_attributes(type(module))
    ):
        return False
    if isinstance(module, DROPOUT):
        return module.p > 0
    if isinstance(module, BATCH_NORM):
        return module.track_running_stats
    if isinstance(module, (nn.RNNBase, nn.MultiheadAttention)):
        return module.dropout > 0
    return not type(module).__module__.startswith("torch.") and reads_mode(module)
