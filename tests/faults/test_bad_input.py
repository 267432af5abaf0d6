"""What can not be checked: one clear sentence, as a TypeError for an argument, as a finding for a step that fails."""

import pytest
import torch
from torch import nn

from torchcourse.faults import SLUGS, CheckUp, Finding, check_up

from .faulty import Net
from .sound import N, adam, classes, features, mlp

CE = nn.CrossEntropyLoss()


def batch():
    return features(), classes()


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"model": None}, "check_up takes an nn.Module as its model; got None."),
        ({"model": nn.Linear}, "check_up takes an nn.Module as its model; got the class Linear itself."),
        ({"model": lambda x: x}, "check_up takes an nn.Module as its model; got a function."),
        ({"batch": torch.ones(4, 3)}, r"A batch is a pair \(input, target\); got a Tensor."),
        ({"batch": (1, 2, 3)}, r"A batch is a pair \(input, target\); got a tuple of length 3."),
        ({"batch": {"x": 1}}, r"A batch is a pair \(input, target\); got a dict of length 1."),
        ({"loss_fn": None}, r"loss_fn is called as loss_fn\(model\(input\), target\); got None."),
        ({"loss_fn": nn.MSELoss}, r"loss_fn is the class MSELoss itself: make one, MSELoss\(\)."),
        ({"optimizer": "adam"}, "optimizer is one of torch.optim, a list of such, or None; got a str."),
    ],
)
def test_a_wrong_argument(change, says):
    model = Net()
    arguments = {"model": model, "batch": batch(), "loss_fn": CE, "optimizer": adam(model)} | change
    with pytest.raises(TypeError, match=says):
        check_up(**arguments)


def only(found, kind, where):
    assert [(one.kind, one.where) for one in found] == [(kind, where)], str(found)
    return found[0].evidence


def test_a_model_that_raises():
    model = nn.Linear(5, 3)
    says = only(check_up(model, batch(), CE, adam(model)), "step-raises", "model(input)")
    assert "RuntimeError: mat1 and mat2 shapes cannot be multiplied (16x4 and 5x3)" in says


def test_a_loss_that_raises():
    model = mlp(out=2)
    says = only(check_up(model, batch(), CE, adam(model)), "step-raises", "loss_fn(output, target)")
    assert "Target 2 is out of bounds" in says


def test_no_target():
    model = Net()
    only(check_up(model, (features(), None), CE, adam(model)), "step-raises", "loss_fn(output, target)")


@pytest.mark.parametrize("model", [mlp(), nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3))])
def test_an_empty_batch(model):
    empty = torch.randn(0, 4), torch.zeros(0, dtype=torch.long)
    assert "shape [0, 4]" in only(check_up(model, empty, CE, adam(model)), "batch-empty", "input")


def test_a_loss_that_is_no_scalar():
    model = Net()
    loss_fn = nn.CrossEntropyLoss(reduction="none")
    assert f"[{N}]" in only(check_up(model, batch(), loss_fn, adam(model)), "loss-not-scalar", "loss_fn")


def test_a_loss_that_is_a_number():
    model = Net()
    found = check_up(model, batch(), lambda o, t: CE(o, t).item(), adam(model))
    assert {one.kind for one in found} == {"loss-not-scalar", "wait-per-step"}
    assert "returned a float" in str(found)


def test_a_model_without_parameters():
    found = check_up(nn.Flatten(), (features(), torch.zeros(N, 4)), nn.MSELoss(), None)
    assert "has no parameters" in only(found, "loss-without-gradient", "loss")


def test_parameters_on_another_device():
    model = Net()
    optimizer = adam(model)
    found = check_up(model.to("meta"), batch(), CE, optimizer)
    assert "step-raises" in {one.kind for one in found} and "meta" in str(found)


def test_a_lazy_model():
    model = nn.Sequential(nn.LazyLinear(8), nn.ReLU(), nn.Linear(8, 3))
    found = check_up(model, batch(), CE, adam(model))
    assert not found and found.notes[0].startswith("No step was run: 0.weight has no shape yet.")
    assert isinstance(model[0], nn.LazyLinear) and model(features()).shape == (N, 3)


def test_modules_that_can_not_run():
    class InitFirst(nn.Module):
        def __init__(self):
            self.size = 3

    found = check_up(InitFirst(), batch(), CE, None)
    assert [one.kind for one in found] == ["super-init-missing"]
    model = Net()
    model.one.parent = model
    assert "module-cycle" in {one.kind for one in check_up(model, batch(), CE, None)}


def test_the_result():
    model = nn.Sequential(mlp(), nn.Softmax(1))
    found = check_up(model, batch(), CE, adam(model))
    assert isinstance(found, CheckUp) and len(found) == 1 and found[0] in found.findings and found
    assert str(found).startswith("1 finding:\n- softmax-twice at cross_entropy: ") and "Mend: " in str(found)
    assert repr(found) == str(found) and isinstance(found[0], Finding)
    nothing = check_up(line := nn.Linear(4, 3), batch(), CE, adam(line))
    assert not nothing and str(nothing).startswith("Nothing found")


def test_many_findings_of_one_kind_are_folded_in_the_text():
    model = nn.Sequential(*(nn.Linear(4, 4) for _ in range(20)))
    model.requires_grad_(False)
    model[-1].requires_grad_(True)
    found = check_up(model, (features(), features()), nn.MSELoss(), adam(model))
    assert len(found) == 38 and len(str(found).splitlines()) == 8 and "32 more parameter-frozen" in str(found)


WORDS = {
    "layers", "storage", "autograd", "devices", "allocator", "modules", "checkpoints", "training", "export",
    "optimizers", "randomness", "debugging", "bug_hunt",
}  # fmt: skip


def test_the_table_of_slugs():
    import torchcourse

    assert torchcourse.check_up is check_up
    assert len(SLUGS) == len(set(SLUGS)) and set(SLUGS.values()) <= WORDS
    assert all(kind == kind.lower() and " " not in kind for kind in SLUGS)
