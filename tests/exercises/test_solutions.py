"""The solutions that the notebooks of chapter 02 fold away are right, and so is every stub "not yet"."""

import json
import re
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from torchcourse.exercises import autograd as check

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
STEMS = sorted(path.stem for path in NOTEBOOKS.glob("02*.ipynb"))


def cells():
    for stem in STEMS:
        yield from json.loads((NOTEBOOKS / f"{stem}.ipynb").read_text(encoding="utf-8"))["cells"]


def defined(source):
    """The one function or class that this code defines, whatever it calls it."""
    names = {"torch": torch, "nn": nn, "F": F}
    exec(source, names)  # allowed: our own notebook's code is what is tested
    (name,) = re.findall(r"^(?:def|class) (\w+)", source, re.MULTILINE)
    return name.lower(), names[name]


def solutions():
    texts = ["".join(cell["source"]) for cell in cells() if cell["cell_type"] == "markdown"]
    return [
        block
        for text in texts
        for block in re.findall(r"<summary>Solution.*?```python\n(.*?)```", text, re.S)
    ]


def stubs():
    texts = ["".join(cell["source"]) for cell in cells() if cell["cell_type"] == "code"]
    return [text for text in texts if re.search(r"^your_turn\.", text, re.MULTILINE)]


def test_each_exercise_of_the_chapter_has_a_solution_and_a_stub():
    assert sorted(defined(source)[0] for source in solutions()) == sorted(check.__all__)
    assert sorted(defined(source)[0] for source in stubs()) == sorted(check.__all__)


@pytest.mark.parametrize("number", range(len(check.__all__)))
def test_a_solution_is_right_and_a_stub_is_not_yet(number):
    name, answer = defined(solutions()[number])
    assert getattr(check, name)(answer).state == "right"
    name, answer = defined(stubs()[number])
    assert getattr(check, name)(answer).state == "not yet"
