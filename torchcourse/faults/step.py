"""One step, run and measured: forward, loss, backward. What comes back is numbers and findings, no tensor."""

import contextlib
import weakref
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from torchcourse.layers._torch import next_node_number, unwatched
from torchcourse.modules import Finding

from .given import ADAPTIVE, Given, tensors
from .gradients import Gradients, Measure
from .graph import Graph, graph, source
from .keep import Keep
from .modes import differs
from .numbers import rms
from .watch import Place, Watch

NORMS = (
    nn.modules.batchnorm._NormBase, nn.LayerNorm, nn.GroupNorm, nn.RMSNorm, nn.LocalResponseNorm,
)  # fmt: skip
Kept = tuple[str, tuple[int, ...]]  # what holds it, shape


@dataclass
class Seen:
    """What one step showed. made: what of it must be gone when the next one has run."""

    start: int = 0  # the number of its first node
    error: Finding | None = None
    found: list[Finding] = field(default_factory=list)
    waits: dict[tuple[str, Place], int] = field(default_factory=dict)
    made: list[weakref.ref[Tensor]] = field(default_factory=list)
    old_nodes: int = 0  # nodes of an earlier step behind this one's loss
    flat: list[tuple[str, float]] = field(default_factory=list)
    loss: float | None = None
    loss_dtype: torch.dtype | None = None
    output: "Output | None" = None
    gradients: Gradients | None = None
    received: tuple[str, float] | None = None  # the first layer's path, root mean square of what it got
    first_wide: str | None = None  # the first module whose output is float64
    switched: tuple[str, ...] = ()  # modules that forward put into eval mode
    routes: bool = False  # forward chooses by the largest of some numbers
    rows: dict[str, int] = field(
        default_factory=dict
    )  # the most that each layer with weights was given at once
    strays: dict[int, tuple[int, ...]] = field(default_factory=dict)  # parameters that the model doesn't own
    before_relu: set[int] = field(default_factory=set)


@dataclass(frozen=True)
class Output:
    shape: tuple[int, ...]
    dtype: torch.dtype
    rms: float
    spread: float  # the most that two samples differ; 1 where there is one sample only
    has_graph: bool


def run(given: Given, keep: Keep, same: set[int], first: bool = True) -> Seen:
    """One step under watch. same: ids of weights whose rows are equal. Nothing of the step outlives it here.

    What every step shows alike (what layers and losses are given) is looked at in the first one only.
    """
    seen = Seen(start=next_node_number())
    watch = Watch(keep, first)
    handles = list(_layer_hooks(given.model, seen)) if first else []
    try:
        _step(given, keep, watch, seen, same)
    finally:
        for handle in handles:
            handle.remove()
        seen.found, seen.waits, seen.made = watch.found, watch.waits, watch.made
        watch.flat.clear()
    return seen


def _step(given: Given, keep: Keep, watch: Watch, seen: Seen, same: set[int]) -> None:
    stage = "model"
    try:
        modes = [m for m in given.model.modules() if m.training and differs(m)]
        with watch:
            output = given.call(given.input)
            seen.switched, seen.routes = _switched(given.model, modes), watch.routes
            with unwatched():
                main = next((t for t in tensors(output) if t.is_floating_point()), None)
                seen.output = _output(main) if watch.first and main is not None else None
            stage = watch.phase = "loss"
            loss = given.loss_fn(output, given.target)
        seen.error = _no_loss(loss)
        if seen.error is not None:
            return
        stage = "backward"
        behind = _look_at_graph(loss, main, watch, seen)
        if loss.requires_grad and not seen.old_nodes:
            _backward(given, keep, loss, (main, behind), seen, same)
    except Exception as error:
        seen.error = _raised(stage, error)


def _switched(model: nn.Module, trained: list[nn.Module]) -> tuple[str, ...]:
    changed = {id(m) for m in trained if not m.training}
    return tuple(path for path, m in model.named_modules() if id(m) in changed) if changed else ()


def _look_at_graph(loss: Tensor, main: Tensor | None, watch: Watch, seen: Seen) -> Graph:
    seen.loss, seen.loss_dtype = float(loss.detach()), loss.dtype
    behind = graph(loss)
    seen.old_nodes = behind.older_than(seen.start)
    seen.before_relu = behind.before_relu()
    last = None if main is None else source(main)
    seen.flat = [(name, float(share)) for name, node, share in watch.flat if node is not last]
    return behind


