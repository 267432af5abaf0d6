"""What an xray returns: plain data, in order, with nothing that holds a tensor."""

from dataclasses import dataclass
from typing import Literal

import torch

Kind = Literal["view", "in-place", "new"]


@dataclass(frozen=True, slots=True)
class Output:
    """One tensor that an operator returned.

    kind: "in-place" where the operator's schema writes it, "view" where its storage is an
    input's, else "new". nbytes: bytes of the new storage, else 0. storage: a number for the
    storage, in order of first use in this xray (0, 1, …), or None where there is none (sparse).
    stride and offset count elements.
    """

    kind: Kind
    nbytes: int
    shape: tuple[int, ...]
    dtype: torch.dtype
    device: torch.device
    stride: tuple[int, ...] = ()
    offset: int = 0
    storage: int | None = None


@dataclass(frozen=True, slots=True)
class Operator:
    """One ATen operator that ran, as the profiler names it ("aten::add").

    depth: how many ATen operators enclose it. line: the innermost line of the watched file that
    led to it. module: the path from the outermost module called ("" for that module itself),
    None outside of modules. outputs: filled for operators that reach a `TorchDispatchMode`
    (`dispatched`), empty for composite operators above and for what kernels call below.
    inputs: numbers of the storages it was given. call: index into `calls`, or None.
    """

    name: str
    depth: int
    line: int | None = None
    module: str | None = None
    outputs: tuple[Output, ...] = ()
    inputs: tuple[int, ...] = ()
    dispatched: bool = False
    call: int | None = None


@dataclass(frozen=True, slots=True)
class Call:
    """One call of the Python front: its public name ("torch.nn.functional.linear").

    why_no_node: the reason why autograd recorded nothing for its result, or None.
    """

    name: str
    line: int | None
    module: str | None
    why_no_node: str | None = None


@dataclass(frozen=True, slots=True)
class Node:
    """One autograd node that was recorded ("AddBackward0").

    saved_bytes: bytes of the tensors it keeps for backward, each saved tensor's elements once.
    operator: index into `operators` of the operator that made it, or None where not known.
    """

    name: str
    saved_bytes: int
    line: int | None = None
    module: str | None = None
    operator: int | None = None


@dataclass(frozen=True, slots=True)
class Wait:
    """A point where Python needed a value and had to wait for it: `.item()`, `print`, …"""

    cause: str
    line: int | None = None
    module: str | None = None


@dataclass(frozen=True, slots=True)
class Copy:
    """A copy from one device to another; nbytes: bytes of the elements that moved."""

    source: torch.device
    target: torch.device
    nbytes: int
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Trace:
    """All that one xray saw. Bytes everywhere; `notes` says what is missing, if anything is."""

    operators: tuple[Operator, ...] = ()
    calls: tuple[Call, ...] = ()
    nodes: tuple[Node, ...] = ()
    ran: tuple[str, ...] = ()
    waits: tuple[Wait, ...] = ()
    copies: tuple[Copy, ...] = ()
    kernels: tuple[str, ...] = ()
    new_bytes: int = 0
    peak_bytes: int = 0
    freed_bytes: int = 0
    file: str = ""
    source: tuple[tuple[int, str], ...] = ()
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        from .text import trace_text

        return trace_text(self)
