"""Training steps that leave something behind, and sound ones. Each maker returns a function without arguments."""

import collections
import functools
import sys

import numpy
import torch
from torch import nn
from torch.nn import functional as F

GLOBAL: list[torch.Tensor] = []
total: torch.Tensor | float = 0.0


def training(optimizer=torch.optim.Adam):
    net = nn.Sequential(nn.Linear(20, 20), nn.ReLU(), nn.Linear(20, 1))
    chosen = optimizer(net.parameters(), lr=1e-3)

    def step():
        loss = net(torch.randn(8, 20)).pow(2).mean()
        chosen.zero_grad()
        loss.backward()
        chosen.step()
        return loss

    step.net = net
    return step


def losses_in_a_list():
    train, losses = training(), []
    return lambda: losses.append(train())


def losses_without_backward():
    train, losses = training(), []
    return lambda: losses.append(train.net(torch.randn(8, 20)).mean())


def running_total():
    train = training()

    def step():
        global total
        total = total + train()

    return step


def hidden_state():
    net, state = nn.Linear(20, 20), {"h": torch.zeros(8, 20)}

    def step():
        state["h"] = torch.tanh(net(state["h"]))

    return step


class Trainer:
    def __init__(self):
        self.train, self.history = training(), []

    def step(self):
        self.history.append(torch.randn(100))


def attribute():
    return Trainer().step


def module_global():
    return lambda: GLOBAL.append(torch.randn(10))


def default_argument():
    def step(seen=[]):  # noqa: B006  the fault under test
        seen.append(torch.randn(10))

    return step


class Remembering(nn.Module):
    everything: list[torch.Tensor] = []  # noqa: RUF012  the fault under test

    def forward(self, x):
        Remembering.everything.append(x * 2)
        return x


def class_attribute():
    net = Remembering()
    return lambda: net(torch.ones(9))


def forward_hook():
    train, outputs = training(), []
    train.net[0].register_forward_hook(lambda module, inputs, output: outputs.append(output))
    return train


def kept_exceptions():
    errors = []

    def fail():
        activations = torch.randn(500)
        raise ValueError(activations.shape)

    def step():
        try:
            fail()
        except ValueError as error:
            errors.append(error)

    return step


def last_exception():
    def fail():
        activations = torch.randn(500)
        raise ValueError(activations.shape)

    def step():
        try:
            fail()
        except ValueError as error:
            sys.last_exc = sys.last_value = error

    return step


def by_key():
    cache = {}

    def step():
        cache[f"step {len(cache)}"] = torch.randn(50)

    return step


def from_numpy():
    batches = []
    return lambda: batches.append(torch.from_numpy(numpy.ones(5)))


def unbounded_cache():
    @functools.cache
    def positions(n):
        return torch.arange(n)

    calls = iter(range(100, 1000))
    return lambda: positions(next(calls))


def in_a_generator():
    def loop():
        seen = []
        while True:
            seen.append(torch.randn(7))
            yield

    running = loop()
    return lambda: next(running)


def kept_graph():
    net, kept = nn.Linear(20, 20), []

    def step():
        loss = net(torch.randn(8, 20)).pow(2).sum()
        loss.backward(retain_graph=True)
        kept.append({"loss": loss})

    return step


def tuples():
    pairs = collections.deque()
    return lambda: pairs.append((1, torch.randn(3)))


