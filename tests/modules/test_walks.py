"""The walks show PyTorch's real order: compared with methods that are watched on the model itself."""

import copy

import pytest
import torch
from torch import nn

from torchcourse.modules import tree, walks

from .faulty import FAULTY, InitFirst
from .sound import SOUND
from .test_missed import made, state

REAL = [name for name in SOUND if name not in ("a ScriptModule", "a traced module", "a compiled module")]


def by_call(model):
    return {walk.call: walk for walk in walks(model)}


def seen_for_real(model, monkeypatch, method):
    """The modules that a method of nn.Module enters, in order, on a copy."""
    seen, original = [], getattr(nn.Module, method)

    def watched(self, *args, **kwargs):
        seen.append(self)
        return original(self, *args, **kwargs)

    monkeypatch.setattr(nn.Module, method, watched)
    return seen


@pytest.mark.parametrize("name", REAL)
def test_apply_enters_modules_in_the_real_order(name, monkeypatch):
    model, _ = made(SOUND[name])
    nodes, walk = tree(model).nodes, by_call(model)[".half()"]
    names = {id(module): path for path, module in model.named_modules(remove_duplicate=True)}
    seen = seen_for_real(model, monkeypatch, "_apply")
    model._apply(lambda t: t)
    ours = [nodes[step.node].path for step in walk.steps if step.tensor is None]
    assert ours == [names[id(module)] for module in seen]


@pytest.mark.parametrize("name", REAL)
def test_half_touches_the_tensors_in_the_real_order(name):
    model, _ = made(SOUND[name])
    nodes, walk = tree(model).nodes, by_call(model)[".half()"]
    names, seen = {}, []
    for path, tensor in [*model.named_parameters(remove_duplicate=False), *model.named_buffers()]:
        names.setdefault(id(tensor), path)
        if tensor.grad is not None:
            names[id(tensor.grad)] = f"{path}.grad"
    model._apply(lambda t: seen.append(names.get(id(t))) or t)
    ours = [".".join(p for p in (nodes[s.node].path, s.tensor) if p) for s in walk.steps if s.tensor]
    first = {held.path: held.tied or held.path for held in tree(model).tensors}
    assert [first.get(path, path) for path in ours] == [path for path in seen if path]


def test_half_says_what_it_changes():
    model = nn.Sequential(nn.Linear(1, 1, bias=False), nn.BatchNorm1d(1))
    told = {step.tensor: (step.before, step.after) for step in by_call(model)[".half()"].steps if step.tensor}
    assert told["weight"] == ("float32", "float16") and told["num_batches_tracked"] == ("int64", "int64")
    model.half()
    assert [str(t.dtype)[6:] for t in model.state_dict().values()][-1] == "int64"


def test_gradients_are_walked_too():
    model = nn.Linear(1, 1, bias=False)
    model.weight.grad = torch.ones(1, 1)
    assert [step.tensor for step in by_call(model)[".to(device)"].steps] == [None, "weight", "weight.grad"]


def test_train_goes_down_and_apply_comes_up():
    model = nn.Sequential(nn.Sequential(nn.ReLU()), nn.Dropout())
    found, called = by_call(model), []
    nodes = tree(model).nodes
    model.apply(lambda module: called.append(module))
    assert [step.node for step in found[".eval()"].steps] == [0, 1, 2, 3]
    assert {(step.before, step.after) for step in found[".eval()"].steps} == {("train", "eval")}
    order = [nodes[step.node].kind for step in found[".apply(fn)"].steps]
    assert (
        order
        == [type(module).__name__ for module in called]
        == ["ReLU", "Sequential", "Dropout", "Sequential"]
    )
    assert ".train()" in by_call(model.eval())


def test_overridden_methods_are_seen_as_they_are():
    frozen = by_call(SOUND["a normalisation that stays in eval"]())[".eval()"]
    assert len(frozen.steps) == 2
    stuck = by_call(FAULTY["an _apply that does nothing"][2]())[".half()"]
    assert [step.tensor for step in stuck.steps] == [None]


def test_a_tied_weight_is_converted_once():
    model = nn.Sequential(nn.Linear(1, 1, bias=False), nn.Linear(1, 1, bias=False))
    model[1].weight = model[0].weight
    told = [(step.before, step.after) for step in by_call(model)[".half()"].steps if step.tensor]
    assert told == [("float32", "float16"), ("float16", "float16")]


@pytest.mark.parametrize("name", [n for n in SOUND if "million" not in n])
def test_walking_changes_nothing(name):
    model, _ = made(SOUND[name])
    if isinstance(model, torch.jit.ScriptModule):
        assert all(walk.steps for walk in walks(model))
        return
    before = state(model)
    assert all(walk.steps and not walk.why for walk in walks(model))
    assert state(model) == before


def test_lists_of_the_reader_stay_as_they_are():
    class Moves(nn.Linear):
        def _apply(self, fn, recurse=True):
            self.anchors[:] = [fn(anchor) for anchor in self.anchors]
            return super()._apply(fn, recurse)

    model = Moves(1, 1)
    model.anchors = [torch.ones(2)]
    kept = copy.copy(model.anchors)
    assert all(not walk.why for walk in walks(model))
    assert model.anchors[0] is kept[0] and model.anchors[0].dtype == torch.float32


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (FAULTY["a module inside itself"][2], "never ends"),
        (InitFirst, "can't be followed: AttributeError"),
        (lambda: deep(2000), "nested so deep"),
        (lambda: Raises(1, 1), "can't be followed: ValueError: no"),
    ],
)
def test_what_cannot_be_walked_says_why(make, words):
    assert words in walks(make())[1].why


class Raises(nn.Linear):
    def _apply(self, fn, recurse=True):
        raise ValueError("no")


def deep(levels):
    model = nn.Identity()
    for _ in range(levels):
        model = nn.Sequential(model)
    return model
