"""Small loops and models that the tests train, and one hash of everything that a reader owns."""

import hashlib
import pickle
import random

import numpy
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset


def data(samples=40, features=6, classes=3):
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(samples, features, generator=generator)
    return x, (x[:, :classes]).argmax(1)


def loader(samples=40, **settings):
    settings = {"batch_size": 8, "shuffle": True, **settings}
    return DataLoader(TensorDataset(*data(samples)), **settings)


class Counting(nn.Module):
    """A layer with everything that a forward pass can change."""

    def __init__(self):
        super().__init__()
        self.register_buffer("seen", torch.zeros(()))
        self.register_buffer("wide", torch.ones(1).expand(4))  # nothing can write to it
        self.calls, self.last = 0, None
        self.plain = torch.zeros(2)

    def forward(self, x):
        self.calls += 1
        self.last = x.detach()
        self.plain += 1
        self.seen = self.seen + x.mean().detach()  # replaced, not written to
        self.extra = "new"
        return x + torch.rand(()) * 0.01 + random.random() * 0.01 + numpy.random.random() * 0.01


def network(seed=0, *, full=False):
    torch.manual_seed(seed)
    middle = [nn.BatchNorm1d(16), Counting(), nn.Dropout(0.2)] if full else []
    return nn.Sequential(nn.Linear(6, 16), *middle, nn.ReLU(), nn.Linear(16, 3))


def train(model, optimizer, batches, scheduler=None):
    losses = []
    for x, y in batches:
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if scheduler is not None:
            scheduler.step()
        losses.append(loss.item())
    return losses


def everything(model, optimizer, *generators):
    """A hash of all values, gradients, versions, flags, attributes, the optimizer and every generator."""
    parts = []
    for module in model.modules():
        own = {k: v for k, v in module.__dict__.items() if not k.startswith("_")}
        parts += [sorted((k, plain(v)) for k, v in own.items())]
        parts += [(k, plain(v), v._version, id(v)) for k, v in module._buffers.items()]
        parts += [(k, plain(v), v._version, id(v), plain(v.grad)) for k, v in module._parameters.items()]
        parts += [[len(v) for k, v in sorted(module.__dict__.items()) if k.endswith("hooks") and v]]
    parts += [plain(optimizer.state_dict()), [id(group) for group in optimizer.param_groups]]
    parts += [sorted(k for k in optimizer.__dict__), getattr(optimizer, "_opt_called", None)]
    parts += [plain(torch.get_rng_state()), random.getstate(), plain(numpy.random.get_state())]
    parts += [plain(generator.get_state()) for generator in generators]
    return hashlib.sha256(pickle.dumps(parts)).hexdigest()


def plain(value):
    """Tensors and arrays as bytes, containers gone through."""
    if isinstance(value, torch.Tensor):
        return (str(value.dtype), tuple(value.shape), value.detach().contiguous().numpy().tobytes())
    if isinstance(value, numpy.ndarray):
        return value.tobytes()
    if isinstance(value, dict):
        return [(str(k), plain(v)) for k, v in value.items()]
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    return repr(value)
