"""The solutions that these chapters' notebooks fold away are right, and every stub is "not yet"."""

import json
import random
import re
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
STEMS = sorted(
    path.stem for chapter in ("02", "05", "07", "10", "11") for path in NOTEBOOKS.glob(f"{chapter}*.ipynb")
)


def texts(stem, kind):
    cells = json.loads((NOTEBOOKS / f"{stem}.ipynb").read_text(encoding="utf-8"))["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == kind]


def checks(stem):
    """The module whose checks this notebook uses."""
    code = "\n".join(texts(stem, "code"))
    (word,) = set(re.findall(r"^from torchcourse\.exercises import (\w+) as your_turn$", code, re.M))
    return import_module(f"torchcourse.exercises.{word}")


def defined(source):
    """The last function or class that this code defines, whatever it calls it."""
    names = {"torch": torch, "nn": nn, "F": F, "np": np, "random": random}
    exec(source, names)  # allowed: our own notebook's code is what is tested
    *_, name = re.findall(r"^(?:def|class) (\w+)", source, re.MULTILINE)
    return name.lower(), names[name]


def solutions(stem):
    return [
        block
        for text in texts(stem, "markdown")
        for block in re.findall(r"<summary>Solution.*?```python\n(.*?)```", text, re.S)
    ]


def stubs(stem):
    """The cells that hand an answer to a check. What is rebuilt is compared elsewhere."""
    found = [
        text for text in texts(stem, "code") if re.search(r"^your_turn\.(?!compare_)", text, re.MULTILINE)
    ]
    return [re.sub(r"^your_turn\..*", "", text, flags=re.MULTILINE) for text in found]


@pytest.mark.parametrize("stem", STEMS)
def test_each_exercise_has_a_solution_that_is_right_and_a_stub_that_is_not_yet(stem):
    open_ = dict(map(defined, stubs(stem)))
    whole = [
        source for source in solutions(stem) if source.startswith(("def", "class"))
    ]  # not a few lines of one
    solved = dict(map(defined, whole))
    assert whole and solved.keys() <= open_.keys() and len(solutions(stem)) == len(open_)
    for name, answer in solved.items():
        verdict = getattr(checks(stem), name)(answer)
        assert verdict.state == "right", f"{name}: {verdict}"
    for name, answer in open_.items():
        verdict = getattr(checks(stem), name)(answer)
        assert verdict.state == "not yet", f"{name}: {verdict}"


def test_no_check_is_without_an_exercise():
    used = {(checks(stem).__name__, name) for stem in STEMS for name, _ in map(defined, stubs(stem))}
    modules = {checks(stem) for stem in STEMS}
    there = {(m.__name__, name) for m in modules for name in m.__all__ if not name.startswith("compare_")}
    assert used == there
