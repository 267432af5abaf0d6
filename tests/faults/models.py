"""Sound set-ups as people write them: name -> what makes (model, batch, loss_fn, optimizer)."""

import copy
import random

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

CE = nn.CrossEntropyLoss()
MODELS = {}


def case(make):
    MODELS[make.__name__] = make
    return make


def adamw(model):
    return torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=1e-3)


class LSTMClassifier(nn.Module):
    def __init__(self, v=50, e=16, h=24, c=3):
        super().__init__()
        self.emb = nn.Embedding(v, e, padding_idx=0)
        self.lstm = nn.LSTM(e, h, 2, batch_first=True, bidirectional=True, dropout=0.3)
        self.drop = nn.Dropout(0.3)
        self.head = nn.Linear(2 * h, c)

    def forward(self, x):
        mask = (x != 0).float().unsqueeze(-1)
        o, _ = self.lstm(self.emb(x))
        return self.head(self.drop((o * mask).sum(1) / mask.sum(1).clamp(min=1)))


@case
def lstm_classifier():
    m = LSTMClassifier()
    x = torch.randint(1, 50, (16, 12))
    x[:, 9:] = 0
    return (m, (x, torch.randint(0, 3, (16,))), CE, adamw(m))


class Block(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.ln1 = nn.LayerNorm(d)
        self.ln2 = nn.LayerNorm(d)
        self.qkv = nn.Linear(d, 3 * d)
        self.proj = nn.Linear(d, d)
        self.mlp = nn.Sequential(nn.Linear(d, 4 * d), nn.GELU(), nn.Linear(4 * d, d), nn.Dropout(0.1))
        self.h = h
        self.register_buffer("mask", torch.tril(torch.ones(64, 64)).bool())

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(self.ln1(x)).split(C, 2)
        q, k, v = (t.view(B, T, self.h, C // self.h).transpose(1, 2) for t in (q, k, v))
        a = q @ k.transpose(-2, -1) / (C // self.h) ** 0.5
        a = a.masked_fill(~self.mask[:T, :T], float("-inf")).softmax(-1)
        x = x + self.proj((a @ v).transpose(1, 2).reshape(B, T, C))
        return x + self.mlp(self.ln2(x))


class GPT(nn.Module):
    def __init__(self, v=40, d=32, tie=True):
        super().__init__()
        self.tok = nn.Embedding(v, d)
        self.pos = nn.Embedding(64, d)
        self.blocks = nn.ModuleList(Block(d, 4) for _ in range(2))
        self.ln = nn.LayerNorm(d)
        self.head = nn.Linear(d, v, bias=False)
        if tie:
            self.head.weight = self.tok.weight
        self.apply(self.init)

    def init(self, m):
        if isinstance(m, (nn.Linear, nn.Embedding)):
            nn.init.normal_(m.weight, std=0.02)
        if isinstance(m, nn.Linear) and m.bias is not None:
            nn.init.zeros_(m.bias)

    def forward(self, i):
        x = self.tok(i) + self.pos(torch.arange(i.shape[1], device=i.device))
        for b in self.blocks:
            x = b(x)
        return self.head(self.ln(x))


@case
def gpt():
    m = GPT()
    x = torch.randint(0, 40, (4, 17))
    return (
        m,
        (x[:, :-1], x[:, 1:]),
        lambda o, t: F.cross_entropy(o.reshape(-1, 40), t.reshape(-1)),
        adamw(m),
    )


@case
def gpt_untied_ignore():
    m = GPT(tie=False)
    x = torch.randint(0, 40, (4, 17))
    y = x[:, 1:].clone()
    y[:, :5] = -100
    return (
        m,
        (x[:, :-1], y),
        lambda o, t: F.cross_entropy(o.transpose(1, 2), t, ignore_index=-100),
        adamw(m),
    )


@case
def gpt_two_groups():
    m = GPT()
    d = [p for p in m.parameters() if p.ndim >= 2]
    n = [p for p in m.parameters() if p.ndim < 2]
    x = torch.randint(0, 40, (4, 17))
    return (
        m,
        (x[:, :-1], x[:, 1:]),
        lambda o, t: F.cross_entropy(o.flatten(0, 1), t.flatten(), label_smoothing=0.1),
        torch.optim.AdamW([{"params": d, "weight_decay": 0.1}, {"params": n, "weight_decay": 0}], lr=0.0003),
    )


class DC(nn.Sequential):
    def __init__(self, i, o):
        super().__init__(
            nn.Conv2d(i, o, 3, padding=1),
            nn.BatchNorm2d(o),
            nn.ReLU(inplace=True),
            nn.Conv2d(o, o, 3, padding=1),
            nn.BatchNorm2d(o),
            nn.ReLU(inplace=True),
        )


class UNet(nn.Module):
    def __init__(self, c=1):
        super().__init__()
        self.d1 = DC(3, 8)
        self.d2 = DC(8, 16)
        self.b = DC(16, 32)
        self.u2 = nn.ConvTranspose2d(32, 16, 2, 2)
        self.c2 = DC(32, 16)
        self.u1 = nn.ConvTranspose2d(16, 8, 2, 2)
        self.c1 = DC(16, 8)
        self.o = nn.Conv2d(8, c, 1)

    def forward(self, x):
        a = self.d1(x)
        b = self.d2(F.max_pool2d(a, 2))
        c = self.b(F.max_pool2d(b, 2))
        b = self.c2(torch.cat([self.u2(c), b], 1))
        return self.o(self.c1(torch.cat([self.u1(b), a], 1)))


@case
def unet_dice():

    def dice(o, t):
        p = o.sigmoid()
        i = (p * t).sum((2, 3))
        return (
            F.binary_cross_entropy_with_logits(o, t)
            + 1
            - ((2 * i + 1) / (p.sum((2, 3)) + t.sum((2, 3)) + 1)).mean()
        )

    m = UNet()
    return (m, (torch.rand(2, 3, 16, 16), (torch.rand(2, 1, 16, 16) > 0.7).float()), dice, adamw(m))


class VAE(nn.Module):
    def __init__(self, d=20, z=4):
        super().__init__()
        self.e = nn.Linear(d, 32)
        self.mu = nn.Linear(32, z)
        self.lv = nn.Linear(32, z)
        self.d1 = nn.Linear(z, 32)
        self.d2 = nn.Linear(32, d)

    def forward(self, x):
        h = F.relu(self.e(x))
        mu, lv = (self.mu(h), self.lv(h))
        z = mu + torch.randn_like(mu) * (0.5 * lv).exp()
        return (self.d2(F.relu(self.d1(z))).sigmoid(), mu, lv)


@case
def vae_bce():
    m = VAE()
    x = torch.rand(16, 20)

    def loss(o, t):
        r, mu, lv = o
        return (
            F.binary_cross_entropy(r, t, reduction="sum") / len(t)
            - 0.5 * (1 + lv - mu**2 - lv.exp()).sum(1).mean()
        )

    return (m, (x, x), loss, adamw(m))


class Siam(nn.Module):
    def __init__(self):
        super().__init__()
        self.f = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 8))

    def forward(self, p):
        a, b = p
        return (self.f(a), self.f(b))


@case
def siamese_contrastive():
    m = Siam()

    def loss(o, y):
        d = F.pairwise_distance(*o)
        return (y * d**2 + (1 - y) * F.relu(1.0 - d) ** 2).mean()

    return (
        m,
        ((torch.randn(16, 10), torch.randn(16, 10)), torch.randint(0, 2, (16,)).float()),
        loss,
        adamw(m),
    )


@case
def siamese_cosine():
    m = Siam()
    return (
        m,
        ((torch.randn(16, 10), torch.randn(16, 10)), torch.randint(0, 2, (16,)).float() * 2 - 1),
        lambda o, y: F.cosine_embedding_loss(o[0], o[1], y, margin=0.2),
        adamw(m),
    )


@case
def triplet():

    class T(nn.Module):
        def __init__(self):
            super().__init__()
            self.f = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 8))

        def forward(self, x):
            return (F.normalize(self.f(x["a"])), F.normalize(self.f(x["p"])), F.normalize(self.f(x["n"])))

    m = T()
    layers = nn.TripletMarginLoss(0.5)
    return (m, ({k: torch.randn(12, 10) for k in "apn"}, None), lambda o, _: layers(*o), adamw(m))


class GNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.l1 = nn.Linear(6, 16)
        self.l2 = nn.Linear(16, 3)

    def agg(self, x, ei):
        src, dst = ei
        out = torch.zeros_like(x).index_add_(0, dst, x[src])
        deg = torch.zeros(len(x)).scatter_add_(0, dst, torch.ones(len(dst))).clamp(min=1)
        return x + out / deg[:, None]

    def forward(self, d):
        x, ei = d
        return self.l2(self.agg(F.relu(self.l1(self.agg(x, ei))), ei))


@case
def gnn():
    m = GNN()
    ei = torch.randint(0, 20, (2, 60))
    mask = torch.rand(20) > 0.5
    return (
        m,
        ((torch.randn(20, 6), ei), torch.randint(0, 3, (20,))),
        lambda o, t: F.cross_entropy(o[mask], t[mask]),
        adamw(m),
    )


@case
def gat():

    class A(nn.Module):
        def __init__(self):
            super().__init__()
            self.w = nn.Linear(6, 8, bias=False)
            self.a = nn.Linear(16, 1, bias=False)
            self.o = nn.Linear(8, 2)

        def forward(self, d):
            x, ei = d
            h = self.w(x)
            e = F.leaky_relu(self.a(torch.cat([h[ei[0]], h[ei[1]]], 1)).squeeze(1), 0.2).exp()
            z = torch.zeros(len(x)).index_add(0, ei[1], e) + 1e-09
            return self.o(torch.zeros_like(h).index_add(0, ei[1], h[ei[0]] * (e / z[ei[1]])[:, None]) + h)

    m = A()
    return (
        m,
        ((torch.randn(15, 6), torch.randint(0, 15, (2, 50))), torch.randint(0, 2, (15,))),
        CE,
        adamw(m),
    )


