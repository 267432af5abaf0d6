"""How exact "what fills it" is, and what a recording costs. Prints tables; asserts what is exact."""

import time

import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

from torchcourse.memory import record_step

from ..allocator.conftest import read, real_folder
from ..memory.steps import CASES

assert real_folder  # the fixture


def test_error_against_sums_by_hand():
    """Parameters, gradients, optimizer state and saved activations: no byte of difference."""
    print(f"\n{'':13}{'owner':16}{'by hand':>10} {'recorded':>10}  error")
    for name, make in CASES.items():
        case = make()
        optimizer = torch.optim.Adam(case.model.parameters())
        step = case.step(optimizer)
        step()
        held = record_step(step, case.model, optimizer).by_owner
        by_hand = {
            "parameter": case.parameters,
            "gradient": case.parameters,
            "optimizer state": 2 * case.parameters,
            "activation": case.activations,
        }
        for owner, nbytes in by_hand.items():
            error = (held[owner] - nbytes) / nbytes
            print(f"{name:13}{owner:16}{nbytes:10,} {held[owner]:10,}  {error:.2%}")
        assert {owner: held[owner] for owner in by_hand} == by_hand


# --- a step that somebody recorded on a GPU: a diffusion transformer of 384 channels, until it ran out of memory ---

WORKSPACES = (1 << 20, 8_519_680)  # cublasLt's, for each linear layer; cuBLAS's, once


class Block(nn.Module):
    """One block of it, told from the sizes in the record: 6 heads, 256 tokens, conditioned by scale and shift."""

    def __init__(self, width=384, heads=6):
        super().__init__()
        self.heads = heads
        self.norm1 = nn.LayerNorm(width, elementwise_affine=False)
        self.norm2 = nn.LayerNorm(width, elementwise_affine=False)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU("tanh"), nn.Linear(4 * width, width))
        self.condition = nn.Sequential(nn.SiLU(), nn.Linear(width, 6 * width))

    def attend(self, x):
        shape = (*x.shape[:2], 3, self.heads, x.shape[2] // self.heads)
        query, key, value = self.qkv(x).reshape(shape).permute(2, 0, 3, 1, 4).unbind(0)
        with sdpa_kernel(SDPBackend.MATH):
            x = F.scaled_dot_product_attention(query, key, value)
        x = x.transpose(1, 2).reshape(*shape[:2], -1)
        x = self.out(x)
        return x

    def forward(self, x, c):
        shift1, scale1, gate1, shift2, scale2, gate2 = self.condition(c).unsqueeze(1).chunk(6, dim=2)
        x = x + gate1 * self.attend(self.norm1(x) * (1 + scale1) + shift1)
        return x + gate2 * self.mlp(self.norm2(x) * (1 + scale2) + shift2)


def changes_on_the_gpu(rows):
    """The sizes that came (+) and went (-), without workspaces, up to the out-of-memory error (None)."""
    workspaces, changes = set(), []
    for kind, address, size, _ in rows["trace"]:
        action = rows["actions"][kind]
        if action == "oom":
            return [*changes, None], size
        if action == "alloc" and size in WORKSPACES:
            workspaces.add(address)
        elif action == "alloc":
            changes.append(size)
        elif action == "free_completed" and address not in workspaces:
            changes.append(-size)
        workspaces -= {address} if action == "free_completed" else set()
    raise AssertionError("the record has no out-of-memory error")


def test_beside_a_step_recorded_on_a_gpu(real_folder):
    """Each allocation and free of the blocks, in order, until the GPU had no room: all of them agree."""
    recorded, refused = changes_on_the_gpu(read(real_folder / "gpu-40.json.gz"))
    first = next(at for at in range(len(recorded)) if recorded[at : at + 2] == [393_216, 2_359_296])
    recorded = recorded[first:-1]
    with torch.device("meta"):
        blocks = nn.ModuleList(Block() for _ in range(12))
        start = torch.empty(256, 256, 384, requires_grad=True)
        condition = torch.empty(256, 384, requires_grad=True)

    def step():
        x = start.view_as(start)
        for block in blocks:
            x = block(x, condition)
        x.sum().backward()

    recording = record_step(step, blocks)
    ours = [
        recording.storages[event.storage].nbytes * (-1 if event.frees else 1)
        for event in recording.events
        if event.phase == "forward"
    ]
    agree = sum(a == b for a, b in zip(ours, recorded, strict=False))
    print(
        f"\nA diffusion transformer on a GPU, forward, float32: {len(recorded)} allocations and frees before it ran "
        f"out of memory at {refused:,} bytes; recorded on the CPU without memory: {agree} the same in size and order; "
        f"bytes held then: {sum(recorded):,} on the GPU, {sum(ours[: len(recorded)]):,} recorded."
    )
    assert ours[: len(recorded)] == recorded and ours[len(recorded)] == refused


def test_what_a_recording_costs():
    """The same step with and without recording, and playing it through the allocator."""
    case = CASES["transformer"](batch=16, length=64)
    optimizer = torch.optim.Adam(case.model.parameters())
    step = case.step(optimizer)
    step()
    plain = min(_seconds(step) for _ in range(5))
    recorded = min(_seconds(lambda: record_step(step, case.model, optimizer)) for _ in range(5))
    recording = record_step(step, case.model, optimizer)
    played = min(_seconds(lambda: recording.fit(1 << 34)) for _ in range(5))
    print(
        f"\na step: {1e3 * plain:.0f} ms; recorded: {1e3 * recorded:.0f} ms; {len(recording.events)} events through "
        f"the allocator's model: {1e3 * played:.1f} ms"
    )
    assert recording.events


def _seconds(function):
    began = time.perf_counter()
    function()
    return time.perf_counter() - began
