"""Sound set-ups: name -> what makes (model, batch, loss_fn, optimizer). Nothing may be found in any of them."""

import math
from collections import OrderedDict

import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.utils import parametrizations, parametrize, prune
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

N = 16


def adam(model, **settings):
    return torch.optim.Adam(model.parameters(), **{"lr": 1e-3} | settings)


def sgd(model, **settings):
    return torch.optim.SGD(model.parameters(), **{"lr": 0.05, "momentum": 0.9} | settings)


def classes(n=N, count=3):
    return torch.arange(n) % count


def features(n=N, width=4):
    return torch.randn(n, width)


def mlp(out=3, act=nn.ReLU, width=16, into=4):
    return nn.Sequential(nn.Linear(into, width), act(), nn.Linear(width, out))


def setup(model, batch, loss_fn, optimizer=None):
    return model, batch, loss_fn, optimizer or adam(model)


def three(model):
    """Three classes, told from four features."""
    return setup(model, (features(), classes()), nn.CrossEntropyLoss())


def number(model, target, loss_fn):
    """Numbers, told from four features."""
    return setup(model, (features(), target), loss_fn)


def cnn():
    def block(inputs, outputs):
        return [nn.Conv2d(inputs, outputs, 3, padding=1), nn.BatchNorm2d(outputs), nn.ReLU(), nn.MaxPool2d(2)]

    model = nn.Sequential(*block(3, 8), *block(8, 16), nn.Flatten(), nn.Dropout(0.5), nn.Linear(16 * 16, 10))
    return setup(model, (torch.randn(N, 3, 16, 16), classes(count=10)), nn.CrossEntropyLoss(), sgd(model))


class Block(nn.Module):
    def __init__(self, width, zero=False):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(width, width, 3, padding=1, bias=False), nn.BatchNorm2d(width)
        self.conv2, self.bn2 = nn.Conv2d(width, width, 3, padding=1, bias=False), nn.BatchNorm2d(width)
        if zero:
            nn.init.zeros_(self.bn2.weight)

    def forward(self, x):
        y = F.relu(self.bn1(self.conv1(x)), inplace=True)
        return F.relu(x + self.bn2(self.conv2(y)))


