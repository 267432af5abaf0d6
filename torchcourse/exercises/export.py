"""Checks of chapters 08 to 08c: branches that stay in a graph, and holding what was exported to the model."""

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor, nn

from torchcourse.exercises import Verdict, almost, check, not_yet, right, wrong
from torchcourse.export._keep import silence

__all__ = ["centre", "guarded", "shapes", "traceable", "unlike"]

# --- 08 Your turn 1: a branch without `if` ------------------------------------------------------------------

_EXAMPLE = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 9.0]])
_TRIALS = {
    "the example": _EXAMPLE,
    "negative values": -_EXAMPLE,
    "one row": torch.tensor([[-1.0, 0.5]]),
    "a sum of zero": torch.tensor([[1.0, -1.0]]),
    "five rows": torch.arange(-4.0, 6.0).reshape(5, 2),
}


def _wanted(x: Tensor) -> Tensor:
    return x * 2 if x.sum() > 0 else -x


@check
def traceable(answer: Callable[[Tensor], Any]) -> Iterator[Verdict]:
    """traceable(x) doubles x where its sum is positive, else changes the sign; its trace does so for every x."""
    for name, x in _TRIALS.items():
        got = answer(x.clone())
        if not isinstance(got, Tensor):
            yield not_yet(f"return a tensor; got {type(got).__name__}.")
            return
        if got.shape != x.shape or not torch.allclose(got, _wanted(x)):
            yield wrong(f"before any tracing, {name} ({x.tolist()}) gives {got.tolist()}.")
            return
    traced = _traced(answer)
    for name, x in _TRIALS.items():
        if not torch.allclose(traced(x), _wanted(x)):
            yield not_yet(
                f"the function is right; traced with a positive example, it is wrong on {name}. Which line of it "
                "is decided by Python?"
            )
            return
    yield right("the trace holds both sides, and chooses by a tensor.")


def _traced(function: Callable[[Tensor], Any]) -> Any:
    with silence():
        # A function of its own: what a learner hands over may be any callable.
        return torch.jit.trace(lambda x: function(x), _EXAMPLE, check_trace=False)


# --- 08 Your turn 2: hold it to the model -------------------------------------------------------------------


def _double(x: Tensor) -> Tensor:
    return x * 2


def _refuses(x: Tensor) -> Tensor:
    if len(x) == 1:
        raise RuntimeError("Got invalid dimensions for input: x")
    return x * 2


_INPUTS = [_EXAMPLE, _EXAMPLE[:1], -_EXAMPLE]
# what the traced one does: -> the traced one, the positions that are unlike
_CASES: dict[str, tuple[Callable[[Tensor], Tensor], list[int]]] = {
    "it agrees everywhere": (_double, []),
    "it is wrong on negative values": (lambda x: x.abs() * 2, [2]),
    "it raises on one row": (_refuses, [1]),
    "it gives one row where three are due": (lambda x: x[:1] * 2, [0, 2]),
    # values that broadcasting makes equal
    "it gives a shape that broadcasts": (lambda x: (x * 2)[None], [0, 1, 2]),
    "it is off by rounding only": (lambda x: x * 2 * (1 + 1e-7), []),
}


@check
def unlike(answer: Callable[[Any, Any, Any], Any]) -> Iterator[Verdict]:
    """unlike(model, traced, inputs) gives the positions of the inputs where the two are not the same."""
    if isinstance(first := answer(_double, _cases_first(), list(_INPUTS)), list) and not first:
        yield not_yet(
            "one of the traced functions is wrong on the input at position 2, and your list is empty."
        )
        return
    for case, (traced, places) in _CASES.items():
        try:
            got = answer(_double, traced, [x.clone() for x in _INPUTS])
        except Exception as error:
            yield almost(
                f"{case}: your check itself raises {type(error).__name__}. Catch what `traced` raises."
            )
            return
        if not isinstance(got, list | tuple | set) or not all(isinstance(place, int) for place in got):
            yield not_yet(f"return a list of positions, such as [0, 2]; got {got!r:.60}.")
            return
        if sorted(got) != places:
            yield wrong(f"{case}: expected {places}, got {sorted(got)}.")
            return
    yield right("wrong values, other shapes and errors are found, and rounding is no fault.")


def _cases_first() -> Callable[[Tensor], Tensor]:
    return _CASES["it is wrong on negative values"][0]


# --- 08b Your turn 1: right for one row ---------------------------------------------------------------------

_ROWS = {rows: torch.arange(2.0 * rows).reshape(rows, 2).sin() for rows in (3, 2, 5, 1)}


