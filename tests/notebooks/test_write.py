"""The writer: the same bytes twice, nothing written where a cell raises, one sentence for each mishap."""

import pytest

from . import files, write
from .examples import code, good, notebook, result, store, store_cells, text
from .files import NotebookError
from .normalise import source_mark


def bare(stored):
    """As an author leaves it: no outputs, no counts."""
    for cell in files.code_cells(stored):
        cell.outputs, cell.execution_count = [], None
    return stored


def test_two_runs_give_the_same_bytes(tmp_path):
    path = store(tmp_path, bare(good()))
    assert write.write(path) is True
    assert files.read(path) == good()
    assert write.write(path) is False


def test_what_differs_from_run_to_run_is_not_stored(tmp_path):
    path = store_cells(
        tmp_path,
        code("object()"),
        code("import ipywidgets\n\nipywidgets.IntSlider()"),
        code("def f():\n    raise ValueError('no')\n\n\nf()", tags=("raises-exception",)),
        code("import warnings\n\nwarnings.warn('careful', stacklevel=1)"),
        code(
            "import sys\n\nfor i in range(3):\n    print(i, flush=True)\n    print('e', file=sys.stderr, flush=True)"
        ),
    )
    write.write(path)
    stored = path.read_text(encoding="utf-8")
    assert write.write(path) is False
    assert "0x…" in stored and "IntSlider" in stored and "widget-view" not in stored
    assert "ipykernel_" not in stored and str(tmp_path) not in stored and "\\u001b" not in stored


def test_a_measured_output_is_kept_while_its_source_is(tmp_path):
    path = store_cells(tmp_path, code("import time\n\ntime.perf_counter_ns()", tags=("measured",)))
    write.write(path)
    first = files.read(path)
    assert write.write(path) is False
    cell = first.cells[1]
    assert cell.metadata.measured_source == source_mark(cell)
    cell.source += " + 1"
    files.write(path, first)
    assert write.write(path) is True
    assert files.read(path).cells[1].outputs != cell.outputs


def test_generated_cells_are_brought_up_to_date_and_no_others():
    def old():
        cells = [text("old bar", tags=("nav",)), text("my words"), text("# old", tags=("opening",))]
        return notebook(*cells)

    lesson, other = old(), old()
    write.refresh(lesson, "01_storage_and_strides")
    write.refresh(other, "my_notes")
    assert other == old()
    bar, words, opening = (cell.source for cell in lesson.cells[-3:])
    assert "[Contents](index.ipynb)" in bar and words == "my words" and opening.startswith("# 01 · Storage")


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("1 / 0", ["good.ipynb, cell 3 (`1 / 0`) raises ZeroDivisionError", "division by zero"]),
        ("def f(:", ["cell 3 (`def f(:`) raises SyntaxError"]),
        ("import os\n\nos._exit(3)", ["cell 3 (`import os`) ended the kernel"]),
        ("while True:\n    pass", ["cell 3", "ran longer than 2 s"]),
        ("import socket\n\nsocket.getaddrinfo('example.org', 80)", ["cell 3", "must not use the network"]),
    ],
)
def test_a_mishap_is_one_sentence_and_writes_nothing(tmp_path, source, words, capsys):
    path = store_cells(tmp_path, code("1", result("1")), code(source))
    before = path.read_bytes()
    assert write.main([str(path), "--timeout", "2"]) == 1
    said = capsys.readouterr().err
    assert all(word in said for word in words) and "left as it was" in said and "Traceback" not in said
    assert path.read_bytes() == before and [p.name for p in tmp_path.iterdir()] == [path.name]


def test_a_notebook_that_is_no_json(tmp_path, capsys):
    path = tmp_path / "broken.ipynb"
    path.write_text('{"cells": [', encoding="utf-8")
    assert write.main([str(path)]) == 1
    assert "broken.ipynb can't be read as a notebook" in capsys.readouterr().err


def test_a_file_saved_meanwhile_is_not_overwritten(tmp_path):
    source = "from pathlib import Path\n\npath = Path('good.ipynb')\npath.write_text(path.read_text() + ' ');"
    path = store_cells(tmp_path, code(source))
    with pytest.raises(NotebookError, match="saved by someone else"):
        write.write(path)
    assert path.read_text(encoding="utf-8").endswith(" ")


def test_names(tmp_path):
    for stem in ("01_storage", "01b_sharing", "02_autograd"):
        store(tmp_path, notebook(), stem)
    (one,) = files.find(["02"], tmp_path)
    assert one.stem == "02_autograd" and files.find(["2"], tmp_path) == [one]
    assert [p.stem for p in files.find(["01_storage.ipynb", "01b_sharing"], tmp_path)] == [
        "01_storage",
        "01b_sharing",
    ]
    assert files.find([str(one)], tmp_path) == [one] and len(files.find([], tmp_path)) == 3
    with pytest.raises(NotebookError, match="01_storage, 01b_sharing, 02_autograd"):
        files.find(["nonsense"], tmp_path)
