"""Values in a graph that the source does not write, with what is known of their origin."""

import ast
import sys
from collections.abc import Iterator
from typing import Any

import torch
from torch import nn

from ._coverage import BakedIn, GraphNode
from ._fx_graph import Drawn
from ._reading import Forward, is_torch
from ._statements import literals, own_part

FEW = 6  # elements of a constant tensor that are written out


def baked(
    drawn: list[Drawn], nodes: tuple[GraphNode, ...], found: list[Forward], model: nn.Module
) -> tuple[BakedIn, ...]:
    """Values in the graph that the source does not write, with what is known of their origin."""
    every = []
    for node, one in zip(nodes, drawn, strict=True):
        if node.at and _is_own(model, node.module):
            every += list(_of_node(node, one, found[node.at[-1][0]], model))
    return tuple(every)


def _is_own(model: nn.Module, path: str | None) -> bool:
    """Whether the reader wrote the module: what PyTorch's layers put into their own operators is no news."""
    try:
        return not is_torch(model.get_submodule(path or ""))
    except AttributeError:
        return True


def _of_node(node: GraphNode, drawn: Drawn, one: Forward, model: nn.Module) -> Iterator[BakedIn]:
    at = node.at[-1]
    step = one.at(at[1])
    if step is None or step.node is None or one.values is None:
        return
    code = ast.Module([ast.Expr(p) if isinstance(p, ast.expr) else p for p in own_part(step.node)], [])  # type: ignore[misc]
    written = literals(code)
    read, counted = one.values.reads(code), one.values.counts(code)
    for number in dict.fromkeys(drawn.numbers):
        if abs(number) in written or number in (-1, sys.maxsize) or not (read or counted):
            continue
        kind = "example" if read else "loop"
        how = f"read from the example: `{read}`" if read else f"the loop's `{counted}`"
        yield BakedIn(str(number), kind, node.id, at, how)
    for name, value in drawn.tensors:
        yield from _tensor(name, value, node, model, (written, read))


def _tensor(
    name: str, value: Any, node: GraphNode, model: nn.Module, line: tuple[set[float], str]
) -> Iterator[BakedIn]:
    written, read = line
    if not isinstance(value, torch.Tensor):
        return
    numbers = value.flatten()[: FEW + 1].tolist()
    attribute = _attribute(model, name, value)
    if not attribute and not read and all(isinstance(n, int | float) and abs(n) in written for n in numbers):
        return
    text = (
        str([_short(n) for n in numbers]).replace("'", "")
        if value.numel() <= FEW and value.dim() == 1
        else ""
    )
    text = text or (str(_short(numbers[0])) if value.dim() == 0 else f"{list(value.shape)}")
    how = f"the attribute `{attribute}`, which is no buffer" if attribute else "a tensor that forward made"
    kind = "example" if read and not attribute else "tensor"
    yield BakedIn(text, kind, node.id, node.at[-1], how + (f" with `{read}`" if kind == "example" else ""))


def _short(number: Any) -> str:
    return f"{number:.6g}" if isinstance(number, float) else str(number)


def _attribute(model: nn.Module, name: str, value: torch.Tensor) -> str:
    """The path of a plain attribute that holds this tensor, or empty."""
    for path, module in model.named_modules():
        for key, held in vars(module).items():
            full = f"{path}.{key}" if path else key
            if isinstance(held, torch.Tensor) and (
                full == name or held is value or (not name and _same(held, value))
            ):
                return full
    return ""


def _same(a: torch.Tensor, b: torch.Tensor) -> bool:
    return a.data_ptr() == b.data_ptr() and a.shape == b.shape and a.numel() > 0
