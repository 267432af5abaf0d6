"""Checks of chapter 11, errors: the reader's own frame, why a `.grad` is None, and a small explainer."""

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor, nn

from torchcourse.errors import explain
from torchcourse.exercises import Verdict, almost, check, not_yet, rebuild, right, wrong

__all__ = ["compare_explainer", "own_frame", "why_none"]


# --- the reader's own frame ---------------------------------------------------------------------------------


def _caught(function: Callable[[], object]) -> Exception:
    try:
        function()
    except Exception as error:
        return error
    raise AssertionError("it was meant to raise")


def _read() -> object:
    return _head(torch.zeros(4, 5))


def _head(features: Tensor) -> Tensor:
    return nn.Linear(3, 2)(features)  # the last frame is PyTorch's


def _add() -> Tensor:
    return torch.zeros(4) + torch.zeros(3)  # the last frame is this one


def _hooked() -> object:
    layer = nn.Linear(2, 2)
    layer.register_forward_hook(_look)
    return layer(torch.zeros(1, 2))


def _look(module: nn.Module, inputs: object, output: Tensor) -> Tensor:
    return output.view(7)  # between this frame and `_hooked` stand PyTorch's


_FRAMES: tuple[tuple[Callable[[], object], str, str], ...] = (
    (_read, "_head", "the error comes out of a Linear that _head calls"),
    (_add, "_add", "the wrong `+` stands in _add itself, and no frame of PyTorch's is below it"),
    (_hooked, "_look", "PyTorch called a hook of ours, _look, and the error is in there"),
)
_TOP = "_caught"


@check
def own_frame(answer: Any) -> Iterator[Verdict]:
    """own_frame(error) -> the name of the last function in its traceback whose file is not one of PyTorch's."""
    for function, wanted, why in _FRAMES:
        given = answer(_caught(function))
        if given == wanted:
            continue
        told = f"for one error it says {given!r}, expected {wanted!r}: {why}."
        if given == _TOP:
            yield wrong(f"{told} Yours is the first frame, where the call began; read from the bottom.")
        elif function is _hooked and given == "_hooked":
            yield almost(f"{told} Own frames may come again below PyTorch's: read from the bottom.")
        elif given is None:
            yield wrong(f"{told} (Is your test of the file too wide? `torchcourse` begins like `torch`.)")
        else:
            yield wrong(told)
    yield right("the last own frame, also where PyTorch's frames are below it, or above it.")


# --- why a gradient is None ---------------------------------------------------------------------------------


@check
def why_none(answer: Any) -> Iterator[Verdict]:
    """why_none(tensor, loss), after loss.backward() -> "frozen", "no leaf", "not in the loss" or "cleared"."""
    for make, wanted, told in _NONES:
        given = answer(*make())
        if given == wanted:
            continue
        if given not in {state for _, state, _ in _NONES}:
            yield wrong(f"it says {given!r}; the four answers are frozen, no leaf, not in the loss, cleared.")
        yield wrong(f"{told}: expected {wanted!r}, it says {given!r}.")
    yield right("all four, and the graph itself was asked who is in it.")


def _frozen() -> tuple[Tensor, Tensor]:
    layer = nn.Linear(2, 2)
    layer.weight.requires_grad_(False)
    return layer.weight, _backward(layer(torch.ones(1, 2)).sum())


def _result() -> tuple[Tensor, Tensor]:
    hidden = torch.ones(2, requires_grad=True) * 2
    return hidden, _backward(hidden.sum())


def _converted() -> tuple[Tensor, Tensor]:
    weight = torch.ones(2, requires_grad=True).double()
    return weight, _backward(weight.sum())


def _unused() -> tuple[Tensor, Tensor]:
    one, other = nn.Linear(2, 2), nn.Linear(2, 2)
    return other.weight, _backward(one(torch.ones(1, 2)).sum())


def _cut() -> tuple[Tensor, Tensor]:
    first, last = nn.Linear(2, 2), nn.Linear(2, 1)
    return first.weight, _backward(last(first(torch.ones(1, 2)).detach()).sum())


def _cleared() -> tuple[Tensor, Tensor]:
    first = nn.Linear(2, 2)
    model = nn.Sequential(first, nn.ReLU(), nn.Linear(2, 1))
    loss = _backward(model(torch.ones(1, 2)).sum())
    model.zero_grad()
    return first.weight, loss


def _backward(loss: Tensor) -> Tensor:
    loss.backward()
    return loss


_Case = tuple[Callable[[], tuple[Tensor, Tensor]], str, str]
_NONES: tuple[_Case, ...] = (
    (_frozen, "frozen", "a weight with requires_grad=False"),
    (_result, "no leaf", "`hidden = weight * 2` is the result of an operator"),
    (_converted, "no leaf", "`torch.ones(2, requires_grad=True).double()` is the result of a conversion"),
    (_unused, "not in the loss", "a layer that forward never called"),
    (_cleared, "cleared", "the first weight after loss.backward() and zero_grad()"),
    (_cut, "not in the loss", "a weight before a detach()"),
)


# --- a small explainer --------------------------------------------------------------------------------------

_MESSAGES = (
    "RuntimeError: mat1 and mat2 shapes cannot be multiplied (32x400 and 256x10)",
    "The size of tensor a (12) must match the size of tensor b (7) at non-singleton dimension 3",
    "RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn",
    "RuntimeError: grad can be implicitly created only for scalar outputs",
    "RuntimeError: mat1 and mat2 must have the same dtype, but got Double and Float",
    "IndexError: Target 10 is out of bounds.",
    "Expected all tensors to be on the same device, but found at least two devices, cuda:1 and cpu!",
)
_FOREIGN = ("KeyError: 'price'", "ValueError: Shape of passed values is (3, 2), indices imply (3, 3)", "")


@rebuild
def compare_explainer(mini: Callable[[str], Any]) -> Verdict:
    """Hold mini(text) -> (chapter, sentence, values) or None to `tc.explain`, on messages with new numbers."""
    for message in _MESSAGES:
        if (verdict := _differs(message, mini(message))) is not None:
            return verdict
    for message in _FOREIGN:
        if mini(message) is not None:
            return wrong(f"{message!r} is no error of PyTorch's: return None, and claim nothing.")
    return right(
        f"{len(_MESSAGES)} messages with numbers that it never saw, as tc.explain reads them; "
        f"{len(_FOREIGN)} foreign ones left alone."
    )


def _differs(message: str, given: Any) -> Verdict | None:
    theirs = explain(message)
    if given is ...:
        return not_yet("it still returns `...`.")
    if given is None:
        return almost(f"no pattern fits {message!r}.")
    chapter, sentence, values = given
    read = {value for _, value in theirs.values}
    if chapter != theirs.chapter:
        return wrong(f"{message!r} belongs to {theirs.chapter}; yours says {chapter}.")
    if missing := [value for value in values.values() if value not in read or value not in sentence]:
        return wrong(
            f"of {message!r} yours reads {missing[0]!r}; tc.explain reads {', '.join(sorted(read))}."
        )
    if read - {"0"} and not values:
        return almost(f"{message!r} holds values, and yours reads none of them.")
    return None
