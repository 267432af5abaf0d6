"""Each rule of the stored form goes red on its fault, and a good notebook is green."""

import json

import pytest

from . import files, form
from .examples import code, good, notebook, result, store, store_cells, text


def only(faults: list[str], *words: str) -> None:
    """Exactly one fault, and it speaks of this."""
    assert len(faults) == 1, faults
    assert all(word in faults[0] for word in words), faults


def test_a_good_notebook_is_green(tmp_path):
    assert form.faults(store(tmp_path, good())) == []


def spoil_count(stored):
    files.code_cells(stored)[0].execution_count = None
    files.code_cells(stored)[0].outputs[0].execution_count = None


def test_a_missing_count(tmp_path):
    stored = good()
    spoil_count(stored)
    only(form.faults(store(tmp_path, stored)), "no execution count", "import math")


def test_saved_widget_state(tmp_path):
    path = store(tmp_path, good())
    raw = json.loads(path.read_text(encoding="utf-8"))
    raw["metadata"]["widgets"] = {"application/vnd.jupyter.widget-state+json": {"state": {}}}
    path.write_text(json.dumps(raw), encoding="utf-8")
    assert any("saved widget state" in said for said in form.faults(path))


def test_a_saved_widget_view(tmp_path):
    stored = good()
    view = {"application/vnd.jupyter.widget-view+json": {"model_id": "1"}, "text/plain": "IntSlider()"}
    files.code_cells(stored)[0].outputs[0].data = view
    assert any("saved widget view" in said for said in form.faults(store(tmp_path, stored)))


def test_a_large_file(tmp_path):
    only(form.faults(store_cells(tmp_path, code("x = 1\nx", result("1" * 600_000)))), "600,000")


def test_another_kernel(tmp_path):
    stored = good()
    stored.metadata.kernelspec.name = "python3"
    assert any("'python3'" in said for said in form.faults(store(tmp_path, stored)))


def test_metadata_that_an_editor_left(tmp_path):
    stored = good()
    stored.cells[1].metadata["collapsed"] = True
    only(form.faults(store(tmp_path, stored)), "not in the stored form", "import math")


def test_a_measured_cell_with_another_source(tmp_path):
    stored = notebook(code("1 + 1", result("2"), tags=("measured",)))
    only(form.faults(store(tmp_path, stored)), "another source")


@pytest.mark.parametrize(
    ("markdown", "words"),
    [
        ("# A second title", "one first-level heading"),
        ("### Too deep", "jumps from level 1 to level 3"),
        ("![](https://example.org/a.png)", "no alt text"),
        ("<img src='https://example.org/a.png'>", "no alt text"),
        ("[next](02_nowhere.ipynb)", "leads nowhere"),
        ("[next](good.ipynb#No-such-heading)", "names a heading that is not there"),
        ("[there](/somewhere/else.ipynb)", "one machine"),
    ],
)
def test_texts(tmp_path, markdown, words):
    only(form.faults(store_cells(tmp_path, text(markdown), code("1", result("1")))), words)


@pytest.mark.parametrize(
    ("source", "tags", "words"),
    [
        ("1", ("nbval-skip",), "no cell is skipped"),
        ("1", ("skip-execution",), "no cell is skipped"),
        ("1", ("nonsense",), "unknown tag 'nonsense'"),
        ("tc.predict('q')", (), "tag it `predict`"),
        ("# NBVAL_IGNORE_OUTPUT\n1", (), "marker of nbval"),
        ("1", ("nbval-ignore-output",), "say why"),
        ("", (), "empty code cell"),
        ("def f(:", (), "not Python"),
        ("eval('1')", (), "uses eval"),
        ("exec('1')", (), "uses exec"),
        ("pickle.load(file)", (), "uses pickle.load"),
        ("torch.load('a.pt')", (), "weights_only"),
        ("torch.load('a.pt', weights_only=False)", (), "weights_only"),
        ("!ls", (), "get_ipython().system"),
        ("subprocess.run(['ls'])", (), "subprocess.run"),
    ],
)
def test_cells(tmp_path, source, tags, words):
    only(form.faults(store_cells(tmp_path, code(source, tags=tags))), words)


@pytest.mark.parametrize(
    ("source", "tags"),
    [
        ("tc.predict('q')", ("predict",)),
        ("# not compared: the order of threads\n1", ("nbval-ignore-output",)),
        ("model.eval()", ()),
        ("torch.load('a.pt', weights_only=True)", ()),
        ("# allowed: the file is ours\ntorch.load('a.pt', weights_only=False)", ()),
        ("%matplotlib inline\n1", ()),
        ("1", ("claim:B1-01",)),
    ],
)
def test_cells_that_are_fine(tmp_path, source, tags):
    assert form.faults(store_cells(tmp_path, code(source, tags=tags))) == []


def test_long_cells_have_a_quota(tmp_path):
    long, short = code("x = 1\n" * 25), [code("x = 1")] * 33
    assert form.faults(store_cells(tmp_path, long, *short)) == []
    only(form.faults(store_cells(tmp_path, long, *short[:30])), "25 lines")


def test_exemptions_have_a_quota(tmp_path):
    exempt = code("# not compared: chance\n1", tags=("nbval-ignore-output",))
    assert form.faults(store_cells(tmp_path, exempt, exempt)) == []
    assert len(form.faults(store_cells(tmp_path, exempt, exempt, exempt))) == 3


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ('{"cells": [', "not valid JSON"),
        ("[]", "no notebook of format 4"),
        ('{"nbformat": 4, "cells": [{"source": 1}]}', "no notebook of format 4"),
    ],
)
def test_no_notebook(tmp_path, content, words):
    path = tmp_path / "broken.ipynb"
    path.write_text(content, encoding="utf-8")
    only(form.faults(path), "broken.ipynb", words)
