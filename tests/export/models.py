"""Small models with known traps, and what each way out of Python must make of them, cell by cell.

A cell is a letter: a(gree), d(iffer), r(efused); a word has one letter an input, the example first.
The expectations are those of torch 2.13 and were reasoned from the mechanism, then checked by running.
"""

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy
import torch
from torch import nn
from torch.export import Dim


@dataclasses.dataclass(frozen=True)
class Case:
    """words: trace, torchscript_onnx, export, dynamo_onnx. kinds: way → kind of its first reason."""

    make: Callable[[], nn.Module]
    inputs: tuple[tuple[Any, ...], ...]
    words: str
    kinds: dict[str, str] = dataclasses.field(default_factory=dict)
    dynamic_shapes: Any = None
    training: bool = False


x = torch.arange(12.0).reshape(3, 4) / 4 - 1  # -1 … 1.75
positive = x.abs() + 0.1
five = torch.arange(20.0).reshape(5, 4) / 4 - 1
one, none = torch.ones(1, 4), torch.ones(0, 4)
sizes = ((x,), (five,), (one,), (none,))
rows = ({0: Dim("rows")},)


class Plain(nn.Sequential):
    def __init__(self):
        super().__init__(nn.Linear(4, 2), nn.ReLU())


class BranchOnValue(nn.Module):
    def forward(self, x):
        if x.sum() > 0:
            return x + 1
        return x - 1


class BranchByCond(nn.Module):
    def forward(self, x):
        return torch.cond(x.sum() > 0, lambda x: x + 1, lambda x: x - 1, (x,))


class BranchByWhere(nn.Module):
    def forward(self, x):
        return torch.where(x.sum() > 0, x + 1, x - 1)


class BranchOnOne(nn.Module):
    def forward(self, x):
        return x[:, :1] if x.shape[0] > 1 else x * 2


class BranchOnFour(nn.Module):
    def forward(self, x):
        return x[:, :1] if x.shape[0] > 4 else x * 2


class LoopOverRows(nn.Module):
    def forward(self, x):
        for i in range(x.shape[0]):
            x = x + i
        return x


class Item(nn.Module):
    def forward(self, x):
        return x / x.abs().max().item()


class ByLen(nn.Module):
    def forward(self, x):
        return x.sum(0) / len(x)


class ByShape(nn.Module):
    def forward(self, x):
        return x.sum(0) / x.shape[0]


class DictOut(nn.Module):
    def forward(self, x):
        return {"second": x + 1, "first": x * 2}


class DictIn(nn.Module):
    def forward(self, batch):
        return batch["a"] - batch["b"]


class Number(nn.Module):
    def forward(self, x, n):
        return x * n


class NumberByDefault(nn.Module):
    def forward(self, x, n=2):
        return x * n


class Word(nn.Module):
    def forward(self, x, how):
        return x.sum(0) if how == "sum" else x.mean(0)


class NoneOut(nn.Module):
    def forward(self, x):
        return x + 1, None


@dataclasses.dataclass
class Answer:
    value: torch.Tensor


class DataclassOut(nn.Module):
    def forward(self, x):
        return Answer(x + 1)


class Optional(nn.Module):
    def forward(self, x, shift=None):
        return x if shift is None else x + shift


class Noise(nn.Module):
    def forward(self, x):
        return x + torch.randn_like(x)


class InPlace(nn.Module):
    def forward(self, x):
        x.mul_(2)
        return x + 1


class CountInBuffer(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, x):
        self.calls += 1
        return x * self.calls


class CountInPython(nn.Module):
    def __init__(self):
        super().__init__()
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        return x * self.calls


class Mask(nn.Module):
    def forward(self, x):
        return x[x > 0]


class SingularValues(nn.Module):
    def forward(self, x):
        return torch.linalg.svdvals(x)


class ThroughNumPy(nn.Module):
    def forward(self, x):
        return x + torch.from_numpy(numpy.cumsum(x.detach().numpy(), 0))


class FloorDivide(nn.Module):
    def forward(self, x):
        return x.int() // 3, x > 0


class SliceByTensor(nn.Module):
    def forward(self, x, n):
        return x[: n.item()]


class Raises(nn.Module):
    def forward(self, x):
        raise RuntimeError("this model never works")


class Logarithm(nn.Module):
    def forward(self, x):
        return torch.log(x)


class Complex(nn.Module):
    def forward(self, x):
        return torch.complex(x, x)


class Unrolled(nn.Module):
    def forward(self, x):
        return torch.stack([row * 2 for row in x])


