"""What a loss function is given, told from the numbers themselves: logits, probabilities, logarithms, targets.

Each look is handed the arguments of one call by name, and reads at most `ROWS` rows of them.
"""

import inspect
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from torchcourse.modules import Finding

from .graph import source_name
from .numbers import rms

ROWS = 64
FAR = 1e4  # a target of this size, while the output is a thousandth of it
SORTED = 32  # samples that have one and the same label: by chance never, in a sorted data set always
NEAR = 1e-3  # how far probabilities may be from adding up to 1 …
NEAR_HALF = 2e-2  # … where they have half precision
# Of a loss written by hand: what holds a prediction against a target, and what makes it probabilities.
PAIRS = {"sub", "subtract", "rsub", "__rsub__", "mul", "multiply", "pow"}
SOFTMAXES = {"softmax", "log_softmax"}
SQUASHED = {
    "SoftmaxBackward0": ("softmax", 0.0, 1.0),
    "SigmoidBackward0": ("sigmoid", 0.0, 1.0),
    "HardsigmoidBackward0": ("hardsigmoid", 0.0, 1.0),
    "TanhBackward0": ("tanh", -1.0, 1.0),
    "ReluBackward0": ("ReLU", 0.0, float("inf")),
    "SoftplusBackward0": ("softplus", 0.0, float("inf")),
}
Arguments = dict[str, Any]
Look = Callable[[str, Arguments], Iterator[Finding]]


def look(func: Any, name: str, args: Any, kwargs: Any) -> Iterator[Finding]:
    """The findings at one call; of a call that will fail by itself, none."""
    if func not in LOOKS:
        yield from _again(name, args, kwargs) if name in SOFTMAXES else _by_hand(name, args)
        return
    arguments = bound(func, args, kwargs)
    for one in LOOKS[func]:
        yield from one(func.__name__, arguments)


def bound(func: Any, args: Any, kwargs: Any) -> Arguments:
    try:
        return dict(_signature(func).bind(*args, **kwargs).arguments)
    except TypeError:
        return {}


@cache
def _signature(func: Any) -> inspect.Signature:
    return inspect.signature(func)


def _pair(arguments: Arguments) -> tuple[Tensor, Tensor] | None:
    """The prediction and the target, where both are dense tensors with elements."""
    names = ("input", "target") if "input" in arguments else ("log_probs", "targets")
    given, wanted = (arguments.get(name) for name in names)
    if not isinstance(given, Tensor) or not isinstance(wanted, Tensor):
        return None
    return (given, wanted) if given.numel() and wanted.numel() and given.layout is torch.strided else None


# --- cross entropy and its parts ------------------------------------------------------------------------


def _logits(name: str, arguments: Arguments) -> Iterator[Finding]:
    """cross_entropy takes raw scores, and applies log_softmax itself."""
    pair = _pair(arguments)
    if pair is None or not pair[0].is_floating_point():
        return
    scores, dim = pair[0], _class_dimension(pair[0])
    if scores.shape[dim] == 1:
        yield Finding(
            "softmax-of-one",
            name,
            f"the scores have shape {_shape(scores)}, one class: its softmax is always 1, so the loss is always 0.",
            "For two classes either give two scores, or one score to BCEWithLogitsLoss.",
        )
        return
    if (told := _already(scores, dim)) is not None:
        kind, evidence = told
        yield Finding(kind, name, evidence, _SCORES.format("cross_entropy"))
    elif (squashed := SQUASHED.get(source_name(scores))) is not None:
        yield Finding(
            "activation-before-loss",
            name,
            f"the scores come out of a {squashed[0]} and lie in {_range(scores)}: "
            f"no class can get a score outside of {squashed[1]:g} to {squashed[2]:g}.",
            f"Leave the last {squashed[0]} out: {name} takes raw scores, of any sign and size.",
        )


_SCORES = "Return the raw scores from the model: {} applies softmax itself."


def _again(name: str, args: Any, kwargs: Any) -> Iterator[Finding]:
    """A loss of one's own that begins with a softmax, and is given probabilities."""
    scores, dim = args[0], kwargs.get("dim", args[1] if len(args) > 1 else None)
    if not (isinstance(scores, Tensor) and isinstance(dim, int) and scores.ndim and scores.requires_grad):
        return
    rows = _rows(scores)
    if rows.numel() and _adds_up(rows, dim):
        yield Finding("softmax-twice", name, _twice(rows, scores.shape[dim]), _SCORES.format("the loss"))


