"""Silent faults: name -> (slug, what makes (model, batch, loss_fn, optimizer), slugs that really follow)."""

import copy
from types import SimpleNamespace

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from .sound import N, adam, classes, features, mlp, setup, three

CE = nn.CrossEntropyLoss()


def double_targets_stop_backward():
    """In 2.9 the backward of mse_loss refuses a float64 target; a newer one computes in float64."""
    output = torch.zeros(2, requires_grad=True)
    try:
        F.mse_loss(output, torch.ones(2, dtype=torch.float64)).backward()
    except RuntimeError:
        return True
    return False


class Net(nn.Module):
    """Two layers; `between` is done to what flows from one to the other, `after` to the output."""

    def __init__(self, between=F.relu, after=None, out=3, **attributes):
        super().__init__()
        self.one, self.two = nn.Linear(4, 16), nn.Linear(16, out)
        self.between, self.after = between, after
        for name, value in attributes.items():
            setattr(self, name, value)

    def forward(self, x):
        x = self.two(self.between(self.one(x)))
        return x if self.after is None else self.after(x)


def net(between=F.relu, after=None, loss_fn=CE, x=None, y=None, **attributes):
    x, y = features() if x is None else x, classes() if y is None else y
    return setup(Net(between, after, **attributes), (x, y), loss_fn)


def changed(change, make=net, **settings):
    """A set-up whose model is changed before the optimizer is made."""
    model, batch, loss_fn, _ = make(**settings)
    change(model)
    return setup(model, batch, loss_fn)


def no_grad_around(x):
    with torch.no_grad():
        return F.relu(x)


def with_item(x):
    if x.mean().item() > 100:
        x = x / 100
    return F.relu(x)


def with_bool(x):
    return F.relu(x) if x.abs().sum() > 0 else x


def with_print(x):
    print(x)
    return F.relu(x)


def with_numpy(x):
    return torch.from_numpy(np.maximum(x.detach().numpy(), 0))


def with_list(x):
    assert len(x[0].tolist()) == 16
    return F.relu(x)


def frozen_layer():
    model, batch, loss_fn, _ = net()
    model.one.requires_grad_(False)
    return setup(model, batch, loss_fn)


def added_late():
    model = Net()
    optimizer = adam(model)
    model.one = nn.Linear(4, 16)
    return setup(model, (features(), classes()), CE, optimizer)


def of_a_copy():
    model = Net()
    return setup(copy.deepcopy(model), (features(), classes()), CE, adam(model))


def head_only():
    model = Net()
    return setup(model, (features(), classes()), CE, adam(model.two))


class Layers(nn.Module):
    def __init__(self, hold):
        super().__init__()
        self.head = nn.Linear(8, 3)
        self.layers = hold([nn.Linear(4, 8), nn.Linear(8, 8)])

    def forward(self, x):
        for layer in self.layers.values() if isinstance(self.layers, dict) else self.layers:
            x = layer(x).relu()
        return self.head(x)


def layers(hold):
    return three(Layers(hold))


class Scaled(nn.Module):
    def __init__(self, scale):
        super().__init__()
        self.head, self.scale = nn.Linear(4, 3), scale

    def forward(self, x):
        return self.head(x * self.scale)