CASES = {
    "plain": Case(Plain, sizes, "aaaa aaaa aaaa aaaa", dynamic_shapes=rows),
    "fixed sizes": Case(
        Plain,
        sizes,
        "aaaa arrr arrr arrr",
        dict.fromkeys(("torchscript_onnx", "export", "dynamo_onnx"), "fixed shape"),
    ),
    "branch on a value": Case(
        BranchOnValue,
        ((positive,), (-positive,), (positive * 2,)),
        "ada ada rrr rrr",
        dict.fromkeys(("trace", "torchscript_onnx", "export", "dynamo_onnx"), "data-dependent branch"),
    ),
    "torch.cond": Case(
        BranchByCond,
        ((positive,), (-positive,)),
        "rr rr aa aa",
        dict.fromkeys(("trace", "torchscript_onnx"), "unsupported operator"),
    ),
    "torch.where": Case(BranchByWhere, ((positive,), (-positive,)), "aa aa aa aa"),
    "branch on size 1": Case(
        BranchOnOne,
        sizes,
        "aadd aadd aadd aadd",
        {"trace": "shape-dependent branch", "export": "dynamic shape specialised"},
        rows,
    ),
    "branch on size 4": Case(
        BranchOnFour,
        ((x,), (torch.ones(8, 4),)),
        "ad ad rr ad",
        {
            "trace": "shape-dependent branch",
            "export": "dynamic shape specialised",
            "dynamo_onnx": "dynamic shape specialised",
        },
        rows,
    ),
    "branch on size 4, auto": Case(
        BranchOnFour,
        ((x,), (torch.ones(8, 4),)),
        "ad ad ar ad",
        {"export": "dynamic shape specialised", "dynamo_onnx": "dynamic shape specialised"},
        ({0: Dim.AUTO},),
    ),
    "loop over rows": Case(
        LoopOverRows,
        sizes,
        "adda adda rrrr arrr",
        dict.fromkeys(("trace", "torchscript_onnx", "export", "dynamo_onnx"), "dynamic shape specialised"),
        rows,
    ),
    "loop over rows, auto": Case(LoopOverRows, sizes, "adda adda arrr adda", {}, ({0: Dim.AUTO},)),
    "loop over rows, dynamic": Case(LoopOverRows, sizes, "adda adda rrrr rrrr", {}, ({0: Dim.DYNAMIC},)),
    "rows of a tensor": Case(
        Unrolled,
        ((x,), (five,), (one,)),
        "arr arr rrr arr",
        {"trace": "fails inside", "torchscript_onnx": "fails inside", "export": "dynamic shape specialised"},
        rows,
    ),
    "item": Case(
        Item,
        ((x,), (x * 3,)),
        "ad ad aa aa",
        dict.fromkeys(("trace", "torchscript_onnx"), "constant baked in"),
    ),
    "len": Case(
        ByLen,
        sizes[:3],
        "add add rrr arr",
        {"trace": "constant baked in", "dynamo_onnx": "dynamic shape specialised"},
        rows,
    ),
    "shape[0]": Case(ByShape, sizes, "aaaa aaaa aaaa aaaa", {}, rows),
    "dict output": Case(DictOut, ((x,), (five,)), "rr aa aa aa", {"trace": "output not a tensor"}, rows),
    "dict input": Case(DictIn, (({"b": x, "a": x * 2},), ({"a": x, "b": x * 5},)), "aa aa aa aa"),
    "number argument": Case(
        Number,
        ((x, 3), (x * 2, 3), (x, 4)),
        "rrr aaa aar aad",
        {"trace": "input not a tensor", "export": "constant baked in", "dynamo_onnx": "constant baked in"},
    ),
    "number by default": Case(NumberByDefault, ((x,), (x * 2,)), "aa aa aa aa"),
    "word argument": Case(
        Word,
        ((x, "sum"), (x, "mean")),
        "rr ad ar ad",
        {
            "trace": "input not a tensor",
            "torchscript_onnx": "constant baked in",
            "export": "constant baked in",
        },
    ),
    "None output": Case(NoneOut, ((x,), (x * 2,)), "rr aa aa aa", {"trace": "output not a tensor"}),
    "dataclass output": Case(
        DataclassOut,
        ((x,),),
        "r r r r",
        dict.fromkeys(("trace", "torchscript_onnx", "export", "dynamo_onnx"), "output not a tensor"),
    ),
    "optional argument": Case(
        Optional,
        ((x,), (x, one)),
        "ar ar ar ar",
        dict.fromkeys(("trace", "torchscript_onnx", "export", "dynamo_onnx"), "input structure"),
    ),
    "dropout in training": Case(
        lambda: nn.Dropout(0.5),
        ((positive,), (positive * 2,)),
        "aa dd aa dd",
        {"torchscript_onnx": "training mode", "dynamo_onnx": "random numbers"},
        training=True,
    ),
    "dropout in eval": Case(lambda: nn.Dropout(0.5), ((x,), (x * 2,)), "aa aa aa aa"),
    "batch norm in training": Case(
        lambda: nn.BatchNorm1d(4),
        ((x,), (x * 2,)),
        "aa dd aa dd",
        dict.fromkeys(("torchscript_onnx", "dynamo_onnx"), "training mode"),
        training=True,
    ),
    "batch norm in eval": Case(lambda: nn.BatchNorm1d(4), sizes, "aaaa aaaa aaaa aaaa", {}, rows),
    "noise": Case(
        Noise, ((x,),), "a d a d", dict.fromkeys(("torchscript_onnx", "dynamo_onnx"), "random numbers")
    ),
    "in-place on the input": Case(InPlace, ((x,), (x * 2,)), "aa aa aa aa"),
    "count in a buffer": Case(
        CountInBuffer,
        ((x,), (x * 2,)),
        "dd dd aa aa",
        dict.fromkeys(("trace", "torchscript_onnx"), "buffer moved"),
    ),
    "count in Python": Case(CountInPython, ((x,), (x * 2,)), "rr aa aa aa", {"trace": "trace check failed"}),
    "mask": Case(Mask, ((x,), (-x,), (-positive,)), "aaa aaa aaa aaa"),
    "unsupported operator": Case(
        SingularValues,
        ((x,), (x * 2,)),
        "aa rr aa rr",
        dict.fromkeys(("torchscript_onnx", "dynamo_onnx"), "unsupported operator"),
    ),
    "through NumPy": Case(
        ThroughNumPy,
        ((x,), (x * 2,)),
        "ad ad rr aa",
        {"trace": "constant baked in", "export": "leaves torch"},
    ),
    "integers rounded down": Case(
        FloorDivide,
        ((x * 4,), (positive * 9,)),
        "aa da aa aa",
        {"torchscript_onnx": "other arithmetic"},
    ),
    "slice by a tensor": Case(
        SliceByTensor,
        ((x, torch.tensor(2)), (x, torch.tensor(3))),
        "ad ad aa aa",
        dict.fromkeys(("trace", "torchscript_onnx"), "constant baked in"),
    ),
    "dtypes": Case(
        Logarithm,
        ((positive,), (positive.double(),), (positive.half(),), (torch.ones(3, 4, dtype=torch.int64),)),
        "aaaa arrr aaaa arrr",
        dict.fromkeys(("torchscript_onnx", "dynamo_onnx"), "dtype"),
    ),
    "NaN and infinity": Case(Logarithm, ((x,), (x * 0,)), "aa aa aa aa"),
    "index out of range": Case(
        lambda: nn.Embedding(5, 3),
        ((torch.tensor([0, 4]),), (torch.tensor([1, 2]),), (torch.tensor([9, 0]),)),
        "aar aar aar aar",
        dict.fromkeys(("trace", "torchscript_onnx", "export", "dynamo_onnx"), "refused in eager mode too"),
    ),
    "never works": Case(
        Raises,
        ((x,), (x * 2,)),
        "rr rr rr rr",
        dict.fromkeys(("trace", "torchscript_onnx", "export", "dynamo_onnx"), "refused in eager mode too"),
    ),
    "bfloat16": Case(
        Number,
        ((x.bfloat16(), torch.tensor(2).bfloat16()),),
        "a r a r",
        dict.fromkeys(("torchscript_onnx", "dynamo_onnx"), "unsupported operator"),
    ),
    "complex output": Case(
        Complex,
        ((x,), (x * 2,)),
        "aa rr aa dd",
        {"torchscript_onnx": "unsupported operator", "dynamo_onnx": "dtype"},
    ),
    "lstm": Case(
        lambda: nn.LSTM(4, 3, batch_first=True),
        ((torch.ones(2, 3, 4),), (torch.ones(5, 3, 4) / 3,), (torch.ones(1, 3, 4),)),
        "aaa aaa aaa aaa",
        {},
        rows,
    ),
    "transformer layer": Case(
        lambda: nn.TransformerEncoderLayer(4, 2, 8, batch_first=True),
        ((torch.ones(2, 3, 4),), (torch.ones(5, 3, 4) / 3,)),
        "rr rr aa aa",  # the TorchScript exporter makes a tensor of the default is_causal=False
        {"trace": "trace check failed", "torchscript_onnx": "input not a tensor"},
        rows,
    ),
}

# Every kind of trap once, in the default lane; the rest takes a minute and runs with --slow.
QUICK = (
    "branch on a value",
    "batch norm in training",
    "unsupported operator",
)
