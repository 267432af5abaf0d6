"""The learner's own copy: what an update may write, what it may not, and that no interruption loses a note."""

import json
from datetime import date
from pathlib import Path

import nbformat
import pytest
from ipykernel.ipkernel import IPythonKernel
from nbformat.sign import NotebookNotary

from torchcourse import _work
from torchcourse._work import WorkError, main, refresh, reset

TODAY = date(2026, 11, 29)


def notebook(*texts, outputs=(), **metadata):
    cells = [
        {
            "id": f"cell-{number}",
            "cell_type": "code",
            "execution_count": 1 if outputs else None,
            "metadata": {},
            "outputs": list(outputs),
            "source": text.splitlines(keepends=True),
        }
        for number, text in enumerate(texts)
    ]
    return json.dumps({"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5})


SHIPPED = {"language_info": {"name": "python"}}


@pytest.fixture
def course(tmp_path):
    """A checkout with two chapters and a picture, and no `work/` yet."""
    source = tmp_path / "Kurs für März" / "notebooks"
    (source / "pictures").mkdir(parents=True)
    (source / ".ipynb_checkpoints").mkdir()
    (source / ".ipynb_checkpoints" / "01_storage.ipynb").write_text("not the course's")
    (source / "01_storage.ipynb").write_text(notebook("x = 1\ny = 2"))
    (source / "02_autograd.ipynb").write_text(notebook("loss"))
    (source / "pictures" / "strip.svg").write_text("<svg/>")
    return source, source.parent / "work"


def state(work):
    files = sorted(path for path in work.rglob("*") if path.is_file() and path.name != _work.MEMORY)
    return {path.relative_to(work).as_posix(): path.read_text() for path in files}


def test_the_first_call_copies_file_by_file(course):
    source, work = course
    done = refresh(source, work, TODAY)
    assert done.written == ("01_storage.ipynb", "02_autograd.ipynb", "pictures/strip.svg")
    assert set(state(work)) == set(done.written) and done.beside == ()
    assert not work.joinpath("01_storage.ipynb").is_symlink()
    assert refresh(source, work, TODAY) == _work.Refreshed()


def test_what_is_untouched_is_refreshed(course):
    source, work = course
    refresh(source, work, TODAY)
    (source / "01_storage.ipynb").write_text(notebook("x = 10"))
    assert refresh(source, work, TODAY).written == ("01_storage.ipynb",)
    assert state(work)["01_storage.ipynb"] == notebook("x = 10")


def test_a_notebook_that_was_only_run_and_saved_counts_as_untouched(course):
    source, work = course
    refresh(source, work, TODAY)
    ran = notebook(
        "x = 1\ny = 2", outputs=[{"output_type": "stream", "name": "stdout", "text": "hi"}], kernel="cuda"
    )
    (work / "01_storage.ipynb").write_text(ran)
    assert refresh(source, work, TODAY).written == ()
    assert state(work)["01_storage.ipynb"] == ran  # as long as nothing is newer, outputs stay
    (source / "01_storage.ipynb").write_text(notebook("x = 10"))
    assert refresh(source, work, TODAY).written == ("01_storage.ipynb",)


@pytest.mark.parametrize(
    "mine",
    [
        notebook("x = 1\ny = 3"),
        notebook("x = 1\ny = 2", "# my note"),
        notebook(),
        notebook("x = 1\ny = 2").replace('"code"', '"markdown"'),
        notebook("x = 1\ny = 2").replace(
            '"metadata": {}, "out', '"metadata": {}, "attachments": {"a.png": {}}, "out'
        ),
        notebook("x = 1")[:40],
        "",
        "[1, 2]",
    ],
)
def test_what_is_touched_is_never_overwritten_and_the_new_version_comes_beside_it_once(course, mine):
    source, work = course
    refresh(source, work, TODAY)
    (work / "01_storage.ipynb").write_text(mine)
    assert refresh(source, work, TODAY).beside == ()
    (source / "01_storage.ipynb").write_text(notebook("x = 10"))
    done = refresh(source, work, TODAY)
    assert done.beside == (("01_storage.ipynb", "01_storage.new-2026-11-29.ipynb"),) and done.written == ()
    assert "changes of yours" in str(done) and "01_storage.new-2026-11-29.ipynb" in str(done)
    assert state(work)["01_storage.ipynb"] == mine
    assert state(work)["01_storage.new-2026-11-29.ipynb"] == notebook("x = 10")
    (work / "01_storage.new-2026-11-29.ipynb").unlink()
    assert refresh(source, work, TODAY) == _work.Refreshed()
    assert "01_storage.new-2026-11-29.ipynb" not in state(work)


def test_two_new_versions_on_one_day_get_two_names(course):
    source, work = course
    refresh(source, work, TODAY)
    (work / "01_storage.ipynb").write_text(notebook("mine"))
    for text in ("a", "b"):
        (source / "01_storage.ipynb").write_text(notebook(text))
        refresh(source, work, TODAY)
    assert state(work)["01_storage.new-2026-11-29.ipynb"] == notebook("a")
    assert state(work)["01_storage.new-2026-11-29-2.ipynb"] == notebook("b")


def test_a_picture_counts_byte_by_byte(course):
    source, work = course
    refresh(source, work, TODAY)
    (work / "pictures" / "strip.svg").write_text("<svg>mine</svg>")
    (source / "pictures" / "strip.svg").write_text("<svg>new</svg>")
    assert refresh(source, work, TODAY).beside == (("pictures/strip.svg", "strip.new-2026-11-29.svg"),)
    assert state(work)["pictures/strip.svg"] == "<svg>mine</svg>"


def test_a_deleted_file_comes_back_and_the_learners_own_files_stay(course):
    source, work = course
    refresh(source, work, TODAY)
    (work / "02_autograd.ipynb").unlink()
    (work / "my notes.ipynb").write_text("mine")
    (source / "01_storage.ipynb").unlink()
    assert refresh(source, work, TODAY).written == ("02_autograd.ipynb",)
    assert state(work)["my notes.ipynb"] == "mine" and "01_storage.ipynb" in state(work)


@pytest.mark.parametrize(
    "damage",
    [
        "",
        "{",
        "null",
        "[]",
        '{"files": 3}',
        '{"files": {"a": {"b": 1}}}',
        '{"files": {"a": null}}',
        "[" * 10**5,
    ],
)
def test_a_damaged_memory_counts_everything_as_touched(course, damage):
    source, work = course
    refresh(source, work, TODAY)
    (work / _work.MEMORY).write_text(damage)
    (source / "01_storage.ipynb").write_text(notebook("x = 10"))
    done = refresh(source, work, TODAY)
    assert done.written == () and len(done.beside) == 1
    assert state(work)["01_storage.ipynb"] == notebook("x = 1\ny = 2")
    assert refresh(source, work, TODAY) == _work.Refreshed()


def test_reset_starts_anew_and_keeps_the_file(course):
    source, work = course
    refresh(source, work, TODAY)
    (work / "01_storage.ipynb").write_text(notebook("mine"))
    told = reset(source, work, "01", TODAY)
    assert "01_storage.before-2026-11-29.ipynb" in told
    assert state(work)["01_storage.ipynb"] == notebook("x = 1\ny = 2")
    assert state(work)["01_storage.before-2026-11-29.ipynb"] == notebook("mine")
    assert "kept" not in reset(source, work, "1", TODAY)
    (work / "01_storage.ipynb").write_text(notebook("mine again"))
    reset(source, work, "01_storage", TODAY)
    assert state(work)["01_storage.before-2026-11-29-2.ipynb"] == notebook("mine again")


@pytest.mark.parametrize("wrong", ["99", "", "0", "../notebooks", "pictures"])
def test_reset_of_no_chapter_names_the_chapters(course, wrong, capsys):
    source, work = course
    with pytest.raises(WorkError, match=r"01_storage, 02_autograd"):
        reset(source, work, wrong, TODAY)
    assert main([str(source), str(work), "--reset", wrong]) == 1
    assert len(capsys.readouterr().err.splitlines()) == 1 and not work.exists()


class Killed(BaseException):
    """The process ends here."""


def die_at(monkeypatch, nth):
    """Every step that changes the disk may be the last one: the nth is not made."""
    steps = [0]

    def counted(function):
        def step(*words, **more):
            steps[0] += 1
            if steps[0] == nth:
                raise Killed
            return function(*words, **more)

        return step

    monkeypatch.setattr(_work.os, "replace", counted(_work.os.replace))
    monkeypatch.setattr(_work.os, "fsync", counted(_work.os.fsync))
    monkeypatch.setattr(Path, "rename", counted(Path.rename))
    monkeypatch.setattr(Path, "mkdir", counted(Path.mkdir))
    return steps


@pytest.mark.parametrize("asked", ["refresh", "reset"])
def test_nothing_is_lost_wherever_it_is_interrupted(course, monkeypatch, asked):
    source, work = course
    refresh(source, work, TODAY)
    mine = notebook("mine", "# and a note")
    deaths = 0
    for nth in range(1, 100):
        for path in (path for path in work.rglob("*") if path.is_file()):
            path.unlink()
        (source / "02_autograd.ipynb").write_text(notebook("loss"))
        refresh(source, work, TODAY)
        (work / "01_storage.ipynb").write_text(mine)
        (source / "01_storage.ipynb").write_text(notebook(f"new {nth}"))
        (source / "02_autograd.ipynb").write_text(notebook(f"loss {nth}"))
        act = (
            (lambda: refresh(source, work, TODAY))
            if asked == "refresh"
            else (lambda: reset(source, work, "01", TODAY))
        )
        with monkeypatch.context() as patch:
            die_at(patch, nth)
            try:
                act()
            except Killed:
                deaths += 1
            else:
                break
        files = state(work)
        assert mine in files.values()
        whole = [text for name, text in files.items() if not name.endswith(".half")]
        assert all(text == "<svg/>" or json.loads(text)["cells"] for text in whole)
        refresh(source, work, TODAY)  # the next call mends it
        files = state(work)
        assert mine in files.values() and notebook(f"new {nth}") in files.values()
        assert files["02_autograd.ipynb"] == notebook(f"loss {nth}")
        assert sum(name.startswith("01_storage") for name in files) == 2
    assert deaths >= 4


def test_a_full_disk_is_a_sentence_and_changes_nothing(course, monkeypatch, capsys):
    source, work = course
    refresh(source, work, TODAY)
    (source / "01_storage.ipynb").write_text(notebook("x = 10"))
    before = state(work)

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(_work.os, "fsync", full)
    assert main([str(source), str(work)]) == 1
    told = capsys.readouterr().err
    assert "No space left on device" in told and str(work) in told and len(told.splitlines()) == 1
    assert state(work) == before


def test_a_file_where_the_folder_should_be_and_no_notebooks_are_sentences(course, capsys):
    source, work = course
    work.write_text("a file")
    assert main([str(source), str(work)]) == 1
    assert main([str(source.parent / "nowhere"), str(work.parent / "other")]) == 1
    told = capsys.readouterr().err.splitlines()
    assert len(told) == 2 and "nowhere" in told[1]


def test_what_the_course_wrote_is_trusted_and_what_the_learner_wrote_is_not(
    course, monkeypatch, tmp_path, capsys
):
    source, work = course
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "jupyter"))
    html = {"output_type": "display_data", "metadata": {}, "data": {"image/svg+xml": "<svg/>"}}
    (source / "01_storage.ipynb").write_text(notebook("x", outputs=[html]))
    assert main([str(source), str(work)]) == 0
    assert capsys.readouterr().out == "3 files are new or newer in your copy.\n"

    def trusted(path):
        return NotebookNotary().check_signature(nbformat.read(path, as_version=4))

    assert trusted(work / "01_storage.ipynb")
    mine = work / "mine.ipynb"
    mine.write_text(notebook("y", outputs=[html]))
    assert main([str(source), str(work)]) == 0 and not trusted(mine)