class _Of(nn.Module):
    """A learner's function as the forward of a module."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *arguments: Tensor) -> Any:
        return self.function(*arguments)


@check
def centre(answer: Callable[[Tensor], Any]) -> Iterator[Verdict]:
    """centre(x) takes the rows' mean away where there are several rows; its export does so for one row too."""
    for rows, x in _ROWS.items():
        got = answer(x.clone())
        if not isinstance(got, Tensor):
            yield not_yet(f"return a tensor; got {type(got).__name__}.")
            return
        if got.shape != x.shape or not torch.allclose(got, _centred(x), atol=1e-6):
            yield wrong(f"before any export, {rows} row{'s' * (rows > 1)} give {got.tolist()}.")
            return
    size = torch.export.Dim("rows")
    program = _exported(_Of(answer), (_ROWS[3],), (({0: size},),))
    if isinstance(program, str):
        yield almost(f"the function is right, and torch.export refuses it: {program}")
        return
    for rows, x in _ROWS.items():
        if not torch.allclose(program(x), _centred(x), atol=1e-6):
            yield not_yet(
                f"the function is right; its export is wrong for {rows} row{'s' * (rows > 1)}. Python still compares "
                "the number of rows, and a symbol counts as 2 or more."
            )
            return
    yield right("the program computes with the number of rows, and is right for 1, 2, 3 and 5 rows.")


def _centred(x: Tensor) -> Tensor:
    return x - x.mean(dim=0) if len(x) > 1 else x


# --- 08b Your turn 2: two arguments, one size ---------------------------------------------------------------


class _Score(nn.Module):
    def forward(self, x: Tensor, weight: Tensor) -> Tensor:
        return (x * weight[:, None]).sum(1)


@check
def shapes(answer: Callable[[Any], Any]) -> Iterator[Verdict]:
    """shapes(rows): dynamic_shapes for score(x [n, 2], weight [n]): any n, the same in both; the columns fixed."""
    given = answer(torch.export.Dim("rows"))
    if given is None:
        yield not_yet("return one entry for each argument: a tuple of two dictionaries.")
        return
    program = _exported(_Score(), (torch.ones(3, 2), torch.ones(3)), given)
    if isinstance(program, str):
        yield wrong(f"torch.export refuses it: {program}")
        return
    if not _takes(program, 5, 2, 5):
        yield almost("5 rows with 5 weights are refused: the number of rows must be open in both arguments.")
    if _takes(program, 3, 4, 3):
        yield almost("4 columns are taken. Leave dimension 1 out of the dictionary: it is to stay fixed.")
    yield right("any number of rows, as many weights, and two columns.")


def _takes(program: Callable[..., Any], rows: int, columns: int, weights: int) -> bool:
    try:
        program(torch.ones(rows, columns), torch.ones(weights))
    except Exception:
        return False
    return True


# --- 08c Your turn: bring the guard back --------------------------------------------------------------------


@check
def guarded(answer: Callable[..., Any]) -> Iterator[Verdict]:
    """guarded(run, low, high) gives a function that runs x of low to high rows, and refuses all others."""
    ran: list[int] = []

    def run(x: Tensor) -> Tensor:
        ran.append(len(x))
        return x * 2

    careful = answer(run, 2, 4)
    if not callable(careful):
        yield not_yet(f"return a function; got {type(careful).__name__}.")
        return
    for rows in range(1, 7):
        yield from _judge_rows(careful, rows, 2 <= rows <= 4, ran)
    yield from _judge_rows(answer(run, 5, 5), 5, True, ran)
    yield right(
        "2, 3 and 4 rows run, all others are refused before the file sees them, and the range is named."
    )


def _judge_rows(
    careful: Callable[[Tensor], Any], rows: int, welcome: bool, ran: list[int]
) -> Iterator[Verdict]:
    ran.clear()
    x = torch.ones(rows, 2)
    try:
        got = careful(x)
    except ValueError as error:
        if welcome:
            yield almost(f"{rows} rows are inside of the range, and were refused. Both ends are included.")
        elif ran:
            yield almost("the file ran before you refused. Look at the rows first.")
        elif not {"2", "4"} <= set(str(error)):
            yield almost(f"the message {str(error)!r:.60} does not name the range 2 to 4.")
        return
    except Exception as error:
        yield wrong(
            f"{rows} rows raise {type(error).__name__}; a ValueError is expected where they don't fit."
        )
        return
    if not welcome:
        state = not_yet if rows == 1 else almost
        yield state(f"{rows} row{'s' * (rows > 1)} ran, and the range is 2 to 4.")
    elif not isinstance(got, Tensor) or not torch.equal(got, x * 2):
        yield wrong(f"{rows} rows: return what run(x) returns.")


# --- what is exported here ----------------------------------------------------------------------------------


def _exported(model: nn.Module, example: tuple[Tensor, ...], dynamic_shapes: Any) -> Callable[..., Any] | str:
    """What runs the exported program; or the first line of what torch.export says against it."""
    with silence():
        try:
            return torch.export.export(model, example, dynamic_shapes=dynamic_shapes).module()
        except Exception as error:
            return next((line for line in str(error).splitlines() if line.strip()), type(error).__name__)
