"""Claims and tags are held together both ways."""

import pytest

from . import claims
from .examples import code, good, notebook, printed, result, store, text
from .files import NotebookError

HEAD = "id,chapter,statement,verdict,truth\n"
ROW = 'X-1,storage,"A view copies nothing, ever.",TRUE,So it is.\n'


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "claims.csv"
    path.write_text(HEAD + ROW, encoding="utf-8")
    return path


def test_green(tmp_path, table):
    path = store(tmp_path, good(), "01_storage")
    assert claims.faults(path, [path], table) == []
    assert claims.orphans([path], table) == []


def test_a_tag_without_a_row(tmp_path, table):
    path = store(
        tmp_path, notebook(code("1 + 1", result("2"), tags=("claim:X-1", "claim:X-2"))), "01_storage"
    )
    (said,) = claims.faults(path, [path], table)
    assert "X-2" in said and "no such row" in said


def test_a_row_without_a_tag(tmp_path, table):
    path = store(tmp_path, notebook(code("1", result("1"))), "01b_storage")
    (said,) = claims.faults(path, [path], table)
    assert "X-1" in said and "no cell" in said
    assert claims.orphans([path], table) == [said]


def test_a_row_of_another_chapter_is_not_this_notebooks_fault(tmp_path, table):
    path = store(tmp_path, notebook(code("1", result("1"))), "02_autograd")
    assert claims.faults(path, [path], table) == []


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        (code("# only a comment", tags=("claim:X-1",)), "does nothing"),
        (code("'a text'", result("'a text'"), tags=("claim:X-1",)), "does nothing"),
        (code("x = 1", tags=("claim:X-1",)), "neither a stored output nor an assert"),
        (code("x = 1\nassert True", tags=("claim:X-1",)), "neither a stored output nor an assert"),
        (code("print()", printed("\n"), tags=("claim:X-1",)), "neither a stored output nor an assert"),
    ],
)
def test_a_tag_in_the_wrong_place(tmp_path, table, cell, words):
    path = store(tmp_path, notebook(cell), "01_storage")
    (said,) = claims.faults(path, [path], table)
    assert words in said


def test_a_tag_on_a_text(tmp_path, table):
    cell = text("so it is")
    cell.metadata["tags"] = ["claim:X-1"]
    path = store(tmp_path, notebook(cell), "01_storage")
    assert "runs nothing" in claims.faults(path, [path], table)[0]


def test_an_assert_is_enough(tmp_path, table):
    path = store(tmp_path, notebook(code("x = 1\nassert x == 1", tags=("claim:X-1",))), "01_storage")
    assert claims.faults(path, [path], table) == []


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("id,truth\n", "columns"),
        (HEAD + ROW + ROW, "twice"),
        (HEAD + "X-1,storage,,TRUE,yes\n", "needs one value"),
        (HEAD + "X-1,storage,A view, of all,TRUE,yes\n", "in quotes"),
        (HEAD + "X-1,storage,A view,FALS,yes\n", "'FALS'; there are TRUE, IMPRECISE"),
    ],
)
def test_a_broken_table(table, content, words):
    table.write_text(content, encoding="utf-8")
    with pytest.raises(NotebookError, match=words):
        claims.rows(table)


def test_no_table_holds_no_claims(tmp_path):
    path = store(tmp_path, good(), "01_storage")
    assert "no such row" in claims.faults(path, [path], tmp_path / "claims.csv")[0]


def test_a_strange_chapter(tmp_path, table):
    table.write_text(HEAD + ROW.replace("storage", "cooking"), encoding="utf-8")
    path = store(tmp_path, good(), "01_storage")
    assert "cooking" in claims.orphans([path], table)[0]
