"""What kind of node a name stands for."""

from typing import Any, NamedTuple

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
_known: dict[type, "Kind"] = {}


class Kind(NamedTuple):
    """What all nodes of one Python class have in common, so that it is looked up once."""

    name: str  # "MulBackward0"
    word: str  # one of the kinds that `data.Node` lists
    function: bool  # a custom `autograd.Function`
    saves: tuple[tuple[str, str, str], ...]  # (name, raw attribute, attribute) of tensors that it saves
    leaf: bool  # AccumulateGrad


def kinds_of(nodes: list[Any]) -> list[Kind]:
    """The kind of each node."""
    return [_known.get(type(node)) or _learned(node) for node in nodes]


def _learned(node: Any) -> Kind:
    """Learned anew each time: custom Functions, and C++ nodes without a Python class of their own."""
    cls = type(node)
    kind = _learn(node, cls)
    if not kind.function and cls.__name__ != "CppFunction":
        _known[cls] = kind
    return kind


def _learn(node: Any, cls: type) -> Kind:
    # As Python shows the class, without the C++ namespace.
    name = str(node.name()).removeprefix("torch::autograd::")
    if _torch.is_python_function(node):
        return Kind(name, _FUNCTIONS.get(name, "custom Function"), True, (), False)
    raws = [one for one in dir(cls) if one.startswith("_raw_saved_")]
    saves = tuple((raw.removeprefix("_raw_saved_"), raw, raw.removeprefix("_raw")) for raw in raws)
    return Kind(name, _built_in(name), False, saves, name == ACCUMULATE)


def _built_in(name: str) -> str:
    if name == ACCUMULATE:
        return ACCUMULATE
    if name in _COPIES:
        return "copy"
    return "view" if name.rstrip("0123456789").removesuffix("Backward") in _VIEWS else "operator"
