"""Forty modules that miss something: name -> (the fault's slug, a part of its `.where`, what makes the module)."""

from collections import OrderedDict, UserDict, deque
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType, MethodType, SimpleNamespace
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

T = torch.ones


class Net(nn.Module):
    """A registered head, and whatever the case puts beside it."""

    def __init__(self, **attributes):
        super().__init__()
        self.head = nn.Linear(2, 2)
        for name, value in attributes.items():
            setattr(self, name, value)

    def forward(self, x):
        return self.head(x)


def with_sgd(net, parameters=None):
    return net, torch.optim.SGD(net.parameters() if parameters is None else parameters, 0.1)


def stepped(net, loss):
    loss(net).backward()
    return net


def closure():
    weight = T(2, 2, requires_grad=True)
    return Net(act=lambda x: x @ weight)


def layer_in_closure():
    layer = nn.Linear(2, 2)

    def act(x):
        return layer(x).relu()

    return Net(act=act)


def patched_forward():
    net, extra = Net(), nn.Linear(2, 2)
    first = net.head.forward
    net.head.forward = lambda x: first(x) + extra(x)
    return net


class Helper:
    def __init__(self):
        self.layer = nn.Linear(2, 2)

    def run(self, x):
        return self.layer(x)


@dataclass
class Record:
    value: Any


@dataclass(slots=True)
class Packed:
    value: Any


def layer_in_a_hook():
    net, extra = Net(), nn.Linear(2, 2)
    net.head.register_forward_hook(lambda module, args, out: extra(out))
    return net


class Fills(nn.Module):
    """The hidden state is made by __init__, and moves with nobody until the first forward."""

    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(2, 2)
        self.hidden = self.start()

    def start(self):
        return T(1, 1, 2)

    def forward(self, x):
        out, self.hidden = self.rnn(x, self.hidden)
        return out


class Decorated(nn.Module):
    def __init__(self):
        super().__init__()
        self.mean = T(2)

    @torch.no_grad()
    def forward(self, x):
        self.mean = 0.9 * self.mean + 0.1 * x.mean(0)
        return x - self.mean


class Builds(nn.Module):
    def __init__(self):
        super().__init__()
        self.build()

    def build(self):
        self.mask = T(3).bool()

    def forward(self, x):
        return x.where(self.mask, 0)


class LateWeights(nn.Module):
    def __init__(self):
        super().__init__()
        self.class_weights = None

    def set_weights(self, weights):
        self.class_weights = weights

    def forward(self, x, target):
        return F.cross_entropy(x, target, weight=self.class_weights)


def late_weights():
    net = LateWeights()
    net.set_weights(T(3))
    return net


class Slotted(nn.Module):
    __slots__ = ("scale",)

    def __init__(self):
        super().__init__()
        self.scale = T(2)


class InitFirst(nn.Module):
    def __init__(self):
        self.size = 3


