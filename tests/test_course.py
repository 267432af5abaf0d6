import json
import re
from itertools import pairwise
from pathlib import Path

import pytest

from torchcourse import _course

NOTEBOOKS = Path(__file__).parents[1] / "notebooks"
STEMS = [lesson.stem for lesson in _course.LESSONS]


def markdown(stem):
    cells = json.loads((NOTEBOOKS / f"{stem}.ipynb").read_text(encoding="utf-8"))["cells"]
    return [
        (c["metadata"].get("tags", []), "".join(c["source"])) for c in cells if c["cell_type"] == "markdown"
    ]


def test_the_table_holds_exactly_the_notebooks_that_are_there():
    assert sorted(STEMS) == sorted(path.stem for path in NOTEBOOKS.glob("*.ipynb") if path.stem != "index")
    assert len(set(STEMS)) == len(STEMS)


@pytest.mark.parametrize("stem", [*STEMS, "index"])
def test_generated_cells_say_what_the_table_says(stem):
    generated = [(tag, text, _course.generated(stem, tag)) for tags, text in markdown(stem) for tag in tags]
    assert generated
    for tag, text, expected in generated:
        assert text == expected, f"the cell tagged {tag!r} is out of date: run `python3 run.py write {stem}`"


@pytest.mark.parametrize("stem", STEMS)
def test_a_lesson_begins_and_ends_with_the_bar_and_opens_from_the_table(stem):
    cells = markdown(stem)
    assert cells[0][0] == cells[-1][0] == ["nav"]
    assert cells[1][0] == ["opening"]


def test_the_index_links_each_lesson_once():
    text = "\n".join(text for _, text in markdown("index"))
    assert re.findall(r"\]\((\w+)\.ipynb\)", text) == STEMS


def test_the_bars_form_one_chain():
    for before, after in pairwise(STEMS):
        assert f"({after}.ipynb)" in _course.bar(before).split("Contents")[1]
        assert f"({before}.ipynb)" in _course.bar(after).split("Contents")[0]


def test_an_unknown_lesson_gets_a_sentence():
    with pytest.raises(KeyError, match="no lesson '99'; the course has 00_start_here"):
        _course.lesson("99")


@pytest.mark.parametrize("lesson", _course.LESSONS, ids=STEMS)
def test_the_recap_mirrors_the_goals(lesson):
    assert 3 <= len(lesson.goals) <= 6
    recap = [text for _, text in markdown(lesson.stem) if re.search(r"^## Recap", text, re.M)]
    assert len(recap) == 1