@case
def multi_head():

    class MH(nn.Module):
        def __init__(self):
            super().__init__()
            self.t = nn.Sequential(nn.Linear(8, 32), nn.ReLU())
            self.c = nn.Linear(32, 4)
            self.r = nn.Linear(32, 1)

        def forward(self, x):
            h = self.t(x)
            return {"cls": self.c(h), "reg": self.r(h).squeeze(-1)}

    m = MH()
    return (
        m,
        (torch.randn(16, 8), {"cls": torch.randint(0, 4, (16,)), "reg": torch.randn(16)}),
        lambda o, t: F.cross_entropy(o["cls"], t["cls"]) + 0.5 * F.mse_loss(o["reg"], t["reg"]),
        adamw(m),
    )


@case
def ensemble():

    class E(nn.Module):
        def __init__(self):
            super().__init__()
            self.m = nn.ModuleList(
                nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 3)) for _ in range(4)
            )

        def forward(self, x):
            return torch.stack([m(x) for m in self.m]).mean(0)

    m = E()
    return (m, (torch.randn(16, 8), torch.randint(0, 3, (16,))), CE, adamw(m))


@case
def ema_teacher():

    class BYOL(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = nn.Sequential(nn.Linear(8, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 8))
            self.pred = nn.Linear(8, 8)
            self.ema = copy.deepcopy(self.net).requires_grad_(False)

        def forward(self, v):
            with torch.no_grad():
                t = self.ema(v[1])
            return (self.pred(self.net(v[0])), t)

    m = BYOL()
    return (
        m,
        ((torch.randn(16, 8), torch.randn(16, 8)), None),
        lambda o, _: 2 - 2 * F.cosine_similarity(o[0], o[1]).mean(),
        adamw(m),
    )


@case
def ema_in_forward():

    class M(nn.Module):
        def __init__(self):
            super().__init__()
            self.n = nn.Linear(6, 3)
            self.register_buffer("avg", torch.zeros(6))

        def forward(self, x):
            if self.training:
                with torch.no_grad():
                    self.avg.lerp_(x.mean(0), 0.1)
            return self.n(x - self.avg)

    m = M()
    return (m, (torch.randn(32, 6), torch.randint(0, 3, (32,))), CE, adamw(m))


@case
def vit():

    class V(nn.Module):
        def __init__(self):
            super().__init__()
            self.p = nn.Conv2d(3, 32, 4, 4)
            self.cls = nn.Parameter(torch.zeros(1, 1, 32))
            self.pos = nn.Parameter(torch.randn(1, 17, 32) * 0.02)
            self.e = nn.TransformerEncoder(
                nn.TransformerEncoderLayer(32, 4, 64, batch_first=True, norm_first=True),
                2,
                enable_nested_tensor=False,
            )
            self.h = nn.Linear(32, 10)

        def forward(self, x):
            x = self.p(x).flatten(2).transpose(1, 2)
            x = torch.cat([self.cls.expand(len(x), -1, -1), x], 1) + self.pos
            return self.h(self.e(x)[:, 0])

    m = V()
    return (m, (torch.randn(8, 3, 16, 16), torch.randint(0, 10, (8,))), CE, adamw(m))


@case
def seq2seq():

    class T(nn.Module):
        def __init__(self):
            super().__init__()
            self.e = nn.Embedding(20, 16)
            self.t = nn.Transformer(16, 2, 1, 1, 32, batch_first=True)
            self.o = nn.Linear(16, 20)

        def forward(self, p):
            a, b = p
            return self.o(
                self.t(
                    self.e(a), self.e(b), tgt_mask=nn.Transformer.generate_square_subsequent_mask(b.shape[1])
                )
            ).transpose(1, 2)

    m = T()
    return (
        m,
        ((torch.randint(0, 20, (4, 6)), torch.randint(0, 20, (4, 5))), torch.randint(0, 20, (4, 5))),
        CE,
        adamw(m),
    )


@case
def gan_generator():

    class G(nn.Module):
        def __init__(self):
            super().__init__()
            self.f = nn.Sequential(nn.Linear(8, 32), nn.LeakyReLU(0.2), nn.Linear(32, 16), nn.Tanh())

        def forward(self, z):
            return self.f(z)

    d = nn.Sequential(nn.Linear(16, 32), nn.LeakyReLU(0.2), nn.Linear(32, 1))
    m = G()
    return (
        m,
        (torch.randn(16, 8), torch.ones(16, 1)),
        lambda o, t: F.binary_cross_entropy_with_logits(d(o), t),
        adamw(m),
    )


@case
def policy_gradient():
    m = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 2))

    def loss(o, t):
        a, r = t
        return -(torch.distributions.Categorical(logits=o).log_prob(a) * r).mean()

    return (m, (torch.randn(20, 4), (torch.randint(0, 2, (20,)), torch.randn(20))), loss, adamw(m))


