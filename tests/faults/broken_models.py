"""Such set-ups with one silent fault each: name -> (slug, what makes it)."""

import torch
from torch import nn
from torch.nn import functional as F

from .models import CE, GNN, GPT, VAE, LSTMClassifier, Siam, UNet, adamw

BROKEN = {}


def case(slug):
    def add(make):
        BROKEN[make.__name__] = slug, make
        return make

    return add


@case("module-in-container")
def unet_list_levels():

    class M(nn.Module):
        def __init__(self):
            super().__init__()
            self.down = [nn.Conv2d(1, 4, 3, padding=1), nn.Conv2d(4, 4, 3, padding=1)]
            self.o = nn.Conv2d(4, 1, 1)

        def forward(self, x):
            for d in self.down:
                x = F.relu(d(x))
            return self.o(x)

    m = M()
    return (m, (torch.rand(4, 1, 8, 8), torch.rand(4, 1, 8, 8)), nn.MSELoss(), adamw(m))


@case("softmax-twice")
def lstm_softmax():
    m = nn.Sequential(LSTMClassifier(), nn.Softmax(dim=-1))
    return (m, (torch.randint(1, 50, (16, 12)), torch.randint(0, 3, (16,))), CE, adamw(m))


@case("target-broadcast")
def lstm_regression():

    class M(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.LSTM(3, 8, batch_first=True)
            self.o = nn.Linear(8, 1)

        def forward(self, x):
            return self.o(self.layer(x)[0][:, -1])

    m = M()
    return (m, (torch.randn(16, 5, 3), torch.randn(16)), nn.MSELoss(), adamw(m))


@case("parameter-frozen")
def gpt_frozen_emb():
    m = GPT()
    m.tok.weight.requires_grad_(False)
    x = torch.randint(0, 40, (4, 17))
    return (
        m,
        (x[:, :-1], x[:, 1:]),
        lambda o, t: F.cross_entropy(o.reshape(-1, 40), t.reshape(-1)),
        torch.optim.AdamW(m.parameters(), 0.001),
    )


@case("optimizer-misses-parameter")
def gpt_only_blocks():
    m = GPT()
    x = torch.randint(0, 40, (4, 17))
    return (
        m,
        (x[:, :-1], x[:, 1:]),
        lambda o, t: F.cross_entropy(o.reshape(-1, 40), t.reshape(-1)),
        torch.optim.AdamW(m.blocks.parameters(), 0.001),
    )


@case("wait-per-step")
def vae_item_log():
    m = VAE()
    x = torch.rand(16, 20)
    log = []

    def loss(o, t):
        r, mu, lv = o
        kl = -0.5 * (1 + lv - mu**2 - lv.exp()).sum(1).mean()
        log.append(kl.item())
        return F.binary_cross_entropy(r, t) + kl

    return (m, (x, x), loss, adamw(m))


@case("gradient-missing")
def vae_kl_only_detached():

    class V(VAE):
        def forward(self, x):
            h = F.relu(self.e(x))
            mu, lv = (self.mu(h), self.lv(h))
            z = mu + torch.randn_like(mu) * (0.5 * lv).exp()
            z = z.detach().clone()
            return self.d2(F.relu(self.d1(z))).sigmoid()

    m = V()
    x = torch.rand(16, 20)
    return (m, (x, x), nn.BCELoss(), adamw(m))


@case("not-finite")
def siamese_same():
    m = Siam()
    a = torch.randn(16, 10)

    def loss(o, y):
        return ((o[0] - o[1]).pow(2).sum(1).sqrt() * y).mean()

    return (m, ((a, a.clone()), torch.ones(16)), loss, adamw(m))


@case("not-finite")
def gnn_isolated():

    class G(GNN):
        def agg(self, x, ei):
            out = torch.zeros_like(x).index_add_(0, ei[1], x[ei[0]])
            deg = torch.zeros(len(x)).index_add_(0, ei[1], torch.ones(ei.shape[1]))
            return out / deg[:, None]

    m = G()
    ei = torch.randint(0, 10, (2, 40))
    return (m, ((torch.randn(20, 6), ei), torch.randint(0, 3, (20,))), CE, adamw(m))


@case("gradient-missing")
def multi_head_lost():

    class MH(nn.Module):
        def __init__(self):
            super().__init__()
            self.t = nn.Sequential(nn.Linear(8, 32), nn.ReLU())
            self.c = nn.Linear(32, 4)
            self.r = nn.Linear(32, 1)

        def forward(self, x):
            h = self.t(x)
            return (self.c(h), self.r(h).squeeze(-1))

    m = MH()
    return (
        m,
        (torch.randn(16, 8), (torch.randint(0, 4, (16,)), torch.randn(16))),
        lambda o, t: F.cross_entropy(o[0], t[0]),
        adamw(m),
    )


@case("parameter-in-container")
def ensemble_params():

    class E(nn.Module):
        def __init__(self):
            super().__init__()
            self.w = [nn.Parameter(torch.randn(8, 3) * 0.3) for _ in range(3)]
            self.b = nn.Linear(3, 3)

        def forward(self, x):
            return self.b(sum(x @ w for w in self.w))

    m = E()
    return (m, (torch.randn(16, 8), torch.randint(0, 3, (16,))), CE, adamw(m))


@case("graph-kept")
def ema_keeps_graph():

    class M(nn.Module):
        def __init__(self):
            super().__init__()
            self.n = nn.Linear(8, 3)
            self.avg = torch.zeros(3)

        def forward(self, x):
            o = self.n(x)
            self.avg = 0.9 * self.avg + 0.1 * o.mean(0)
            return o - self.avg.detach()

    m = M()
    return (m, (torch.randn(16, 8), torch.randint(0, 3, (16,))), CE, adamw(m))


@case("graph-kept")
def rnn_hidden_not_detached():

    class M(nn.Module):
        def __init__(self):
            super().__init__()
            self.g = nn.GRUCell(8, 8)
            self.o = nn.Linear(8, 1)
            self.h = None

        def forward(self, x):
            self.h = self.g(x, self.h)
            return self.o(self.h)

    m = M()
    return (m, (torch.randn(16, 8), torch.randn(16, 1)), nn.MSELoss(), adamw(m))


@case("dropout-in-eval")
def attention_dropout_functional():

    class A(nn.Module):
        def __init__(self):
            super().__init__()
            self.q = nn.Linear(8, 24)
            self.o = nn.Linear(8, 2)

        def forward(self, x):
            q, k, v = self.q(x).chunk(3, -1)
            return self.o(F.scaled_dot_product_attention(q, k, v, dropout_p=0.2)).mean(1)

    m = A()
    return (m, (torch.randn(8, 5, 8), torch.randint(0, 2, (8,))), CE, adamw(m))


@case("sigmoid-twice")
def unet_sigmoid():
    m = nn.Sequential(UNet(), nn.Sigmoid())
    return (
        m,
        (torch.rand(2, 3, 16, 16), (torch.rand(2, 1, 16, 16) > 0.7).float()),
        nn.BCEWithLogitsLoss(),
        adamw(m),
    )


@case("input-range")
def unet_bytes():
    m = UNet()
    return (
        m,
        (torch.randint(0, 256, (2, 3, 16, 16)).float(), (torch.rand(2, 1, 16, 16) > 0.7).float()),
        nn.BCEWithLogitsLoss(),
        adamw(m),
    )


@case("samples-mixed")
def view_instead_of_permute():

    class M(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(12, 2)

        def forward(self, x):
            return self.layer(x.permute(1, 2, 0).reshape(x.shape[0], -1))

    m = M()
    return (m, (torch.randn(8, 3, 4), torch.randint(0, 2, (8,))), CE, adamw(m))


@case("samples-mixed")
def transformer_batch_first_forgotten():

    class M(nn.Module):
        def __init__(self):
            super().__init__()
            self.e = nn.TransformerEncoderLayer(16, 2, 32)
            self.h = nn.Linear(16, 3)

        def forward(self, x):
            return self.h(self.e(x).mean(1))

    m = M()
    return (m, (torch.randn(8, 5, 16), torch.randint(0, 3, (8,))), CE, adamw(m))


@case("tensor-not-registered")
def positional_plain():

    class M(nn.Module):
        def __init__(self):
            super().__init__()
            self.pos = torch.randn(5, 8)
            self.layer = nn.Linear(8, 2)

        def forward(self, x):
            return self.layer(x + self.pos).mean(1)

    m = M()
    return (m, (torch.randn(8, 5, 8), torch.randint(0, 2, (8,))), CE, adamw(m))


@case("gradient-missing")
def argmax_middle():

    class M(nn.Module):
        def __init__(self):
            super().__init__()
            self.a = nn.Linear(8, 6)
            self.e = nn.Embedding(6, 4)
            self.o = nn.Linear(4, 2)

        def forward(self, x):
            return self.o(self.e(self.a(x).argmax(1)))

    m = M()
    return (m, (torch.randn(16, 8), torch.randint(0, 2, (16,))), CE, adamw(m))


@case("zero-gradient")
def clamp_dead():

    class M(nn.Module):
        def __init__(self):
            super().__init__()
            self.a = nn.Linear(8, 6)
            self.o = nn.Linear(6, 2)

        def forward(self, x):
            return self.o(self.a(x).clamp(5, 6))

    m = M()
    return (m, (torch.randn(16, 8), torch.randint(0, 2, (16,))), CE, adamw(m))


@case("batch-changed-in-place")
def normalises_in_place():

    class M(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(8, 2)

        def forward(self, x):
            x -= x.mean(0)
            x /= x.std(0) + 1e-05
            return self.layer(x)

    m = M()
    return (m, (torch.randn(16, 8), torch.randint(0, 2, (16,))), CE, adamw(m))


@case("learning-rate-zero")
def zero_group():
    m = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 2))
    return (
        m,
        (torch.randn(16, 8), torch.randint(0, 2, (16,))),
        CE,
        torch.optim.SGD([{"params": m[0].parameters(), "lr": 0.0}, {"params": m[2].parameters()}], lr=0.1),
    )


@case("target-out-of-range")
def mask_255():
    m = UNet()
    return (
        m,
        (torch.rand(2, 3, 16, 16), (torch.rand(2, 1, 16, 16) > 0.7).float() * 255),
        nn.BCEWithLogitsLoss(),
        adamw(m),
    )


@case("output-ignores-input")
def wrong_var():

    class M(nn.Module):
        def __init__(self):
            super().__init__()
            self.a = nn.Linear(8, 8)
            self.p = nn.Parameter(torch.randn(8))
            self.o = nn.Linear(8, 2)

        def forward(self, x):
            h = self.a(x)
            h = self.p.expand(len(x), -1)
            return self.o(h)

    m = M()
    return (m, (torch.randn(16, 8), torch.randint(0, 2, (16,))), CE, adamw(m))


@case("optimizer-misses-parameter")
def reinit_head():
    m = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 3))
    o = adamw(m)
    m[2] = nn.Linear(8, 5)
    return (m, (torch.randn(16, 8), torch.randint(0, 5, (16,))), CE, o)