def resnet(zero=False, depth=6):
    blocks = [Block(8, zero) for _ in range(depth)]
    head = [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 5)]
    model = nn.Sequential(
        nn.Conv2d(1, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(inplace=True), *blocks, *head
    )
    return setup(model, (torch.rand(N, 1, 12, 12), classes(count=5)), F.cross_entropy, sgd(model))


class Encoder(nn.Module):
    """Tokens, with padding that attention must not see; a batch is a dict."""

    def __init__(self, norm_first=False, zero_head=False):
        super().__init__()
        self.embed = nn.Embedding(50, 32, padding_idx=0)
        self.place = nn.Parameter(torch.randn(1, 12, 32) * 0.02)
        layer = nn.TransformerEncoderLayer(32, 4, 64, batch_first=True, norm_first=norm_first)
        self.body = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(32, 4)
        if zero_head:
            nn.init.zeros_(self.head.weight)

    def forward(self, batch):
        ids, mask = batch["ids"], batch["mask"]
        h = self.body(self.embed(ids) + self.place[:, : ids.shape[1]], src_key_padding_mask=~mask)
        h = h.masked_fill(~mask[..., None], 0.0).sum(1) / mask.sum(1, keepdim=True)
        return self.head(h)


def transformer(**settings):
    ids = torch.randint(1, 50, (N, 10))
    mask = torch.arange(10)[None] < torch.randint(3, 11, (N, 1))
    model = Encoder(**settings)
    batch = {"ids": ids * mask, "mask": mask}, classes(count=4)
    return setup(
        model, batch, nn.CrossEntropyLoss(label_smoothing=0.1), torch.optim.AdamW(model.parameters(), 1e-3)
    )


class Causal(nn.Module):
    """A language model with tied weights; out [N, T, V]."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(40, 32)
        self.norm = nn.LayerNorm(32)
        self.q, self.k, self.v = (nn.Linear(32, 32) for _ in range(3))
        self.head = nn.Linear(32, 40, bias=False)
        self.head.weight = self.embed.weight
        self.register_buffer("mask", torch.ones(64, 64).tril().bool(), persistent=False)

    def forward(self, ids):
        x = self.norm(self.embed(ids))
        t = ids.shape[1]
        score = self.q(x) @ self.k(x).mT / math.sqrt(32)
        score = score.masked_fill(~self.mask[:t, :t], -math.inf)
        return self.head(x + score.softmax(-1) @ self.v(x))


def language_model():
    ids = torch.randint(0, 40, (N, 9))
    model = Causal()
    return setup(
        model, (ids[:, :-1], ids[:, 1:]), lambda out, t: F.cross_entropy(out.flatten(0, 1), t.flatten())
    )


class Recurrent(nn.Module):
    """A state that goes from step to step, without its graph."""

    def __init__(self, kind=nn.GRU):
        super().__init__()
        self.rnn, self.head = kind(4, 16, batch_first=True), nn.Linear(16, 2)
        self.state = None

    def forward(self, x):
        out, state = self.rnn(x, self.state)
        self.state = tuple(s.detach() for s in state) if isinstance(state, tuple) else state.detach()
        return self.head(out[:, -1])


def recurrent(kind):
    model = Recurrent(kind)
    return setup(model, (torch.randn(N, 6, 4), classes(count=2)), nn.CrossEntropyLoss())


class TimeFirst(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn, self.head = nn.LSTM(4, 8, bidirectional=True), nn.Linear(16, 3)

    def forward(self, x):
        return self.head(self.rnn(x)[0])


def time_first():
    model = TimeFirst()
    batch = torch.randn(7, N, 4), torch.randint(0, 3, (7, N))
    return setup(model, batch, lambda out, t: F.cross_entropy(out.flatten(0, 1), t.flatten()))


class Packed(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.rnn = nn.Embedding(30, 8, padding_idx=0), nn.LSTM(8, 8, batch_first=True)
        self.head = nn.Linear(8, 2)

    def forward(self, batch):
        ids, lengths = batch
        packed = pack_padded_sequence(self.embed(ids), lengths.cpu(), batch_first=True, enforce_sorted=False)
        out, lengths = pad_packed_sequence(self.rnn(packed)[0], batch_first=True)
        last = out[torch.arange(len(lengths)), lengths - 1]
        return self.head(last)


def packed():
    lengths = torch.arange(N) % 5 + 2
    ids = torch.randint(1, 30, (N, 6)) * (torch.arange(6)[None] < lengths[:, None])
    return setup(Packed(), ((ids, lengths), classes(count=2)), nn.CrossEntropyLoss())


class Cell(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell, self.head = nn.LSTMCell(4, 8), nn.Linear(8, 1)

    def forward(self, x):
        h, c = x.new_zeros(len(x), 8), x.new_zeros(len(x), 8)
        for t in range(x.shape[1]):
            h, c = self.cell(x[:, t], (h, c))
        return self.head(h).squeeze(-1)


def frozen_backbone():
    body = nn.Sequential(nn.Linear(4, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Dropout(0.1))
    body.requires_grad_(False).eval()
    model = nn.Sequential(OrderedDict(body=body, head=nn.Linear(16, 3)))
    return setup(model, (features(), classes()), nn.CrossEntropyLoss(), adam(model.head))


def autoencoder():
    code = [nn.Linear(20, 8), nn.ReLU(), nn.Linear(8, 20), nn.Sigmoid()]
    x = torch.rand(N, 20)
    return setup(nn.Sequential(*code), (x, x), nn.BCELoss())


class Vae(nn.Module):
    def __init__(self):
        super().__init__()
        self.encode, self.decode = nn.Linear(20, 8), nn.Linear(4, 20)

    def forward(self, x):
        mean, log_var = self.encode(x).chunk(2, 1)
        code = mean + (log_var / 2).exp() * torch.randn_like(mean)
        return self.decode(code), mean, log_var


def vae_loss(out, x):
    seen, mean, log_var = out
    likely = F.binary_cross_entropy_with_logits(seen, x, reduction="sum")
    return (likely - 0.5 * (1 + log_var - mean**2 - log_var.exp()).sum()) / len(x)


def vae():
    x = torch.rand(N, 20)
    return setup(Vae(), (x, x), vae_loss)


def info_nce(out, _):
    """Samples meet on purpose, in the loss."""
    out = F.normalize(out, dim=1)
    scores = out @ out.roll(1, 0).T / 0.1
    return F.cross_entropy(scores, torch.arange(len(out)))


class Pairs(nn.Module):
    """Two towers; the model itself compares every sample with every other."""

    def __init__(self):
        super().__init__()
        self.left, self.right = nn.Linear(4, 8), nn.Linear(6, 8)
        self.scale = nn.Parameter(torch.tensor(2.0))

    def forward(self, pair):
        a, b = F.normalize(self.left(pair[0]), dim=1), F.normalize(self.right(pair[1]), dim=1)
        return self.scale.exp() * a @ b.T


def pairs():
    batch = (torch.randn(N, 4), torch.randn(N, 6)), torch.arange(N)
    return setup(Pairs(), batch, nn.CrossEntropyLoss())


class Graph(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two = nn.Linear(4, 8), nn.Linear(8, 3)

    def forward(self, data):
        x, edges = data
        near = torch.zeros_like(x).index_add(0, edges[0], x[edges[1]])
        return self.two(F.relu(self.one(x + near)))


def graph():
    return setup(Graph(), ((features(), torch.randint(0, N, (2, 40))), classes()), nn.CrossEntropyLoss())


class GraphOfBuffer(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("near", torch.eye(N) * 0.5 + torch.rand(N, N) / N)
        self.one, self.two = nn.Linear(4, 8), nn.Linear(8, 3)

    def forward(self, x):
        return self.two(self.near @ F.relu(self.one(self.near @ x)))


def groups():
    model = mlp()
    optimizer = torch.optim.AdamW(
        [
            {"params": [p for p in model.parameters() if p.ndim > 1], "weight_decay": 0.1},
            {"params": [p for p in model.parameters() if p.ndim < 2], "weight_decay": 0.0, "lr": 5e-4},
        ],
        lr=1e-3,
    )
    return setup(model, (features(), classes()), nn.CrossEntropyLoss(), optimizer)


def warm_up():
    made = groups()
    torch.optim.lr_scheduler.LambdaLR(made[3], lambda step: step / 100)
    return made


def one_cycle():
    model = mlp()
    optimizer = sgd(model, lr=0.1)
    torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.1, total_steps=100)
    return setup(model, (features(), classes()), nn.CrossEntropyLoss(), optimizer)


def stepped():
    """In the middle of training, with gradients of the last step still there."""
    model, batch, loss_fn, optimizer = cnn()
    for _ in range(3):
        optimizer.zero_grad()
        loss_fn(model(batch[0]), batch[1]).backward()
        optimizer.step()
    return model, batch, loss_fn, optimizer


def learned():
    """After so much training that the loss is near 0."""
    torch.manual_seed(0)
    model, x = mlp(), features()
    optimizer = adam(model, lr=0.01)
    y = (x[:, 0] > 0).long()
    for _ in range(300):
        optimizer.zero_grad()
        F.cross_entropy(model(x), y).backward()
        optimizer.step()
    return setup(model, (x, y), nn.CrossEntropyLoss(), optimizer)


def bf16():
    model = mlp(act=nn.GELU).bfloat16()
    return setup(model, (features().bfloat16(), classes()), lambda out, t: F.cross_entropy(out.float(), t))


class Autocast(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = mlp()

    def forward(self, x):
        with torch.autocast("cpu", torch.bfloat16):
            return self.body(x)


def weight_norm():
    model = nn.Sequential(parametrizations.weight_norm(nn.Linear(4, 16)), nn.Tanh(), nn.Linear(16, 3))
    return three(model)


def spectral_norm():
    model = nn.Sequential(
        parametrizations.spectral_norm(nn.Linear(4, 16)), nn.LeakyReLU(0.2), nn.Linear(16, 1)
    )
    return setup(model, (features(), torch.ones(N, 1)), nn.BCEWithLogitsLoss())


class Symmetric(nn.Module):
    def forward(self, x):
        return x.triu() + x.triu(1).mT


def symmetric():
    model = mlp(out=4)
    parametrize.register_parametrization(model[2], "weight", nn.Identity())
    return three(model)


def pruned():
    model = mlp()
    prune.l1_unstructured(model[0], "weight", amount=10)
    return three(model)


class LowRank(nn.Module):
    """A frozen layer, and a correction that starts at zero."""

    def __init__(self):
        super().__init__()
        self.base = nn.Linear(4, 3).requires_grad_(False)
        self.a, self.b = nn.Parameter(torch.randn(2, 4) * 0.1), nn.Parameter(torch.zeros(3, 2))

    def forward(self, x):
        return self.base(x) + x @ self.a.T @ self.b.T


def low_rank():
    model = LowRank()
    learn = [p for p in model.parameters() if p.requires_grad]
    return setup(model, (features(), classes()), nn.CrossEntropyLoss(), torch.optim.AdamW(learn, 1e-3))


class Shared(nn.Module):
    def __init__(self):
        super().__init__()
        self.inp, self.again, self.out = nn.Linear(4, 8), nn.Linear(8, 8), nn.Linear(8, 3)

    def forward(self, x):
        x = self.inp(x)
        for _ in range(3):
            x = x + F.relu(self.again(x))
        return self.out(x)


class Checkpointed(Shared):
    def forward(self, x):
        x = torch.utils.checkpoint.checkpoint(self.inp, x, use_reentrant=False)
        return self.out(torch.utils.checkpoint.checkpoint(self.again, x, use_reentrant=False).relu())


class OwnStep(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.sign()

    @staticmethod
    def backward(ctx, grad):
        return grad * (ctx.saved_tensors[0].abs() < 1)


class Binary(nn.Module):
    """Straight-through: a slope is given to a step."""

    def __init__(self):
        super().__init__()
        self.one, self.two = nn.Linear(4, 16), nn.Linear(16, 3)

    def forward(self, x):
        return self.two(OwnStep.apply(self.one(x)))


class Normalises(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(3, 8, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 2)
        )

    def forward(self, x):
        return self.body(x.float() / 255 - 0.5)


def pixels():
    x = torch.randint(0, 256, (N, 3, 8, 8), dtype=torch.uint8)
    return setup(Normalises(), (x, classes(count=2)), nn.CrossEntropyLoss())


def learned_loss():
    """The loss has weights of its own, and the optimizer holds them."""

    class Centers(nn.Module):
        def __init__(self):
            super().__init__()
            self.centers = nn.Parameter(torch.randn(3, 8))

        def forward(self, out, target):
            return (out - self.centers[target]).square().mean()

    model, loss_fn = mlp(out=8), Centers()
    optimizer = torch.optim.SGD([*model.parameters(), *loss_fn.parameters()], 0.1)
    return setup(model, (features(), classes()), loss_fn, optimizer)


def two_optimizers():
    model = mlp()
    both = [torch.optim.SGD(model[0].parameters(), 0.1), torch.optim.Adam(model[2].parameters())]
    return setup(model, (features(), classes()), nn.CrossEntropyLoss(), both)


class Embeds(nn.Module):
    def __init__(self):
        super().__init__()
        self.user, self.item = nn.Embedding(100, 8, sparse=True), nn.Embedding(200, 8, sparse=True)

    def forward(self, ids):
        return (self.user(ids[:, 0]) * self.item(ids[:, 1])).sum(1)


def factors():
    model = Embeds()
    batch = torch.randint(0, 100, (N, 2)), torch.rand(N) * 5
    return setup(model, batch, nn.MSELoss(), torch.optim.SparseAdam(model.parameters(), 1e-2))


class History(nn.Module):
    """Logs numbers, not graphs, and keeps its last output to be looked at."""

    def __init__(self):
        super().__init__()
        self.body, self.log, self.last = mlp(), [], None

    def forward(self, x):
        self.last = self.body(x)
        self.log.append(self.last.detach().mean())
        return self.last


class Hinge(nn.Module):
    def forward(self, out, target):
        return F.relu(1 - out.squeeze(1) * target).mean()


class MaskedMean(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(3, 1)

    def forward(self, batch):
        return self.body(batch[0]).squeeze(-1)


def masked_loss():
    """Some targets count, some do not."""

    def loss(out, target):
        values, mask = target
        return ((out - values).square() * mask).sum() / mask.sum()

    x = torch.randn(N, 5, 3)
    return setup(MaskedMean(), ((x,), (torch.randn(N, 5), (torch.rand(N, 5) < 0.7).float())), loss)


def q_learning():
    """Only the score of the action that was taken is compared."""
    model = mlp(out=12)
    target = torch.randint(0, 12, (4,)), torch.randn(4)
    return setup(
        model, (features(4), target),
        lambda out, t: F.smooth_l1_loss(out.gather(1, t[0][:, None]).squeeze(1), t[1]),
    )  # fmt: skip


class Adversary(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = mlp(out=1, act=lambda: nn.LeakyReLU(0.2))

    def forward(self, x):
        return self.body(x)


def gradient_penalty():
    model = mlp(out=1, act=nn.Tanh)

    def loss(out, x):
        inner = x.detach().requires_grad_()
        slope = torch.autograd.grad(model(inner).sum(), inner, create_graph=True)[0]
        return out.mean() + (slope.norm(dim=1) - 1).square().mean()

    x = features()
    return setup(model, (x, x), loss)


class Unet(nn.Module):
    def __init__(self):
        super().__init__()
        self.down, self.mid = nn.Conv2d(1, 8, 3, 2, 1), nn.Conv2d(8, 8, 3, padding=1)
        self.norm = nn.GroupNorm(2, 8)
        self.up, self.out = nn.ConvTranspose2d(8, 8, 2, 2), nn.Conv2d(9, 4, 1)

    def forward(self, x):
        y = F.silu(self.norm(self.mid(F.silu(self.down(x)))))
        return self.out(torch.cat([self.up(y), x], 1))


def unet():
    batch = torch.randn(4, 1, 8, 8), torch.randint(0, 4, (4, 8, 8))
    return setup(Unet(), batch, nn.CrossEntropyLoss(ignore_index=3))


class Residual(nn.Sequential):
    def forward(self, x):
        return x + super().forward(x)


def deep(act, depth, norm):
    layers = [nn.Linear(4, 32)]
    for _ in range(depth):
        layers += (
            [Residual(nn.LayerNorm(32), nn.Linear(32, 32), act())] if norm else [act(), nn.Linear(32, 32)]
        )
    return three(nn.Sequential(*layers, nn.Linear(32, 3)))


def squeeze_excite():
    class Gate(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv, self.a, self.b = nn.Conv2d(3, 8, 3), nn.Linear(8, 2), nn.Linear(2, 8)
            self.head = nn.Linear(8, 3)

        def forward(self, x):
            x = F.relu(self.conv(x))
            gate = torch.sigmoid(self.b(F.relu6(self.a(x.mean((2, 3))))))
            return self.head((x * gate[..., None, None]).amax((2, 3)))

    return setup(Gate(), (torch.randn(N, 3, 8, 8), classes()), nn.CrossEntropyLoss())


def scripted():
    model = torch.jit.script(mlp())
    return three(model)


def ctc():
    model = nn.LSTM(4, 6)

    def loss(out, target):
        scores = out[0].log_softmax(2)
        sizes = torch.full((4,), 10), torch.full((4,), 3)
        return F.ctc_loss(scores, target, *sizes)

    return setup(model, (torch.randn(10, 4, 4), torch.randint(1, 6, (4, 3))), loss)


class Quantised(nn.Module):
    """The nearest of sixteen codes, and a slope that goes straight through."""

    def __init__(self):
        super().__init__()
        self.encode, self.decode = nn.Linear(4, 4), nn.Linear(4, 4)
        self.codes = nn.Parameter(torch.randn(16, 4))

    def forward(self, x):
        z = self.encode(x)
        q = self.codes[torch.cdist(z.detach(), self.codes.detach()).argmin(1)]
        return self.decode(z + (q - z).detach()), z, q


def quantised():
    def loss(out, x):
        seen, z, q = out
        return F.mse_loss(seen, x) + F.mse_loss(q, z.detach()) + 0.25 * F.mse_loss(z, q.detach())

    x = features()
    return setup(Quantised(), (x, x), loss)


class Experts(nn.Module):
    def __init__(self):
        super().__init__()
        self.experts, self.gate = nn.ModuleList(mlp() for _ in range(4)), nn.Linear(4, 4)

    def forward(self, x):
        shares = self.gate(x).softmax(-1)
        return sum(shares[:, k : k + 1] * one(x) for k, one in enumerate(self.experts))


class SlowCopy(nn.Module):
    """A teacher that follows slowly, without gradients."""

    def __init__(self):
        super().__init__()
        self.body, self.teacher = mlp(out=8), mlp(out=8).requires_grad_(False)

    def forward(self, x):
        with torch.no_grad():
            wanted = self.teacher(x)
        return self.body(x), wanted


def slow_copy():
    model = SlowCopy()
    return setup(model, (features(), None), lambda out, _: F.mse_loss(*out), adam(model.body))


class Loses(nn.Module):
    """The model computes its own loss."""

    def __init__(self):
        super().__init__()
        self.body = mlp()

    def forward(self, batch):
        out = self.body(batch["x"])
        return {"loss": F.cross_entropy(out, batch["labels"]), "logits": out}


class Meter:
    """A loss with a memory: of numbers only."""

    def __init__(self):
        self.total, self.count, self.seen = 0.0, 0, []

    def __call__(self, out, target):
        loss = F.cross_entropy(out, target)
        self.total, self.count = self.total + loss.detach(), self.count + 1
        self.seen.append(loss.detach())
        return loss


def masked_by_index():
    def loss(out, target):
        kept = target > 0
        return F.cross_entropy(out[kept], target[kept])

    model = nn.Sequential(nn.Embedding(30, 8), nn.Linear(8, 5))
    return setup(model, (torch.randint(0, 30, (N, 6)), torch.randint(0, 5, (N, 6))), loss)


def exclusive_or():
    model = nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 1), nn.Sigmoid())
    x = torch.tensor([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    return setup(model, (x, (x.sum(1, keepdim=True) == 1).float()), nn.MSELoss(), sgd(model, lr=1.0))


def parametric_relu():
    layers = [nn.Conv3d(1, 4, 3), nn.PReLU(), nn.AdaptiveMaxPool3d(1), nn.Flatten(), nn.Linear(4, 2)]
    return setup(nn.Sequential(*layers), (torch.randn(4, 1, 6, 6, 6), classes(4, 2)), nn.CrossEntropyLoss())


def capped_embedding():
    model = nn.Sequential(nn.Embedding(50, 8, max_norm=1.0), nn.Flatten(), nn.Linear(40, 2))
    return setup(model, (torch.randint(0, 50, (N, 5)), classes(count=2)), nn.CrossEntropyLoss())


class Gated(nn.Module):
    """A branch behind a factor that starts at zero, or next to it (ReZero, LayerScale)."""

    def __init__(self, gate):
        super().__init__()
        self.one, self.branch, self.two = nn.Linear(4, 16), nn.Linear(16, 16), nn.Linear(16, 3)
        self.gate = nn.Parameter(gate)

    def forward(self, x):
        x = self.one(x)
        return self.two(x + self.gate * F.gelu(self.branch(x)))


class Modulated(nn.Module):
    """A gate behind a gate: the last layer starts at zero, and so does what scales the branch (adaLN-Zero)."""

    def __init__(self):
        super().__init__()
        self.one, self.scale = nn.Linear(4, 16), nn.Linear(16, 32)
        self.branch, self.two = nn.Linear(16, 16), nn.Linear(16, 3)
        for layer in (self.scale, self.two):
            nn.init.zeros_(layer.weight)

    def forward(self, x):
        x = self.one(x)
        shift, gate = self.scale(F.silu(x)).chunk(2, 1)
        return self.two(x + gate * self.branch(x + shift))


class Routed(nn.Module):
    """Each sample goes to one expert; in a small batch nobody goes to some of them."""

    def __init__(self, way):
        super().__init__()
        self.gate, self.out, self.way = nn.Linear(4, 8), nn.Linear(4, 3), way
        self.experts = nn.ModuleList(nn.Linear(4, 4) for _ in range(8))

    def forward(self, x):
        weight, chosen = self.gate(x).softmax(1).max(1)
        outputs = (self.way(expert, x, chosen == k) for k, expert in enumerate(self.experts))
        return self.out(x + weight[:, None] * sum(outputs))


def masked(expert, x, mine):
    return mine[:, None] * expert(x)


def gathered(expert, x, mine):
    order = mine.int().argsort(descending=True)  # as in a kernel that sorts tokens: no wait
    return torch.zeros_like(x).index_add(0, order[:0], expert(x[order[:0]])) + mine[:, None] * x


class Several(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two = nn.Linear(4, 3), nn.Linear(4, 3)

    def forward(self, left, right, *, scale=None):
        return (self.one(left) + self.two(right)) * (1 if scale is None else scale)


class Neighbours(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two = nn.Linear(4, 16), nn.Linear(16, 3)

    def forward(self, x, near):
        return self.two(near @ F.relu(self.one(near @ x)))


def near():
    return (torch.rand(N, N) + torch.eye(N)).softmax(1)


def default_rate(make):
    model = mlp()
    return setup(model, (features(), classes()), nn.CrossEntropyLoss(), make(model.parameters()))


SOUND = {
    "a CNN with batch norm and dropout": cnn,
    "a residual net": resnet,
    "a residual net whose branches start at zero": lambda: resnet(zero=True),
    "a deep residual net": lambda: resnet(depth=20),
    "a transformer with a padding mask": transformer,
    "a transformer, norm first": lambda: transformer(norm_first=True),
    "a head that starts at zero": lambda: transformer(zero_head=True),
    "a language model with tied weights": language_model,
    "a GRU with a detached state": lambda: recurrent(nn.GRU),
    "an LSTM with a detached state": lambda: recurrent(nn.LSTM),
    "an RNN with a detached state": lambda: recurrent(nn.RNN),
    "an LSTM over time first": time_first,
    "packed sequences": packed,
    "an LSTM cell in a loop": lambda: setup(Cell(), (torch.randn(N, 5, 4), torch.randn(N)), nn.MSELoss()),
    "a frozen backbone": frozen_backbone,
    "an autoencoder": autoencoder,
    "a variational autoencoder": vae,
    "a contrastive loss": lambda: setup(mlp(out=8), (features(), None), info_nce),
    "two towers": pairs,
    "a graph net with edges": graph,
    "a graph net with a matrix": lambda: three(GraphOfBuffer()),
    "two groups": groups,
    "a warm-up from zero": warm_up,
    "one cycle": one_cycle,
    "in the middle of training": stepped,
    "at the end of training": learned,
    "bfloat16": bf16,
    "autocast": lambda: three(Autocast()),
    "all in float64": lambda: setup(
        mlp(out=1).double(), (features().double(), torch.randn(N, 1).double()), nn.MSELoss()),
    "weight norm": weight_norm,
    "spectral norm": spectral_norm,
    "a parametrization": symmetric,
    "pruned": pruned,
    "low rank on a frozen layer": low_rank,
    "a module called three times": lambda: three(Shared()),
    "checkpointed": lambda: three(Checkpointed()),
    "straight-through": lambda: three(Binary()),
    "pixels that the model scales": pixels,
    "a loss with weights": learned_loss,
    "two optimizers": two_optimizers,
    "sparse embeddings": factors,
    "numbers in a log": lambda: three(History()),
    "no optimizer": lambda: (mlp(), (features(), classes()), nn.CrossEntropyLoss(), None),
    "BCE with logits": lambda: number(mlp(out=1), (classes(count=2)[:, None]).float(), nn.BCEWithLogitsLoss()),
    "several labels": lambda: number(mlp(out=5), torch.randint(0, 2, (N, 5)).float(), nn.BCEWithLogitsLoss()),
    "Huber": lambda: number(mlp(out=1), torch.randn(N, 1), nn.HuberLoss()),
    "L1, squeezed": lambda: setup(mlp(out=1), (features(), torch.randn(N)), lambda o, t: F.l1_loss(o.squeeze(1), t)),
    "KL divergence": lambda: setup(
        nn.Sequential(mlp(), nn.LogSoftmax(1)), (features(), torch.rand(N, 3).softmax(1)),
        nn.KLDivLoss(reduction="batchmean")),
    "cross entropy by hand": lambda: number(
        mlp(), classes(), lambda o, t: -torch.log_softmax(o, 1).gather(1, t[:, None]).mean()),
    "softmax of a teacher's probabilities beside raw scores": lambda: number(
        mlp(), torch.rand(N, 3).softmax(1), lambda o, t: -(t.softmax(1) * o.log_softmax(1)).sum(1).mean()),
    "NLL of log_softmax": lambda: number(nn.Sequential(mlp(), nn.LogSoftmax(1)), classes(), nn.NLLLoss()),
    "one-hot targets": lambda: number(mlp(), F.one_hot(classes(), 3).float(), nn.CrossEntropyLoss()),
    "a hinge": lambda: setup(mlp(out=1), (features(), classes(count=2) * 2.0 - 1), Hinge()),
    "counts": lambda: number(mlp(out=1), torch.randint(0, 9, (N, 1)).float(), nn.PoissonNLLLoss()),
    "targets far from zero": lambda: number(mlp(out=1), 1000 + torch.randn(N, 1), nn.MSELoss()),
    "targets far from zero, with SGD": lambda: (lambda m: setup(
        m, (features(), 300 + torch.randn(N, 1)), nn.MSELoss(), torch.optim.SGD(m.parameters(), 0.01)))(mlp(out=1)),
    "ReLU on counts": lambda: number(nn.Sequential(mlp(out=1), nn.Softplus()), torch.rand(N, 1), nn.MSELoss()),
    "a tanh on actions": lambda: number(nn.Sequential(mlp(out=2), nn.Tanh()), torch.rand(N, 2) * 2 - 1, nn.MSELoss()),
    "a scalar target": lambda: number(mlp(out=1), torch.tensor(1.0), nn.MSELoss()),
    "a mask in the loss": masked_loss,
    "the score of one action": q_learning,
    "a discriminator on real samples": lambda: number(Adversary(), torch.ones(N, 1), nn.BCEWithLogitsLoss()),
    "a gradient penalty": gradient_penalty,
    "a U-Net": unet,
    "squeeze and excite": squeeze_excite,
    "CTC": ctc,
    "a tiny batch": lambda: setup(mlp(), (features(2), torch.tensor([1, 1])), nn.CrossEntropyLoss()),
    "a tiny batch with batch norm": lambda: setup(
        nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 8), nn.BatchNorm1d(8),
                      nn.Linear(8, 2)),
        (features(2), torch.tensor([0, 1])), nn.CrossEntropyLoss()),
    "one sample": lambda: setup(mlp(), (features(1), torch.tensor([1])), nn.CrossEntropyLoss()),
    "a linear regression": lambda: number(nn.Linear(4, 1), torch.randn(N, 1), nn.MSELoss()),
    "twelve layers with tanh": lambda: deep(nn.Tanh, 12, False),
    "eight layers with ReLU": lambda: deep(nn.ReLU, 8, False),
    "fifty layers with layer norm": lambda: deep(nn.ReLU, 50, True),
    "eval mode without a difference": lambda: (lambda m: three(m.eval()))(mlp()),
    "scripted": scripted,
    "nearest codes": quantised,
    "a mixture of experts": lambda: three(Experts()),
    "a slow teacher": slow_copy,
    "a model that computes its loss": lambda: setup(
        Loses(), ({"x": features(), "labels": classes()}, None), lambda out, _: out["loss"]),
    "a loss that counts": lambda: setup(mlp(), (features(), classes()), Meter()),
    "only some targets, by an index": masked_by_index,
    "exclusive or": exclusive_or,
    "a learned slope": parametric_relu,
    "rows of at most norm 1": capped_embedding,
    "data parallel": lambda: three(nn.DataParallel(mlp())),
    "a batch norm that brings the input into range": lambda: setup(
        nn.Sequential(nn.BatchNorm1d(4), mlp()), (features() * 100 + 500, classes()), nn.CrossEntropyLoss()),
    "a sum over the batch": lambda: setup(
        mlp(), (features(), classes()), nn.CrossEntropyLoss(reduction="sum")),
    "a loss that ignores the target": lambda: setup(mlp(), (features(), classes()), lambda out, t: out.square().mean()),
    "a factor of zero that learns": lambda: three(Gated(torch.zeros(()))),
    "a factor per channel near zero": lambda: three(Gated(torch.full((16,), 1e-6))),
    "a gate behind a gate": lambda: three(Modulated()),
    "experts behind a mask": lambda: setup(Routed(masked), (features(4), classes(4)), nn.CrossEntropyLoss()),
    "experts that get no rows": lambda: setup(Routed(gathered), (features(4), classes(4)), nn.CrossEntropyLoss()),
    "two inputs": lambda: setup(Several(), ((features(), features()), classes()), nn.CrossEntropyLoss()),
    "inputs by name": lambda: setup(
        Several(), ({"left": features(), "right": features(), "scale": 2.0}, classes()), nn.CrossEntropyLoss()),
    "a matrix of neighbours in the batch": lambda: setup(
        Neighbours(), ((features(), near()), classes()), nn.CrossEntropyLoss()),
    "Adadelta at its own rate": lambda: default_rate(torch.optim.Adadelta),
    "bfloat16 with a rate that it shows": lambda: (lambda s: (
        s[0].bfloat16(), (s[1][0].bfloat16(), s[1][1]), lambda o, t: F.cross_entropy(o.float(), t), s[3]))(
            default_rate(lambda p: torch.optim.SGD(p, 0.5))),
}  # fmt: skip
