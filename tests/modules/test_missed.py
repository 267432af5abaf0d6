"""`missed` names every fault, and raises no false alarm."""

import gc
import hashlib
import weakref

import pytest
import torch
from torch import nn

from torchcourse._slugs import SLUGS
from torchcourse.modules import missed
from torchcourse.modules.look import is_lazy

from .faulty import FAULTY, Net, T
from .sound import SOUND


def made(make):
    result = make()
    return result if isinstance(result, tuple) else (result, None)


def test_there_are_enough_cases():
    assert len(FAULTY) >= 40 and len(SOUND) >= 40
    kinds = {kind for kind, _, _ in FAULTY.values()}
    # The table of slugs begins with all that `missed` can say.
    assert kinds == set(list(SLUGS)[: len(kinds)])


@pytest.mark.parametrize("name", FAULTY)
def test_each_fault_is_named(name):
    kind, where, make = FAULTY[name]
    found = missed(*made(make))
    assert found, "nothing was found"
    assert any(one.kind == kind and where in one.where for one in found), str(found)
    # No second story is told about the one fault; an optimizer of other parameters has two sides.
    also = {"optimizer-misses-parameter", "optimizer-foreign-parameter"}
    assert {one.kind for one in found} <= ({kind} | also if kind in also else {kind}), str(found)
    assert all(one.evidence and one.mend and one.kind in SLUGS for one in found)


@pytest.mark.parametrize("name", SOUND)
def test_no_false_alarm(name):
    found = missed(*made(SOUND[name]))
    assert not found and str(found) == "Nothing missed.", str(found)


def state(model):
    """A hash of all that a look could change."""
    parts = [torch.get_rng_state().numpy().tobytes(), repr(torch.is_grad_enabled()).encode()]
    for module in model.modules():
        parts.append(repr((sorted(vars(module)), module.training)).encode())
        for tensor in [*module._parameters.values(), *module._buffers.values()]:
            if tensor is not None and tensor.device.type == "cpu" and not is_lazy(tensor):
                grad = tensor.grad
                parts += [tensor.detach().numpy().tobytes(), repr((tensor._version, grad)).encode()]
    return hashlib.sha256(b"".join(parts)).hexdigest()


@pytest.mark.parametrize("name", ["hooks", "a transformer", "tied weights", "caches that forward fills"])
def test_looking_changes_nothing_and_runs_nothing(name):
    model, optimizer = made(SOUND[name])
    model.register_forward_hook(lambda *_: pytest.fail("the model was run"))
    before = state(model)
    missed(model, optimizer)
    assert state(model) == before


def test_no_reference_is_left():
    model = Net(layers=[nn.Linear(2, 2)], act=lambda x: x)
    found = missed(model)
    gone = weakref.ref(model)
    del model
    gc.collect()
    assert gone() is None and found


def test_findings_stand_in_the_order_of_the_tree():
    model = nn.Sequential(Net(a=T(1)), Net(b=T(1)), Net(c=T(1)))
    assert [one.where for one in missed(model)] == ["0.a", "1.b", "2.c"]


def test_one_finding_for_one_list():
    (one,) = missed(Net(layers=[nn.Linear(2, 2) for _ in range(30)]))
    assert "30 modules (Linear)" in one.evidence and "nn.ModuleList" in one.mend


def test_a_tensor_left_behind_is_told_where_it_is():
    (one,) = missed(Net(mask=T(2)).to("meta"))
    assert "on cpu" in one.evidence and "the parameters are on meta" in one.evidence


def test_a_hidden_layer_that_the_optimizer_holds_is_no_stranger():
    model = Net(layers=[nn.Linear(2, 2)])
    optimizer = torch.optim.SGD([*model.parameters(), *model.layers[0].parameters()], 0.1)
    assert [one.kind for one in missed(model, optimizer)] == ["module-in-container"]


def test_a_foreign_parameter_points_at_its_twin():
    model, optimizer = made(FAULTY["an optimizer of another copy"][2])
    foreign = [one for one in missed(model, optimizer) if one.kind == "optimizer-foreign-parameter"]
    assert "head.weight has its shape" in foreign[0].evidence


def test_the_mends_mend():
    model = Net(layers=nn.ModuleList([nn.Linear(2, 2)]))
    model.register_buffer("mask", T(2), persistent=False)
    assert not missed(model, torch.optim.SGD(model.parameters(), 0.1))


def test_deep_and_cyclic_data_end():
    nested = []
    for _ in range(5000):
        nested = [nested]
    ring = {}
    ring["ring"] = [ring]
    deep = nn.Identity()
    for _ in range(3000):
        deep = nn.Sequential(deep)
    assert not missed(Net(nested=nested, ring=ring)) and not missed(deep)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (({"weight": T(1)},), "missed takes an nn.Module, not a dict"),
        ((nn.Linear,), "got the class Linear: make one"),
        ((nn.Linear(1, 1), "adam"), "with param_groups, or a list of such; got a str"),
        ((nn.Linear(1, 1), nn.Linear(1, 1)), "got a Linear"),
    ],
)
def test_bad_calls_get_a_sentence(arguments, words):
    with pytest.raises(TypeError, match=r"^[^\n]*$") as caught:
        missed(*arguments)
    assert words in str(caught.value)
