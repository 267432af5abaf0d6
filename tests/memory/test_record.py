"""What is noted of a step: phases, places, and where a GPU allocates otherwise than the CPU."""

import gc

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint

from torchcourse.memory import OWNERS, PHASES, record_step

from .steps import mlp

MIB = 1 << 20


def small():
    case = mlp()
    optimizer = torch.optim.Adam(case.model.parameters())
    return case, optimizer, case.step(optimizer)


def owned(recording, owner):
    return [stored for stored in recording.storages if stored.owner == owner]


def test_events_and_storages_fit_together():
    case, optimizer, step = small()
    recording = record_step(step, case.model, optimizer)
    came, went = set(), set()
    for event in recording.events:
        assert event.phase in PHASES and recording.storages[event.storage].owner in OWNERS
        assert (event.storage in came) is event.frees and event.storage not in went
        (went if event.frees else came).add(event.storage)
    assert came == set(range(len(recording.storages)))
    assert {k for k in came if not recording.storages[k].left} == went
    phases = [event.phase for event in recording.events if not event.frees]
    assert [p for k, p in enumerate(phases) if k == 0 or phases[k - 1] != p] == [
        "before", "forward", "backward", "optimizer",
    ]  # fmt: skip


def test_activations_are_told_by_module():
    case, optimizer, step = small()
    found = record_step(step, case.model, optimizer).by_module
    assert found == {"1": 7 * 30 * 4, None: 7 * 5 * 4 + 4}


def test_a_loss_module_beside_the_model_has_a_name_of_its_own():
    model, loss = nn.Linear(4, 4), nn.CrossEntropyLoss()
    x, y = torch.ones(2, 4), torch.zeros(2, dtype=torch.long)
    recording = record_step(lambda: loss(model(x), y).backward(), model)
    assert set(recording.by_module) == {"CrossEntropyLoss"}
    labels = {stored.label for stored in recording.storages}
    assert {"temporary of the model's own forward", "activation of CrossEntropyLoss"} <= labels


def test_without_model_and_optimizer_both_are_learned():
    case, optimizer, step = small()
    assert record_step(step).by_owner == record_step(step, case.model, optimizer).by_owner | {
        "optimizer state": 2 * case.parameters
    }


def test_gradients_are_known_without_an_optimizer_too():
    case = mlp()

    def step():
        F.cross_entropy(case.model(case.batch[0]), case.batch[1]).backward()
        case.model.zero_grad()

    assert record_step(step).by_owner["gradient"] == case.parameters


def test_leaves_that_are_no_parameters_have_gradients_too():
    weight, x = torch.ones(30, requires_grad=True), torch.ones(30)
    recording = record_step(lambda: (weight * x).sum().backward())
    assert recording.by_owner["gradient"] == 120 and recording.left_bytes == 0
    assert weight._post_accumulate_grad_hooks is None


def test_gradients_that_are_kept_take_their_place_in_the_next_forward():
    """set_to_none=False leaves them: then they are there at the peak of activations."""
    held = {}
    for set_to_none in (True, False):
        case, optimizer, _ = small()

        def kept(case=case, optimizer=optimizer, set_to_none=set_to_none):
            F.cross_entropy(case.model(case.batch[0]), case.batch[1]).backward()
            optimizer.step()
            optimizer.zero_grad(set_to_none=set_to_none)

        kept()
        recording = record_step(kept, case.model, optimizer)
        held[set_to_none] = next(
            now["gradient"] for event, now in recording.running() if event.phase == "forward"
        )
    assert held == {True: 0, False: case.parameters}


def test_data_made_in_the_step_is_input():
    model = nn.Linear(8, 1)
    recording = record_step(lambda: model(torch.ones(5, 8)).sum().backward(), model)
    assert recording.by_owner["input"] == 5 * 8 * 4
    assert [s.phase for s in owned(recording, "input")] == ["forward"]


def test_the_step_count_of_adam_stays_on_the_host():
    case, _, _ = small()
    for settings, copies in (({}, 0), ({"capturable": True}, 1), ({"fused": True}, 1)):
        if "capturable" in settings:
            continue  # refused for tensors on the CPU
        optimizer = torch.optim.Adam(case.model.parameters(), **settings)
        held = record_step(case.step(optimizer), case.model, optimizer).by_owner["optimizer state"]
        assert held == 2 * case.parameters + copies * 4 * len(list(case.model.parameters()))


def test_foreach_is_as_on_a_gpu():
    """One copy of all parameters for a moment, where foreach is not refused."""
    temporaries = {}
    for foreach in (None, True, False):
        case, _, _ = small()
        optimizer = torch.optim.Adam(case.model.parameters(), foreach=foreach)
        recording = record_step(case.step(optimizer), case.model, optimizer)
        running = recording.running()
        temporaries[foreach] = max(now["temporary"] for event, now in running if event.phase == "optimizer")
        assert [group["foreach"] for group in optimizer.param_groups] == [foreach]
    largest = 2 * 20 * 30 * 4  # the loop over parameters: the root, and what it is divided by
    assert temporaries == {None: case.parameters, True: case.parameters, False: largest}


