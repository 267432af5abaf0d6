"""The checks of chapter 11, errors: right answers are green, the wrong ones that people really give stay red."""

import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.exercises.rebuilt import rebuilt, rebuilt_lines
from torchcourse.exercises import debugging_errors as checks

STEM = "11c_from_error_to_cause"


def frames(error: Exception) -> traceback.StackSummary:
    return traceback.extract_tb(error.__traceback__)


def last_own(error: Exception) -> str:
    inside = torch.__path__[0]
    return [f.name for f in frames(error) if not Path(f.filename).is_relative_to(inside)][-1]


def until_torch(error: Exception) -> str:
    """From the top, until PyTorch's first frame: misses what PyTorch calls back."""
    names = []
    for frame in frames(error):
        if Path(frame.filename).is_relative_to(torch.__path__[0]):
            break
        names.append(frame.name)
    return names[-1]


def by_substring(error: Exception) -> str | None:
    return next((f.name for f in reversed(frames(error)) if "torch" not in f.filename), None)


@pytest.mark.parametrize(
    ("answer", "state", "why"),
    [
        (last_own, "right", "below it"),
        (until_torch, "almost", "come again below"),
        (by_substring, "wrong", "begins like"),
        (lambda error: frames(error)[-1].name, "wrong", "expected '_head'"),
        (lambda error: frames(error)[0].name, "wrong", "the first frame"),
        (lambda error: ..., "not yet", "still returns"),
        (3, "not yet", "the function itself"),
    ],
)
def test_own_frame(answer: Callable[..., Any], state: str, why: str) -> None:
    verdict = checks.own_frame(answer)
    assert verdict.state == state and why in verdict.why


def by_graph(tensor: torch.Tensor, loss: torch.Tensor) -> str:
    if not tensor.requires_grad:
        return "frozen"
    if not tensor.is_leaf:
        return "no leaf"
    nodes, met = [loss.grad_fn], set()
    while nodes:
        node = nodes.pop()
        if node is None or node in met:
            continue
        met.add(node)
        if getattr(node, "variable", None) is tensor:
            return "cleared"
        nodes += [parent for parent, _ in node.next_functions]
    return "not in the loss"


def without_the_graph(tensor: torch.Tensor, loss: torch.Tensor) -> str:
    return by_graph(tensor, loss) if not (tensor.requires_grad and tensor.is_leaf) else "cleared"


def leaf_means_trained(tensor: torch.Tensor, loss: torch.Tensor) -> str:
    return "no leaf" if not tensor.is_leaf else "not in the loss"


def first_parents_only(tensor: torch.Tensor, loss: torch.Tensor) -> str:
    if not (tensor.requires_grad and tensor.is_leaf):
        return by_graph(tensor, loss)
    node = loss.grad_fn
    while node is not None and getattr(node, "variable", None) is not tensor:
        node = node.next_functions[0][0] if node.next_functions else None
    return "not in the loss" if node is None else "cleared"


def by_a_second_backward(tensor: torch.Tensor, loss: torch.Tensor) -> str:
    torch.autograd.grad(loss, tensor, allow_unused=True)
    return "cleared"


@pytest.mark.parametrize(
    ("answer", "state", "why"),
    [
        (by_graph, "right", "all four"),
        (without_the_graph, "wrong", "never called"),
        (leaf_means_trained, "wrong", "requires_grad=False"),
        (first_parents_only, "wrong", "zero_grad"),
        (by_a_second_backward, "wrong", "raised RuntimeError"),
        (lambda tensor, loss: "cut", "wrong", "the four answers"),
        (lambda tensor, loss: ..., "not yet", "still returns"),
    ],
)
def test_why_none(answer: Callable[..., Any], state: str, why: str) -> None:
    verdict = checks.why_none(answer)
    assert verdict.state == state and why in verdict.why


def test_the_rebuilt_explainer_agrees_and_is_short() -> None:
    mini = rebuilt(STEM)["mini_explain"]
    assert checks.compare_explainer(mini).state == "right"
    assert rebuilt_lines(STEM) <= 30


@pytest.mark.parametrize(
    ("spoil", "state"),
    [
        (lambda found: found and ("storage", *found[1:]), "wrong"),
        (lambda found: None, "almost"),
        (lambda found: found or ("training", "it may be the data", {}), "wrong"),
        (lambda found: found and (found[0], found[1], {}), "almost"),
        (lambda found: found and (found[0], found[1], {"a": "32"}), "wrong"),
        (lambda found: ..., "not yet"),
        (lambda found: found and found[:2], "wrong"),
    ],
)
def test_a_spoilt_explainer_does_not(spoil: Callable[[Any], Any], state: str) -> None:
    mini = rebuilt(STEM)["mini_explain"]
    assert checks.compare_explainer(lambda text: spoil(mini(text))).state == state