def _already(scores: Tensor, dim: int) -> tuple[str, str] | None:
    """Whether softmax or log_softmax ran before."""
    rows = _rows(scores)
    if _adds_up(rows, dim):
        return "softmax-twice", _twice(rows, scores.shape[dim])
    if _is_log(rows, dim):
        return "softmax-twice", (
            "the exponentials of each row add up to 1: log_softmax ran already, and runs again. "
            "The result is the same, the second run is wasted."
        )
    return None


def _twice(rows: Tensor, classes: int) -> str:
    return (
        f"each row lies in {_range(rows)} and adds up to 1: these are probabilities, and softmax runs again. "
        f"The loss can't fall below {_floor(classes):.3g}."
    )


def _floor(classes: int) -> float:
    """-log softmax of a 1 among zeros: the least that cross_entropy gives for probabilities."""
    return float(torch.tensor(1 + (classes - 1) / torch.e).log())


def _log_probabilities(name: str, arguments: Arguments) -> Iterator[Finding]:
    """nll_loss and ctc_loss take logarithms, and apply none."""
    pair = _pair(arguments)
    if pair is None or not pair[0].is_floating_point():
        return
    given = pair[0]
    dim = _class_dimension(given) if name == "nll_loss" else -1
    rows = _rows(given)
    if _is_log(rows, dim):
        return
    what = "probabilities" if _adds_up(rows, dim) else "raw scores"
    what = "log_softmax over another dimension" if source_name(given) == "LogSoftmaxBackward0" else what
    sums = rows.exp().sum(dim)
    yield Finding(
        "log-missing",
        name,
        f"{name} got {what}, in {_range(rows)}: the exponentials of a row add up to {float(sums.flatten()[0]):.3g} "
        "and not to 1.",
        "Give it log_softmax(scores, dim), or take cross_entropy with the raw scores.",
    )


def _divergence(name: str, arguments: Arguments) -> Iterator[Finding]:
    """kl_div(log q, p): the first is a logarithm, the second is not (without log_target)."""
    pair = _pair(arguments)
    if pair is None:
        return
    given, wanted = _rows(pair[0]), _rows(pair[1])
    if bool((given > NEAR).any()):
        yield Finding(
            "log-missing",
            name,
            f"the input lies in {_range(given)}, and a logarithm of a probability is never above 0.",
            "Give kl_div log_softmax(scores, dim) as its input.",
        )
    if not arguments.get("log_target") and bool((wanted < 0).any()):
        yield Finding(
            "target-out-of-range",
            name,
            f"the target lies in {_range(wanted)}, and a probability is never below 0.",
            "Give it softmax(…) as the target, or log_target=True where it is a logarithm.",
        )


def _classes(name: str, arguments: Arguments) -> Iterator[Finding]:
    """The target of cross_entropy: class indices, or one row of probabilities per sample."""
    pair = _pair(arguments)
    if pair is None:
        return
    scores, target = pair
    if target.is_floating_point():
        if target.shape == scores.shape and not _adds_up(_rows(target), _class_dimension(target)):
            sums = _rows(target).sum(_class_dimension(target)).flatten()
            yield Finding(
                "target-out-of-range",
                name,
                f"a target of the scores' shape is read as probabilities, and its rows add up to "
                f"{float(sums.min()):.3g} … {float(sums.max()):.3g}, not to 1.",
                "Class indices for one label per sample; BCEWithLogitsLoss for several.",
            )
    elif target.ndim == 1 and len(target) >= SORTED and bool((target == target[0]).all()):
        yield Finding(
            "targets-all-same",
            name,
            f"all {len(target)} targets of the batch are class {int(target[0])}: the data is sorted, or misread.",
            "Shuffle: DataLoader(…, shuffle=True), and look at the targets' counts.",
        )


# --- yes or no ------------------------------------------------------------------------------------------