@case
def distillation():
    s = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 5))
    t = torch.randn(16, 5)
    return (
        s,
        (torch.randn(16, 8), t),
        lambda o, t: F.kl_div(F.log_softmax(o / 2, 1), F.softmax(t / 2, 1), reduction="batchmean") * 4,
        adamw(s),
    )


@case
def lora():

    class L(nn.Module):
        def __init__(self):
            super().__init__()
            self.b = nn.Linear(8, 8).requires_grad_(False)
            self.A = nn.Parameter(torch.randn(2, 8) * 0.1)
            self.B = nn.Parameter(torch.zeros(8, 2))
            self.h = nn.Linear(8, 3)

        def forward(self, x):
            return self.h(F.relu(self.b(x) + x @ self.A.t() @ self.B.t()))

    m = L()
    return (m, (torch.randn(16, 8), torch.randint(0, 3, (16,))), CE, adamw(m))


@case
def finetune_frozen_bn():
    b = (
        nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten())
        .requires_grad_(False)
        .eval()
    )
    m = nn.Sequential(b, nn.Linear(8, 4))
    m.train()
    b.eval()
    return (
        m,
        (torch.randn(8, 3, 12, 12), torch.randint(0, 4, (8,))),
        CE,
        torch.optim.Adam(m[1].parameters(), 0.001),
    )