def test_dropout_keeps_one_byte_an_element():
    x = torch.ones(100, 50, requires_grad=True)
    recording = record_step(lambda: F.dropout(x, 0.5).sum().backward())
    assert recording.by_owner["activation"] == 100 * 50
    channels = torch.ones(10, 4, 5, 5, requires_grad=True)
    recording = record_step(lambda: F.dropout2d(channels, 0.5).sum().backward())
    assert recording.by_owner["activation"] == 10 * 4 * 4  # the noise of whole channels


def test_gradients_that_meet_are_added_in_place():
    """The engine adds onto the first; a dispatch mode makes it add into a new tensor."""
    x = torch.ones(1000, requires_grad=True)

    def step():
        shared = x * 1.5
        (shared.sin() + shared.cos()).sum().backward()

    recording = record_step(step)
    at_the_sum = [
        now["temporary"]
        for event, now in recording.running()
        if recording.storages[event.storage].operator == "aten::add" and event.phase == "backward"
    ]
    assert at_the_sum[0] == 2 * 4000 + 8  # the sum and the other summand; loss and its gradient


def test_checkpointing_is_seen_as_recomputation():
    block = nn.Sequential(*(layer for _ in range(4) for layer in (nn.Linear(64, 64), nn.Tanh())))
    x = torch.ones(256, 64, requires_grad=True)
    plain = record_step(lambda: block(x).sum().backward(), block)
    again = record_step(lambda: checkpoint(block, x, use_reentrant=False).sum().backward(), block)
    one = 256 * 64 * 4
    assert plain.by_owner["activation"] == 4 * one
    forward = max(now["activation"] for event, now in again.running() if event.phase == "forward")
    assert forward == 0
    assert {s.phase for s in again.storages if s.owner == "activation"} == {"recompute"}
    assert again.by_owner["activation"] == 4 * one  # one block: all of it is made again at once


def test_inference_saves_nothing():
    case = mlp()
    with torch.no_grad():
        held = record_step(lambda: case.model(case.batch[0])).by_owner
    assert held["activation"] == held["gradient"] == 0 and held["temporary"] > 0


def test_a_backward_from_a_given_gradient():
    x = torch.ones(10, requires_grad=True)
    recording = record_step(lambda: x.exp().backward(torch.ones(10)))
    assert recording.by_owner["activation"] == 40


def test_a_storage_that_grows_is_freed_and_made_again():
    def step():
        x = torch.empty(10)
        x.resize_(1000)
        return x.sum()

    sizes = [s.nbytes for s in record_step(step).storages]
    assert sizes[:2] == [40, 4000]


def test_views_allocate_nothing():
    x = torch.ones(10, 10)
    assert [s.nbytes for s in record_step(lambda: x.t()[2:].view(-1, 10)).storages] == [400]


def test_what_a_step_leaves_behind():
    model, losses = nn.Linear(4, 4), []
    x = torch.ones(2, 4)

    def leaking():
        losses.append(model(x).square().sum())

    def sound():
        losses.append(model(x).sum().item())

    assert record_step(leaking, model).left_bytes > 4
    assert record_step(sound, model).left_bytes == 0


def test_gradient_accumulation_adds_into_the_gradient():
    case = mlp(8)

    def step():
        for x, y in zip(case.batch[0].chunk(4), case.batch[1].chunk(4), strict=True):
            F.cross_entropy(case.model(x), y).backward()

    held = record_step(step, case.model).by_owner
    assert held["gradient"] == case.parameters
    assert held["activation"] == 2 * (30 + 5) * 4 + 4


# --- nothing is changed ---------------------------------------------------------------------------


def test_the_numbers_are_those_of_a_plain_step():
    ends = []
    for recorded in (False, True):
        torch.manual_seed(0)
        model = nn.Sequential(nn.Linear(20, 30), nn.Dropout(), nn.Linear(30, 5))
        optimizer = torch.optim.Adam(model.parameters(), weight_decay=0.1)
        x = torch.randn(9, 20)

        def step(model=model, optimizer=optimizer, x=x):
            model(x).square().mean().backward()
            optimizer.step()

        for _ in range(3):
            record_step(step, model, optimizer) if recorded else step()
        ends.append([*model.parameters(), *(p.grad for p in model.parameters()), torch.get_rng_state()])
    assert all(torch.equal(a, b) for a, b in zip(*ends, strict=True))


def standing_hooks(model):
    from torch.nn.modules import module
    from torch.optim import optimizer
    from torch.utils._python_dispatch import _get_current_dispatch_mode_stack

    return (
        len(module._global_forward_pre_hooks),
        len(module._global_forward_hooks),
        len(optimizer._global_optimizer_pre_hooks),
        len(optimizer._global_optimizer_post_hooks),
        _get_current_dispatch_mode_stack(),
        [p._post_accumulate_grad_hooks for p in model.parameters()],
        gc.isenabled(),
    )