class Unused(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.extra, self.two = nn.Linear(4, 8), nn.Linear(8, 8), nn.Linear(8, 3)

    def forward(self, x):
        h = F.relu(self.one(x))
        self.extra(h)
        return self.two(h)


def regression(model=None, y=None, loss_fn=None):
    model = mlp(out=1) if model is None else model
    return setup(model, (features(), torch.randn(N) if y is None else y), loss_fn or nn.MSELoss())


def in_eval():
    model = nn.Sequential(nn.Linear(4, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Dropout(0.5), nn.Linear(16, 3))
    return three(model.eval())


def one_in_eval(kind):
    made = in_eval()
    for module in made[0].train().modules():
        if isinstance(module, kind):
            module.eval()
    return made


class Switches(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 16), nn.Dropout(0.5), nn.Linear(16, 3))

    def forward(self, x):
        self.eval()
        return self.body(x)


class OwnNoise(nn.Module):
    def forward(self, x):
        return x + 0.1 * torch.randn_like(x) if self.training else x


def own_noise():
    model = nn.Sequential(nn.Linear(4, 16), OwnNoise(), nn.Linear(16, 3)).eval()
    return three(model)


def deep(act, depth=25):
    parts = [part for _ in range(depth) for part in (nn.Linear(16, 16), act())]
    model = nn.Sequential(nn.Linear(4, 16), act(), *parts, nn.Linear(16, 3))
    return three(model)


def large(std, depth=3):
    model = deep(nn.ReLU, depth)[0]
    for p in model.parameters():
        nn.init.normal_(p, 0, std)
    return three(model)


def dead(model):
    nn.init.constant_(model.one.bias, -100.0)


def nearly_dead(model):
    nn.init.constant_(model.one.bias[:15], -100.0)


def saturated(model):
    with torch.no_grad():
        model.one.weight.mul_(1000)


def constant(model):
    for p in model.parameters():
        nn.init.constant_(p, 0.1)


def zeros(model):
    for p in model.parameters():
        nn.init.zeros_(p)


def zero_weights(model):
    nn.init.zeros_(model.one.weight)
    nn.init.zeros_(model.two.weight)


def large_weights(model):
    with torch.no_grad():
        model.one.weight.mul_(100)


class Memory(nn.Module):
    """A state that carries its graph along."""

    def __init__(self):
        super().__init__()
        self.cell, self.head, self.state = nn.GRUCell(4, 8), nn.Linear(8, 3), None

    def forward(self, x):
        self.state = self.cell(x, self.state)
        return self.head(self.state)


class Sums(nn.Module):
    def __init__(self):
        super().__init__()
        self.head, self.total = nn.Linear(4, 3), 0.0

    def forward(self, x):
        out = self.head(x)
        self.total = self.total + out.mean()
        return out


def in_a_list():
    losses = []

    def loss_fn(out, target):
        losses.append(F.cross_entropy(out, target))
        return losses[-1]

    return net(loss_fn=loss_fn)


LOG = SimpleNamespace(losses=[])


def in_a_global(out, target):
    LOG.losses.append(F.cross_entropy(out, target))
    return LOG.losses[-1]


def activations(model):
    model.seen = []
    model.two.register_forward_hook(lambda module, args, out: model.seen.append(out))


class InPlace(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = mlp()

    def forward(self, x):
        x *= 2
        return self.body(x)


def relu_first():
    return three(nn.Sequential(nn.ReLU(inplace=True), mlp()))


def mean_of_all(x):
    return F.relu(x) / x.pow(2).mean()


def mixed_view(x):
    return F.relu(x).view(16, -1).t().reshape(N, 16)


class BatchSecond(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn, self.head = nn.LSTM(4, 8), nn.Linear(8, 3)

    def forward(self, x):
        return self.head(self.rnn(x)[0][:, -1])


class Attends(nn.Module):
    def forward(self, x):
        q = x[:, None, None]
        return F.scaled_dot_product_attention(q, q, q, dropout_p=0.1)[:, 0, 0]


def halves():
    model = Net()
    model.two.double()
    model.between = lambda x: F.relu(x).double()
    return three(model)


def widened(x):
    return F.relu(x) * torch.from_numpy(np.full(16, 0.5))


def twice():
    model = Net()
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        optimizer = torch.optim.SGD([*model.parameters(), *model.parameters()], 0.1)
    return setup(model, (features(), classes()), CE, optimizer)


def with_rate(**settings):
    model = Net()
    return setup(model, (features(), classes()), CE, adam(model, **settings))


def centers():
    class Centers(nn.Module):
        def __init__(self):
            super().__init__()
            self.centers = nn.Parameter(torch.randn(3, 3))

        def forward(self, out, target):
            return (out - self.centers[target]).square().mean()

    return net(loss_fn=Centers())


def conv_on_pixels():
    model = nn.Sequential(
        nn.Conv2d(3, 8, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 3)
    )
    return setup(model, (torch.randint(0, 256, (N, 3, 8, 8)).float(), classes()), CE)


def holed():
    x = features()
    x[3, 1] = torch.nan
    return net(x=x)


def root_of_zero():
    model = nn.Linear(4, 3, bias=False)

    def loss(out, target):
        return F.cross_entropy(out, target) + (out * 0).square().sum().sqrt()

    return setup(model, (features(), classes()), loss)


def frozen_after():
    model, batch, loss_fn, optimizer = net()
    loss_fn(model(batch[0]), batch[1]).backward()
    model.one.weight.requires_grad_(False)
    return model, batch, loss_fn, optimizer


def log_of_zero(out, target):
    return -(out.relu()[torch.arange(N), target].log()).mean()


class Derived(Net):
    """A number computed once, out of a parameter that nobody keeps."""

    def __init__(self):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(3)) * 0.5

    def forward(self, x):
        return super().forward(x) * self.gain


class Looks(nn.Module):
    """Attention that remembers its weights; an LSTM that remembers its state."""

    def __init__(self, layer):
        super().__init__()
        self.layer, self.out, self.seen = layer, nn.Linear(8, 3), []

    def forward(self, x):
        recurrent = isinstance(self.layer, nn.LSTM)
        result, kept = self.layer(x) if recurrent else self.layer(x, x, x)
        self.seen.append(kept[1] if recurrent else kept)
        return self.out(result[:, -1])


def looks(layer):
    return setup(Looks(layer), (torch.randn(N, 5, 8), classes()), CE)


def in_two_optimizers():
    model, batch, loss_fn, first = net()
    return model, batch, loss_fn, [first, torch.optim.SGD(model.two.parameters(), 0.01)]


def ran_out():
    model, batch, loss_fn, optimizer = net()
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 3)
    for _ in range(3):
        optimizer.step()
        schedule.step()
    return model, batch, loss_fn, optimizer


def prices(make):
    model = mlp(out=1)
    return setup(model, (features(), 1e5 + 4e5 * torch.rand(N, 1)), nn.MSELoss(), make(model.parameters()))


class Tokens(nn.Module):
    """A class token and positions that start at zero, and something between that lets no gradient through."""

    def __init__(self, between):
        super().__init__()
        self.token, self.one, self.two = nn.Parameter(torch.zeros(16)), nn.Linear(4, 16), nn.Linear(16, 3)
        self.between = between

    def forward(self, x):
        return self.two(F.relu(self.between(self.one(x)) + self.token))


def coarse():
    model, (x, y), loss_fn, _ = net(loss_fn=lambda o, t: F.cross_entropy(o.float(), t))
    model.bfloat16()
    return model, (x.bfloat16(), y), loss_fn, torch.optim.SGD(model.parameters(), 1e-4)


SAMPLES = torch.randn(N, 4)


class Global(Net):
    """Its argument has another name than what it reads."""

    def forward(self, inputs):
        return super().forward(SAMPLES)


F1 = {"optimizer-misses-parameter", "optimizer-foreign-parameter"}
FLAT = {"output-ignores-input", "dead-units", "zero-gradient", "vanishing-gradient"}

FAULTY = {
    # frozen, cut off, never used
    "a frozen layer in the optimizer": ("parameter-frozen", frozen_layer, ()),
    "everything frozen": ("parameter-frozen", lambda: changed(lambda m: m.requires_grad_(False)), ()),
    "frozen after a step": ("frozen-but-stepped", frozen_after, ()),
    "a layer whose result is not used": ("gradient-missing", lambda: three(Unused()), ()),
    "a layer that forward never calls": ("gradient-missing", lambda: net(spare=nn.Linear(2, 2)), ()),
    "detach in the middle": ("gradient-missing", lambda: net(lambda x: F.relu(x).detach()), ()),
    "data in the middle": ("gradient-missing", lambda: net(lambda x: F.relu(x.data)), ()),
    "no_grad in the middle": ("gradient-missing", lambda: net(no_grad_around), ()),
    "NumPy in the middle": (
        "gradient-missing", lambda: net(with_numpy), {"wait-per-step"}),
    "a new tensor in the middle": (
        "gradient-missing", lambda: net(lambda x: torch.tensor(x.tolist()).relu()), {"wait-per-step"}),
    "a detached output": ("loss-without-gradient", lambda: net(after=lambda x: x.detach()), ()),
    "the class instead of the scores": (
        "loss-without-gradient", lambda: net(loss_fn=lambda o, t: (o.argmax(1) != t).float().mean()), ()),
    # not registered
    "layers in a list": ("module-in-container", lambda: layers(list), ()),
    "layers in a tuple": ("module-in-container", lambda: layers(tuple), ()),
    "layers in a dict": ("module-in-container", lambda: layers(lambda all_: dict(enumerate(all_))), ()),
    "a plain tensor that is learned": (
        "tensor-not-registered", lambda: three(Scaled(torch.ones(4, requires_grad=True))), ()),
    "a plain tensor": ("tensor-not-registered", lambda: three(Scaled(torch.ones(4))), ()),
    "parameters in a list": ("parameter-in-container", lambda: net(gains=[nn.Parameter(torch.ones(4))]), ()),
    # optimizer
    "a layer replaced after the optimizer was made": ("optimizer-misses-parameter", added_late, F1),
    "an optimizer of a copy": ("optimizer-misses-parameter", of_a_copy, F1),
    "an optimizer of the head": ("optimizer-misses-parameter", head_only, ()),
    "a loss whose weights nobody trains": ("optimizer-misses-parameter", centers, ()),
    "a rate of zero": ("learning-rate-zero", lambda: with_rate(lr=0.0), ()),
    "a rate of ten": ("learning-rate-too-high", lambda: with_rate(lr=10.0), ()),
    "decay that eats the weights": ("weight-decay-too-high", lambda: with_rate(lr=0.1, weight_decay=10.0), ()),
    "maximize": ("optimizer-maximizes", lambda: with_rate(maximize=True), ()),
    "every parameter twice": ("optimizer-holds-twice", twice, ()),
    # losses
    "Softmax before cross entropy": ("softmax-twice", lambda: net(after=nn.Softmax(1)), ()),
    "softmax before cross entropy": ("softmax-twice", lambda: net(after=lambda x: torch.softmax(x, -1)), ()),
    "softmax by hand before cross entropy": (
        "softmax-twice", lambda: net(after=lambda x: x.exp() / x.exp().sum(1, keepdim=True)), ()),
    "softmax in the loss": ("softmax-twice", lambda: net(loss_fn=lambda o, t: F.cross_entropy(o.softmax(1), t)), ()),
    "softmax before a cross entropy by hand": (
        "softmax-twice",
        lambda: net(
            after=nn.Softmax(1), loss_fn=lambda o, t: -torch.log_softmax(o, 1).gather(1, t[:, None]).mean()), ()),
    "softmax before a cross entropy in two steps": (
        "softmax-twice",
        lambda: net(after=nn.Softmax(1), loss_fn=lambda o, t: F.nll_loss(F.log_softmax(o, dim=1), t)), ()),
    "log_softmax before cross entropy": ("softmax-twice", lambda: net(after=nn.LogSoftmax(1)), ()),
    "sigmoid before BCE with logits": (
        "sigmoid-twice",
        lambda: net(after=torch.sigmoid, loss_fn=nn.BCEWithLogitsLoss(), y=torch.randint(0, 2, (N, 3)).float()), ()),
    "sigmoid before cross entropy": ("activation-before-loss", lambda: net(after=torch.sigmoid), ()),
    "ReLU before cross entropy": ("activation-before-loss", lambda: net(after=F.relu), ()),
    "ReLU before targets below zero": (
        "activation-before-loss", lambda: regression(nn.Sequential(mlp(out=1), nn.ReLU()), torch.randn(N, 1)), ()),
    "sigmoid before targets of 0 to 10": (
        "activation-before-loss",
        lambda: regression(nn.Sequential(mlp(out=1), nn.Sigmoid()), torch.rand(N, 1) * 10), ()),
    "NLL of raw scores": ("log-missing", lambda: net(loss_fn=nn.NLLLoss()), ()),
    "NLL of probabilities": ("log-missing", lambda: net(after=nn.Softmax(1), loss_fn=nn.NLLLoss()), ()),
    "KL of probabilities": (
        "log-missing", lambda: net(after=nn.Softmax(1), loss_fn=nn.KLDivLoss(reduction="batchmean"),
                                   y=torch.rand(N, 3).softmax(1)), ()),
    "softmax over one score": (
        "softmax-of-one", lambda: net(out=1, y=torch.zeros(N, dtype=torch.long)), ()),
    "[N, 1] against [N] in MSE": ("target-broadcast", regression, ()),
    "[N] against [N, 1] in MSE": (
        "target-broadcast", lambda: regression(nn.Sequential(mlp(out=1), nn.Flatten(0)), torch.randn(N, 1)), ()),
    "[N, 1] against [N] in L1": ("target-broadcast", lambda: regression(loss_fn=nn.L1Loss()), ()),
    "[N, 1] against [N] in smooth L1": ("target-broadcast", lambda: regression(loss_fn=nn.SmoothL1Loss()), ()),
    "[N, 1] against [N] in Huber": ("target-broadcast", lambda: regression(loss_fn=nn.HuberLoss()), ()),
    "[N, 1] against [N] by hand": (
        "target-broadcast", lambda: regression(loss_fn=lambda o, t: ((o - t) ** 2).mean()), ()),
    "[N, 1] against [N] by hand, turned round": (
        "target-broadcast", lambda: regression(loss_fn=lambda o, t: (t - o).abs().mean()), ()),
    "labels -1 and 1 in BCE": (
        "target-out-of-range",
        lambda: net(loss_fn=nn.BCEWithLogitsLoss(), y=torch.randint(0, 2, (N, 3)) * 2.0 - 1), ()),
    "several labels in cross entropy": ("target-out-of-range", lambda: net(y=torch.ones(N, 3)), ()),
    "labels 0 and 1 in a margin loss": (
        "target-out-of-range",
        lambda: regression(y=classes(count=2).float()[:, None], loss_fn=nn.SoftMarginLoss()), ()),
    "all of one class": ("targets-all-same", lambda: net(x=features(64), y=torch.ones(64, dtype=torch.long)), ()),
    # dtypes
    "a double one-hot target": ("dtype-promoted", lambda: net(y=F.one_hot(classes(), 3).double()), ()),
    "a double target": (
        "dtype-promoted",
        lambda: regression(y=torch.randn(N, 1).double()),
        ("step-raises",) if double_targets_stop_backward() else ()),
    "a double target by hand": (
        "dtype-promoted",
        lambda: regression(y=torch.randn(N, 1).double(), loss_fn=lambda o, t: ((o - t) ** 2).mean()), ()),
    "a NumPy factor in forward": ("dtype-promoted", lambda: net(after=lambda x: x * torch.from_numpy(np.ones(3))), ()),
    "one layer in float64": ("dtypes-mixed", halves, ()),
    "float16 parameters": ("half-parameters", lambda: (lambda s: (s[0].half(), (s[1][0].half(), s[1][1]), s[2], s[3]))(
        net(loss_fn=lambda o, t: F.cross_entropy(o.float(), t))), ()),
    # modes
    "all in eval mode": ("eval-mode-in-training", in_eval, ()),
    "dropout in eval mode": ("eval-mode-in-training", lambda: one_in_eval(nn.Dropout), ()),
    "batch norm in eval mode": ("eval-mode-in-training", lambda: one_in_eval(nn.BatchNorm1d), ()),
    "eval() in forward": ("eval-mode-in-training", lambda: three(Switches()), ()),
    "noise of one's own in eval mode": ("eval-mode-in-training", own_noise, ()),
    "dropout that is always on": ("dropout-in-eval", lambda: net(lambda x: F.dropout(x, 0.5)), ()),
    "dropout that is always on in attention": ("dropout-in-eval", lambda: net(Attends()), {"gradient-missing"}),
    "dropout of everything": ("dropout-everything", lambda: net(nn.Dropout(1.0)), ()),
    "batch norm of one image": (
        "batch-norm-of-one",
        lambda: setup(nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.Flatten(), nn.Linear(144, 3)),
                      (torch.randn(1, 1, 8, 8), torch.tensor([1])), CE), ()),
    # gradients
    "dead ReLUs": ("zero-gradient", lambda: changed(dead), FLAT),
    "nearly all ReLUs dead": ("dead-units", lambda: changed(nearly_dead), ()),
    "a factor zero": ("zero-gradient", lambda: net(lambda x: F.relu(x) * 0 + 1), FLAT),
    "round in the middle": ("zero-gradient", lambda: net(lambda x: x.round()), FLAT),
    "sign in the middle": ("zero-gradient", lambda: net(torch.sign), FLAT),
    "a saturated sigmoid": ("saturated", lambda: changed(saturated, between=torch.sigmoid), FLAT),
    "a saturated tanh": ("saturated", lambda: changed(saturated, between=torch.tanh), FLAT),
    "a loss times zero": ("zero-gradient", lambda: net(loss_fn=lambda o, t: CE(o, t) * 0), FLAT),
    "all zeros": ("zero-gradient", lambda: changed(zeros), FLAT | {"weights-all-same"}),
    "weights of zero": ("weights-all-same", lambda: changed(zero_weights), FLAT),
    "large weights before a tanh": ("saturated", lambda: changed(large_weights, between=torch.tanh), FLAT),
    "all the same": ("weights-all-same", lambda: changed(constant), {"output-ignores-input"}),
    "25 sigmoids": ("vanishing-gradient", lambda: deep(nn.Sigmoid), {"output-ignores-input"}),
    "weights of 20": ("exploding-gradient", lambda: large(20), {"dead-units"}),
    "a loss times a million": ("exploding-gradient", lambda: net(loss_fn=lambda o, t: CE(o, t) * 1e6), ()),
    "a root of zero": ("not-finite", root_of_zero, ()),
    "a logarithm of zero": ("not-finite", lambda: net(loss_fn=log_of_zero), {"activation-before-loss"}),
    # from step to step
    "a list of losses": ("graph-kept", in_a_list, ()),
    "a global list of losses": ("graph-kept", lambda: net(loss_fn=in_a_global), ()),
    "a state with its graph": ("graph-kept", lambda: three(Memory()), ()),
    "a running sum": ("graph-kept", lambda: three(Sums()), ()),
    "activations in a list": ("graph-kept", lambda: changed(activations), ()),
    # waits
    ".item() in forward": ("wait-per-step", lambda: net(with_item), ()),
    "a branch in forward": ("wait-per-step", lambda: net(with_bool), ()),
    "print in forward": ("wait-per-step", lambda: net(with_print), ()),
    ".tolist() in forward": ("wait-per-step", lambda: net(with_list), ()),
    "nonzero in forward": ("wait-per-step", lambda: net(lambda x: F.relu(x) * (x.nonzero().shape[0] > 0)), ()),
    "float() in the loss": ("wait-per-step", lambda: net(loss_fn=lambda o, t: CE(o, t) * (1 + 0 * float(o.sum()))), ()),
    # input
    "pixels of 0 to 255": ("input-range", conv_on_pixels, ()),
    "inputs of thousands": ("input-range", lambda: net(x=features() * 3000), ()),
    "inputs near zero": ("input-range", lambda: net(x=features() * 1e-7), {"vanishing-gradient"}),
    "NaN in the input": ("not-finite", holed, ()),
    "the batch is changed": ("batch-changed-in-place", lambda: three(InPlace()), ()),
    "ReLU writes to the batch": ("batch-changed-in-place", relu_first, ()),
    # samples
    "a mean over the batch": ("samples-mixed", lambda: net(mean_of_all), ()),
    "a view that mixes": ("samples-mixed", lambda: net(mixed_view), ()),
    "softmax over the batch": ("samples-mixed", lambda: net(lambda x: x.softmax(0)), ()),
    "an LSTM over the batch": (
        "samples-mixed", lambda: setup(BatchSecond(), (torch.randn(N, 6, 4), classes()), CE), ()),
    "the input is not used": (
        "output-ignores-input", lambda: net(torch.ones_like), {"gradient-missing"}),
    # kinds that a set of others' set-ups showed
    "a parameter times a constant": ("graph-kept", lambda: three(Derived()), {"parameter-replaced"}),
    "a layer made in forward": (
        "tensor-not-registered", lambda: net(after=lambda x: nn.LayerNorm(3)(x)), ()),
    "attention weights in a list": ("graph-kept", lambda: looks(nn.MultiheadAttention(8, 2, batch_first=True)), ()),
    "an LSTM's state in a list": ("graph-kept", lambda: looks(nn.LSTM(8, 8, batch_first=True)), ()),
    "a parameter in two optimizers": ("optimizer-holds-twice", in_two_optimizers, ()),
    "a schedule that ran out": ("learning-rate-zero", ran_out, ()),
    "a loss that begins a new graph": (
        "loss-without-gradient",
        lambda: net(loss_fn=lambda o, t: torch.tensor(float(CE(o, t)), requires_grad=True)), {"wait-per-step"}),
    "softmax over one score in MSE": (
        "softmax-of-one", lambda: net(out=1, after=nn.Softmax(1), loss_fn=nn.MSELoss(), y=torch.rand(N, 1)), ()),
    "softmax over one score in BCE": (
        "softmax-of-one", lambda: net(out=1, after=nn.Softmax(1), loss_fn=nn.BCELoss(), y=torch.rand(N, 1)), ()),
    "prices, with Adam": ("input-range", lambda: prices(torch.optim.Adam), ()),
    "prices, with SGD": (
        "learning-rate-too-high", lambda: prices(lambda p: torch.optim.SGD(p, 0.01)), {"input-range"}),
    "pixels scaled twice": ("input-range", lambda: net(x=torch.rand(N, 4) / 255), ()),
    "zeros in front of the first layer": (
        "output-ignores-input", lambda: three(nn.Sequential(nn.Threshold(1e9, 0.0), mlp())), ()),
    "a global in forward": ("output-ignores-input", lambda: three(Global()), ()),
    "zero tokens beside a floor": ("zero-gradient", lambda: three(Tokens(lambda x: torch.floor(4 * x))), ()),
    "updates that bfloat16 can't show": ("half-parameters", coarse, ()),
    "a clamp that is always 0": ("dead-units", lambda: net(lambda x: (x - 100).clamp(min=0)), FLAT),
}  # fmt: skip
