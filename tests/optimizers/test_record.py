"""The record of a real optimizer: the terms, what is left alone, and bad calls in one sentence."""

import pytest
import torch
from torch import nn

from torchcourse.optimizers import record


def square(parameter):
    return (parameter**2).sum()


def test_the_terms_of_sgd_by_hand():
    first, second = record(
        torch.optim.SGD, torch.tensor([1.0]), square, 2, lr=0.1, momentum=0.5, weight_decay=1.0
    ).steps
    assert (first.step, first.parameter, first.before.item()) == (1, "parameter", 1.0)
    assert first.gradient.item() == 2 and first.decay.item() == 1 and first.momentum.item() == 3
    assert first.update.item() == pytest.approx(-0.3) and first.value.item() == pytest.approx(0.7)
    assert second.momentum.item() == pytest.approx(0.5 * 3 + 3 * 0.7)


def test_decay_is_divided_in_adam_and_not_in_adamw():
    """Gradients 100 times apart: L2 shrinks the busy weight less, decoupled decay shrinks both alike."""

    def loss(parameter):
        return (parameter * torch.tensor([1.0, 100.0])).sum()

    chosen = {"lr": 0.1, "weight_decay": 0.5}
    adam = record(torch.optim.Adam, torch.ones(2), loss, 1, **chosen).steps[0]
    adamw = record(torch.optim.AdamW, torch.ones(2), loss, 1, **chosen).steps[0]
    assert torch.allclose(adam.decay, torch.full((2,), 0.5))
    assert torch.allclose(adamw.decay, torch.full((2,), 0.05))
    assert torch.allclose(adamw.update - adam.update, torch.full((2,), -0.05), atol=1e-6)


def test_no_gradient_means_no_decay():
    done = record(
        torch.optim.AdamW, {"used": torch.ones(1), "unused": torch.ones(1)}, lambda p: square(p["used"]), 3
    )
    unused = done.of("unused")
    assert [update.gradient for update in unused] == [None] * 3
    assert all(update.update.item() == 0 and update.decay is None for update in unused)
    assert done.of("used")[-1].value < 1


def test_what_was_given_is_left_alone():
    module = nn.Linear(2, 1)
    before = {name: value.detach().clone() for name, value in module.named_parameters()}
    done = record(torch.optim.Adam, module, lambda p: square(p["weight"]) + square(p["bias"]), 2)
    assert {update.parameter for update in done.steps} == {"weight", "bias"}
    assert all(torch.equal(before[name], value) for name, value in module.named_parameters())
    assert all(value.grad is None for value in module.parameters())


def test_an_optimizer_without_a_rule_is_recorded_by_its_state():
    update = record(torch.optim.NAdam, torch.ones(1), square, 1).steps[0]
    assert update.momentum is not None and update.decay is None and update.difference is None
    assert update.update.item() < 0


def test_a_loss_that_becomes_infinite_ends_the_record():
    done = record(torch.optim.SGD, torch.tensor([10.0]), lambda p: (p**4).sum(), 50, lr=1.0)
    assert 0 < len(done.steps) < 50 and done.stopped.startswith("The loss before step")
    assert str(done).endswith(done.stopped)


def test_the_text_twin():
    text = str(record(torch.optim.SGD, torch.tensor([1.0]), square, 1, lr=0.1))
    assert text == (
        "SGD\n"
        "step  parameter  gradient  decay  momentum  v  update  value\n"
        "1     parameter  [2]       [0]    -         -  [-0.2]  [0.8]"
    )
    long = str(record(torch.optim.SGD, torch.ones(9), square, 500, lr=0.1))
    assert len(long.splitlines()) == 26 and "more …" in long


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: record(torch.optim.SGD, torch.ones(1), square, 1, lr=-1.0), "Invalid learning rate: -1.0"),
        (lambda: record(torch.optim.Adam, torch.ones(1), square, 1, betas=(0.9, 1.0)), "refuses"),
        (
            lambda: record(torch.optim.SGD, torch.ones(1), square, 1, beta=1),
            "has no setting 'beta'; it has lr",
        ),
        (lambda: record(dict, torch.ones(1), square, 1), "no optimizer class"),
        (lambda: record(torch.optim.SGD, 3.0, square, 1), "is of type float; give a tensor"),
        (lambda: record(torch.optim.SGD, torch.ones(1).int(), square, 1), "only floating-point tensors"),
        (lambda: record(torch.optim.SGD, [], square, 1), "There are no parameters"),
        (lambda: record(torch.optim.SGD, [1.0], square, 1), "[0] is of type float"),
        (lambda: record(torch.optim.SGD, torch.ones(2), lambda p: p, 1), "has shape (2,)"),
        (
            lambda: record(torch.optim.SGD, torch.ones(2), lambda p: 1.0, 1),
            "returned something of type float",
        ),
        (lambda: record(torch.optim.SGD, torch.ones(2), lambda p: torch.ones(()), 1), "has no graph"),
        (lambda: record(torch.optim.SGD, torch.ones(2), square, 0), "steps is 0"),
    ],
)
def test_bad_calls(call, says):
    with pytest.raises((TypeError, ValueError)) as refused:
        call()
    assert says in str(refused.value) and "\n" not in str(refused.value)


def test_an_unknown_name():
    done = record(torch.optim.SGD, torch.ones(1), square, 1)
    with pytest.raises(KeyError, match="recorded were parameter"):
        done.of("weight")