class StaysHome(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("anchors", T(4))

    def to(self, *args, **kwargs):
        return self


class NoApply(nn.Linear):
    def _apply(self, fn, recurse=True):
        return self


class Replaced(nn.Module):
    def __init__(self):
        super().__init__()
        self.gain = nn.Parameter(T(2))
        del self.gain
        self.gain = T(2) * 3


class BufferGone(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mask", T(3))
        del self.mask
        self.mask = T(3)


class SlicedBuffer(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("table", T(4, 2))
        self.half = self.table[:2]


def replaced_weight():
    net = Net()
    del net.head.weight
    net.head.weight = T(2, 2)
    return net


def shadowed_weight():
    net = Net()
    net.head.__dict__["weight"] = net.head.weight.detach() * 2
    return net


def shadowed_buffer():
    net = nn.BatchNorm1d(2)
    net.__dict__["running_mean"] = T(2)
    return net


def raw_entry():
    net = Net()
    net.head._parameters["weight"] = T(2, 2)
    return net


class ComputedOnce(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(2, 2)
        self.scaled = self.head.weight * 2


class LearningBuffer(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("bias", nn.Parameter(T(2)))


def contains_itself():
    net = Net()
    net.head.parent = net
    return net


def layer_added_late():
    net, optimizer = with_sgd(Net())
    net.extra = nn.Linear(2, 2)
    return net, optimizer


def optimizer_of_a_copy():
    import copy

    net, optimizer = with_sgd(Net())
    return copy.deepcopy(net), optimizer


def optimizer_then_meta():
    net, optimizer = with_sgd(Net())
    return net.to("meta"), optimizer  # to("meta") makes new parameters


def only_the_head_by_mistake():
    net = Net(body=nn.Linear(2, 2))
    return with_sgd(net, net.head.parameters())


def stranger_in_the_optimizer():
    net = Net()
    return with_sgd(net, [*net.parameters(), T(5, requires_grad=True)])


def unused_layer():
    return stepped(Net(unused=nn.Linear(2, 2)), lambda net: net(T(1, 2)).sum())


def detached_path():
    net = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
    return stepped(net, lambda net: net[1](net[0](T(1, 2)).detach()).sum())


def frozen_too_late():
    net = stepped(Net(), lambda net: net(T(1, 2)).sum())
    net.head.weight.requires_grad_(False)
    return with_sgd(net)


class ClassLevel(nn.Module):
    scale = T(2)

    def forward(self, x):
        return x * self.scale


def around():
    layer = nn.Linear(2, 2)

    class Uses(nn.Module):
        def forward(self, x):
            return layer(x)

    return Uses()


FAULTY = {
    "a tensor of the class": ("tensor-not-registered", "scale", ClassLevel),
    "a layer of the function around the class": ("module-in-container", "forward → layer", around),
    "a Dropout in a list": ("module-in-container", "drops", lambda: Net(drops=[nn.Dropout(0.1)])),
    "a tensor that is learned": ("tensor-not-registered", "w", lambda: Net(w=T(2, requires_grad=True))),
    "a constant tensor": ("tensor-not-registered", "scale", lambda: Net(scale=T(2))),
    "a number as a tensor": ("tensor-not-registered", "eps", lambda: Net(eps=torch.tensor(1e-5))),
    "class weights": ("tensor-not-registered", "class_weights", late_weights),
    "running statistics": ("tensor-not-registered", "mean", Decorated),
    "a mask made by a method of __init__": ("tensor-not-registered", "mask", Builds),
    "a tensor deep in the tree": ("tensor-not-registered", "0.0.scale",
                                  lambda: nn.Sequential(nn.Sequential(Net(scale=T(2))))),
    "a tensor in a slot": ("tensor-not-registered", "scale", Slotted),
    "a tensor computed once from a weight": ("tensor-not-registered", "scaled", ComputedOnce),
    "layers in a list": ("module-in-container", "layers", lambda: Net(layers=[nn.Linear(2, 2), nn.Linear(2, 2)])),
    "layers in a tuple": ("module-in-container", "layers", lambda: Net(layers=(nn.Linear(2, 2), "relu"))),
    "layers in a dict": ("module-in-container", "heads", lambda: Net(heads={"a": nn.Linear(2, 2)})),
    "layers in an OrderedDict": ("module-in-container", "heads",
                                 lambda: Net(heads=OrderedDict(a=nn.Linear(2, 2)))),
    "layers in a list of dicts": ("module-in-container", "blocks",
                                  lambda: Net(blocks=[{"fc": nn.Linear(2, 2)}])),
    "layers in a deque": ("module-in-container", "ring", lambda: Net(ring=deque([nn.Linear(2, 2)]))),
    "layers in a set": ("module-in-container", "bag", lambda: Net(bag={nn.Linear(2, 2)})),
    "a list beside a registered part of it": (
        "module-in-container", "layers",
        lambda: (lambda net: setattr(net, "layers", [net.head, nn.Linear(2, 2)]) or net)(Net())),
    "a layer in a closure": ("module-in-container", "act", layer_in_closure),
    "a layer in a partial": ("module-in-container", "act",
                             lambda: Net(act=partial(lambda layer, x: layer(x), nn.Linear(2, 2)))),
    "a layer behind a bound method": ("module-in-container", "act",
                                      lambda: Net(act=MethodType(nn.Linear.forward, nn.Linear(2, 2)))),
    "a layer in a patched forward": ("module-in-container", "head.forward", patched_forward),
    "a layer in a helper object": ("module-in-container", "helper", lambda: Net(helper=Helper())),
    "a layer in a namespace": ("module-in-container", "parts",
                               lambda: Net(parts=SimpleNamespace(fc=nn.Linear(2, 2)))),
    "a layer put in through __dict__": (
        "module-in-container", "extra",
        lambda: (lambda net: net.__dict__.update(extra=nn.Linear(2, 2)) or net)(Net())),
    "a layer beside a million numbers": (
        "module-in-container", "late", lambda: Net(numbers=list(range(1_000_000)), late=[nn.Linear(2, 2)])),
    "parameters in a list": ("parameter-in-container", "ws", lambda: Net(ws=[nn.Parameter(T(2))])),
    "parameters in a dict": ("parameter-in-container", "ws", lambda: Net(ws={"a": nn.Parameter(T(2))})),
    "tensors in a list": ("tensor-in-container", "anchors", lambda: Net(anchors=[T(2), T(3)])),
    "tensors in a dict": ("tensor-in-container", "masks", lambda: Net(masks={"causal": T(3).bool()})),
    "a tensor in a closure": ("tensor-in-container", "act", closure),
    "a tensor in a dataclass": ("tensor-in-container", "record", lambda: Net(record=Record(T(2)))),
    "a tensor in a namespace": ("tensor-in-container", "parts", lambda: Net(parts=SimpleNamespace(mask=T(3)))),
    "a tensor as a key": ("tensor-in-container", "keys", lambda: Net(keys={T(2): 1})),
    "a layer in a dataclass with slots": ("module-in-container", "record", lambda: Net(record=Packed(nn.Linear(2, 2)))),
    "a layer in a read-only dict": (
        "module-in-container", "heads", lambda: Net(heads=MappingProxyType({"a": nn.Linear(2, 2)}))),
    "parameters in a UserDict": ("parameter-in-container", "ws", lambda: Net(ws=UserDict(a=nn.Parameter(T(2))))),
    "a layer in a hook": ("module-in-container", "head._forward_hooks", layer_in_a_hook),
    "a first hidden state": ("tensor-not-registered", "hidden", Fills),
    "a weight replaced by a tensor": ("parameter-replaced", "head.weight", replaced_weight),
    "a weight of one's own replaced": ("parameter-replaced", "gain", Replaced),
    "a weight behind a tensor of its name": ("parameter-replaced", "head.weight", shadowed_weight),
    "a tensor among the parameters": ("parameter-replaced", "head.weight", raw_entry),
    "a buffer behind a tensor of its name": ("buffer-not-moved", "running_mean", shadowed_buffer),
    "a buffer deleted and assigned anew": ("buffer-not-moved", "mask", BufferGone),
    "a view of a buffer": ("buffer-not-moved", "half", SlicedBuffer),
    "a to() that does nothing": ("buffer-not-moved", "anchors", StaysHome),
    "an _apply that does nothing": ("buffer-not-moved", "weight", lambda: NoApply(2, 2)),
    "a parameter registered as a buffer": ("parameter-as-buffer", "bias", LearningBuffer),
    "no super().__init__()": ("super-init-missing", "InitFirst", InitFirst),
    "a module inside itself": ("module-cycle", "head.parent", contains_itself),
    "a layer added after the optimizer": ("optimizer-misses-parameter", "extra.weight", layer_added_late),
    "an optimizer over the head only": ("optimizer-misses-parameter", "body.bias", only_the_head_by_mistake),
    "an optimizer of another copy": ("optimizer-foreign-parameter", "param_groups[0]", optimizer_of_a_copy),
    "an optimizer of replaced parameters": ("optimizer-misses-parameter", "head.weight", optimizer_then_meta),
    "a stranger in the optimizer": ("optimizer-foreign-parameter", "['params'][2]", stranger_in_the_optimizer),
    "a layer that forward never calls": ("gradient-missing", "unused.weight", unused_layer),
    "a detached path": ("gradient-missing", "0.weight", detached_path),
    "frozen after a backward": ("frozen-but-stepped", "head.weight", frozen_too_late),
}  # fmt: skip
