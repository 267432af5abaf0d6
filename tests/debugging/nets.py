"""Nets in which a NaN or an Inf is born at a known operator, and nets in which none is."""

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint

INF = float("inf")


class Net(nn.Module):
    """A linear layer, and then a function of its output, in a module called `bad`."""

    def __init__(self, function, width=4):
        super().__init__()
        torch.manual_seed(0)
        self.body = nn.Sequential(nn.Linear(3, width), nn.Tanh())
        self.bad = Function(function)

    def forward(self, x):
        return self.bad(self.body(x))


class Function(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, h):
        return self.function(h)


class Cube(torch.autograd.Function):
    """A custom Function whose backward divides by zero."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * x / (x - x)


def scores(h):
    return h @ h.t()


def masked(h):
    return scores(h).masked_fill(torch.eye(2).bool(), -INF)


def entropy(h):
    p = F.one_hot(h.argmax(-1), 4).float() + 0 * h
    return (p * p.log()).sum()


# name -> (net's function, operator, NaN or Inf)
FORWARD = {
    "log of a negative": (lambda h: (h - 2).log().sum(), "aten::log", "NaN"),
    "log of zero": (lambda h: (h * 0).log(), "aten::log", "Inf"),
    "zero by zero": (lambda h: h * 0 / (h * 0), "aten::div", "NaN"),
    "by zero": (lambda h: (h + 2) / (h * 0), "aten::div", "Inf"),
    "by the number zero, in place": (lambda h: (h + 2).div_(0), "aten::div_", "Inf"),
    "square root of a negative": (lambda h: (h - 2).sqrt() + 1, "aten::sqrt", "NaN"),
    "reciprocal": (lambda h: (h * 0).reciprocal(), "aten::reciprocal", "Inf"),
    "overflow of exp": (lambda h: (h + 1000).exp().mean(), "aten::exp", "Inf"),
    "overflow in float16": (lambda h: (h + 300).half().pow(2).float(), "aten::pow", "Inf"),
    "overflow of a cast": (lambda h: (h.abs() + 1e5).half(), "aten::_to_copy", "Inf"),
    "power of a negative": (lambda h: (h - 2) ** 0.5, "aten::pow", "NaN"),
    "acos outside": (lambda h: (h + 2).acos(), "aten::acos", "NaN"),
    "spread of one": (lambda h: torch.var(h[:1, :1]), "aten::var", "NaN"),
    "mean of nothing": (lambda h: h[:0].mean(), "aten::mean", "NaN"),
    "a masked row": (lambda h: scores(h).fill_diagonal_(0).masked_fill(torch.ones(2, 2).bool(), -INF).softmax(-1),
                     "aten::_softmax", "NaN"),
    "times infinity": (lambda h: h * 0 * torch.full((4,), INF), "aten::mul", "NaN"),
    "own layer norm": (lambda h: (h - h) / (h - h).std(-1, keepdim=True), "aten::div", "NaN"),
    "cosine of zeros": (lambda h: (h * 0) / (h * 0).norm(dim=-1, keepdim=True), "aten::div", "NaN"),
    "log of a probability": (lambda h: torch.log(1 - torch.sigmoid(h + 100)), "aten::log", "Inf"),
    "entropy": (entropy, "aten::log", "Inf"),
    "inside of a list": (lambda h: {"out": [h, (h, (h - 2).log1p())]}, "aten::log1p", "NaN"),
    "swallowed by argmax": (lambda h: (h - 2).log().argmax(-1), "aten::log", "NaN"),
    "swallowed, and back": (lambda h: torch.where(h > 5, (h - 2).sqrt(), 0.0), "aten::sqrt", "NaN"),
    "where around a log": (lambda h: torch.where(h > 5, (h * 0).log(), 0.0), "aten::log", "Inf"),
    "after masks": (lambda h: masked(h).softmax(-1).sub(2).log(), "aten::log", "NaN"),
    "complex": (lambda h: torch.complex(h, h) / torch.complex(h * 0, h * 0), "aten::div", "Inf"),
    "foreach": (lambda h: torch._foreach_div([h, h + 2], 0.0), "aten::_foreach_div", "Inf"),
    "recomputed": (lambda h: checkpoint(lambda t: (t - 2).log(), h, use_reentrant=False), "aten::log", "NaN"),
}  # fmt: skip

FORWARD |= {
    "atanh at 1": (lambda h: (h * 0 + 1).atanh(), "aten::atanh", "Inf"),
    "lgamma at 0": (lambda h: torch.lgamma(h * 0), "aten::lgamma", "Inf"),
    "product": (lambda h: (h.abs() + 1e20).cumprod(1), "aten::cumprod", "Inf"),
    "product of matrices": (lambda h: (h + 1e30) @ (h + 1e30).t(), "aten::mm", "Inf"),
    "contraction": (lambda h: torch.einsum("bi,bi->b", h + 1e25, h + 1e25), "aten::bmm", "Inf"),
    "sum of large": (lambda h: (h * 0 + 3e38).sum(), "aten::sum", "Inf"),
    "remainder": (lambda h: torch.fmod(h, 0), "aten::fmod", "NaN"),
    "all targets ignored": (
        lambda h: F.cross_entropy(h, torch.full((2,), -100)), "aten::nll_loss_forward", "NaN"),
    "class weights of 0": (
        lambda h: F.cross_entropy(h, torch.zeros(2).long(), torch.tensor([0.0, 1, 1, 1])),
        "aten::nll_loss_forward", "NaN"),
    "recomputed, reentrant": (
        lambda h: checkpoint(lambda t: (t * 0 - 1).sqrt(), h, use_reentrant=True), "aten::sqrt", "NaN"),
}  # fmt: skip

# name -> (net's function, node)
BACKWARD = {
    "sqrt at 0, times 0": (lambda h: (h * 0).sqrt() * 0, "SqrtBackward0"),
    "sqrt at 0": (lambda h: (h * 0).sqrt(), "SqrtBackward0"),
    "the trap of where": (lambda h: torch.where(h > 5, (h * 0).sqrt(), 0.0), "SqrtBackward0"),
    "power at 0": (lambda h: (h * 0) ** 0.5, "PowBackward0"),
    "acos at 1": (lambda h: (h * 0 + 1).acos(), "AcosBackward0"),
    "asin at 1": (lambda h: (h * 0 + 1).asin(), "AsinBackward0"),
    "a custom Function": (lambda h: Cube.apply(h), "CubeBackward"),
    "own norm at 0": (lambda h: (h * 0).pow(2).sum().sqrt(), "SqrtBackward0"),
    "distance of equal points": (lambda h: ((h - h) ** 2).sum(-1).sqrt(), "SqrtBackward0"),
    "cube root at 0": (lambda h: (h * 0).pow(1 / 3), "PowBackward0"),
    "spread of equal numbers": (lambda h: (h * 0).var(0).sqrt(), "SqrtBackward0"),
    "recomputed": (lambda h: checkpoint(lambda t: (t * 0).sqrt(), h, use_reentrant=False), "SqrtBackward0"),
    "rsqrt": (lambda h: (h * 0 + 1e-30).rsqrt() * 1e-15, "RsqrtBackward0"),
    "rsqrt, smaller": (lambda h: (h * 0 + 1e-26).rsqrt(), "RsqrtBackward0"),
    "acosh at 1": (lambda h: (h * 0 + 1).acosh(), "AcoshBackward0"),
    "hypot at 0": (lambda h: torch.hypot(h * 0, h * 0), "HypotBackward0"),
    "x log x at 0": (lambda h: torch.xlogy(h * 0, h * 0), "XlogyBackward0"),
    "power by a tensor": (lambda h: torch.pow(h * 0, h * 0 + 0.5), "PowBackward1"),
    "vectors of equal singular values": (
        lambda h: torch.linalg.svd(torch.eye(3) + 0 * h[:1, :1])[0],
        "LinalgSvdBackward0",
    ),
    "vectors of equal eigenvalues": (
        lambda h: torch.linalg.eigh(torch.eye(3) + 0 * h[:1, :1])[1].pow(3),
        "LinalgEighBackward0",
    ),
    "overflow of a half gradient": (lambda h: (h.half() * 1e-3).float() * 1e8, "ToCopyBackward0"),
    "by a tiny number": (lambda h: h * 1e-38 / (h * 0 + 1e-30) / 1e-9, "DivBackward0"),
    "sum of two gradients": (lambda h: (a := h * 1e-30, (a * 3e38) + (a * 3e38))[1], "aten::add"),
}


def attention(h):
    q = h[None]
    return F.scaled_dot_product_attention(q, q, q, is_causal=True)


def float_mask(h):
    mask = torch.full((2, 2), -INF).triu(1)
    return (scores(h) + mask).softmax(-1)


def indexed(h):
    s = scores(h).clone()
    s[torch.eye(2).bool()] = -INF
    return s.softmax(-1)


def running_minimum(h):
    best = torch.full((4,), INF)
    for row in h:
        best = torch.minimum(best, row)
    return best


def uninitialised(h):
    out = torch.empty(2, 4)
    out[:] = h
    return out + torch.empty_like(h).fill_(1)


SOUND = {
    "plain": lambda h: h.relu(),
    "maximum over segments": lambda h: torch.full((1, 4), -INF).scatter_reduce(
        0, torch.zeros(2, 4).long(), h, "amax"
    ),
    "only the best": lambda h: h.masked_fill(h < h.topk(2).values[:, -1:], -INF).softmax(-1),
    "nearest other point": lambda h: (torch.cdist(h, h) + torch.diag(torch.full((2,), INF))).min(1).values,
    "a mask of logarithms": lambda h: (scores(h) + torch.ones(2, 2).tril().log()).softmax(-1),
    "targets of 0 in KL": lambda h: F.kl_div(h.log_softmax(1), torch.eye(4)[:2], reduction="sum"),
    "certain, and right": lambda h: F.binary_cross_entropy((h * 1e4).sigmoid(), (h > 0).float()),
    "large scores": lambda h: F.cross_entropy(h * 1e30, torch.zeros(2).long()),
    "direction of 0": lambda h: F.normalize(h * 0),
    "recomputed, reentrant": lambda h: checkpoint(torch.sin, h, use_reentrant=True),
    "in place": lambda h: h.clone().add_(1).mul_(2).relu_(),
    "masked": lambda h: scores(h).masked_fill(torch.eye(2).bool(), -INF).softmax(-1),
    "masked logits returned": lambda h: h.masked_fill(h > 0, -INF),
    "float mask": float_mask,
    "where with a mask": lambda h: torch.where(torch.eye(2).bool(), -INF, scores(h)).log_softmax(-1),
    "mask by index": indexed,
    "causal attention": attention,
    "running minimum": running_minimum,
    "memory without values": uninitialised,
    "whole numbers": lambda h: h.argmax(-1),
    "nothing": lambda h: h[:0],
    "complex": lambda h: torch.fft.fft(h).abs(),
    "nested outputs": lambda h: {"a": [h, (h * 2, None)], "b": "text"},
    "nan_to_num": lambda h: (h - 2).log().nan_to_num(),
    "large": lambda h: h * 1e38,
    "large, summed": lambda h: (h.detach() * 0 + 3e38).sum(0)[:0],
    "recomputed": lambda h: checkpoint(lambda t: t.exp(), h, use_reentrant=False),
    "dropout": lambda h: F.dropout(h, 0.5),
    "sparse": lambda h: torch.eye(4).to_sparse() @ h.t(),
    "logsumexp of a masked row": lambda h: torch.logsumexp(torch.cat([h, torch.full((2, 1), -INF)], 1), 1),
    "cross entropy": lambda h: F.cross_entropy(h, torch.tensor([0, 1])),
    "norm at 0": lambda h: (h * 0).norm(),
    "an infinite gradient that ReLU takes away": lambda h: (h - 5).relu().sqrt(),
}
