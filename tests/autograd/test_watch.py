"""`watch`: each node's module is the one whose forward made it."""

from typing import Any

import pytest
import torch
from torch import nn

from torchcourse.autograd import graph, watch


class Twice(nn.Module):
    """A module called twice, work of its own, and a module within a module."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Linear(2, 2)
        self.block = nn.Sequential(nn.Linear(2, 2), nn.Tanh())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (self.inner(self.block(self.inner(x))) * 2).exp()


def test_modules_are_exact() -> None:
    model = Twice()
    with watch(model):
        out = model(torch.ones(1, 2))
    loss = out.sum()
    found = [(n.name, n.module) for n in graph(loss, names=model) if n.kind == "operator"]
    assert found == [
        ("SumBackward0", None),
        ("ExpBackward0", ""),
        ("MulBackward0", ""),
        ("AddmmBackward0", "inner"),
        ("TanhBackward0", "block.1"),
        ("AddmmBackward0", "block.0"),
        ("AddmmBackward0", "inner"),
    ]


def test_leaves_belong_to_the_module_that_has_them() -> None:
    model = Twice()
    with watch(model):
        loss = model(torch.ones(1, 2)).sum()
    assert {n.module for n in graph(loss, names={}).leaves} == {"inner", "block.0"}


def test_against_an_independent_record() -> None:
    """Hooks of the test's own note the grad_fn of each module's output."""
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    model = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
    made: dict[Any, str] = {}

    def note(path: str) -> Any:
        def hook(module: Any, args: Any, out: Any) -> None:
            tensor = out[0] if isinstance(out, tuple) else out
            made.setdefault(tensor.grad_fn, path)

        return hook

    for path, module in model.named_modules():
        module.register_forward_hook(note(path))
    with watch(model):
        out = model(torch.ones(1, 3, 8))
    for node, path in made.items():
        assert graph(torch.autograd.graph.GradientEdge(node, 0), names={}).nodes[0].module == path
    assert len(made) > 10 and out.requires_grad


def test_nothing_stays_on_the_model_and_values_are_the_same() -> None:
    model = Twice()
    x = torch.ones(1, 2)
    plain = model(x)
    with watch(model):
        watched = model(x)
    assert torch.equal(plain, watched)
    assert all(not m._forward_hooks and not m._forward_pre_hooks for m in model.modules())


def test_a_forward_that_raises() -> None:
    class Breaks(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = nn.Linear(2, 2)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            self.inner(x)
            raise ArithmeticError("planted")

    model = Breaks()
    with pytest.raises(ArithmeticError), watch(model):
        model(torch.ones(1, 2))
    after = torch.ones(2, requires_grad=True).exp()
    assert graph(after).nodes[0].module is None


def test_anything_else_is_one_sentence() -> None:
    with pytest.raises(TypeError, match="watch takes the module"), watch(torch.ones(2)):  # type: ignore[arg-type]
        pass


def test_without_watching_parameters_tell() -> None:
    model = Twice()
    loss = model(torch.ones(1, 2)).sum()
    modules = {n.name: n.module for n in graph(loss, names=model)}
    assert modules["AddmmBackward0"] in ("inner", "block.0") and modules["ExpBackward0"] is None
