"""What a node saved is read the same way on every release: no hook runs, no mode sees it, fake tensors stay fake."""

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode

from torchcourse._saved import raw_saved


class Seen(TorchDispatchMode):
    """Keeps the names of the operators that come by."""

    def __init__(self):
        super().__init__()
        self.names = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.names.append(str(func))
        return func(*args, **(kwargs or {}))


@pytest.mark.parametrize("inside", [False, True])
def test_a_result_that_its_own_node_saved_stays_fake(inside):
    with FakeTensorMode() as mode:
        out = torch.ones(3, 4, requires_grad=True).softmax(-1)
        if inside:
            saved = raw_saved(out.grad_fn, "_raw_saved_result")
            data, hook = saved.data, saved.unpack_hook
    if not inside:
        saved = raw_saved(out.grad_fn, "_raw_saved_result")
        data, hook = saved.data, saved.unpack_hook
    assert hook is None and isinstance(data, FakeTensor) and data.fake_mode is mode
    assert data.device.type == "cpu"
    assert data.untyped_storage()._cdata == out.untyped_storage()._cdata


def test_no_mode_sees_that_somebody_looks():
    out = torch.ones(3, requires_grad=True).exp()
    with Seen() as outer, Seen() as inner:
        data = raw_saved(out.grad_fn, "_raw_saved_result").data
        assert not outer.names and not inner.names
        data.neg()
    assert torch.equal(data, out)
    assert outer.names == inner.names == ["aten.neg.default"]  # both stand where they stood


@pytest.mark.parametrize("fake", [False, True])
def test_a_hook_is_found_and_does_not_run(fake):
    ran = []

    def unpack(packed):
        ran.append(packed)
        return packed[0]

    with FakeTensorMode() if fake else torch.enable_grad():
        with torch.autograd.graph.saved_tensors_hooks(lambda tensor: (tensor.detach(), "packed"), unpack):
            out = torch.ones(3, requires_grad=True).exp()
        saved = raw_saved(out.grad_fn, "_raw_saved_result")
        assert saved.data[1] == "packed" and saved.unpack_hook.__code__ is unpack.__code__
    assert not ran


def test_what_was_written_to_says_so_when_it_is_unpacked():
    other = torch.ones(3)
    out = torch.ones(3, requires_grad=True) * other
    other.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        raw_saved(out.grad_fn, "_raw_saved_other").unpack()
