"""Checks of chapter 05. Each takes what the learner wrote and compares it with PyTorch itself."""

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor, nn

from torchcourse.exercises import Raised, Verdict, almost, check, not_yet, right, wrong
from torchcourse.modules import missed

__all__ = ["encoder", "freeze", "he", "shapes"]


@check
def encoder(answer: Any) -> Iterator[Verdict]:
    """A module whose layers, positions and mask are registered, each in the right way."""
    kind = answer.given
    if not (isinstance(kind, type) and issubclass(kind, nn.Module)):
        yield not_yet("hand over the class itself, a subclass of nn.Module.")
        return
    model = _calling(kind, 2, 3)
    beside = [found.where for found in missed(model)]
    if len(beside) == 3:
        yield not_yet("layers, positions and mask are all unregistered still. missed(Encoder()) names them.")
        return
    if beside:
        yield wrong(f"still beside the tree: {', '.join(beside)}.")
    parameters, buffers = dict(model.named_parameters()), dict(model.named_buffers())
    yield from _judge_names(parameters, buffers, model.state_dict())
    for parameter in model.parameters():  # positive ones, so that no ReLU hides a difference
        parameter.data.abs_().add_(0.1)
    model.positions.data.fill_(1.0)
    layers = list(model.layers)
    if len(layers) != 2:
        yield wrong(f"Encoder(depth=2) has {len(layers)} layers.")
    x = torch.ones(1, 3)
    expected = x
    for layer in layers:
        expected = layer(expected + 1).relu()
    if not torch.allclose(_calling(model, x), expected):
        yield wrong("forward gives other numbers than before: only the registration was to change.")
    yield right("the layers and positions are trained, the mask moves and is not saved.")


def _judge_names(
    parameters: dict[str, Any], buffers: dict[str, Any], saved: dict[str, Any]
) -> Iterator[Verdict]:
    if not any(name.startswith("layers") for name in parameters):
        yield wrong("parameters() has nothing of layers.")
    if "positions" not in parameters:
        yield wrong("positions is no parameter: nobody would train it.")
    if "mask" in parameters:
        yield wrong("mask is a parameter: the optimizer would change it.")
    if "mask" not in buffers:
        yield wrong("mask is no buffer: to() would leave it behind.")
    if "mask" in saved:
        yield almost("mask moves, and state_dict() saves it. It was not to be saved: persistent=False.")


@check
def shapes(answer: Any) -> Iterator[Verdict]:
    """Output shapes by hooks that are removed again."""
    model, x = _hook_model(), torch.ones(2, 4)
    expected = {"0.0": (2, 3), "0.1": (2, 3), "0": (2, 3), "1": (2, 5), "": (2, 5)}
    given = answer(model, x)
    if not isinstance(given, dict):
        yield wrong(f"a dict was asked for, path → shape; got a {type(given).__name__}.")
        return
    shapes = {
        path: tuple(shape) if isinstance(shape, tuple | list) else shape for path, shape in given.items()
    }
    yield from _judge_shapes(shapes, expected)
    if _hooks(model):
        yield almost(f"right shapes, but {_hooks(model)} hooks are left on the model: remove the handles.")
    calls = model[1].calls
    if calls != 1:
        yield almost(f"right shapes, but the model ran {calls} times; once is enough.")
    broken = nn.Sequential(nn.Linear(4, 3), nn.Linear(4, 3))
    try:
        answer(broken, x)
    except Raised:
        if _hooks(broken):
            yield almost("when the model raises, hooks stay on it: remove them in a finally.")
    yield right("every path with its shape, in the order of finishing, and no hook is left.")


class _Counts(nn.Linear):
    calls = 0

    def forward(self, x: Tensor) -> Tensor:
        self.calls += 1
        return super().forward(x)


def _hook_model() -> nn.Sequential:
    return nn.Sequential(nn.Sequential(nn.Linear(4, 3), nn.ReLU()), _Counts(3, 5))


