"""Export one model four ways, and hold each to the eager model on every input."""

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor, nn

from . import _agree, _keep, _leaves, _reasons, _shapes, _ways, _why
from ._check import checked
from ._data import WAYS, Comparison, Made, Row
from ._why import Eager


def compare(
    model: nn.Module,
    example: tuple[Any, ...],
    others: Iterable[tuple[Any, ...]],
    dynamic_shapes: Any = None,
    *,
    opset: int | None = None,
) -> Comparison:
    """Exports `model` four ways from `example`, and runs each on the example (input 0) and on every other input.

    example: a tuple of arguments; others: a list of such. dynamic_shapes: as torch.export takes them, a string
    for a name included; without it each way exports for the example's sizes. opset: for the two ONNX ways.
    Every run starts from the model, the inputs and the random state as they were; all of them are copies, and
    nothing is printed. The model's mode is kept: call `model.eval()` first where that is meant.

    "agree": as many outputs, each of the same dtype and shape, and |way - eager| ≤ atol + rtol·|eager| with
    `TOLERANCES` by dtype; integers and booleans exactly; NaN equals NaN; None outputs are left out, and a Python
    number equals a tensor of one element. Where the eager model raises, a way that raises too is "refused".

    Raises TypeError or ValueError with one sentence for a bad call. What an exporter refuses is a row.
    """
    inputs = checked(model, example, others, opset)
    axes = _shapes.axes(model, example, dynamic_shapes)
    task = _ways.Task(model, example, dynamic_shapes, axes, opset)
    with _keep.random_kept() as rewind:
        eager = [_eager(task, one, rewind) for one in inputs]
        _same_device(model, example, eager[0])
        columns = [_column(way, task, inputs, eager, rewind) for way in WAYS]
    return Comparison(
        model=type(model).__name__,
        inputs=tuple(_leaves.described(_leaves.of_arguments(model, one)) for one in inputs),
        rows=tuple(row for _, rows in columns for row in rows),
        made=tuple(made for made, _ in columns),
        eager=tuple(_reasons.plain(one.error) if one.error else "" for one in eager),
        notes=_notes(eager),
    )


def _eager(task: _ways.Task, inputs: tuple[Any, ...], rewind: Callable[[], None]) -> Eager:
    """Runs a copy of the model on a copy of the input, and looks at what else changed."""
    rewind()
    with _keep.silence():
        model, given = _keep.twin(task.model), _keep.fresh(inputs)
        before = _keep.State(model)
        random = torch.get_rng_state()
        try:
            output = model(*given)
        except Exception as raised:
            return Eager(None, raised, False)
        drew = not torch.equal(random, torch.get_rng_state())
        rewind()
        mode, written = _mode_matters(task.model, inputs, output), _written(task.model, inputs, given)
        return Eager(output, None, drew, mode, before.buffers_moved(), written, before.attributes_moved())


def _mode_matters(model: nn.Module, inputs: tuple[Any, ...], output: Any) -> bool:
    """Whether the same call in eval mode gives something else."""
    if not any(module.training for module in model.modules()):
        return False
    try:
        return not _agree.held(_keep.twin(model).eval()(*_keep.fresh(inputs)), output).agree
    except Exception:
        return True


def _written(model: nn.Module, inputs: tuple[Any, ...], given: tuple[Any, ...]) -> tuple[str, ...]:
    """The arguments that the call wrote to."""
    before, after = _leaves.of_arguments(model, inputs), _leaves.of_arguments(model, given)
    return tuple(path for path, leaf in before.items() if not _agree.held(after.get(path), leaf).agree)


def _column(
    way: Any, task: _ways.Task, inputs: list[tuple[Any, ...]], eager: list[Eager], rewind: Callable[[], None]
) -> tuple[Made, list[Row]]:
    rewind()
    attempt = _ways.attempt(way, task)
    if attempt.run is None:
        at: Any = "export" if attempt.made.refused else "run"
        return attempt.made, [
            Row(way, number, "refused", None, _refusal(attempt.refused, eager[0]), at)
            for number in range(len(inputs))
        ]
    rows: list[Row] = []
    for number, (one, given) in enumerate(zip(inputs, eager, strict=True)):
        rewind()
        rows.append(_row(attempt, task, number, one, given, not rows or rows[0].outcome == "agree"))
    return attempt.made, rows


def _row(
    attempt: _ways.Attempt,
    task: _ways.Task,
    number: int,
    inputs: tuple[Any, ...],
    eager: Eager,
    example_agrees: bool,
) -> Row:
    assert attempt.run is not None
    way = attempt.made.way
    with _keep.silence():
        try:
            output = attempt.run(_keep.fresh(inputs))
        except Exception as error:
            return Row(
                way, number, "refused", None, _refusal(_reasons.of_run(error, task.axes), eager), "run"
            )
        if eager.error is not None:
            reason = (
                f"check lost: the eager model raises {_reasons.plain(eager.error)}, and the graph does not."
            )
            return Row(way, number, "differ", float("inf"), reason)
        verdict = _agree.held(output, eager.output)
        if verdict.agree:
            return Row(way, number, "agree", verdict.max_error)
        reason = _why.differ(
            verdict, attempt.made, task, eager, _keep.fresh(inputs), example_agrees and number > 0
        )
        return Row(way, number, "differ", verdict.max_error, reason)


def _refusal(reason: str, eager: Eager) -> str:
    if eager.error is None:
        return reason
    return f"refused in eager mode too: the model itself raises {_reasons.plain(eager.error)}."


def _same_device(model: nn.Module, example: tuple[Any, ...], eager: Eager) -> None:
    """A sentence instead of a table where the model and the example lie on different devices, and so fail."""
    leaves = _leaves.of_arguments(model, example)
    theirs = {leaf.device for leaf in leaves.values() if isinstance(leaf, Tensor)}
    mine = {tensor.device for tensor in (*model.parameters(), *model.buffers())}
    if eager.error is not None and len(mine | theirs) > 1 and theirs:
        here, there = sorted(map(str, theirs)), sorted(map(str, mine)) or ["no device"]
        raise ValueError(
            f"The example lies on {', '.join(here)} and the model on {', '.join(there)}, and the model fails on it "
            f"({type(eager.error).__name__}): move one of them with .to(…)."
        )


def _notes(eager: list[Eager]) -> tuple[str, ...]:
    first = eager[0]
    said = {
        "The model is in training mode, which changes its output; graphs for use are exported after model.eval().": (
            first.mode
        ),
        "The model draws random numbers; every run here starts from the same state of torch's generator.": first.random,
        f"A call changes the buffers {', '.join(first.moved)}: an ONNX file has no state, and forgets it.": bool(
            first.moved
        ),
        f"A call writes to its argument {', '.join(first.written)}: an ONNX file never does.": bool(
            first.written
        ),
        f"A call changes the attribute {', '.join(first.attributes)}: every way forgets it, and every run here "
        "starts anew.": bool(first.attributes),
    }
    return tuple(note for note, holds in said.items() if holds)
