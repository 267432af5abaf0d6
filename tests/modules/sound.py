"""Forty modules that miss nothing: name -> what makes the module, or the pair (module, optimizer)."""

import copy
import logging
import warnings
import weakref
from functools import cached_property, partial
from types import SimpleNamespace
from typing import ClassVar

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.utils import parametrizations, parametrize, prune

from .faulty import Net, T, stepped, with_sgd


class Caches(nn.Module):
    """Everything here is made by forward, and made again by the next one."""

    def __init__(self):
        super().__init__()
        self.head = nn.Linear(2, 2)
        self.last = None
        self.mask: torch.Tensor | None = None
        self.aux_loss = 0.0
        self.history = []
        self.by_size = {}

    def forward(self, x):
        self.last = self.head(x)
        self.aux_loss = self.last.square().mean()
        self.history.append(self.last.detach())
        self.by_size[x.shape[0]] = self.last.detach()
        self._remember(x)
        return self.last

    def _remember(self, x):
        if self.mask is None or self.mask.shape != x.shape:
            self.mask = torch.ones_like(x)


class Watches(nn.Module):
    """What hooks keep, whether a method, a lambda or an inner function is one."""

    def __init__(self):
        super().__init__()
        self.head = nn.Linear(2, 2)
        self.outputs, self.gradient, self.last = [], None, None
        self.head.register_forward_hook(self._keep)
        self.head.register_full_backward_hook(self._keep_gradient)
        self.head.register_forward_pre_hook(lambda module, args: setattr(self, "last", args[0].detach()))

    def _keep(self, module, args, out):
        self.outputs.append(out.detach())

    def _keep_gradient(self, module, gradients, outputs):
        self.gradient = outputs[0]

    def forward(self, x):
        out = self.head(x)
        out.register_hook(lambda gradient: setattr(self, "seen", gradient))
        return out


class Steps(nn.Module):
    """Runs that are not called forward, a cache under a local name, and a child that its parent writes into."""

    def __init__(self):
        super().__init__()
        self.head = nn.Linear(2, 2)
        self.outputs, self.by_size = [], {}

    def forward(self, x):
        cache = self.by_size
        if len(x) not in cache:
            cache[len(x)] = T(2)
        self.head.last = x.detach()
        return self.head(x) * cache[len(x)]

    def training_step(self, batch):
        self.outputs.append(self(batch).detach())

    def encode(self, x):
        self.code = self.head(x).detach()


def watching():
    net = Watches()
    net(T(1, 2).requires_grad_()).sum().backward()
    net.zero_grad()
    return net


def stepping():
    net = used(Steps())
    net.training_step(T(3, 2)), net.encode(T(1, 2))
    return net


def grouped():
    net = Net(body=nn.Linear(2, 2))
    net.stages = [nn.Sequential(net.head, net.body)]
    return net


def used(net):
    net(T(1, 2))
    return net


class LazyMask(nn.Module):
    @cached_property
    def mask(self):
        return T(2)

    def forward(self, x):
        return x * self.mask


class MaskProperty(nn.Module):
    def __init__(self):
        super().__init__()
        self._mask = None

    @property
    def mask(self):
        if self._mask is None:
            self._mask = T(2)
        return self._mask

    def forward(self, x):
        return x * self.mask


