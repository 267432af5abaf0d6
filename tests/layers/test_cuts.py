"""`cuts`: every cut that matters is told with its cause, ordinary code is left in peace, nothing changes."""

import gc
import weakref
from dataclasses import FrozenInstanceError
from itertools import groupby
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

import torchcourse.layers.record as record
from torchcourse.layers import cuts, xray

from .snippets import cnn, mlp, transformer
from .test_leaves_nothing import CLEAN, modes


def leaf(*values: float) -> Tensor:
    return torch.tensor(values or (2.0, 0.5), requires_grad=True)


def through_no_grad(a: Tensor) -> Tensor:
    with torch.no_grad():
        return a * 3


def through_inference_mode(a: Tensor) -> Tensor:
    with torch.inference_mode():
        b = a * 3
    return b.clone()


def through_a_write(a: Tensor) -> Tensor:
    buffer = torch.zeros(4)
    with torch.no_grad():
        buffer[:2] = a
    return buffer


def through_a_view(a: Tensor) -> Tensor:
    buffer = torch.zeros(4)
    row = buffer[:2]
    row.copy_(a.detach())
    return buffer * 2


# spelling -> the code, its cause, its operator. In each the output depends on `a`, and `a` gets nothing.
CAUSES: dict[str, tuple[Any, str, str | None]] = {
    "detach": (lambda a: a.detach() * 2, "detach()", "aten::detach"),
    "detach_": (lambda a: (a * 1).detach_() * 2, "detach_()", None),
    "data": (lambda a: a.data * 2, ".data", None),
    "no_grad": (through_no_grad, "no_grad", "aten::mul"),
    "inference_mode": (through_inference_mode, "inference_mode", "aten::mul"),
    "integer": (lambda a: a.long() * 1.5, "an integer result", "aten::_to_copy"),
    "argmax": (lambda a: a.argmax() * 1.5, "an integer result", "aten::argmax"),
    "comparison": (lambda a: (a > 1).float(), "a bool result", "aten::gt"),
    "round": (lambda a: a.round() * 2, "slope 0", "aten::round"),
    "item": (lambda a: torch.ones(2) * a[0].item(), ".item()", "aten::_local_scalar_dense"),
    "item in a list": (lambda a: torch.tensor([a[0].item()]), ".item()", "aten::_local_scalar_dense"),
    "tolist": (lambda a: torch.tensor(a.tolist()), ".tolist()", None),
    "full": (lambda a: torch.full((2,), a[0].item()), ".item()", "aten::_local_scalar_dense"),
    "numpy": (lambda a: torch.from_numpy(a.detach().numpy()) + 1, "detach()", "aten::detach"),
    "numpy, copied": (lambda a: torch.tensor(np.asarray(a.detach())), "detach()", "aten::detach"),
    "a write": (through_a_write, "no_grad", "aten::copy_"),
    "a write into a view": (through_a_view, "detach()", "aten::detach"),
}


@pytest.mark.parametrize("spelling", CAUSES)
def test_each_way_out_is_found_with_its_cause(spelling: str) -> None:
    code, cause, operator = CAUSES[spelling]
    a = leaf()
    found = cuts(code, a)
    assert [(cut.cause, cut.effect, cut.leaves) for cut in found] == [(cause, "cuts off", ("a",))], found
    assert found.cuts[0].operator == operator
    assert [(each.name, each.why) for each in found.unreached] == [("a", "cut off")]


@pytest.mark.filterwarnings("ignore:To copy construct:UserWarning", "ignore:Converting:UserWarning")
def test_the_ways_that_warn() -> None:
    assert cuts(lambda a: torch.tensor(a), leaf()).cuts[0].cause == "torch.tensor(…)"
    assert cuts(lambda a: torch.tensor([float(a[0])]), leaf()).cuts[0].cause == "float(tensor)"


