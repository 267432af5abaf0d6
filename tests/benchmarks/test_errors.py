"""`explain`: CPU milliseconds for known errors, and the worst over mutated messages; a quiet cell's cost.

Figures are printed (`pytest -s`), never asserted.
"""

import random
import statistics
import time

import torch

from tests.errors.test_known import DATA
from tests.errors.test_robust import TEXTS, mutated
from torchcourse.errors import explain
from torchcourse.widgets.explanation import _after_cell

MUTATED = 10_000


def milliseconds(run):
    start = time.process_time()
    run()
    return 1000 * (time.process_time() - start)


def live():
    try:
        torch.zeros(2, 3) @ torch.zeros(2, 3)
    except RuntimeError as error:
        return error


def test_known_errors_and_mutated_messages():
    first = milliseconds(lambda: explain(TEXTS[0]))
    known = [milliseconds(lambda t=t: explain(t)) for texts in DATA["known"].values() for t in texts]
    errors = [live() for _ in range(50)]
    alive = [milliseconds(lambda e=error: explain(e)) for error in errors]
    dice = random.Random(7)
    worst = max(milliseconds(lambda: explain(mutated(dice.choice(TEXTS), dice))) for _ in range(MUTATED))
    print(
        f"\nfirst {first:.1f} ms; known: median {statistics.median(known):.2f}, most {max(known):.1f} ms; "
        f"alive: {statistics.median(alive):.2f} ms; worst of {MUTATED} mutated: {worst:.1f} ms"
    )
    assert len(known) > 400


def test_a_cell_that_raises_nothing():
    class Result:
        error_in_exec = None

    result, rounds = Result(), 100_000
    cost = milliseconds(lambda: [_after_cell(result) for _ in range(rounds)]) * 1e6 / rounds
    print(f"\na cell that raises nothing: {cost:.0f} ns")
    assert cost >= 0