def _one_logit(name: str, arguments: Arguments) -> Iterator[Finding]:
    pair = _pair(arguments)
    if pair is None:
        return
    made = source_name(pair[0])
    if made in ("SigmoidBackward0", "SoftmaxBackward0", "HardsigmoidBackward0"):
        word = SQUASHED[made][0]
        yield Finding(
            "sigmoid-twice",
            name,
            f"the scores come out of a {word}, in {_range(pair[0])}, and sigmoid runs again: "
            "the loss sees probabilities between 0.5 and 0.731 only.",
            f"Leave the last {word} out, or take binary_cross_entropy with it.",
        )
    elif made in ("ReluBackward0", "SoftplusBackward0"):
        yield Finding(
            "activation-before-loss",
            name,
            f"the scores come out of a {SQUASHED[made][0]}, in {_range(pair[0])}: never a probability below 0.5.",
            "Leave the last activation out: the raw score is what this loss takes.",
        )


def _shares(name: str, arguments: Arguments) -> Iterator[Finding]:
    """Targets of the binary losses are 0, 1, or between."""
    pair = _pair(arguments)
    if pair is not None and bool(((pair[1] < 0) | (pair[1] > 1)).any()):
        yield Finding(
            "target-out-of-range",
            name,
            f"the targets lie in {_range(pair[1])}, and this loss takes 0 to 1: outside, it falls without end.",
            "Map the labels to 0 and 1 (labels -1/1: (y + 1) / 2; pixels: y / 255).",
        )


def _signs(name: str, arguments: Arguments) -> Iterator[Finding]:
    """Targets of the margin losses are -1 and 1."""
    target = arguments.get("target")
    if isinstance(target, Tensor) and target.numel() and bool((target.abs() != 1).any()):
        yield Finding(
            "target-out-of-range",
            name,
            f"the targets lie in {_range(target)}, and {name} takes -1 and 1: a 0 counts for nothing.",
            "Map the labels: 2 * y - 1.",
        )


# --- one number against another ---------------------------------------------------------------------------


def _same_shape(name: str, arguments: Arguments) -> Iterator[Finding]:
    pair = _pair(arguments)
    if pair is None:
        return
    if pair[0].shape != pair[1].shape and pair[1].numel() > 1:
        yield from _broadcast(name, *pair)
    else:
        yield from _out_of_reach(name, *pair)
        yield from _far(name, *pair)


def _broadcast(name: str, given: Tensor, wanted: Tensor) -> Iterator[Finding]:
    try:
        together = torch.broadcast_shapes(given.shape, wanted.shape)
    except RuntimeError:  # the call itself will say so
        return
    yield Finding(
        "target-broadcast",
        name,
        f"the output has shape {_shape(given)} and the target {_shape(wanted)}: together they become "
        f"{list(together)}, so each output is compared with targets of other samples.",
        "Give both one shape: output.squeeze(-1), or target.unsqueeze(-1).",
    )


def _by_hand(name: str, args: Any) -> Iterator[Finding]:
    """`(output - target) ** 2` of [N, 1] and [N]: as many numbers in both, and N² in the difference."""
    if len(args) < 2 or not (isinstance(args[0], Tensor) and isinstance(args[1], Tensor)):
        return
    given, wanted = args[:2] if args[0].requires_grad else (args[1], args[0])
    if not given.requires_grad or wanted.requires_grad or given.ndim == wanted.ndim:
        return
    if given.numel() == wanted.numel() > 1:
        found = list(_broadcast(name, given, wanted))
        if found and torch.broadcast_shapes(given.shape, wanted.shape).numel() > given.numel():
            yield from found


def _out_of_reach(name: str, given: Tensor, wanted: Tensor) -> Iterator[Finding]:
    """A last ReLU, and targets below 0."""
    word, low, high = SQUASHED.get(source_name(given), ("", 0.0, 0.0))
    if word and bool(((wanted < low) | (wanted > high)).any()):
        outside = float(((wanted < low) | (wanted > high)).float().mean())
        yield Finding(
            "activation-before-loss",
            name,
            f"the output comes out of a {word}, between {low:g} and {high:g}, and {outside:.0%} of the targets "
            f"lie outside of that, in {_range(wanted)}.",
            f"Leave the last {word} out, or scale the targets.",
        )