def _judge_shapes(given: dict[str, Any], expected: dict[str, Any]) -> Iterator[Verdict]:
    if given == expected and list(given) == list(expected):
        return
    if not given:
        yield wrong("the dict is empty: did the hooks run? A direct call of forward skips the outer one.")
    elif len(given) == 1:
        yield wrong(
            f"all hooks wrote under {next(iter(given))!r}: bind the path, path=path, when you make the hook."
        )
    elif given == {path: shape for path, shape in expected.items() if path}:
        yield almost(
            "the submodules are right; the model itself, under '', is missing. Was forward called directly?"
        )
    elif given == expected:
        yield almost(
            f"right shapes; the order is {list(given)}, and modules finish in the order {list(expected)}."
        )
    else:
        yield wrong(f"for a model with the outputs {expected} you give {given}.")


def _hooks(model: nn.Module) -> int:
    return sum(len(module._forward_hooks) + len(module._forward_pre_hooks) for module in model.modules())


@check
def freeze(answer: Any) -> Iterator[Verdict]:
    """Freeze a part: no gradients, no statistics that drift, and the rest as it was."""
    model = nn.ModuleDict(
        {"body": nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3)), "head": nn.Linear(3, 1)}
    )
    body: Any = model["body"]
    answer(body)
    if body[0].weight.requires_grad and body[1].training:
        yield not_yet("nothing is frozen: its parameters still require grad, its BatchNorm is in train mode.")
    if any(p.requires_grad for p in body.parameters()):
        yield wrong("some parameters of the part still require grad.")
    if not all(p.requires_grad for p in model["head"].parameters()):
        yield wrong("the head is frozen, too.")
    if body[1].training:
        yield almost(
            "no gradients any more. But BatchNorm is in train mode: its running statistics still drift."
        )
    with torch.no_grad():
        for _ in range(2):
            body(torch.rand(8, 3))
    if body[1].num_batches_tracked != 0:
        yield almost("the running statistics still move.")
    model.train()
    if body[1].training:
        yield almost(
            "right until the next model.train(): that sets the mode back. Say so in a train of its own."
        )
    yield right("no gradients, no drift, and model.train() does not wake it.")


@check
def he(answer: Any) -> Iterator[Verdict]:
    """An init function for `model.apply`: He's normal for Linear and Conv2d, zero biases, the rest untouched."""
    torch_state = torch.get_rng_state()
    torch.manual_seed(0)
    try:
        yield from _judge_he(answer)
    finally:
        torch.set_rng_state(torch_state)


def _judge_he(answer: Any) -> Iterator[Verdict]:
    linear, conv = nn.Linear(400, 300), nn.Conv2d(16, 64, 3)
    untouched = linear.weight.detach().clone(), conv.weight.detach().clone()
    norm = nn.BatchNorm2d(3)
    for module in (linear, conv, norm, nn.ReLU(), nn.Linear(4, 4, bias=False)):
        answer(module)
    if torch.equal(linear.weight, untouched[0]):
        yield not_yet("a Linear keeps PyTorch's default.")
    for module, fan_in in ((linear, 400), (conv, 16 * 9)):
        std, wanted = float(module.weight.detach().std()), (2 / fan_in) ** 0.5
        name = type(module).__name__
        if module is conv and torch.equal(conv.weight, untouched[1]):
            yield almost("Linear is right; a Conv2d keeps the default. isinstance takes a tuple of classes.")
        elif abs(std / wanted - 3**-0.5) < 0.03:
            yield wrong(
                f"{name}: std {std:.4f} is Xavier-like or the slope is not relu's; He wants {wanted:.4f}."
            )
        elif abs(std / wanted - 1) > 0.05:
            yield wrong(f"{name}: the std is {std:.4f}, He wants sqrt(2 / fan_in) = {wanted:.4f}.")
        if module.bias is not None and module.bias.abs().sum() > 0:
            yield almost(f"{name}: the weights are right, the bias is not zero.")
    if float(norm.weight.detach().std()) > 0:
        yield wrong("the weight of BatchNorm was changed; it starts with ones.")
    yield right("std sqrt(2 / fan_in) for Linear and Conv2d, biases zero, all else untouched.")


def _calling(function: Callable[..., Any], *args: Any) -> Any:
    """Call the learner's code; what it raises is told in a sentence."""
    try:
        return function(*args)
    except Exception as error:
        raise Raised(error, f"in {getattr(function, '__name__', type(function).__name__)}") from None
