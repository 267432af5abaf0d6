"""What kind of node a name stands for."""

from typing import Any

from . import _torch

ACCUMULATE = "AccumulateGrad"
_VIEWS = frozenset(
    {
        *("Alias", "AsStrided", "Conj", "Detach", "Diagonal", "Expand", "Imag", "Lift", "Movedim", "Narrow"),
        *("NegView", "Permute", "Real", "ReshapeAlias", "Select", "Slice", "Split", "SplitWithSizes"),
        *("Squeeze", "Swapaxes", "T", "Transpose", "Unbind", "Unfold", "UnsafeSplit", "UnsafeView"),
        *("Unsqueeze", "Values", "View", "ViewAs", "ViewAsComplex", "ViewAsReal"),
    }
)
_COPIES = frozenset(["CopySlices", "CopyBackwards", "CloneBackward0", "ToCopyBackward0"])
_FUNCTIONS = {"CheckpointFunctionBackward": "checkpoint", "CompiledFunctionBackward": "compiled"}
_known: dict[str, str] = {}


def plain_name(node: Any) -> str:
    """`AccumulateGrad`, `CopySlices`, `MulBackward0`: as Python shows the class, without the C++ namespace."""
    return str(node.name()).removeprefix("torch::autograd::")


def kind_of(node: Any, name: str) -> str:
    """One of the kinds that `data.Node` lists."""
    if _torch.is_python_function(node):
        return _FUNCTIONS.get(name, "custom Function")
    kind = _known.get(name)
    if kind is None:
        kind = _known[name] = _built_in(name)
    return kind


def _built_in(name: str) -> str:
    if name == ACCUMULATE:
        return ACCUMULATE
    if name in _COPIES:
        return "copy"
    return "view" if name.rstrip("0123456789").removesuffix("Backward") in _VIEWS else "operator"