@case
def detection_like():

    class D(nn.Module):
        def __init__(self):
            super().__init__()
            self.b = nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1), nn.ReLU(), nn.Conv2d(8, 16, 3, 2, 1), nn.ReLU())
            self.c = nn.Conv2d(16, 3, 1)
            self.r = nn.Conv2d(16, 4, 1)
            nn.init.constant_(self.c.bias, -4.6)

        def forward(self, x):
            h = self.b(x)
            return (self.c(h), self.r(h))

    def focal(o, t):
        c, r = o
        ct, rt = t
        p = c.sigmoid()
        ce = F.binary_cross_entropy_with_logits(c, ct, reduction="none")
        pt = p * ct + (1 - p) * (1 - ct)
        return (ce * (1 - pt) ** 2).sum() / ct.sum().clamp(min=1) + F.smooth_l1_loss(r, rt)

    m = D()
    return (
        m,
        (torch.randn(2, 3, 16, 16), ((torch.rand(2, 3, 4, 4) > 0.8).float(), torch.randn(2, 4, 4, 4))),
        focal,
        adamw(m),
    )


@case
def nerf_like():

    class N(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("f", 2.0 ** torch.arange(4))
            self.n = nn.Sequential(
                nn.Linear(27, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 3), nn.Sigmoid()
            )

        def forward(self, x):
            e = (x[..., None] * self.f).flatten(1)
            return self.n(torch.cat([x, e.sin(), e.cos()], 1))

    m = N()
    return (m, (torch.rand(64, 3) * 2 - 1, torch.rand(64, 3)), nn.MSELoss(), adamw(m))


@case
def mixture_density():

    class M(nn.Module):
        def __init__(self):
            super().__init__()
            self.h = nn.Linear(2, 16)
            self.pi = nn.Linear(16, 3)
            self.mu = nn.Linear(16, 3)
            self.s = nn.Linear(16, 3)

        def forward(self, x):
            h = torch.tanh(self.h(x))
            return (self.pi(h).log_softmax(1), self.mu(h), F.softplus(self.s(h)) + 0.001)

    def nll(o, y):
        p, m_, s_ = o
        return -torch.logsumexp(p + torch.distributions.Normal(m_, s_).log_prob(y), 1).mean()

    m = M()
    return (m, (torch.randn(32, 2), torch.randn(32, 1)), nll, adamw(m))


@case
def word2vec_neg():

    class W(nn.Module):
        def __init__(self):
            super().__init__()
            self.u = nn.Embedding(50, 8)
            self.v = nn.Embedding(50, 8)

        def forward(self, d):
            c, p, n = d
            u = self.u(c)
            return ((u * self.v(p)).sum(1), torch.bmm(self.v(n), u[:, :, None]).squeeze(2))

    m = W()
    return (
        m,
        ((torch.randint(0, 50, (32,)), torch.randint(0, 50, (32,)), torch.randint(0, 50, (32, 5))), None),
        lambda o, _: -(F.logsigmoid(o[0]).mean() + F.logsigmoid(-o[1]).sum(1).mean()),
        torch.optim.Adam(m.parameters(), 0.001),
    )


@case
def tabular_embeddings():

    class T(nn.Module):
        def __init__(self):
            super().__init__()
            self.e = nn.ModuleList(nn.Embedding(n, 4) for n in (10, 20, 5))
            self.bn = nn.BatchNorm1d(3)
            self.n = nn.Sequential(nn.Linear(15, 32), nn.ReLU(), nn.Dropout(0.1), nn.Linear(32, 1))

        def forward(self, d):
            c, x = d
            return self.n(torch.cat([*(e(c[:, k]) for k, e in enumerate(self.e)), self.bn(x)], 1)).squeeze(1)

    m = T()
    return (
        m,
        (
            (torch.stack([torch.randint(0, n, (32,)) for n in (10, 20, 5)], 1), torch.randn(32, 3)),
            torch.rand(32) * 100,
        ),
        nn.L1Loss(),
        adamw(m),
    )


@case
def layerdrop():

    class M(nn.Module):
        def __init__(self):
            super().__init__()
            self.i = nn.Linear(8, 16)
            self.b = nn.ModuleList(nn.Linear(16, 16) for _ in range(3))
            self.o = nn.Linear(16, 2)

        def forward(self, x):
            x = self.i(x)
            for b in self.b:
                y = F.relu(b(x))
                x = x + (y if not self.training else y * (torch.rand(len(x), 1) > 0.2))
            return self.o(x)

    m = M()
    return (m, (torch.randn(16, 8), torch.randint(0, 2, (16,))), CE, adamw(m))


@case
def rnn_many_to_many():

    class R(nn.Module):
        def __init__(self):
            super().__init__()
            self.r = nn.RNN(3, 16, batch_first=True)
            self.o = nn.Linear(16, 3)

        def forward(self, x):
            return self.o(self.r(x)[0])

    m = R()
    x = torch.randn(8, 20, 3)
    return (m, (x[:, :-1], x[:, 1:]), nn.MSELoss(), adamw(m))


@case
def gumbel():

    class M(nn.Module):
        def __init__(self):
            super().__init__()
            self.e = nn.Linear(8, 6)
            self.d = nn.Linear(6, 8)

        def forward(self, x):
            return self.d(F.gumbel_softmax(self.e(x), tau=1.0, hard=True))

    m = M()
    x = torch.randn(16, 8)
    return (m, (x, x), nn.MSELoss(), adamw(m))


@case
def diffusion():

    class M(nn.Module):
        def __init__(self):
            super().__init__()
            self.n = nn.Sequential(nn.Linear(9, 32), nn.SiLU(), nn.Linear(32, 8))
            self.register_buffer("ab", torch.linspace(0.99, 0.1, 10))

        def forward(self, x):
            t = torch.randint(0, 10, (len(x),))
            e = torch.randn_like(x)
            a = self.ab[t][:, None]
            return (self.n(torch.cat([a.sqrt() * x + (1 - a).sqrt() * e, t[:, None] / 10], 1)), e)

    m = M()
    return (m, (torch.randn(32, 8), None), lambda o, _: F.mse_loss(*o), adamw(m))


@case
def arcface():

    class M(nn.Module):
        def __init__(self):
            super().__init__()
            self.f = nn.Linear(8, 16)
            self.w = nn.Parameter(torch.randn(5, 16))

        def forward(self, x):
            return F.linear(F.normalize(self.f(x)), F.normalize(self.w)) * 16

    m = M()
    return (m, (torch.randn(16, 8), torch.randint(0, 5, (16,))), CE, adamw(m))


@case
def list_of_layers_plus_modulelist():

    class M(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.ModuleList([nn.Linear(8, 8), nn.Linear(8, 2)])
            self.order = [self.layers[0], self.layers[1]]

        def forward(self, x):
            return self.order[1](F.relu(self.order[0](x)))

    m = M()
    return (m, (torch.randn(8, 8), torch.randint(0, 2, (8,))), CE, adamw(m))


@case
def sched_attached():
    m = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 2))
    o = torch.optim.SGD(m.parameters(), 0.1)
    m.sched = torch.optim.lr_scheduler.LambdaLR(o, lambda e: min(1, e / 10))
    return (m, (torch.randn(8, 8), torch.randint(0, 2, (8,))), CE, o)