def test_no_room_for_signatures_is_no_reason_to_stop(course, monkeypatch):
    source, work = course
    monkeypatch.setattr(
        NotebookNotary, "sign", lambda self, notebook: (_ for _ in ()).throw(OSError(28, "full"))
    )
    assert main([str(source), str(work)]) == 0


@pytest.mark.parametrize(
    "content", ["[]", '{"cells": [{"cell_type": "odd"}], "metadata": {}, "nbformat": 4}']
)
def test_a_notebook_that_is_none_is_laid_down_and_fails_in_its_own_way_only_when_opened(course, content):
    source, work = course
    (source / "01_storage.ipynb").write_text(content)
    assert main([str(source), str(work)]) == 0
    assert (work / "01_storage.ipynb").read_text() == content


def test_a_copy_says_which_python_it_speaks_so_that_jupyter_has_nothing_to_add(course):
    source, work = course
    (source / "01_storage.ipynb").write_text(notebook("x = 1", **SHIPPED))
    refresh(source, work, TODAY)
    mine = json.loads((work / "01_storage.ipynb").read_text())
    assert mine["metadata"]["language_info"] == IPythonKernel.language_info
    assert reset(source, work, "01", TODAY) == "01_storage.ipynb starts anew."  # it was as it came
    assert refresh(source, work, TODAY) == _work.Refreshed()
    shipped = json.loads((source / "01_storage.ipynb").read_text())
    assert mine["cells"] == shipped["cells"] and shipped["metadata"] == SHIPPED
