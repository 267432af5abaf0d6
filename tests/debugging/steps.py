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
def linked_list():
    class Node:
        __slots__ = ("next", "value")

        def __init__(self, value, after):
            self.value, self.next = value, after

    state = {"head": None}

    def step():
        state["head"] = Node(torch.zeros(12), state["head"])

    return step


def hooks_pile_up():
    net = nn.Linear(4, 4)

    def step():
        shift = torch.zeros(20)
        net.register_forward_hook(lambda *_: shift.sum())

    return step


def error_of_an_error():
    errors = []

    def fail():
        large = torch.randn(100)
        raise ValueError(large.shape)

    def step():
        try:
            try:
                fail()
            except ValueError as error:
                raise KeyError("in between") from error
        except KeyError as error:
            errors.append(error)

    return step


def optimizers_kept():
    net, kept = nn.Linear(10, 10), []

    def step():
        optimizer = torch.optim.Adam(net.parameters())
        net(torch.randn(2, 10)).sum().backward()
        optimizer.step()
        kept.append(optimizer)

    return step


def groups_pile_up():
    optimizer = torch.optim.SGD(nn.Linear(4, 4).parameters(), 0.1)
    return lambda: optimizer.add_param_group({"params": [nn.Parameter(torch.zeros(6))]})


def callbacks():
    calls = []

    def step():
        calls.append(functools.partial(print, torch.zeros(9)))

    return step


def gradients_with_graph():
    weight, kept = torch.ones(10, requires_grad=True), []
    return lambda: kept.extend(torch.autograd.grad((weight**3).sum(), weight, create_graph=True))


def slices_of_large():
    kept = []
    return lambda: kept.append(torch.randn(1000)[:1])


def failing_operators():
    """What PyTorch raises from inside of an operator."""
    errors, net = [], nn.Linear(50, 3)

    def step():
        scores = net(torch.randn(20, 50))
        try:
            nn.functional.cross_entropy(scores, torch.full((20,), 7))
        except IndexError as error:
            errors.append(error)

    return step


def queued_functions():
    late = []

    def step():
        output = torch.randn(9)
        late.append(lambda: output.mean())

    return step


def hooks_of_a_parameter():
    weight = torch.ones(4, requires_grad=True)

    def step():
        shift = torch.zeros(20)
        weight.register_hook(lambda grad: grad + shift.sum())

    return step


def numpy_arrays():
    arrays = []
    return lambda: arrays.append(torch.randn(30).numpy()[:10])


LEAKY = {
    "failing operators": (
        failing_operators,
        "tensors-in-traceback",
        "the exception is `errors[…]`, closure variable",
    ),
    "queued functions": (
        queued_functions,
        "tensors-held",
        "`output`, closure variable of `<lambda>`, which stands in `late[…]`",
    ),
    "hooks of a parameter": (hooks_of_a_parameter, "tensors-held", "`weight._backward_hooks[…]`"),
    "NumPy arrays": (numpy_arrays, "tensors-in-history", "`arrays[…]`, closure variable of `<lambda>`"),
    "linked list": (linked_list, "tensors-in-history", ".next.value`, closure variable of `step`"),
    "hooks pile up": (hooks_pile_up, "tensors-held", "`shift`, closure variable of `<lambda>`"),
    "error of an error": (error_of_an_error, "tensors-in-traceback", "`large`, variable of `fail`"),
    "optimizers kept": (optimizers_kept, "tensors-in-history", "`kept[…].state"),
    "groups pile up": (groups_pile_up, "tensors-in-history", "`optimizer.param_groups[…]['params'][…]`"),
    "callbacks": (callbacks, "tensors-in-history", "`calls[…]"),
    "gradients with graph": (gradients_with_graph, "graph-kept", "`kept[…]`"),
    "slices of large": (slices_of_large, "tensors-in-history", "`kept[…]`"),
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


def optimizer_made_anew():
    net = nn.Linear(10, 10)

    def step():
        optimizer = torch.optim.Adam(net.parameters())
        net.zero_grad()
        net(torch.randn(2, 10)).sum().backward()
        optimizer.step()

    return step


def half_read_loader():
    batches = torch.utils.data.DataLoader(list(torch.randn(64, 4)), batch_size=4)
    state = {"rest": iter(batches)}

    def step():
        state["batch"] = next(state["rest"], None)

    return step


def progress_bar():
    import io

    from tqdm import tqdm

    train, bar = training(), tqdm(total=99, file=io.StringIO())

    def step():
        bar.set_postfix(loss=train())
        bar.update()

    return step


def live_plot():
    from matplotlib.figure import Figure

    train, values = training(), []
    (line,) = Figure().subplots().plot([], [])

    def step():
        values.append(train().item())
        line.set_data(numpy.arange(len(values)), numpy.array(values))

    return step


def small_cache():
    count = iter(range(1000))
    remember = functools.lru_cache(maxsize=2)(lambda k: torch.randn(10))
    return lambda: remember(next(count))


def hook_removed():
    train = training()

    def step():
        seen = []
        handle = train.net.register_forward_hook(lambda *given: seen.append(given))
        train()
        handle.remove()

    return step


def second_order():
    net = nn.Linear(3, 1)
    optimizer = torch.optim.LBFGS(net.parameters(), max_iter=2, history_size=2)

    def closure():
        optimizer.zero_grad()
        loss = net(torch.ones(8, 3)).square().sum()
        loss.backward()
        return loss

    return lambda: optimizer.step(closure)


SOUND = {
    "optimizer made anew": optimizer_made_anew,
    "half-read loader": half_read_loader,
    "progress bar": progress_bar,
    "live plot": live_plot,
    "small cache": small_cache,
    "hook removed": hook_removed,
    "second order": second_order,
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