@case("target-broadcast")
def hand_square():
    m = nn.Linear(8, 1)
    return (m, (torch.randn(16, 8), torch.randn(16)), lambda o, t: torch.mean(torch.square(t - o)), adamw(m))


@case("wait-per-step")
def cpu_numpy_in_forward():

    class M(nn.Module):
        def __init__(self):
            super().__init__()
            self.a = nn.Linear(8, 3)

        def forward(self, x):
            if torch.isnan(x).any():
                raise ValueError
            return self.a(x)

    m = M()
    return (m, (torch.randn(16, 8), torch.randint(0, 3, (16,))), CE, adamw(m))


@case("module-in-container")
def dict_heads():

    class M(nn.Module):
        def __init__(self):
            super().__init__()
            self.t = nn.Linear(8, 8)
            self.h = {"a": nn.Linear(8, 3)}

        def forward(self, x):
            return self.h["a"](F.relu(self.t(x)))

    m = M()
    return (m, (torch.randn(16, 8), torch.randint(0, 3, (16,))), CE, adamw(m))


@case("zero-gradient")
def loss_masked_all():
    m = nn.Linear(8, 3)
    mask = torch.zeros(16)
    return (
        m,
        (torch.randn(16, 8), torch.randint(0, 3, (16,))),
        lambda o, t: (F.cross_entropy(o, t, reduction="none") * mask).sum() / 16,
        adamw(m),
    )