def test_line_source_module_and_names() -> None:
    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.second = nn.Linear(2, 3), nn.Linear(3, 1)

        def forward(self, x: Tensor) -> Tensor:
            hidden = self.first(x).relu()
            return self.second(hidden.detach())

    net = nn.Sequential(Net())
    found = cuts(net, torch.ones(1, 2))
    (cut,) = found
    assert (cut.cause, cut.module, cut.call) == ("detach()", "0", "torch.Tensor.detach")
    assert cut.leaves == ("0.first.weight", "0.first.bias")
    named = cuts(lambda x: net(x), torch.ones(1, 2))
    assert named.cuts[0].leaves == ("net.0.first.weight", "net.0.first.bias")

    def step() -> Tensor:
        scale = leaf()
        inner = scale * 2
        return inner.detach() + scale

    (cut,) = cuts(step)
    assert cut.given == ("inner",) and cut.source == "return inner.detach() + scale"
    assert cut.line == step.__code__.co_firstlineno + 3
    assert cut.effect == "one way of several"


def training(make: Any) -> Any:
    model, batch = make()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    average = [p.detach().clone() for p in model.parameters()]

    def steps() -> list[float]:
        log = []
        for _ in range(2):
            optimizer.zero_grad()
            output = F.dropout(model(batch), 0.1)
            loss = output.square().mean()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            with torch.no_grad():
                for old, new in zip(average, model.parameters(), strict=True):
                    old.mul_(0.9).add_(new, alpha=0.1)
            accuracy = (output.argmax(-1) == 0).float().mean()
            log += [loss.item(), accuracy.item(), f"{loss:.3f}", output.detach().numpy().sum()]
        model.state_dict()
        return log

    return steps


@pytest.mark.parametrize("make", [mlp, cnn, transformer])
def test_ordinary_training_is_left_in_peace(make: Any) -> None:
    found = cuts(training(make))
    assert not [cut for cut in found if cut.effect in ("cuts off", "one way of several")], found
    assert not found.unreached and found.leaves
    assert "line  cut by" not in str(found)


QUIET = {
    "a mask": lambda a: (a * (a > 1)).sum(),
    "where": lambda a: torch.where(a > 1, a, 0.0).sum(),
    "an index": lambda a: a[a.argmax()],
    "max": lambda a: a.max(0).values,
    "shapes alone": lambda a: a * torch.ones_like(a) + a.new_zeros(2) + torch.ones(2).type_as(a),
    "a shape of another": lambda a: torch.ones(1).expand_as(a) * a,
    "overwritten": lambda a: (a.detach().clone().zero_() + a).sum(),
    "a branch": lambda a: a * 2 if a.sum() > 0 else a * 3,
    "a checkpoint": lambda a: torch.utils.checkpoint.checkpoint(torch.exp, a, use_reentrant=True),
    "another output beside it": lambda a: {"loss": a.sum(), "accuracy": (a > 1).float().mean()},
    "a new parameter": lambda a: nn.Parameter(a.detach().clone()).sum() + a.sum(),
    "an in-place operator": lambda a: (a * 1).add_(1).relu_().sum(),
    "second derivatives": lambda a: torch.autograd.grad(a.pow(3).sum(), a, create_graph=True)[0].sum(),
}


@pytest.mark.parametrize("spelling", QUIET)
def test_code_that_is_right_gets_no_row(spelling: str) -> None:
    found = cuts(QUIET[spelling], leaf())
    assert not [cut for cut in found if cut.effect == "cuts off"], found
    assert [each.reached for each in found.leaves if each.name == "a"] == [True]
    assert "cut by" not in str(found)


def adversaries() -> Any:
    makes, judges = nn.Linear(3, 3), nn.Linear(3, 1)

    def step() -> None:
        fake = makes(torch.ones(2, 3))
        judges(fake.detach()).mean().backward()
        judges.zero_grad()
        judges(fake).mean().backward()

    return step


def test_two_models_that_train_against_each_other() -> None:
    found = cuts(adversaries())
    assert [(cut.cause, cut.effect) for cut in found] == [("detach()", "one way of several")]
    names = {"judges.weight", "judges.bias", "makes.weight", "makes.bias"}
    assert {each.name for each in found.leaves if each.reached} == names


def test_a_teacher_without_gradient_is_cut_off_and_named() -> None:
    student, teacher = nn.Linear(2, 1), nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))

    def distance(x: Tensor) -> Tensor:
        with torch.no_grad():
            target = teacher(x)
        return (student(x) - target).square().mean()

    found = cuts(distance, torch.ones(1, 2))
    assert [(cut.cause, cut.module, cut.leaves) for cut in found] == [
        ("no_grad", "0", ("teacher.0.weight", "teacher.0.bias")),
        ("no_grad", "2", ("teacher.2.weight", "teacher.2.bias")),
    ]
    (row,) = [line for line in str(found).splitlines() if "no_grad × 2" in line]
    assert "teacher.0.weight, teacher.0.bias, teacher.2.weight" in row


