"""A check of chapter 02: which in-place writes break a backward?"""

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from torchcourse.exercises import Verdict, almost, check, not_yet, right, wrong

__all__ = ["breaks"]


def _leaf() -> Tensor:
    return torch.tensor([0.5, 1.0, 1.5], requires_grad=True)


def _of(operator: Callable[[Tensor], Tensor], written: Callable[[Tensor, Tensor], Tensor]) -> Any:
    def build() -> tuple[Tensor, Tensor]:
        x = _leaf()
        y = operator(x)
        return y, written(x, y)

    return build


def _product(k: int) -> tuple[Tensor, Tensor]:
    x, t = _leaf(), torch.tensor([1.0, 2.0, 3.0])
    return x * t, (x, t)[k]


def _linear(k: int) -> tuple[Tensor, Tensor]:
    x, weight = torch.ones(2, 3), torch.ones(1, 3, requires_grad=True)
    return F.linear(x, weight), (x, weight)[k]


# what is written where -> builds (result, written)
CASES: dict[str, Callable[[], tuple[Tensor, Tensor]]] = {
    "y = x.exp(), and y is written": _of(torch.exp, lambda x, y: y),
    "y = x.exp(), and x is written": _of(torch.exp, lambda x, y: x),
    "y = x.sin(), and y is written": _of(torch.sin, lambda x, y: y),
    "y = x.sin(), and x is written": _of(torch.sin, lambda x, y: x),
    "y = x + 1, and y is written": _of(lambda x: x + 1, lambda x, y: y),
    "y = x * t, t needs no grad, and t is written": lambda: _product(1),
    "y = x * t, t needs no grad, and x is written": lambda: _product(0),
    "y = linear(x, w), x needs no grad, and x is written": lambda: _linear(0),
    "y = linear(x, w), x needs no grad, and w is written": lambda: _linear(1),
}
TRAPS = {
    "y = x.sin(), and a copy of x, x.clone(), is written": (
        _of(torch.sin, lambda x, y: x.detach().clone()),
        "Equal values in other memory are another tensor.",
    ),
    "y = x.sin(), and x[1:] is written": (
        _of(torch.sin, lambda x, y: x[1:]),
        "A view shares the memory and the version counter.",
    ),
    "y = x.sin(), and x.detach() is written": (
        _of(torch.sin, lambda x, y: x.detach()),
        "detach() shares the memory and the version counter.",
    ),
}


@check
def breaks(answer: Any) -> Iterator[Verdict]:
    """breaks(result, written): True exactly when a write to `written` would make result's backward raise."""
    given = {what: answer(*build()) for what, build in CASES.items()}
    if any(value is None for value in given.values()):
        yield not_yet("your function returns None. Return True or False.")
    for what, build in CASES.items():
        if bool(given[what]) != fails(build):
            yield wrong(f"{what}: backward {_does(build)}, and your answer is {given[what]}.")
    for what, (build, why) in TRAPS.items():
        if bool(value := answer(*build())) != fails(build):
            yield almost(f"{what}: backward {_does(build)}, and your answer is {value}. {why}")
    yield right(f"all {len(CASES) + len(TRAPS)} writes are told right: what was saved decides.")


def fails(build: Callable[[], tuple[Tensor, Tensor]]) -> bool:
    """Whether backward raises after a write to the second tensor: tried out."""
    result, written = build()
    with torch.no_grad():
        written.add_(1)
    try:
        result.sum().backward()
    except RuntimeError:
        return True
    return False


def _does(build: Callable[[], tuple[Tensor, Tensor]]) -> str:
    return "raises" if fails(build) else "works"