@case("not-finite")
def all_ignored():
    m = nn.Linear(8, 3)
    return (m, (torch.randn(16, 8), torch.full((16,), -100)), CE, adamw(m))


@case("not-finite")
def fully_masked_attention():

    class M(nn.Module):
        def __init__(self):
            super().__init__()
            self.q = nn.Linear(8, 8)
            self.o = nn.Linear(8, 2)

        def forward(self, d):
            x, m = d
            q = self.q(x)
            a = (q @ q.mT).masked_fill(m[:, None, :], float("-inf")).softmax(-1)
            return self.o((a @ q).mean(1))

    m = M()
    mk = torch.zeros(4, 5).bool()
    mk[0] = True
    return (m, ((torch.randn(4, 5, 8), mk), torch.randint(0, 2, (4,))), CE, adamw(m))


@case("softmax-twice")
def log_softmax_gpt():
    m = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 4))
    return (
        m,
        (torch.randn(16, 8), torch.randint(0, 4, (16,))),
        lambda o, t: F.cross_entropy(F.log_softmax(o, -1), t),
        adamw(m),
    )


@case("softmax-twice")
def softmax_spatial():
    m = nn.Sequential(nn.Conv2d(3, 4, 1), nn.Softmax2d())
    return (m, (torch.randn(2, 3, 8, 8), torch.randint(0, 4, (2, 8, 8))), CE, adamw(m))


@case("gradient-missing")
def no_grad_decorated():

    class M(nn.Module):
        def __init__(self):
            super().__init__()
            self.e = nn.Linear(8, 8)
            self.o = nn.Linear(8, 2)

        @torch.no_grad()
        def enc(self, x):
            return self.e(x)

        def forward(self, x):
            return self.o(self.enc(x))

    m = M()
    return (m, (torch.randn(16, 8), torch.randint(0, 2, (16,))), CE, adamw(m))