PARTLY = {
    "vmap": lambda a: torch.func.vmap(lambda v: v * 2)(a).sum(),
    "torch.func.grad": lambda a: torch.func.grad(lambda v: (v**3).sum())(a).sum(),
}


@pytest.mark.parametrize("spelling", PARTLY)
def test_what_is_seen_in_part_says_so_and_accuses_nobody(spelling: str) -> None:
    found = cuts(PARTLY[spelling], leaf())
    assert not found.cuts and not found.unreached and "not seen" in str(found)


def test_a_full_record_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record, "LIMIT", 20)
    found = cuts(lambda a: sum((a * 2 for _ in range(30)), a).sum(), leaf())
    assert "not seen" in str(found) and not found.unreached
    assert modes() == CLEAN


def test_the_fast_path_stays_and_is_told() -> None:
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True).eval()
    batch, student = torch.ones(1, 2, 8), nn.Linear(8, 8)

    def distance() -> Tensor:
        with torch.no_grad():
            target = layer(batch)
        return (student(batch) - target).sum()

    with torch.no_grad():
        truth = layer(batch)
    assert "not seen" in str(cuts(distance))
    kept: list[Tensor] = []
    cuts(lambda: kept.append(distance()))
    assert torch.equal(kept[0], (student(batch) - truth).sum())
    assert len(cuts(lambda: layer(batch).sum()).leaves) == len(list(layer.parameters()))


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, value: Tensor) -> Tensor:
        ctx.save_for_backward(value)
        return value.pow(3) * 1.0

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Tensor:
        return gradient * 3 * ctx.saved_tensors[0] ** 2


def test_a_function_of_ones_own_is_no_cut() -> None:
    def run(a: Tensor) -> None:
        torch.autograd.backward(Cube.apply(a).sum())

    found = cuts(run, leaf())
    assert found.cuts == () and [each.reached for each in found.leaves] == [True]


def test_a_gradient_without_create_graph_is_a_cut_of_the_penalty() -> None:
    def penalty(a: Tensor) -> Tensor:
        (gradient,) = torch.autograd.grad(a.pow(3).sum(), a)
        return gradient.pow(2).sum()

    found = cuts(penalty, leaf())
    assert [cut.cause for cut in found] == ["grad() without create_graph"]


def test_a_number_that_does_not_come_back() -> None:
    found = cuts(lambda a: (print(end=str(a.sum().item())[:0]), a.sum())[1], leaf())
    assert [cut.effect for cut in found] == ["left to Python"]
    assert "Left to Python" in str(found)


def test_unused_parameters_are_named() -> None:
    model = nn.ModuleDict({"used": nn.Linear(2, 1), "unused": nn.Linear(2, 1)})
    found = cuts(lambda x: model["used"](x).sum(), torch.ones(1, 2))
    assert [(each.name, each.why) for each in found.unreached] == [
        ("model.unused.weight", "not used"),
        ("model.unused.bias", "not used"),
    ]
    assert "Not used: model.unused.weight, model.unused.bias." in str(found)


def test_a_loop_counts() -> None:
    def run(a: Tensor) -> Tensor:
        total = a.sum()
        for _ in range(3):
            total = total + (a * 2).detach().sum()
        return total

    (cut,) = cuts(run, leaf())
    assert cut.times == 3 and "detach() × 3" in str(cuts(run, leaf()))


def test_without_an_output_it_says_so() -> None:
    found = cuts(lambda a: a.detach().sum().item(), leaf())
    assert "return the loss from the function" in str(found) and not found.leaves
    assert "no tensor with a gradient" in str(cuts(lambda: torch.ones(2)))


def test_a_loss_that_has_no_graph_raises_and_is_told() -> None:
    def step(a: Tensor) -> None:
        (a.detach() * 2).sum().backward()

    with pytest.raises(RuntimeError, match="does not require grad") as caught:
        cuts(step, leaf())
    found = caught.value.cuts  # type: ignore[attr-defined]
    assert [(cut.cause, cut.leaves) for cut in found] == [("detach()", ("a",))]
    assert modes() == CLEAN


