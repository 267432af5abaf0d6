"""Named one-liners: each makes its own tensors and gives the code to watch."""

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

Snippet = Callable[[], Any]
SNIPPETS: dict[str, Callable[[], Snippet]] = {}


def named(make: Callable[[], Snippet]) -> Callable[[], Snippet]:
    SNIPPETS[make.__name__] = make
    return make


def x() -> Tensor:
    return torch.arange(12.0).reshape(3, 4)


def leaf() -> Tensor:
    return x().requires_grad_()


def simple(name: str, code: Callable[[Tensor], Any], make: Callable[[], Tensor] = x) -> None:
    def prepare() -> Snippet:
        tensor = make()
        return lambda: code(tensor)

    SNIPPETS[name] = prepare


simple("transpose", lambda t: t.t())
simple("view", lambda t: t.view(4, 3))
simple("reshape_view", lambda t: t.reshape(12))
simple("reshape_copy", lambda t: t.t().reshape(12))
simple("reshape_alias", lambda t: t[:, :2].reshape(3, 2, 1))
simple("contiguous_copies", lambda t: t.t().contiguous())
simple("flatten_alias", lambda t: t[:, :2].flatten(0))
simple("flatten_column", lambda t: t[:, ::4].unsqueeze(1).expand(-1, 2, -1).flatten(1))
simple("expand", lambda t: t[:1].expand(3, 4))
simple("clone", lambda t: t.clone())
simple("detach", lambda t: t.detach(), leaf)
simple("add_scalar", lambda t: t + 1)
simple("add_in_place", lambda t: t.add_(1))
simple("broadcast", lambda t: t + t[:, :1])
simple("index_basic", lambda t: t[1:, ::2])
simple("index_integer", lambda t: t[1, 2])
simple("index_advanced", lambda t: t[torch.tensor([0, 2])])
simple("index_boolean", lambda t: t[t > 3])
simple("set_boolean", lambda t: t.__setitem__(t > 3, 0.0))
simple("set_row", lambda t: t.__setitem__(0, 5.0))
simple("add_to_row", lambda t: t[0].__iadd__(1))
simple("matmul", lambda t: t @ t.t())
simple("matmul_non_contiguous", lambda t: t.t() @ t)
simple("matmul_batched", lambda t: t.reshape(1, 3, 4) @ t.reshape(1, 4, 3))
simple("einsum", lambda t: torch.einsum("ij,kj->ik", t, t))
simple("sum", lambda t: t.sum(0))
simple("cat", lambda t: torch.cat([t, t]))
simple("split", lambda t: t.split(2, 1))
simple("to_float64", lambda t: t.to(torch.float64))
simple("to_itself", lambda t: t.to(torch.float32))
simple("out", lambda t: torch.add(t, t, out=torch.empty_like(t)))
simple("item", lambda t: t.sum().item())
simple("truth", lambda t: bool(t.sum() > 0))
simple("print", lambda t: repr(t))
simple("nonzero", lambda t: t.nonzero())
simple("where", lambda t: torch.where(t > 2, t, 0.0))
simple("linear", lambda t: F.linear(t, t), leaf)
simple("softmax", lambda t: t.softmax(1), leaf)
simple("cross_entropy", lambda t: F.cross_entropy(t, torch.tensor([0, 1, 2])), leaf)
simple("backward", lambda t: (t * t).sum().backward(), leaf)
simple("backward_sqrt", lambda t: (t + 1).sqrt().sum().backward(), leaf)
simple("backward_index", lambda t: t[torch.tensor([0, 2, 0])].sum().backward(), leaf)
simple("backward_gather", lambda t: t.gather(1, torch.zeros(3, 2, dtype=torch.long)).sum().backward(), leaf)
simple("backward_max", lambda t: t.max(1).values.sum().backward(), leaf)
simple("backward_reshape", lambda t: t.t().reshape(4, 3, 1).sum(1).sum().backward(), leaf)
simple("backward_index_select", lambda t: t.index_select(0, torch.tensor([0, 0])).sum().backward(), leaf)
simple("backward_masked_select", lambda t: t.masked_select(t > 3).sum().backward(), leaf)
simple("backward_topk", lambda t: t.topk(2).values.sum().backward(), leaf)
simple("backward_bce", lambda t: F.binary_cross_entropy(t.sigmoid(), torch.ones(3, 4)).backward(), leaf)
simple("no_grad", lambda t: torch.no_grad()(lambda: t * 2)(), leaf)
simple("inference_mode", lambda t: torch.inference_mode()(lambda: t * 2)(), leaf)
simple("func_grad", lambda t: torch.func.grad(lambda u: (u * u).sum())(t))
simple("vmap", lambda t: torch.vmap(lambda row: row.sum())(t))


@named
def autocast() -> Snippet:
    layer, batch = nn.Linear(4, 2), x()

    def run() -> Tensor:
        with torch.autocast("cpu", torch.bfloat16):
            return layer(batch)

    return run


@named
def module_with_hooks() -> Snippet:
    layer, batch = nn.Linear(4, 2), x()
    layer.register_forward_pre_hook(lambda module, args: (args[0] * 2,))
    layer.register_forward_hook(lambda module, args, result: result + 1)
    return lambda: layer(batch)


class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, tensor: Tensor) -> Tensor:
        ctx.save_for_backward(tensor)
        return tensor * 2

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        return grad * 2


@named
def own_function() -> Snippet:
    tensor = leaf()
    return lambda: Double.apply(tensor).sum().backward()


@named
def checkpoint() -> Snippet:
    layer, batch = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)), leaf()
    run = torch.utils.checkpoint.checkpoint
    return lambda: run(layer, batch, use_reentrant=False).sum().backward()


@named
def data_loader() -> Snippet:
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x()), batch_size=2)
    return lambda: [batch for (batch,) in loader]


def _step(model: nn.Module, batch: Tensor, optimizer: torch.optim.Optimizer) -> Snippet:
    def run() -> None:
        optimizer.zero_grad()
        model(batch).square().mean().backward()
        optimizer.step()

    run()  # the first step makes Adam's state
    return run


def mlp() -> tuple[nn.Module, Tensor]:
    return nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4)), torch.ones(5, 8)


def cnn() -> tuple[nn.Module, Tensor]:
    layers = [nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2)]
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(36, 3)), torch.ones(2, 1, 8, 8)


def transformer() -> tuple[nn.Module, Tensor]:
    layer = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, batch_first=True)
    return nn.TransformerEncoder(layer, 2), torch.ones(2, 5, 16)


@named
def mlp_step() -> Snippet:
    model, batch = mlp()
    return _step(model, batch, torch.optim.SGD(model.parameters(), 0.1))


@named
def cnn_step() -> Snippet:
    model, batch = cnn()
    return _step(model, batch, torch.optim.SGD(model.parameters(), 0.1))


@named
def transformer_step() -> Snippet:
    model, batch = transformer()
    return _step(model, batch, torch.optim.SGD(model.parameters(), 0.1))


@named
def transformer_fast_path() -> Snippet:
    model, batch = transformer()
    model.eval()
    return lambda: torch.no_grad()(model)(batch)


@named
def adam_foreach() -> Snippet:
    model, batch = mlp()
    return _step(model, batch, torch.optim.Adam(model.parameters(), foreach=True))


@named
def adam_single() -> Snippet:
    model, batch = mlp()
    return _step(model, batch, torch.optim.Adam(model.parameters(), foreach=False))