def _backward(
    given: Given, keep: Keep, loss: Tensor, above: tuple[Tensor | None, Graph], seen: Seen, same: set[int]
) -> None:
    main, behind = above
    learned = [p for p in given.parameters.values() if p.requires_grad]
    own = set(map(id, given.parameters.values()))
    strays = (leaf for leaf in behind.leaves if isinstance(leaf, nn.Parameter) and id(leaf) not in own)
    seen.strays = {id(leaf): tuple(leaf.shape) for leaf in strays}
    leaves = {id(leaf): leaf for leaf in (*behind.leaves, *learned)}
    for leaf in leaves.values():
        keep.add(leaf)
    measure = Measure(leaves.values(), main, seen.before_relu, same, _moves(given))
    with measure.hooks():
        loss.backward()
    seen.gradients = measure.result()


def _moves(given: Given) -> dict[int, tuple[float, bool]]:
    """How far the optimizer moves what is bfloat16: lr · gradient (plain SGD), or about lr."""
    found: dict[int, tuple[float, bool]] = {}
    for optimizer, _, group in given.groups():
        plain, even = type(optimizer) is torch.optim.SGD, type(optimizer).__name__ in ADAPTIVE
        rate = float(group.get("lr") or 0.0) / max(1e-3, 1 - (group.get("momentum") or 0.0))
        coarse = (p for p in group["params"] if p.dtype == torch.bfloat16 and p.layout is torch.strided)
        if rate and (plain or even):
            found |= {id(p): (rate, even) for p in coarse}
    return found


def _output(main: Tensor) -> Output:
    with torch.no_grad():
        plain = main.detach()
        spread = 1.0
        if plain.ndim and len(plain) > 1 and plain.numel():
            spread = float((plain.float() - plain[:1].float()).abs().max())
    return Output(tuple(plain.shape), plain.dtype, rms(main), spread, main.requires_grad)


def _layer_hooks(model: nn.Module, seen: Seen) -> Iterator[Any]:
    """What the first layer with weights gets, and where the dtype widens."""
    for path, module in model.named_modules():
        if isinstance(module, torch.jit.ScriptModule) or not any(
            True for _ in module.parameters(recurse=False)
        ):
            continue

        def before(module: nn.Module, args: Any, path: str = path) -> None:
            given = args[0] if args and isinstance(args[0], Tensor) else None
            rows = 1 if given is None or not given.ndim else given.shape[0]
            seen.rows[path] = max(rows, seen.rows.get(path, 0))
            if seen.received is None and given is not None:
                with unwatched():
                    seen.received = path, _received(module, given)

        def after(module: nn.Module, args: Any, out: Any, path: str = path) -> None:
            with unwatched():
                if seen.first_wide is None and isinstance(out, Tensor) and out.dtype == torch.float64:
                    seen.first_wide = path

        if not any(True for _ in module.children()):
            yield module.register_forward_pre_hook(before)
        yield module.register_forward_hook(after)


def _received(module: nn.Module, given: Tensor) -> float:
    """Root mean square; 1 where the layer brings its input into range by itself, or takes indices."""
    return 1.0 if isinstance(module, NORMS) else rms(given)


# --- what stops a step ------------------------------------------------------------------------------------


def _no_loss(loss: Any) -> Finding | None:
    if not isinstance(loss, Tensor):
        return Finding(
            "loss-not-scalar",
            "loss_fn",
            f"loss_fn returned a {type(loss).__name__}, and backward starts from a tensor with one element.",
            "Return the loss as a tensor; .item() cuts it off from the graph.",
        )
    if loss.numel() != 1:
        return Finding(
            "loss-not-scalar",
            "loss_fn",
            f"the loss has shape {list(loss.shape)}, and backward starts from one number.",
            'Take its mean: loss.mean(), or leave reduction="none" out.',
        )
    if loss.is_complex():
        return Finding(
            "loss-not-scalar",
            "loss_fn",
            f"the loss is a {str(loss.dtype).removeprefix('torch.')}, and backward starts from one real number.",
            "Take what is to be small: loss.abs(), or loss.real.",
        )
    return None


def _raised(stage: str, error: Exception) -> Finding:
    where = {"model": "model(input)", "loss": "loss_fn(output, target)", "backward": "loss.backward()"}[stage]
    text = ""
    with contextlib.suppress(Exception):  # a `__str__` of the reader's may raise as well
        text = str(error).strip().partition("\n")[0][:300]
    return Finding(
        "step-raises",
        where,
        f"{where} raised {type(error).__name__}: {text}",
        "Run the step yourself, and ask torchcourse.explain() about the error.",
    )
