"""The tree holds what PyTorch's own walks list, for any module."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.nn.utils import parametrizations

from torchcourse.modules import tree

from .faulty import FAULTY, InitFirst, T
from .sound import SOUND
from .test_missed import made

OWN = {
    **SOUND,
    **{name: make for name, (_, _, make) in FAULTY.items()},
}


@pytest.mark.parametrize("name", OWN)
def test_names_tensors_modes_agree_with_pytorch(name):
    model, _ = made(OWN[name])
    if type(model) is InitFirst:
        assert len(tree(model)) == 1
        return
    found = tree(model)
    assert [node.path for node in found if node.again is None] == [path for path, _ in model.named_modules()]
    assert [node.training for node in found if node.again is None] == [m.training for m in model.modules()]
    firsts = [held for held in found.tensors if held.tied is None]
    for kind, theirs in (("parameter", model.named_parameters()), ("buffer", model.named_buffers())):
        ours = [(held.path, held.dtype, held.requires_grad) for held in firsts if held.kind == kind]
        assert ours == [(path, str(t.dtype)[6:], t.requires_grad) for path, t in theirs]
    if not any(held.lazy for held in firsts):
        every = [*model.parameters(), *model.buffers()]
        assert found.nbytes == sum(t.numel() * t.element_size() for t in every)
        assert [held.shape for held in firsts if held.kind == "buffer"] == [
            tuple(b.shape) for b in model.buffers()
        ]
    saved = [held.path for held in found.tensors if held.persistent]
    if not any(node.again is not None for node in found):
        assert sorted(saved) == sorted(k for k, v in model.state_dict().items() if hasattr(v, "dtype"))


modules = st.recursive(
    st.sampled_from([nn.ReLU, lambda: nn.Linear(2, 3), lambda: nn.BatchNorm1d(2), lambda: nn.Dropout(0.1)]),
    lambda inner: st.lists(inner, max_size=4).map(lambda makes: lambda: nn.Sequential(*(m() for m in makes))),
    max_leaves=12,
)


@settings(max_examples=60, deadline=None)
@given(modules)
def test_sums_add_up(make):
    model = make()
    found = tree(model)
    assert found.nbytes == sum(node.nbytes for node in found)
    for at, node in enumerate(found.nodes):
        below = [other for other in found.nodes if other.parent == at]
        assert node.total_bytes == node.nbytes + sum(other.total_bytes for other in below)
        assert all(other.depth == node.depth + 1 for other in below)
    assert str(found).splitlines()[0].startswith(type(model).__name__)


def test_tied_and_shared():
    model = nn.Sequential(nn.Linear(2, 2, bias=False), nn.Linear(2, 2, bias=False), nn.ReLU())
    model[1].weight = model[0].weight
    model.append(model[0])
    found = tree(model)
    assert [held.tied for held in found.tensors] == [None, "0.weight"]
    assert found.nbytes == 16 and found.nodes[4].again == "0" and found.nodes[4].tensors == ()
    apart = nn.Linear(2, 2, bias=False)
    apart.weight = nn.Parameter(model[0].weight.data)
    model.append(apart)
    assert tree(model).tensors[-1].shares == "0.weight"


def test_hooks_lazy_parametrized_empty():
    model = nn.Sequential(nn.LazyLinear(2), parametrizations.weight_norm(nn.Linear(2, 2, bias=False)))
    model.register_forward_hook(lambda *_: None)
    model.register_full_backward_hook(lambda *_: None)
    model[1].parametrizations.weight[0].register_forward_pre_hook(lambda *_: None)
    found = tree(model)
    lazy, normed = found.nodes[1], found.nodes[2]
    assert found.nodes[0].hooks == (("forward", 1), ("backward", 1))
    assert normed.parametrized == ("weight",) and normed.kind == "ParametrizedLinear"
    assert lazy.tensors[0].lazy and lazy.tensors[0].shape is None and lazy.tensors[0].nbytes == 0
    assert normed.tensors[0].empty and normed.tensors[0].name == "bias"
    for words in ("no shape before the first forward", "computed by a parametrization", "1 forward hook"):
        assert words in str(found)


def test_gradients_and_tensor_hooks():
    model = nn.Linear(1, 1)
    model(T(1, 1)).sum().backward()
    model.weight.register_hook(lambda gradient: None)
    model.weight.register_post_accumulate_grad_hook(lambda parameter: None)
    weight, bias = tree(model).tensors
    assert (weight.has_grad, weight.hooks, bias.hooks) == (True, 2, 0)


def test_a_cycle_ends():
    model = nn.Sequential(nn.Sequential())
    model[0].up = model
    found = tree(model)
    assert [node.cycle for node in found] == [False, False, True] and "contains itself" in str(found)


def test_3000_levels():
    model = nn.Identity()
    for _ in range(3000):
        model = nn.Sequential(model)
    assert len(tree(model)) == 3001 and "more lines" in str(tree(model))


def test_bad_calls_get_a_sentence():
    for wrong, words in ((3, "not a int"), (nn.ReLU, "got the class ReLU"), (torch.ones(1), "not a Tensor")):
        with pytest.raises(TypeError, match=words):
            tree(wrong)
