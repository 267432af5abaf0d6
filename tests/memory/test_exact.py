"""Every owner's bytes against sums worked out by hand, and on tensors without memory."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from torchcourse.memory import record_step

from .steps import CASES

# What an optimizer keeps for each parameter, in copies of it.
STATES = {
    "Adam": (torch.optim.Adam, {}, 2),
    "AdamW with amsgrad": (torch.optim.AdamW, {"amsgrad": True}, 3),
    "SGD": (torch.optim.SGD, {}, 0),
    "SGD with momentum": (torch.optim.SGD, {"momentum": 0.9}, 1),
}


@pytest.mark.parametrize("optimizer", STATES)
@pytest.mark.parametrize("name", CASES)
def test_every_owner_is_exact(name, optimizer):
    case = CASES[name]()
    kind, options, copies = STATES[optimizer]
    chosen = kind(case.model.parameters(), lr=0.01, **options)
    step = case.step(chosen)
    for _ in range(2):  # the first step makes the state, the second finds it
        held = record_step(step, case.model, chosen).by_owner
        assert held["parameter"] == held["gradient"] == case.parameters
        assert held["optimizer state"] == copies * case.parameters
        assert (held["activation"], held["buffer"]) == (case.activations, case.buffers)
        assert held["input"] == case.inputs


@pytest.mark.parametrize("name", CASES)
def test_tensors_without_memory_give_the_same_recording(name):
    recordings = []
    for device in ("cpu", "meta"):
        case = CASES[name](device=device)
        optimizer = torch.optim.Adam(case.model.parameters())
        recordings.append(record_step(case.step(optimizer), case.model, optimizer))
    on_cpu, on_meta = recordings
    assert on_cpu.by_owner == on_meta.by_owner and on_cpu.by_module == on_meta.by_module
    assert on_cpu.fit(1 << 30).peak_allocated == on_meta.fit(1 << 30).peak_allocated


@pytest.mark.parametrize("name", CASES)
def test_inside_a_fake_tensor_mode_too(name):
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode():
        case = CASES[name]()
        optimizer = torch.optim.Adam(case.model.parameters())
        held = record_step(case.step(optimizer), case.model, optimizer).by_owner
    assert (held["parameter"], held["activation"]) == (case.parameters, case.activations)


@settings(max_examples=25, deadline=None)
@given(st.sampled_from(sorted(CASES)), st.integers(1, 12))
def test_activations_follow_the_batch(name, batch):
    case = CASES[name](batch, device="meta")
    step = case.step(torch.optim.SGD(case.model.parameters()))
    assert record_step(step, case.model).by_owner["activation"] == case.activations


def test_what_the_graph_saved_is_what_hooks_see():
    """The second witness: PyTorch's own hooks on saved tensors, on a step that is not ours."""
    layer = torch.nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0)
    x = torch.randn(5, 3, 16)
    own = {p.untyped_storage()._cdata for p in layer.parameters()} | {x.untyped_storage()._cdata}
    seen = {}

    def pack(tensor):
        if tensor.untyped_storage()._cdata not in own:
            seen[tensor.untyped_storage()._cdata] = tensor.untyped_storage()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        loss = layer(x).square().mean()
    expected = sum(storage.nbytes() for storage in seen.values())
    loss.backward()
    recording = record_step(lambda: layer(x).square().mean().backward(), layer)
    assert recording.by_owner["activation"] == expected
