"""The paths of machines as a picture: what is lit, what it says as text, and what must not be stored."""

import xml.etree.ElementTree as ET

import pytest

from torchcourse.devices import Build, Machine, diagnose, recorded_machines
from torchcourse.graphs.diagnosis import OWN, own_path, paths, svg

MACHINES = recorded_machines()
SVG = "{http://www.w3.org/2000/svg}"


def lit(shown):
    """The glyphs of all cells, column after column."""
    cells = [g for g in ET.fromstring(svg(shown)).iter(f"{SVG}g") if g.find(f"{SVG}title") is not None]
    return ["".join(text.text for text in cell.iter(f"{SVG}text")) for cell in cells]


@pytest.mark.parametrize("name", MACHINES)
def test_a_column_is_lit_as_far_as_the_machine_comes(name):
    found = diagnose(MACHINES[name])
    column = lit(paths({name: MACHINES[name]}))
    assert column.count("✕") == (not found.works)
    if not found.works:
        assert column[len(found.path) - 1] == "✕" and set(column[len(found.path) :]) <= {"·"}


def test_all_machines_stand_side_by_side():
    shown = paths(MACHINES)
    assert len(shown.questions) == 8
    assert len(lit(shown)) == 8 * len(MACHINES)
    for name, machine in MACHINES.items():
        assert name in str(shown) and diagnose(machine).sentence.removesuffix(".") in str(shown)


def test_the_readers_own_machine_shows_itself_and_stores_one_sentence():
    shown = own_path()
    assert str(shown) == repr(shown) == OWN
    found = shown.found[0][1]
    assert found.path[0].question == "Does torch import?" and "this machine" in svg(shown)


def test_a_build_for_another_maker_has_its_own_questions():
    shown = paths({"AMD": Machine(Build("2.13.0+rocm6.4", hip="6.4"))})
    assert "Does torch see an AMD GPU?" in shown.questions


def test_names_are_never_markup():
    drawn = svg(paths({"<script>": MACHINES["a hidden GPU"]}))
    ET.fromstring(drawn)
    assert "<script" not in drawn


@pytest.mark.parametrize("machines", [{}, {str(k): Machine() for k in range(14)}])
def test_too_few_and_too_many_get_a_sentence(machines):
    with pytest.raises(ValueError, match="paths takes 1 to 13 machines"):
        paths(machines)