@pytest.mark.parametrize("fails_in", [None, "forward", "backward", "optimizer"])
def test_no_hook_and_no_mode_stays(fails_in):
    case, optimizer, step = small()
    before = standing_hooks(case.model)

    def failing():
        if fails_in == "forward":
            case.model(torch.ones(3, 3))
        loss = case.model(case.batch[0]).sum()
        if fails_in == "backward":
            loss.register_hook(lambda g: 1 / 0)
        loss.backward()
        if fails_in == "optimizer":
            optimizer.param_groups[0]["betas"] = None
        optimizer.step()

    if fails_in is None:
        record_step(step, case.model, optimizer)
    else:
        with pytest.raises((RuntimeError, ZeroDivisionError, TypeError)):
            record_step(failing, case.model, optimizer)
    assert standing_hooks(case.model) == before
    assert optimizer.param_groups[0]["foreach"] is None


def test_hooks_of_the_readers_own_stay():
    case, optimizer, step = small()
    called = []
    handle = case.model[0].weight.register_post_accumulate_grad_hook(lambda p: called.append(1))
    record_step(step, case.model, optimizer)
    step()
    assert called == [1, 1]
    handle.remove()


def test_the_recording_keeps_no_tensor_alive():
    import weakref

    case, optimizer, step = small()
    recording = record_step(step, case.model, optimizer)
    gone = weakref.ref(case.model[0].weight)
    del case, optimizer, step
    gc.collect()
    assert gone() is None and recording.peak_bytes


# --- when the step raises, and bad input ----------------------------------------------------------


def test_a_step_that_raises_tells_what_had_happened():
    case = mlp()

    def step():
        F.cross_entropy(case.model(case.batch[0]), case.batch[1])
        raise RuntimeError("the disk is full\nand more")

    with pytest.raises(RuntimeError, match="the disk is full") as caught:
        record_step(step, case.model)
    record = caught.value.record
    assert record.raised == "RuntimeError: the disk is full"
    assert record.by_owner["parameter"] == case.parameters and record.peak_bytes > case.parameters
    assert str(record).startswith("The step raised, in forward: RuntimeError: the disk is full\n")
    assert record.fit(1 << 30).fits


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ((3,), TypeError, "step is a function without arguments that does one training step, not a int"),
        ((lambda: None, "model"), TypeError, "model is an nn.Module or None, not a str"),
        ((lambda: None, nn.ReLU()), ValueError, "ReLU has no parameters, so there is nothing to train"),
        ((lambda: None, nn.Linear), TypeError, "a class"),
        ((lambda: None, None, 3), TypeError, "optimizer is a torch.optim.Optimizer or None, not a int"),
        ((lambda: None,), ValueError, "allocated nothing: it ran no operator"),
        ((lambda: None, nn.Linear(2, 2)), ValueError, "allocated nothing: it ran no operator"),
    ],
)
def test_bad_input_gets_a_sentence(arguments, error, words):
    with pytest.raises(error, match=words):
        record_step(*arguments)


def test_the_text_twin():
    case, optimizer, step = small()
    text = str(record_step(step, case.model, optimizer))
    assert text.splitlines()[0].startswith("One step: ")
    assert f"  parameter       {case.parameters:>15,}" in text


def test_segments_of_a_checkpoint_keep_their_inputs():
    from torch.utils.checkpoint import checkpoint_sequential

    model = nn.Sequential(*(layer for _ in range(8) for layer in (nn.Linear(64, 64), nn.Tanh())))
    x = torch.ones(256, 64)
    recording = record_step(
        lambda: checkpoint_sequential(model, 4, x, use_reentrant=False).sum().backward(), model
    )
    one = 256 * 64 * 4
    after_forward = max(now["activation"] for event, now in recording.running() if event.phase == "forward")
    # Three inputs (the first is x), and the last segment, which is not checkpointed: two Tanhs.
    assert after_forward == 3 * one + 2 * one
    assert recording.by_owner["activation"] <= (3 + 2 + 1) * one


@pytest.mark.parametrize("dropout", [0.0, 0.1])
def test_attention_on_meta_is_fused_as_on_a_gpu(dropout):
    batch, length, width = 2, 64, 32
    with torch.device("meta"):
        layer = nn.MultiheadAttention(width, 4, dropout=dropout, batch_first=True)
        x = torch.empty(batch, length, width)

    def step():
        layer(x, x, x, need_weights=False)[0].sum().backward()

    plain = F.scaled_dot_product_attention
    recording = record_step(step, layer)
    assert F.scaled_dot_product_attention is plain
    scores = batch * 4 * length * length * 4
    assert (
        recording.by_owner["activation"]
        < scores
        < record_step(step, layer, as_cuda=False).by_owner["activation"]
    )
    assert recording.not_recorded.low > 0


def test_unfused_attention_can_still_be_asked_for():
    from torch.nn.attention import SDPBackend, sdpa_kernel

    heads = torch.empty(2, 4, 64, 16, device="meta", requires_grad=True)

    def step():
        with sdpa_kernel(SDPBackend.MATH):
            F.scaled_dot_product_attention(heads, heads, heads).sum().backward()

    assert record_step(step).by_owner["activation"] > 2 * 4 * 64 * 64 * 4