# name -> (maker, kind, what .where says)
LEAKY = {
    "losses in a list": (losses_in_a_list, "graph-kept", "`losses[…]`, closure variable of `<lambda>`"),
    "losses without backward": (losses_without_backward, "graph-kept", "`losses[…]`"),
    "running total": (running_total, "graph-kept", "the graph behind `total`"),
    "hidden state": (hidden_state, "graph-kept", "`state['h']`, closure variable of `step`"),
    "attribute": (attribute, "tensors-in-history", "`Trainer.history[…]`, attribute `history`"),
    "module global": (module_global, "tensors-in-history", "`GLOBAL[…]`, in module `tests.debugging."),
    "default argument": (
        default_argument,
        "tensors-in-history",
        "`seen[…]`, default argument of the function `step`",
    ),
    "class attribute": (class_attribute, "tensors-in-history", "`Remembering.everything[…]`"),
    "forward hook": (forward_hook, "graph-kept", "`outputs[…]`"),
    "kept exceptions": (kept_exceptions, "tensors-in-traceback", "`activations`, variable of `fail`"),
    "last exception": (last_exception, "tensors-in-traceback", "`activations`, variable of `fail`"),
    "dict by key": (by_key, "tensors-in-history", "`cache[…]`, closure variable of `step`"),
    "from NumPy": (from_numpy, "tensors-in-history", "`batches[…]`"),
    "unbounded cache": (unbounded_cache, "tensors-in-history", "cache"),
    "in a generator": (in_a_generator, "tensors-in-history", "`seen[…]`"),
    "kept graph": (kept_graph, "graph-kept", "`kept[…]['loss']`"),
    "tuples in a deque": (tuples, "tensors-in-history", "`pairs[…][…]`"),
}


# --- sound ones ----------------------------------------------------------------------------------------


def numbers():
    train, losses = training(), []
    return lambda: losses.append(train().item())


def detached_total():
    train, state = training(), {"total": torch.zeros(())}

    def step():
        state["total"] += train().detach()

    return step


def last_output():
    train, state = training(), {}
    return lambda: state.update(last=train())


def bounded():
    recent = collections.deque(maxlen=4)
    return lambda: recent.append(torch.randn(20))


def moving_average():
    train = training(torch.optim.SGD)
    average = torch.optim.swa_utils.AveragedModel(train.net)

    def step():
        train()
        average.update_parameters(train.net)

    return step


def accumulation():
    net, calls = nn.Linear(20, 1), iter(range(1000))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)

    def step():
        net(torch.randn(4, 20)).sum().backward()
        if next(calls) % 2:
            optimizer.step()
            optimizer.zero_grad()

    return step


def scheduled():
    train = training(torch.optim.AdamW)
    optimizer = torch.optim.SGD(train.net.parameters(), lr=1.0)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 10)

    def step():
        train()
        optimizer.step()
        scheduler.step()

    return step


def filled_once():
    cache = {}

    def step():
        if not cache:
            cache["mask"] = torch.ones(50, 50).tril()
        return cache["mask"].sum()

    return step


def swallowed_exception():
    def step():
        try:
            raise ValueError(torch.randn(10).shape)
        except ValueError:
            pass

    return step


def cycle():
    """A reference cycle goes with the next collection."""

    def step():
        one = {"tensor": torch.randn(100)}
        one["self"] = one

    return step


def loader():
    data = torch.utils.data.TensorDataset(torch.randn(64, 20), torch.randn(64, 1))
    batches, net = torch.utils.data.DataLoader(data, batch_size=16, shuffle=True), nn.Linear(20, 1)

    def step():
        for x, y in batches:
            F.mse_loss(net(x), y).backward()

    return step


def best_weights():
    train, best = training(), {}

    def step():
        train()
        best["state"] = {name: value.clone() for name, value in train.net.state_dict().items()}

    return step


def truncated():
    net, state = nn.GRUCell(20, 20), {"h": torch.zeros(4, 20)}

    def step():
        h = net(torch.randn(4, 20), state["h"])
        h.sum().backward()
        state["h"] = h.detach()

    return step


def scaled():
    train, scaler = training(), torch.amp.GradScaler("cpu")
    optimizer = torch.optim.SGD(train.net.parameters(), lr=0.1)

    def step():
        optimizer.zero_grad()
        scaler.scale(train.net(torch.randn(8, 20)).sum()).backward()
        scaler.step(optimizer)
        scaler.update()

    return step


SOUND = {
    "training": training,
    "SGD": lambda: training(torch.optim.SGD),
    "numbers": numbers,
    "detached total": detached_total,
    "last output": last_output,
    "bounded history": bounded,
    "moving average": moving_average,
    "accumulation": accumulation,
    "scheduled": scheduled,
    "filled once": filled_once,
    "swallowed exception": swallowed_exception,
    "cycle": cycle,
    "data loader": loader,
    "best weights": best_weights,
    "truncated": truncated,
    "scaled": scaled,
    "nothing": lambda: lambda: None,
}
