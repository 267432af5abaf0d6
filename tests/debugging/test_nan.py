"""`find_nan` names the operator, forward and backward, and leaves everything as it was."""

import gc
import hashlib
import random

import numpy
import pytest
import torch
from torch import nn
from torch.nn import functional as F

from torchcourse import _slugs
from torchcourse.debugging import find_nan

from .nets import BACKWARD, FORWARD, INF, SOUND, Net

NAN = float("nan")
X = torch.tensor([[0.1, -0.2, 0.3], [0.5, 0.4, -0.6]])


@pytest.mark.parametrize("name", FORWARD)
@pytest.mark.filterwarnings("ignore:var")
def test_the_operator_of_the_forward_is_named(name):
    function, operator, what = FORWARD[name]
    found = find_nan(Net(function), X)
    assert (found.operator, found.what, found.backward) == (operator, what, False), str(found)
    assert found.where == "bad" and found.kind in _slugs.SLUGS
    assert all(one.finite for one in found.inputs) or name in ("a masked row", "times infinity")
    assert "nets.py" not in str(found) and found.line > 0


@pytest.mark.parametrize("name", BACKWARD)
def test_the_node_of_the_backward_is_named(name):
    function, node = BACKWARD[name]
    found = find_nan(Net(function), X)
    if found is None:
        pytest.fail("found nothing")
    assert (found.operator, found.backward) == (node, True), str(found)
    assert found.where == "bad" and found.kind in _slugs.SLUGS
    assert name == "sum of two gradients" or found.inputs[0].name.startswith("grad")


@pytest.mark.parametrize("name", SOUND)
def test_a_sound_net_gives_none(name):
    assert find_nan(Net(SOUND[name]), X) is None


def test_the_operands_are_told():
    found = find_nan(Net(lambda h: (h.round() / 0).sum()), X)
    first, second = found.inputs
    assert (first.name, first.shape, first.dtype, first.count) == ("self", (2, 4), "float32", 8)
    assert first.zeros == 8 - torch.count_nonzero(Net(lambda h: h.round())(X)).item()
    assert first.negatives == (Net(lambda h: h.round())(X) < 0).sum().item()
    assert (second.name, second.value) == ("other", "0") and "aten::div" in str(found)


def test_what_the_node_had_saved_is_told():
    found = find_nan(Net(BACKWARD["sqrt at 0"][0]), X)
    grad, result = found.inputs
    assert (grad.min, grad.max, result.name, result.zeros) == (1.0, 1.0, "result", 8)
    assert "sqrt()" in found.source


def test_a_swallowed_nan_says_where_it_came_back():
    found = find_nan(Net(FORWARD["swallowed, and back"][0]), X)
    assert found.node == "SqrtBackward0" and not found.reached and "came back at SqrtBackward0" in str(found)


@pytest.mark.parametrize(("value", "what"), [(NAN, "NaN"), (INF, "Inf"), (-INF, "Inf")])
def test_what_was_given_is_said(value, what):
    bad = X.clone()
    bad[0, 1] = value
    found = find_nan(Net(lambda h: h), bad)
    assert found is None or found.where == "input 0"  # tanh of an infinity is 1
    linear = nn.Sequential(nn.Linear(3, 2))
    found = find_nan(linear, bad)
    assert (found.where, found.operator, found.what, found.given) == ("input 0", "aten::addmm", what, True)
    linear[0].weight.data[0, 0] = value
    found = find_nan(linear, X)
    assert (found.where, found.what) == ("parameter 0.weight", what)


def test_a_bad_buffer_is_named():
    net = nn.BatchNorm1d(3).eval()
    net.running_mean[0] = NAN
    assert find_nan(net, X).where == "buffer running_mean"


def test_memory_that_nothing_wrote():
    def read(h):
        bad = torch.empty(4).set_(torch.full((4,), NAN).untyped_storage())
        return h + bad

    assert find_nan(Net(read), X) is not None


def test_a_mask_given_as_an_input():
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    mask = torch.full((5, 5), -INF).triu(1)
    x = torch.randn(2, 5, 8)
    assert find_nan(layer, x, src_mask=mask) is None
    assert find_nan(layer.eval(), x, src_mask=mask) is None
    attention = nn.MultiheadAttention(8, 2)
    assert find_nan(attention, x, x, x, attn_mask=torch.zeros(2, 2)) is None
    found = find_nan(attention, x, x, x, attn_mask=torch.full((2, 2), -INF))
    assert found.operator == "aten::_softmax" and found.inputs[0].inf == 40


def test_the_fast_path_stays():
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True).eval()
    layer.linear1.weight.data[:] = NAN
    with torch.no_grad():
        found = find_nan(layer, torch.randn(2, 5, 8))
    assert (
        found.operator == "aten::_transformer_encoder_layer_fwd" and found.where == "parameter linear1.weight"
    )


def test_the_loss_belongs_to_it():
    model = nn.Linear(3, 2)
    assert find_nan(model, X, loss_fn=F.mse_loss, target=torch.zeros(2, 2)) is None
    found = find_nan(model, X, loss_fn=lambda out, y: (out - 100).log().sum(), target=torch.zeros(2))
    assert (found.operator, found.where) == ("aten::log", "(model)")
    assert find_nan(model, X, loss_fn=lambda out: (out * 0).sqrt().sum()).operator == "SqrtBackward0"


