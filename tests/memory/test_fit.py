"""A recorded step on a card: peaks, the failing allocation, the curve, and PyTorch's snapshot format."""

import subprocess
import sys

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn import functional as F

from torchcourse.allocator import Allocator, load_snapshot, replay, save_snapshot
from torchcourse.memory import OWNERS, record_step
from torchcourse.memory.cannot_know import WORKSPACE, WORKSPACE_SM90

from .steps import CASES, cnn, mlp

MIB = 1 << 20


@pytest.fixture(scope="module")
def recording():
    case = cnn(64, device="meta")
    optimizer = torch.optim.Adam(case.model.parameters())
    step = case.step(optimizer)
    step()
    return record_step(step, case.model, optimizer)


def test_peaks_are_those_of_the_same_requests(recording):
    """The second way: the events through an allocator by hand."""
    model, addresses = Allocator(1 << 34), {}
    for event in recording.events:
        if event.frees:
            model.free(addresses.pop(event.storage))
        else:
            addresses[event.storage] = model.malloc(recording.storages[event.storage].nbytes)
    fit = recording.fit(1 << 34)
    assert fit.peak_allocated == model.max_memory_allocated()
    assert fit.peak_reserved == model.max_memory_reserved()


def test_it_fits_on_what_it_reserves_and_not_on_less(recording):
    peak = recording.fit(1 << 34).peak_reserved
    assert recording.fit(peak).fits
    tight = recording.fit(peak - 2 * MIB)
    assert not tight.fits and tight.failed and tight.needed == peak
    assert tight.message.startswith("CUDA out of memory. Tried to allocate ")
    assert "does not fit" in str(tight) and len(tight.curve) < len(recording.events)


def test_the_curve_adds_up(recording):
    fit = recording.fit(1 << 34)
    assert len(fit.curve) == len(recording.events)
    for (event, now), point in zip(recording.running(), fit.curve, strict=True):
        assert event.phase == point.phase and point.reserved >= point.allocated
        for owner, nbytes in zip(OWNERS, point.by_owner, strict=True):
            assert nbytes >= now[owner]
    assert sum(fit.at_peak.values()) == fit.peak_allocated == fit.curve[fit.peak].allocated
    assert fit.by_owner == recording.by_owner


def test_each_allocation_of_the_trace_has_an_owner(recording):
    fit = recording.fit(1 << 34)
    trace = list(fit.allocator.trace())
    allocations = [at for at, entry in enumerate(trace) if entry.action == "alloc"]
    assert allocations == list(fit.owners)
    came = [recording.storages[e.storage] for e in recording.events if not e.frees]
    assert [fit.owners[at] for at in allocations] == [stored.label for stored in came]
    assert [trace[at].size for at in allocations] == [stored.nbytes for stored in came]
    assert "activation of 0" in fit.owners.values()
    assert fit.by_call == tuple(stored.owner for stored in came)


def test_the_snapshot_opens_in_pytorchs_viewer_with_owners(recording, tmp_path):
    snapshot = recording.fit(1 << 34).snapshot()
    save_snapshot(snapshot, tmp_path / "step.pickle")
    loaded = load_snapshot(tmp_path / "step.pickle")
    assert loaded == snapshot and replay(loaded).first_difference is None
    done = subprocess.run(
        [sys.executable, "-m", "torch.cuda._memory_viz", "trace", str(tmp_path / "step.pickle")],
        capture_output=True, text=True, timeout=300, check=True,
    )  # fmt: skip
    assert "cudaMalloc" in done.stdout
    frames = [entry["frames"][0]["name"] for entry in loaded["device_traces"][0] if entry["frames"]]
    assert "activation of 0" in frames


def test_settings_reach_the_allocator(recording):
    fit = recording.fit(1 << 34, "expandable_segments:True")
    assert fit.allocator.conf.expandable_segments and fit.peak_reserved <= 64 * MIB


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ((-1,), ValueError, "total_bytes is the size of the card, at least 1"),
        ((0,), ValueError, "total_bytes"),
        ((1.5,), TypeError, "total_bytes is a whole number"),
        ((MIB, "expandable"), ValueError, "expandable"),
    ],
)
def test_bad_input_gets_a_sentence(recording, arguments, error, words):
    with pytest.raises(error, match=words):
        recording.fit(*arguments)


def test_what_is_not_recorded_is_a_range():
    case = mlp()
    forward = record_step(lambda: case.model(case.batch[0])).not_recorded
    assert tuple(forward) == (WORKSPACE, WORKSPACE_SM90) == (8_519_680, 33_554_432)
    optimizer = torch.optim.SGD(case.model.parameters())
    whole = record_step(case.step(optimizer)).fit(1 << 30)
    low, high = whole.not_recorded
    assert (low, high) == (2 * WORKSPACE, 2 * WORKSPACE_SM90) and whole.not_recorded[0] == low
    assert "2 cuBLAS workspaces" in str(whole)
    assert tuple(record_step(lambda: torch.ones(3) + 1).not_recorded) == (0, 0)


def test_kernels_that_may_keep_more_widen_the_range():
    x = torch.ones(1, 3, 8, 8)
    convolution = record_step(lambda: F.conv2d(x, torch.ones(4, 3, 3, 3))).not_recorded
    assert convolution.low == 0 and convolution.high > 100 * MIB
    heads = torch.ones(2, 4, 64, 16, requires_grad=True)
    attention = record_step(lambda: F.scaled_dot_product_attention(heads, heads, heads).sum().backward())
    assert attention.not_recorded.high >= 2 * 2 * 4 * 64 * 64 * 4


@settings(max_examples=20, deadline=None)
@given(st.sampled_from(sorted(CASES)), st.integers(1, 40), st.integers(21, 26))
def test_whatever_the_card(name, batch, power):
    """It fits exactly where the card is as large as what is needed; peaks never exceed the card."""
    case = CASES[name](batch, device="meta")
    recording = record_step(case.step(torch.optim.SGD(case.model.parameters())), case.model)
    fit = recording.fit(1 << power)
    assert fit.fits == (fit.needed <= 1 << power) and fit.peak_reserved <= 1 << power


def test_attention_that_a_gpu_may_fuse_lowers_the_range():
    """Dropout makes the CPU take the unfused kernel, which keeps the scores."""
    heads = torch.ones(2, 4, 64, 16, requires_grad=True)
    attend = lambda: F.scaled_dot_product_attention(heads, heads, heads, dropout_p=0.5)  # noqa: E731
    assert record_step(lambda: attend().sum().backward()).not_recorded.low < 2 * WORKSPACE
