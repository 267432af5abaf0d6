"""`leaks` names who holds what piles up, and is silent about sound steps."""

import gc
import sys
import types

import pytest
import torch
from torch.nn.parameter import UninitializedTensorMixin

from torchcourse import _slugs
from torchcourse.debugging import leaks

from .steps import GLOBAL, LEAKY, SOUND, Remembering


@pytest.fixture(autouse=True)
def clean():
    yield
    for name in ("last_exc", "last_value", "last_traceback"):
        sys.__dict__.pop(name, None)
    GLOBAL.clear()
    Remembering.everything.clear()


@pytest.mark.parametrize("name", LEAKY)
def test_the_holder_is_named(name):
    maker, kind, where = LEAKY[name]
    found = leaks(maker())
    assert len(found) == 1, str(found)
    assert (found[0].kind, where in found[0].where) == (kind, True), str(found)
    assert kind in _slugs.SLUGS and found[0].mend and "0x" not in str(found)


@pytest.mark.parametrize("name", SOUND)
def test_a_sound_step_has_no_finding(name):
    found = leaks(SOUND[name]())
    assert not found and str(found) == "No tensor outlives its step.", str(found)


def test_bytes_are_counted_per_step():
    kept = []
    (found,) = leaks(lambda: kept.extend((torch.zeros(100), torch.zeros(25))), 7)
    assert (found.nbytes_per_step, found.tensors_per_step, found.shape) == (500, 2.0, (100,))
    assert len(kept) == 14  # the step ran n times
    assert "variable of the running function" in found.where or "closure variable" in found.where


def test_lazy_layers_that_live_beside_the_step_do_no_harm():
    lazy, kept = torch.nn.LazyLinear(3), []
    (found,) = leaks(lambda: kept.append(torch.zeros(100)))
    assert found.nbytes_per_step == 400 and lazy.has_uninitialized_params()


def test_what_the_collector_left_of_a_tensor_does_no_harm():
    class Gone(torch.Tensor):
        @property
        def output_nr(self):
            raise RuntimeError("cannot call get_autograd_meta() on undefined tensor")

    gone, kept = torch.ones(2).as_subclass(Gone), []
    (found,) = leaks(lambda: kept.append(torch.zeros(100)))
    assert found.nbytes_per_step == 400 and type(gone) is Gone


def test_a_view_whose_grad_fn_can_not_be_told_is_a_tensor_all_the_same():
    weight, kept = torch.ones(2, 100, requires_grad=True), []

    def step():
        both = weight.clone()
        kept.append(both.unbind()[0])
        both.mul_(2)  # now the view's own `grad_fn` raises

    found = leaks(step)
    assert found[0].nbytes_per_step >= 800 and "`kept[…]`" in found[0].where


def test_nodes_are_counted_per_step():
    weight, state = torch.ones(1, requires_grad=True), {"total": 0.0}

    def step():
        state["total"] = state["total"] + weight * 2

    (found,) = leaks(step)
    assert (found.kind, found.nodes_per_step) == ("graph-kept", 2.0)


def test_a_larger_graph_from_before_is_not_the_one_that_grows():
    weight, state = torch.ones(1, requires_grad=True), {"total": 0.0}
    old = weight
    for _ in range(100):
        old = old + 1

    def step():
        state["total"] = state["total"] + weight * 2

    (found,) = leaks(step)
    assert "state['total']" in found.where and old.requires_grad


def test_an_older_tensor_that_each_step_adds_to():
    weight, total = torch.ones(3, requires_grad=True), torch.zeros(())

    def step():
        nonlocal total
        total += weight.mul(2).sum()

    (found,) = leaks(step)
    assert found.kind == "graph-kept" and "`total`" in found.where and found.nodes_per_step > 0


def test_what_a_graph_saved_counts_with_its_loss():
    weight, losses = torch.ones(1000, requires_grad=True), []
    (found,) = leaks(lambda: losses.append(weight.exp().sum()))
    assert found.nbytes_per_step == 4004  # the result of exp, and the sum


def test_two_holders_are_two_findings():
    small, large = [], []
    found = leaks(lambda: (small.append(torch.zeros(1)), large.append(torch.zeros(99))))
    assert [one.nbytes_per_step for one in found] == [396, 4] and "large" in found[0].where


def test_what_jupyter_remembers(monkeypatch):
    space = types.ModuleType("notebook")
    space.Out = {}
    monkeypatch.setitem(sys.modules, "notebook", space)

    def step():
        space.Out[len(space.Out)] = torch.zeros(10)

    (found,) = leaks(step)
    assert found.kind == "tensors-in-output" and "`Out[…]`" in found.where and "Jupyter" in found.where


def test_nothing_is_kept_and_the_collector_is_as_it_was():
    settings = gc.isenabled(), gc.get_threshold(), gc.get_debug(), gc.get_freeze_count()
    kept = []
    found = leaks(lambda: kept.append(torch.zeros(3571)))
    assert (gc.isenabled(), gc.get_threshold(), gc.get_debug(), gc.get_freeze_count()) == settings
    kept.clear()
    assert not leaks(lambda: torch.zeros(3571)) and found
    # Among what other tests have left may be a lazy parameter, which has no shape, and a proxy of what is gone,
    # which `isinstance` would ask.
    lazy = UninitializedTensorMixin
    kinds = [(one, type(one)) for one in gc.get_objects()]
    tensors = [one for one, kind in kinds if issubclass(kind, torch.Tensor) and not issubclass(kind, lazy)]
    assert not any(one.shape == (3571,) for one in tensors)


def test_an_error_of_the_step_goes_on():
    def step():
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        leaks(step)
    assert gc.get_freeze_count() == 0


@pytest.mark.parametrize("n", [0, 2, -1, 2.5, True, "5"])
def test_n_is_checked(n):
    with pytest.raises(ValueError, match="n is the number of steps, 3 or more"):
        leaks(lambda: None, n)


def test_a_step_is_callable():
    with pytest.raises(TypeError, match="does one step"):
        leaks(3)