def test_functions_keywords_and_autocast():
    assert find_nan(lambda x, *, scale: (x * scale).log(), X.abs(), scale=0).operator == "aten::log"
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert find_nan(nn.Linear(3, 2), X) is None
        assert find_nan(Net(lambda h: (h - 2).log()), X).operator == "aten::log"
    with torch.no_grad():
        assert find_nan(Net(BACKWARD["sqrt at 0"][0]), X) is None
        assert find_nan(Net(FORWARD["zero by zero"][0]), X).operator == "aten::div"
    with torch.inference_mode():
        assert find_nan(Net(FORWARD["zero by zero"][0]), X).operator == "aten::div"


def test_a_model_that_raises():
    def raises(h):
        bad = (h - 2).log()
        torch.distributions.Normal(bad, 1.0, validate_args=True)

    found = find_nan(Net(raises), X)
    assert found.operator == "aten::log" and found.error.startswith("ValueError: Expected parameter loc")
    with pytest.raises(RuntimeError, match="mat1 and mat2") as caught:
        find_nan(nn.Linear(7, 2), X)
    assert "until then" in caught.value.__notes__[0]


def test_compiled_models_run_uncompiled():
    model = torch.compile(Net(FORWARD["zero by zero"][0]), backend="eager")
    assert find_nan(model, X).operator == "aten::div"


@pytest.mark.parametrize(
    ("model", "message"),
    [(None, "None"), (3, "a int"), (nn.Linear, "the class Linear itself"), ("net", "a str")],
)
def test_bad_input_gets_a_sentence(model, message):
    with pytest.raises(TypeError, match=message):
        find_nan(model, X)
    with pytest.raises(TypeError, match="loss_fn"):
        find_nan(nn.Linear(3, 2), X, loss_fn=3)


class Changing(nn.Module):
    """Writes to all that it can reach."""

    def __init__(self, function):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Dropout(), nn.ReLU(inplace=True))
        self.embedding = nn.Embedding(5, 4, max_norm=0.1)
        self.register_buffer("count", torch.zeros(()))
        self.generator = torch.Generator().manual_seed(3)
        self.seen, self.calls, self.function = [], 0, function

    def forward(self, x):
        x += 1
        self.count += 1
        self.calls += 1
        self.seen.append(x)
        self.last = self.body(x)
        noise = torch.rand(4, generator=self.generator) + random.random() + numpy.random.rand()
        self.train()
        return self.function(self.last + self.embedding(torch.tensor([1, 2])) + noise)


def fingerprint(model, *tensors):
    """Every value, flag, version and random state, as one hash."""
    state = [
        *model.state_dict().values(),
        *tensors,
        *(p.grad for p in model.parameters()),
        torch.get_rng_state(),
    ]
    parts = [b"None" if t is None else t.detach().contiguous().numpy().tobytes() for t in state]
    parts += [str([m.training for m in model.modules()]), str([sorted(m.__dict__) for m in model.modules()])]
    parts += [
        str(random.getstate()),
        str(numpy.random.get_state()),
        str(model.generator.get_state().tolist()),
    ]
    parts += [str(model.calls), str(len(model.seen)), str([t._version for t in state if t is not None])]
    return hashlib.sha256(b"".join(p if isinstance(p, bytes) else p.encode() for p in parts)).hexdigest()


@pytest.mark.parametrize(
    "function", [lambda h: h, lambda h: h.sub(99).log(), lambda h: (h * 0).sqrt(), lambda h: h.nothing()]
)
def test_everything_is_as_it_was(function):
    model, x = Changing(function).eval(), X.clone()
    model.embedding.weight.grad = torch.ones(5, 4)
    stepped = []
    model.body[0].weight.register_post_accumulate_grad_hook(lambda p: stepped.append(p))
    before = fingerprint(model, x)
    grad = model.embedding.weight.grad
    try:
        find_nan(model, x)
    except AttributeError:
        assert function.__code__.co_names == ("nothing",)
    assert fingerprint(model, x) == before and not stepped
    assert model.embedding.weight.grad is grad and len(model.body[0].weight._post_accumulate_grad_hooks) == 1
    assert not torch.nn.modules.module._global_forward_hooks and not model.body[0]._forward_hooks


def test_nothing_is_kept():
    model = Net(BACKWARD["sqrt at 0"][0])
    gc.collect()
    before = sum(issubclass(type(one), torch.Tensor) for one in gc.get_objects())
    found = find_nan(model, X)
    gc.collect()
    assert sum(issubclass(type(one), torch.Tensor) for one in gc.get_objects()) == before and found


def test_a_graph_of_the_readers_is_not_run():
    weight = torch.ones(3, requires_grad=True)
    h = X * weight * weight
    assert find_nan(nn.Linear(3, 2), h) is None and weight.grad is None
    h.sum().backward()
    assert weight.grad is not None


def test_the_same_text_every_time():
    texts = {str(find_nan(Net(FORWARD["own layer norm"][0]), X)) for _ in range(3)}
    assert len(texts) == 1 and "0x" not in texts.pop()