@case
def hooks_present():
    m = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 2))
    acts = {}
    m[0].register_forward_hook(lambda mod, i, o: acts.__setitem__("a", o.detach().mean()))
    m[0].weight.register_hook(lambda g: g.clamp(-1, 1))
    return (m, (torch.randn(8, 8), torch.randint(0, 2, (8,))), CE, adamw(m))


@case
def xl_memory_list_detached():

    class M(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(4, 4)
            self.o = nn.Linear(8, 1)
            self.mem = []

        def forward(self, x):
            h = self.layer(x)
            past = self.mem[-1] if self.mem else torch.zeros_like(h)
            self.mem = [h.detach()]
            return self.o(torch.cat([h, past], 1))

    m = M()
    return (m, (torch.randn(16, 4), torch.randn(16, 1)), nn.MSELoss(), adamw(m))


@case
def numpy_rng_augment():

    class M(nn.Module):
        def __init__(self):
            super().__init__()
            self.c = nn.Conv2d(1, 4, 3)
            self.layer = nn.Linear(4 * 36, 2)

        def forward(self, x):
            if self.training and np.random.rand() < 0.5:
                x = x.flip(-1)
            if self.training and random.random() < 0.5:
                x = x + 0.01 * torch.randn_like(x)
            return self.layer(F.relu(self.c(x)).flatten(1))

    m = M()
    return (m, (torch.randn(8, 1, 8, 8), torch.randint(0, 2, (8,))), CE, adamw(m))