def test_what_is_no_function() -> None:
    with pytest.raises(TypeError, match="cuts takes the function to run"):
        cuts(torch.ones(1))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="missing 1 required"):
        cuts(lambda a: a)
    assert modes() == CLEAN


@pytest.mark.parametrize("make", [mlp, cnn, transformer])
def test_values_gradients_and_random_state_are_the_same(make: Any) -> None:
    def run(watched: bool) -> list[Tensor]:
        torch.manual_seed(0)
        model, batch = make()

        def step() -> Tensor:
            loss = F.dropout(model(batch), 0.5).square().mean()
            loss.backward()
            return loss

        if watched:
            cuts(step)
        else:
            step()
        return [torch.get_rng_state(), *(p.grad for p in model.parameters() if p.grad is not None)]

    assert all(torch.equal(a, b) for a, b in zip(run(False), run(True), strict=True))
    assert modes() == CLEAN


def test_nothing_is_kept_and_the_result_is_frozen() -> None:
    kept: list[Any] = []

    def run(a: Tensor) -> Tensor:
        b = a.detach() * 2
        kept.extend([weakref.ref(a), weakref.ref(b)])
        return b.sum() * a.sum().item()

    found = cuts(run, leaf())
    gc.collect()
    assert [ref() for ref in kept] == [None, None]
    with pytest.raises(FrozenInstanceError):
        found.cuts[0].cause = "?"  # type: ignore[misc]
    assert len({*found.cuts}) == len(found.cuts)


def test_inside_an_xray_and_with_one_inside() -> None:
    def run(a: Tensor) -> Tensor:
        with xray() as inner:
            b = a.detach() * 2
        ran = [o.name for o in inner.operators if o.depth == 0]
        # In 2.9 `detach` comes to a mode once more for each mode below it.
        assert [name for name, _ in groupby(ran)] == ["aten::detach", "aten::mul"]
        return b.sum()

    with xray() as outer:
        found = cuts(run, leaf())
    assert [cut.cause for cut in found] == ["detach()"]
    assert "aten::mul" in [o.name for o in outer.operators]
    assert modes() == CLEAN


STEPS = st.lists(st.tuples(st.sampled_from("+*dwnr"), st.integers(0, 99), st.integers(0, 99)), max_size=12)


def program(steps: list[tuple[str, int, int]], values: list[Tensor], behind: list[set[int]]) -> Tensor:
    """A random program; `behind` grows with the leaves that each value was computed from."""
    for kind, i, j in steps:
        i, j = i % len(values), j % len(values)
        if kind == "+":
            values.append(values[i] + values[j])
        elif kind == "*":
            values.append(values[i] * values[j])
        elif kind == "d":
            values.append(values[i].detach())
        elif kind == "r":
            values.append(torch.ones(()) * values[i].detach().tolist())
        elif kind == "w":
            with torch.no_grad():
                values.append(values[i] - values[j])
        else:
            values.append(values[i].data.clone().copy_(values[j]))
        behind.append({"d": behind[i], "r": behind[i], "n": behind[j]}.get(kind, behind[i] | behind[j]))
    return values[-1] * 1.0


@settings(max_examples=150, deadline=None)
@given(STEPS)
def test_random_programs_cut_off_exactly_what_autograd_does_not_reach(steps: Any) -> None:
    leaves = [torch.tensor(0.5, requires_grad=True) for _ in range(3)]
    behind = [{0}, {1}, {2}]
    found = cuts(lambda: program(steps, list(leaves), behind))
    output = program(steps, list(leaves), [{0}, {1}, {2}])
    reached: set[int] = set()
    if output.requires_grad:
        gradients = torch.autograd.grad(output, leaves, allow_unused=True)
        reached = {i for i, gradient in enumerate(gradients) if gradient is not None}
    names = {f"leaves[{i}]": i for i in range(3)}
    assert {names[each.name] for each in found.leaves if each.why == "cut off"} == behind[-1] - reached
    assert {names[each.name] for each in found.leaves if each.reached} == reached
    told = {names[name] for cut in found for name in cut.leaves}
    assert told == behind[-1] - reached
