"""The stored form: the same for every run, nothing of the machine in it, nothing of the reader's lost."""

from nbformat import from_dict

from . import files
from .examples import code, good, notebook, printed, result
from .normalise import normalise, without_paths


def code_cell(**fields):
    cell = {"cell_type": "code", "metadata": {}, "source": "1", "outputs": [], "execution_count": 7}
    return from_dict(cell | fields)


def normal(*cells):
    return normalise(
        from_dict({"cells": list(cells), "metadata": {"widgets": {}}, "nbformat": 4, "nbformat_minor": 4})
    )


def test_a_second_time_changes_nothing():
    assert normalise(good()) == good()


def test_the_notebook_given_is_left_alone():
    given = good()
    given.cells[1].metadata["scrolled"] = True
    normalise(given)
    assert given.cells[1].metadata["scrolled"] is True


def test_ids_are_kept_where_they_can_be():
    cells = normal(code_cell(id="mine"), code_cell(id="mine"), code_cell(id="not valid!"), code_cell()).cells
    ids = [cell.id for cell in cells]
    assert ids[0] == "mine" and len(set(ids)) == 4
    assert ids == [cell.id for cell in normalise(from_dict({"cells": cells, "metadata": {}})).cells]


def test_counts_run_from_one_and_no_count_is_made_up():
    cells = normal(code_cell(), code_cell(execution_count=None), code_cell()).cells
    assert [cell.execution_count for cell in cells] == [1, None, 3]


def test_metadata_is_cut():
    kept = {"tags": ["measured"]}
    stored = normal(code_cell(metadata=kept | {"execution": {}, "collapsed": True}))
    assert stored.cells[0].metadata == kept
    assert set(stored.metadata) == {"kernelspec", "language_info"}


def test_slides_begin_where_the_rule_says_not_where_a_hand_did():
    title = {"cell_type": "markdown", "metadata": {}, "source": "# Title"}
    by_hand = code_cell(metadata={"slideshow": {"slide_type": "skip"}})
    cells = normal(from_dict(title), by_hand).cells
    assert [cell.metadata.get("slideshow") for cell in cells] == [{"slide_type": "slide"}, None]


def test_streams_are_merged():
    cell = code("", printed("a\n"), result("1"), printed("b\n"))
    outputs = normalise(notebook(cell)).cells[1].outputs
    assert [output.get("text") for output in outputs] == ["a\nb\n", None]


def test_a_view_leaves_its_twins():
    data = {
        "application/vnd.jupyter.widget-view+json": {"model_id": "x"},
        "text/plain": "V",
        "image/svg+xml": "<svg/>",
    }
    alone = {"application/vnd.jupyter.widget-view+json": {"model_id": "x"}}
    outputs = [{"output_type": "display_data", "data": d, "metadata": {"a": 1}} for d in (data, alone)]
    (kept,) = normal(code_cell(outputs=outputs)).cells[0].outputs
    assert kept.data == {"text/plain": "V", "image/svg+xml": "<svg/>"} and kept.metadata == {}


def test_nothing_of_the_machine_stays():
    text = "\x1b[0;31mFile \x1b[0m/home/me/env/lib/python3.11/site-packages/torch/nn/module.py:12\n"
    assert without_paths(text) == "File …/torch/nn/module.py:12\n"
    assert without_paths("File C:\\Users\\me\\env\\Lib\\site-packages\\torch\\a.py") == "File …/torch\\a.py"
    assert without_paths("/home/me/course/torchcourse/storage.py:3") == "…/storage.py:3"
    assert without_paths("/var/run/ipykernel_12/34.py:1: UserWarning") == "<cell>:1: UserWarning"
    assert without_paths("<object at 0x7f12>, 3/4, 0x7f00") == "<object at 0x…>, 3/4, 0x7f00"


def test_a_texts_lines_may_be_a_list(tmp_path):
    path = tmp_path / "lists.ipynb"
    files.write(path, good())
    assert files.read(path) == good()
    assert '"source": [' in path.read_text(encoding="utf-8")


def test_a_question_hides_its_source_and_no_other_cell_does():
    stored = normalise(notebook(code("tc.predict()", tags=("predict",)), code("1", tags=("quiz",))))
    assert [cell.metadata.get("jupyter") for cell in stored.cells if cell.cell_type == "code"] == [
        {"source_hidden": True},
        None,
    ]