def _far(name: str, given: Tensor, wanted: Tensor) -> Iterator[Finding]:
    """Prices in cents: a fresh model answers with about 0, and its weights move in small steps."""
    if not wanted.is_floating_point() or not given.requires_grad:
        return
    size, now = rms(wanted), rms(given)
    if size > FAR and now < size / 1000 and SQUASHED.get(source_name(given)) is None:
        yield Finding(
            "input-range",
            "target",
            f"the targets are of size {size:.3g} (root mean square), in {_range(wanted)}, and the output of {now:.3g}: "
            "weights are made for about 1.",
            "Normalise the targets, (y - mean) / std of the training set, and undo it for predictions.",
        )


def _one_score(name: str, arguments: Arguments) -> Iterator[Finding]:
    """A softmax over a dimension of size 1 gives 1, whatever the score."""
    pair = _pair(arguments)
    if pair is None or (made := source_name(pair[0])) not in ("SoftmaxBackward0", "LogSoftmaxBackward0"):
        return
    same = 1.0 if made == "SoftmaxBackward0" else 0.0
    if pair[0].numel() > 1 and bool((pair[0] == same).all()):
        yield Finding(
            "softmax-of-one",
            name,
            f"all {pair[0].numel()} outputs, of shape {_shape(pair[0])}, are {same:g}: they come out of a softmax "
            "over one score, which is always 1.",
            "One score goes through a sigmoid (or raw to BCEWithLogitsLoss); softmax needs two or more.",
        )


def _wider(name: str, arguments: Arguments) -> Iterator[Finding]:
    """A float64 target makes a float64 loss of a float32 output."""
    pair = _pair(arguments)
    if pair is not None and pair[1].dtype == torch.float64 and pair[0].dtype != torch.float64:
        yield Finding(
            "dtype-promoted",
            name,
            f"the output is {_dtype(pair[0])} and the target float64: the loss is computed in float64.",
            "target.float(); NumPy's numbers are float64 by default.",
        )


# --- words and rows ---------------------------------------------------------------------------------------


def _class_dimension(scores: Tensor) -> int:
    return 1 if scores.ndim > 1 else 0


def _rows(tensor: Tensor) -> Tensor:
    """At most ROWS samples, in float32 at least."""
    part = (tensor[:ROWS] if tensor.ndim > 1 else tensor).detach()
    return part if part.dtype == torch.float64 else part.float()


def _adds_up(rows: Tensor, dim: int) -> bool:
    if rows.shape[dim] < 2 or not bool((rows >= 0).all()):
        return False
    return bool(((rows.sum(dim) - 1).abs() < _near(rows)).all())


def _is_log(rows: Tensor, dim: int) -> bool:
    return bool((rows.logsumexp(dim).abs() < _near(rows)).all())


def _near(rows: Tensor) -> float:
    return NEAR if bool((rows.to(torch.bfloat16).float() != rows).any()) else NEAR_HALF


def _range(tensor: Tensor) -> str:
    numbers = tensor.detach().float()
    return f"{float(numbers.min()):.3g} … {float(numbers.max()):.3g}"


def _shape(tensor: Tensor) -> str:
    return str(list(tensor.shape))


def _dtype(tensor: Tensor) -> str:
    return str(tensor.dtype).removeprefix("torch.")


LOOKS: dict[Any, tuple[Look, ...]] = {
    F.cross_entropy: (_logits, _classes, _wider),
    F.nll_loss: (_log_probabilities,),
    F.ctc_loss: (_log_probabilities,),
    F.kl_div: (_divergence, _wider),
    F.binary_cross_entropy_with_logits: (_one_logit, _shares, _wider),
    F.binary_cross_entropy: (_one_score, _shares, _wider),
    **dict.fromkeys(
        (F.mse_loss, F.l1_loss, F.smooth_l1_loss, F.huber_loss), (_one_score, _same_shape, _wider)
    ),
    **dict.fromkeys((F.poisson_nll_loss, F.gaussian_nll_loss), (_same_shape, _wider)),
    **dict.fromkeys(
        (F.hinge_embedding_loss, F.cosine_embedding_loss, F.margin_ranking_loss, F.soft_margin_loss),
        (_signs,),
    ),
}