class Explodes(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(2, 2)

    @property
    def weights(self):
        raise RuntimeError("nobody may ask me")

    def __getattr__(self, name):
        if name == "trap":
            raise RuntimeError("nobody may ask me")
        return super().__getattr__(name)


class FrozenNorm(nn.BatchNorm1d):
    def train(self, mode=True):
        return super().train(False)


class OwnTo(nn.Linear):
    def to(self, *args, **kwargs):
        moved = super().to(*args, **kwargs)
        moved.moves = getattr(self, "moves", 0) + 1
        return moved


class OwnApply(nn.Linear):
    def _apply(self, fn, recurse=True):
        super()._apply(fn, recurse)
        self.extra = fn(T(2)).shape
        return self


class Symmetric(nn.Module):
    def forward(self, x):
        return x.triu() + x.triu(1).mT


class Vae(nn.Module):
    """The dummy parameter by which people ask for the device."""

    def __init__(self):
        super().__init__()
        self.head = nn.Linear(2, 2)
        self.dummy = nn.Parameter(torch.empty(0))

    def forward(self, x):
        return self.head(x.to(self.dummy.device))


def back_reference():
    net = Net()
    net.head.__dict__["parent"] = net
    net.head.parents = [net]
    net.me = weakref.ref(net)
    return net


def seen_from_below():
    return back_reference().head


def listed_twice():
    net = Net(body=nn.Linear(2, 2))
    net.layers = [net.body, net.head]
    net.by_name = {"head": net.head, "weight": net.head.weight}
    net.act = lambda x: net.head(x)
    net.run = net.forward
    return net


def tied():
    net = nn.Sequential(nn.Linear(3, 3, bias=False), nn.Linear(3, 3, bias=False))
    net[1].weight = net[0].weight
    return with_sgd(net)


def half_frozen():
    net = Net(body=nn.Linear(2, 2))
    net.body.requires_grad_(False)
    return with_sgd(net, [p for p in net.parameters() if p.requires_grad])


def hooked():
    net, seen = Net(), []
    net.head.register_forward_hook(lambda module, args, out: seen.append(out))
    net.head.register_forward_hook(keep_output)
    net.head.register_full_backward_hook(lambda *args: None)
    return used(net)


def keep_output(module, args, out):
    module.activation = out


def trainer():
    net = Net()
    net.optimizer = torch.optim.Adam(net.parameters())
    net(T(1, 2)).sum().backward()
    net.optimizer.step()
    net.data = torch.utils.data.TensorDataset(T(3, 2))
    net.trainer = type("Trainer", (), {})()
    net.trainer.model = nn.DataParallel(net)
    return net


def two_optimizers():
    net = Net(body=nn.Linear(2, 2))
    return net, [torch.optim.SGD(net.head.parameters(), 0.1), torch.optim.Adam(net.body.parameters())]


def around():
    seen = []

    class Notes(nn.Module):
        names = ("a", "b")
        table: ClassVar[dict[str, int]] = {"a": 1}

        def __init__(self):
            super().__init__()
            self.head = nn.Linear(2, 2)

        def forward(self, x):
            seen.append(self.head(x).detach())
            return seen[-1]

    return used(Notes())


def logger():
    """From many objects a way leads to all that a notebook holds: that is not the model's."""
    found = logging.getLogger("torchcourse.tests")
    found.shell = {"user_ns": {"other": nn.Linear(2, 2)}}
    far = SimpleNamespace(a=SimpleNamespace(b=SimpleNamespace(c={"other": nn.Linear(2, 2)})))
    return Net(logger=found, helper=far)


def hugely_listed():
    return Net(numbers=list(range(1_000_000)), table={i: str(i) for i in range(100_000)})


def old_weight_norm():
    return quietly(lambda: nn.utils.weight_norm(nn.Linear(2, 2)))


def quietly(make):
    """What PyTorch calls deprecated is still met in the wild."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return make()


def lazy():
    net = nn.Sequential(nn.LazyLinear(3), nn.LazyBatchNorm1d())
    return net, torch.optim.SGD(net.parameters(), 0.1)


def ema():
    net = Net()
    net.average = copy.deepcopy(net.head).requires_grad_(False)
    return stepped(net, lambda net: net(T(1, 2)).sum())


def scripted():
    return quietly(lambda: torch.jit.script(nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))))


def traced():
    return quietly(lambda: torch.jit.trace(nn.Linear(2, 2), T(1, 2)))


def pruned():
    return prune.l1_unstructured(nn.Linear(4, 4), "weight", amount=2)


def parametrized():
    net = nn.Linear(3, 3)
    parametrize.register_parametrization(net, "weight", Symmetric())
    return with_sgd(net)


def cleared():
    net, optimizer = with_sgd(Net(unused=nn.Linear(2, 2)))
    net(T(1, 2)).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
    return net, optimizer


def dtype_mix():
    net = nn.Sequential(nn.Linear(2, 2).half(), nn.Linear(2, 2).double())
    net.register_buffer("positions", torch.arange(4), persistent=False)
    return net


SOUND = {
    "one layer": lambda: nn.Linear(2, 2),
    "no parameter at all": lambda: nn.Sequential(nn.ReLU(), nn.Flatten()),
    "an empty Sequential": nn.Sequential,
    "no bias": lambda: nn.Linear(2, 2, bias=False),
    "numbers and words": lambda: Net(eps=1e-5, name="a", sizes=[1, 2, 3], hparams={"lr": 0.1}, none=None),
    "NumPy arrays": lambda: Net(table=np.ones(3), tables=[np.ones(3)]),
    "dtype, device, size": lambda: Net(dtype=torch.float16, place=torch.device("cpu"), size=torch.Size([2])),
    "a generator": lambda: Net(generator=torch.Generator()),
    "functions": lambda: Net(act=torch.relu, drop=partial(F.dropout, p=0.1), sign=lambda x: -x, lib=F),
    "a logger that leads to the notebook": logger,
    "a table of activations": lambda: Net(acts={"relu": nn.ReLU(), "tanh": nn.Tanh()}),
    "a class in a function that notes results": around,
    "a class": lambda: Net(layer_class=nn.Linear),
    "buffers": lambda: nn.BatchNorm1d(3),
    "a non-persistent mask": lambda: (lambda net: net.register_buffer("mask", T(3), False) or net)(Net()),
    "an nn.Buffer": lambda: Net(mask=nn.Buffer(T(3))),
    "class weights in the loss": lambda: Net(loss=nn.CrossEntropyLoss(weight=T(3))),
    "registered collections": lambda: Net(
        layers=nn.ModuleList([nn.Linear(2, 2)]), heads=nn.ModuleDict({"a": nn.Linear(2, 2)}),
        ws=nn.ParameterList([nn.Parameter(T(2))]), named=nn.ParameterDict({"a": nn.Parameter(T(2))})),
    "lists of registered things": listed_twice,
    "references back to the parent": back_reference,
    "a part that knows its parent": seen_from_below,
    "properties that raise": Explodes,
    "caches that forward fills": lambda: used(Caches()),
    "a cached property": lambda: used(LazyMask()),
    "a property that caches": lambda: used(MaskProperty()),
    "hooks": hooked,
    "hooks that keep tensors": watching,
    "steps that are not called forward": stepping,
    "a list of registered layers, grouped": grouped,
    "an RNN whose weight is computed": lambda: parametrizations.weight_norm(nn.LSTM(2, 2), "weight_hh_l0"),
    "an RNN with weight_norm of old": lambda: quietly(lambda: nn.utils.weight_norm(nn.LSTM(2, 2), "weight_hh_l0")),
    "an LSTM": lambda: nn.LSTM(2, 3, num_layers=2, bidirectional=True),
    "a transformer": lambda: nn.TransformerEncoderLayer(8, 2),
    "tied weights": tied,
    "a frozen body": half_frozen,
    "a constant Parameter": lambda: Net(positions=nn.Parameter(T(4), requires_grad=False)),
    "a marker parameter": lambda: stepped(Vae(), lambda net: net(T(1, 2)).sum()),
    "lazy layers": lazy,
    "lazy layers after their first forward": lambda: used(nn.Sequential(nn.LazyLinear(3), nn.LazyLinear(2))),
    "a parametrization": parametrized,
    "weight_norm": lambda: parametrizations.weight_norm(nn.Linear(2, 2)),
    "weight_norm of old": old_weight_norm,
    "spectral_norm": lambda: parametrizations.spectral_norm(nn.Linear(3, 3)),
    "pruning": pruned,
    "a ScriptModule": scripted,
    "a traced module": traced,
    "DataParallel": lambda: nn.DataParallel(nn.Linear(2, 2)),
    "a compiled module": lambda: torch.compile(nn.Linear(2, 2)),
    "an averaged model": lambda: torch.optim.swa_utils.AveragedModel(nn.Linear(2, 2)),
    "a slow copy, frozen": ema,
    "an optimizer and a trainer as attributes": trainer,
    "two optimizers": two_optimizers,
    "a list of a million numbers": hugely_listed,
    "cleared gradients": cleared,
    "mixed dtypes": dtype_mix,
    "a normalisation that stays in eval": lambda: nn.Sequential(FrozenNorm(2)),
    "a to() of its own that hands on": lambda: OwnTo(2, 2).to(torch.float64),
    "an _apply of its own that hands on": lambda: OwnApply(2, 2).double(),
    "on the meta device": lambda: Net().to("meta"),
}  # fmt: skip
